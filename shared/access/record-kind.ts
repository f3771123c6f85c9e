import type { Key } from '../table/keys.ts';
import type { Item, Table } from '../table/table.ts';

/** Whose a record is. An organization's addresses and methods carry no user: when the membership ends, so does access. */
export interface Owned {
  readonly userId?: string | undefined;
  readonly organizationId?: string | undefined;
  readonly guestId?: string | undefined;
  readonly guestEmail?: string | undefined;
}

/** How the chain finds a record by its id, and whose it is: what an endpoint declares to be given a checked record. */
export interface RecordKind<T = unknown> {
  /** As errors name it: `payment`, `payment_method` … */
  readonly resource: string;
  key(id: string): Key;
  /** Our id of it, where the path holds another's. */
  resolve?(table: Table, externalId: string): Promise<string | undefined>;
  /** How a record that is used is found by its provider's id; undefined where the id is ours. */
  aliases?(id: string): RecordAliases | undefined;
  /** undefined: it does not exist for its readers. */
  parse(item: Item): T | undefined;
  ownedBy(record: T): Owned;
  /**
   * `owned`: the access rule. `project`: its owner may change it too, whatever the role. `open`: anyone may name it.
   * `organization`: the record is an organization, and its members have it.
   */
  readonly rule: 'owned' | 'project' | 'organization' | 'open';
  /** The record's own GET route takes a guest token. */
  readonly guestsRead?: true;
}

/** Items that may lead from a provider's id to our record. */
export interface RecordAliases {
  readonly keys: readonly Key[];
  /** Our id; undefined where the item leads to a record of another kind. */
  idOf(item: Item): string | undefined;
}

/** Another record that a request names. */
export interface NamedRecord {
  readonly kind: RecordKind;
  readonly id: string;
}
