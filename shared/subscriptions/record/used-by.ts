import { recordKey, USED_BY_PREFIX } from '../../table/keys.ts';
import type { Table } from '../../table/table.ts';
import { isLive, type Subscription, subscriptionOf } from './subscription.ts';

/** The live subscriptions that use a method or a customer, of any owner. */
export const subscriptionsUsing = async (
  table: Table,
  kind: 'PM' | 'CUS',
  id: string,
): Promise<readonly Subscription[]> => {
  const ids: string[] = [];
  const range = { from: USED_BY_PREFIX, to: `${USED_BY_PREFIX}~` };
  for await (const { sk } of table.eachItem({ partition: recordKey(kind, id).pk, ...range, consistent: true })) {
    ids.push(String(sk).slice(USED_BY_PREFIX.length));
  }
  if (ids.length === 0) return [];
  const items = await table.getMany(
    ids.map((subscriptionId) => recordKey('SUB', subscriptionId)),
    { consistent: true },
  );
  return items.flatMap((item) => (item && subscriptionOf(item)) ?? []).filter(isLive);
};
