import type { Key } from '../table/keys.ts';
import type { Row } from '../table/listing.ts';
import type { Item, Table } from '../table/table.ts';
import type { Reply } from './reply.ts';

interface FoundPage {
  readonly rows: readonly Row[];
}

/** The steps of every list, in the order in which they run: ids, records, what this caller may see, views, reply. */
export interface ListSteps<P extends FoundPage, T, A = unknown> {
  /** The ids: index rows of one page. */
  readonly findPage: () => Promise<P>;
  /** The key of a row's record; by default the row's own key. */
  readonly keyOf?: (row: Row) => Key;
  /** The record of an item, where it exists for this caller. */
  readonly recordOf: (item: Item, row: Row) => T | undefined;
  /** What the views need besides the records and can be read at the same time. */
  readonly readAlongside?: (page: P) => Promise<A>;
  /** One view per record, in the same order. */
  readonly viewsOf: (records: readonly T[], alongside: A | undefined) => Views | Promise<Views>;
  readonly replyOf: (views: Views, page: P) => Reply;
}

type Views = readonly unknown[];

/** Runs the steps of a list. All records of a page are read together, in one request per hundred. */
export const runList = async <P extends FoundPage, T, A>(table: Table, steps: ListSteps<P, T, A>): Promise<Reply> => {
  const { keyOf = (row) => row, recordOf } = steps;
  const page = await steps.findPage();
  const [items, alongside] = await Promise.all([table.getMany(page.rows.map(keyOf)), steps.readAlongside?.(page)]);
  const records = page.rows.flatMap((row, index) => {
    const item = items[index];
    const record = item && recordOf(item, row);
    return record === undefined ? [] : [record];
  });
  return steps.replyOf(await steps.viewsOf(records, alongside), page);
};
