/**
 * @module The table's own name, stored in the table. A restore creates a copy under another name, which still stores
 * the original's name. The copy lacks all later charges, so no due work runs on it until an operator has reconciled it
 * with the providers.
 */

import { recordKey } from './keys.ts';
import type { Item, Table } from './table.ts';

export interface NamedTable {
  readonly table: Pick<Table, 'get' | 'put'>;
  readonly tableName: string;
}

const NAME_KEY = recordKey('TABLE', 'name');

/** @returns the original's name if the table is a copy that no operator has accepted */
export const originalOf = async ({ table, tableName }: NamedTable): Promise<string | undefined> =>
  otherName(await storedName(table), tableName);

/** Stores the table's name if none is stored. @returns as `originalOf` */
export const claimTable = async ({ table, tableName }: NamedTable): Promise<string | undefined> => {
  const stored = await storedName(table);
  if (stored) return otherName(stored, tableName);
  const written = await table.put({ ...NAME_KEY, name: tableName }, [{ absent: true }]);
  return otherName(written.ok ? written.item : written.found, tableName);
};

const storedName = (table: NamedTable['table']) => table.get(NAME_KEY, { consistent: false });

const otherName = (stored: Item | undefined, tableName: string): string | undefined =>
  stored === undefined || stored['name'] === tableName ? undefined : String(stored['name']);

/** Stores the copy's own name, so its due work runs. */
export const acceptCopy = async ({ table, tableName }: NamedTable): Promise<void> => {
  await table.put({ ...NAME_KEY, name: tableName });
};
