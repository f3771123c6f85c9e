import { isDeepStrictEqual } from 'node:util';
import type { Item } from '../../../shared/platform/connection.ts';
import { storedItem } from '../table/item-text.ts';
import type { Replaced } from '../table/operations.ts';
import { ALL_INDEXES, type TableIndex } from '../table/schema.ts';

/**
 * Capacity units as DynamoDB counts them.
 * Source: https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/CapacityUnitCalculations.html
 */
export interface ConsumedUnits {
  readonly table: number;
  /** Units per index, only for indexes used by the request. */
  readonly indexes: Readonly<Record<string, number>>;
}

const READ_BYTES = 4_096;
const WRITE_BYTES = 1_024;
const EVENTUAL_FACTOR = 0.5;
/** A transaction prepares and commits each write, so it counts twice. */
export const TRANSACTION_FACTOR = 2;

export const readUnits = (bytes: number, consistent: boolean): number =>
  Math.max(1, Math.ceil(bytes / READ_BYTES)) * (consistent ? 1 : EVENTUAL_FACTOR);

const writeUnits = (bytes: number): number => Math.max(1, Math.ceil(bytes / WRITE_BYTES));

/** Units of a read from the table or an index. */
export const unitsRead = (units: number, index: string | undefined): ConsumedUnits =>
  index === undefined ? { table: units, indexes: {} } : { table: 0, indexes: { [index]: units } };

export const unitsWritten = ({ before, after }: Replaced): ConsumedUnits => ({
  table: writeUnits(Math.max(before?.size ?? 0, after?.size ?? 0)),
  indexes: Object.fromEntries(
    ALL_INDEXES.map((index): [string, number] => [index.name, indexUnits(index, before?.item, after?.item)]).filter(
      ([, units]) => units > 0,
    ),
  ),
});

/**
 * Units to write, replace or delete the item's row in an index. If the index key changes, the old row is deleted and a
 * new row written.
 */
const indexUnits = (index: TableIndex, before: Item | undefined, after: Item | undefined): number => {
  const [was, is] = [rowOf(index, before), rowOf(index, after)];
  const [wasUnits, isUnits] = [was, is].map((row) => (row ? writeUnits(storedItem(row).size) : 0));
  if (!was || !is) return (wasUnits ?? 0) + (isUnits ?? 0);
  const isSameKey = [index.partitionKey, index.sortKey].every((name) => was[name] === is[name]);
  if (!isSameKey) return (wasUnits ?? 0) + (isUnits ?? 0);
  return isDeepStrictEqual(was, is) ? 0 : Math.max(wasUnits ?? 0, isUnits ?? 0);
};

const rowOf = (index: TableIndex, item: Item | undefined): Item | undefined => {
  if (item?.[index.partitionKey] === undefined || item[index.sortKey] === undefined) return undefined;
  const names = ['pk', 'sk', index.partitionKey, index.sortKey, ...index.include];
  return Object.fromEntries(names.flatMap((name) => (item[name] === undefined ? [] : [[name, item[name]]])));
};

export const sumUnits = (all: readonly ConsumedUnits[], factor = 1): ConsumedUnits => {
  const indexes: Record<string, number> = {};
  for (const units of all) {
    for (const [name, count] of Object.entries(units.indexes)) indexes[name] = (indexes[name] ?? 0) + count * factor;
  }
  return { table: all.reduce((sum, { table }) => sum + table * factor, 0), indexes };
};
