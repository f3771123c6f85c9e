/**
 * @module Shows included records. The access rule decides about each record. If access is refused, the caller gets the
 * buyers' view of a product or project, and null for other records.
 */

import type { Key } from '../platform/keys.ts';
import type { Item, Table } from '../platform/table.ts';
import { decideShowing } from './access.ts';
import { type Caller, isMemberCaller } from './caller.ts';
import type { Owned, RecordKind } from './record-kind.ts';
import { type Standing, standingIn, standingKeysOf } from './standing.ts';

export interface Showing<T = unknown> {
  readonly kind: RecordKind<T>;
  view(record: T): unknown;
  /** The view for callers without access; if absent, they get null. */
  buyersView?(record: T): unknown;
}

/** An include, with a function to read the included record's id from the including record. */
export interface Include<R> {
  readonly showing: Showing;
  readonly idOf: (record: R) => string | undefined;
}

export interface ShowDeps {
  readonly table: Table;
  readonly caller: Caller;
}

interface Found {
  readonly showing: Showing;
  readonly id: string | undefined;
  readonly record: unknown;
}

/**
 * Reads included records and standings in one BatchGet, and standings in further organizations in a second.
 * @returns each record's includes by name; null if the included record does not exist or the caller may not see it
 */
export const showBeside = async <R extends Owned>(
  { table, caller }: ShowDeps,
  records: readonly R[],
  includes: Readonly<Record<string, Include<R>>>,
): Promise<readonly Readonly<Record<string, unknown>>[]> => {
  const asked = Object.entries(includes);
  const keys = records.flatMap((record) => asked.flatMap(([, include]) => keyOf(include, record) ?? []));
  const known = keys.length === 0 ? [] : distinct(records.map(({ organizationId }) => organizationId));
  const items = await readItems(table, [...keys, ...standingsKeys(caller, known)]);
  const found = (include: Include<R>, record: R): Found | undefined => {
    const key = keyOf(include, record);
    const item = key && items.get(nameOf(key));
    const parsed = item && include.showing.kind.parse(item);
    return parsed === undefined ? undefined : { showing: include.showing, id: include.idOf(record), record: parsed };
  };
  const shown = records.map((record) => asked.map(([name, include]) => [name, found(include, record)] as const));
  const standings = await standingsFor(table, caller, {
    standings: standingsIn(caller, known, items),
    found: shown.flatMap((fields) => fields.flatMap(([, one]) => one ?? [])),
  });
  return shown.map((fields) =>
    Object.fromEntries(fields.map(([name, one]) => [name, one ? viewOf(caller, one, standings) : null])),
  );
};

const keyOf = <R>({ showing, idOf }: Include<R>, record: R): Key | undefined => {
  const id = idOf(record);
  return id === undefined ? undefined : showing.kind.key(id);
};

type Standings = ReadonlyMap<string, Standing>;

const decide = (caller: Caller, { showing: { kind }, id, record: found }: Found, standings: Standings) => {
  const record = kind.ownedBy(found);
  return decideShowing({ caller, kind, record, id, standing: standings.get(record.organizationId ?? '') });
};

const viewOf = (caller: Caller, found: Found, standings: Standings): unknown => {
  const { showing, record } = found;
  if (decide(caller, found, standings).kind === 'granted') return showing.view(record);
  return showing.buyersView?.(record) ?? null;
};

/** Reads the standings that the decisions still need, and adds them. */
const standingsFor = async (
  table: Table,
  caller: Caller,
  { standings, found }: { readonly standings: Standings; readonly found: readonly Found[] },
): Promise<Standings> => {
  const further = distinct(
    found.map((one) => {
      const decision = decide(caller, one, standings);
      return decision.kind === 'needs standing' ? decision.organizationId : undefined;
    }),
  );
  if (further.length === 0) return standings;
  const items = await readItems(table, standingsKeys(caller, further));
  return new Map([...standings, ...standingsIn(caller, further, items)]);
};

const standingsKeys = (caller: Caller, organizationIds: readonly string[]): readonly Key[] =>
  isMemberCaller(caller) ? organizationIds.flatMap((id) => standingKeysOf(caller, id)) : [];

const standingsIn = (caller: Caller, organizationIds: readonly string[], items: Items): Standings => {
  if (!isMemberCaller(caller)) return new Map();
  const itemsOf = (id: string) => standingKeysOf(caller, id).map((key) => items.get(nameOf(key)));
  return new Map(organizationIds.map((id) => [id, standingIn(caller, id, itemsOf(id))] as const));
};

type Items = ReadonlyMap<string, Item>;
const nameOf = ({ pk, sk }: Key): string => `${pk}\n${sk}`;

const readItems = async (table: Table, keys: readonly Key[]): Promise<Items> => {
  const items = keys.length === 0 ? [] : await table.getMany(keys);
  return new Map(
    keys.flatMap((key, index): [string, Item][] => {
      const item = items[index];
      return item ? [[nameOf(key), item]] : [];
    }),
  );
};

const distinct = (ids: readonly (string | undefined)[]): readonly string[] => [
  ...new Set(ids.filter((id) => id !== undefined)),
];
