/** @module The interface of the one table. The AWS SDK implements it, and so does the local host in its own process. */

import type { Changes, Clause } from './expression.ts';
import type { Key, TABLE } from './keys.ts';

/** A stored item; the schema of its resource parses it into a record. */
export type Item = Readonly<Record<string, unknown>>;

/** The result of a conditional write. On failure it has the item refused by the condition. */
export type Written =
  | { readonly ok: true; readonly item: Item }
  | { readonly ok: false; readonly found: Item | undefined };

export type TransactionStep =
  | { readonly put: Item; readonly if?: readonly Clause[] }
  | { readonly update: Key; readonly changes: Changes; readonly if?: readonly Clause[] }
  | { readonly delete: Key; readonly if?: readonly Clause[] }
  | { readonly check: Key; readonly if: readonly Clause[] };

export type Transacted =
  | { readonly ok: true }
  | { readonly ok: false; readonly failed: readonly number[]; readonly found: readonly (Item | undefined)[] };

export interface ItemUpdate {
  readonly key: Key;
  readonly changes: Changes;
  readonly clauses: readonly Clause[];
}

export interface PartitionQuery {
  readonly partition: string;
  /** Inclusive bounds on the sort key. */
  readonly from?: string | undefined;
  readonly to?: string | undefined;
  readonly descending?: boolean;
  /** The maximum number of items to evaluate, before the filter. */
  readonly limit?: number;
  readonly filter?: readonly Clause[];
  readonly after?: Item | undefined;
}

export type Consistency = { readonly consistent?: boolean };

/** Without `index`, a page of the table itself. */
export type PartitionPage = PartitionQuery & Consistency & { readonly index?: IndexName };

export type IndexName = (typeof TABLE.indexes)[number]['name'];

/** A slice of the whole table with `limit` items after a key, including expired items. */
export interface Slice {
  readonly after: Item | undefined;
  readonly limit: number;
}

export interface Page {
  readonly items: readonly Item[];
  /** Where the next page starts; undefined at the end. */
  readonly next: Item | undefined;
}

/** The number of matching rows in a page, without the rows. */
export interface PageCount {
  readonly matching: number;
  /** The number of rows evaluated, before the filter. */
  readonly evaluated: number;
  /** Where the next page starts; undefined at the end. */
  readonly next: Item | undefined;
}

/** The processed part of a batch. */
export interface Batch {
  /** The items that exist, in any order. */
  readonly items: readonly Item[];
  /** The keys left unread for lack of capacity. */
  readonly unprocessed: readonly Key[];
}

/** Reads include expired items, which `openTable` hides. A clause treats an item past its `ttl` as absent. */
export interface Connection {
  readonly getItem: (key: Key, consistent: boolean) => Promise<Item | undefined>;
  /** @param keys up to 100, without duplicates */
  readonly getBatch: (keys: readonly Key[], consistent: boolean) => Promise<Batch>;
  readonly putItem: (item: Item, clauses: readonly Clause[]) => Promise<Written>;
  /** @returns the item after the update */
  readonly updateItem: (update: ItemUpdate) => Promise<Written>;
  readonly deleteItem: (key: Key, clauses: readonly Clause[]) => Promise<Written>;
  /**
   * All or none. @param token the same for every attempt at the same steps, so they run once
   * @returns the indexes of failed steps and the items found by them, if a condition fails
   */
  readonly transact: (steps: readonly TransactionStep[], token?: string) => Promise<Transacted>;
  readonly query: (query: PartitionPage) => Promise<Page>;
  /** Counts one page of a partition; costs as many read units as the page itself. */
  readonly count: (query: PartitionPage) => Promise<PageCount>;
  /** One page of all items, read consistently, in arbitrary order. */
  readonly scan: (slice: Slice) => Promise<Page>;
}
