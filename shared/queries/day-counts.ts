/** @module The number of payments in a list by status and UTC day of creation. The counts lag by moments. */

import { utcDay } from '../core/time.ts';
import { sumNamed } from '../payments/summary-sums.ts';
import { countKey, hasSums, sumKey, sumRange } from '../platform/keys.ts';
import type { ListQuery } from '../platform/listing.ts';
import type { Item, Table } from '../platform/table.ts';

export interface DayCount {
  readonly day: string;
  readonly byStatus: Readonly<Record<string, number>>;
}

/** The counts of a scope by day, oldest first. A user's or organization's counts are part of its sums. */
export const dayCounts = async (
  table: Table,
  scope: string,
  range: Pick<ListQuery, 'from' | 'to'>,
): Promise<readonly DayCount[]> => {
  const from = range.from && utcDay(range.from);
  const to = range.to && utcDay(range.to);
  const stored = hasSums(scope)
    ? { partition: sumKey(scope, '', '').pk, ...sumRange(from, to), countsIn: countsInSums }
    : { partition: countKey(scope, '').pk, from, to, countsIn: countsInCounter };
  const days = new Map<string, Record<string, number>>();
  for await (const item of table.eachItem({ partition: stored.partition, from: stored.from, to: stored.to })) {
    const [day = ''] = String(item['sk']).split('#');
    const byStatus = days.get(day) ?? {};
    for (const [status, count] of stored.countsIn(item)) byStatus[status] = (byStatus[status] ?? 0) + count;
    days.set(day, byStatus);
  }
  return [...days].map(([day, byStatus]) => ({ day, byStatus }));
};

type StatusCount = readonly [status: string, count: number];

const countsInCounter = (item: Item): readonly StatusCount[] =>
  Object.entries(item).flatMap(([name, value]): StatusCount[] =>
    name.startsWith('n_') && typeof value === 'number' ? [[name.slice(2), value]] : [],
  );

/** The counts by status in one item of sums. Each day has one such item per currency. */
const countsInSums = (item: Item): readonly StatusCount[] =>
  Object.entries(item).flatMap(([name, value]): StatusCount[] => {
    const sum = sumNamed(name);
    return sum?.group === 'status' && sum.attribute === 'count' && typeof value === 'number'
      ? [[sum.value, value]]
      : [];
  });

export const countOf = (count: DayCount, statuses: readonly string[] | undefined): number =>
  Object.entries(count.byStatus).reduce(
    (sum, [status, number]) => (statuses === undefined || statuses.includes(status) ? sum + number : sum),
    0,
  );
