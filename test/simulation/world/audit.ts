import type { Audit, History, HistoryItem, HistoryJson, ShownList, ShownSum } from '../model/history.ts';
import { recordsOf } from '../model/records.ts';
import type { Client } from './client.ts';
import { ROOT, USERS } from './people.ts';

/** Reads what lists and summaries show at the end of a run, when no fault happens any more. */
const LISTS = [
  { kind: 'payments', of: 'payments', limit: 50 },
  { kind: 'payment-methods', of: 'methods', limit: 100 },
  { kind: 'customers', of: 'customers', limit: 100 },
  { kind: 'subscriptions', of: 'subscriptions', limit: 100 },
] as const;

export const readAudit = async (client: Client, history: History): Promise<Audit> => {
  const lists: ShownList[] = [];
  const records = recordsOf(history);
  const isOwned = (kind: (typeof LISTS)[number]['of'], owner: HistoryItem): boolean =>
    records[kind].some(
      ({ organizationId, userId }) => (organizationId ?? userId) === (owner['organizationId'] ?? owner['userId']),
    );
  for (const person of USERS) {
    for (const { kind, of, limit } of LISTS) {
      if (!isOwned(of, { userId: person.userId })) continue;
      const query = { limit: String(limit) };
      const shown = await client.look(person, { path: `/${kind}`, query });
      lists.push(listOf({ kind, owner: `USER#${person.userId}` }, shown));
    }
  }
  for (const { id, ownerUserId } of records.organizations) {
    const owner = USERS.find(({ userId }) => userId === ownerUserId);
    if (!owner) continue;
    for (const { kind, of, limit } of LISTS) {
      if (!isOwned(of, { organizationId: id })) continue;
      const query = { limit: String(limit), organization_id: id };
      const shown = await client.look(owner, { path: `/${kind}`, query });
      lists.push(listOf({ kind, owner: `ORG#${id}` }, shown));
    }
  }
  return { lists, sums: await readSums(client, history) };
};

const listOf = (of: Pick<ShownList, 'kind' | 'owner'>, body: HistoryJson): ShownList => ({
  ...of,
  ids: (body.data ?? body).map(({ id }: HistoryJson) => id),
  total: body.meta?.total_is_exact === false ? undefined : body.meta?.total,
});

const dayOf = (time: number): string => new Date(time).toISOString().slice(0, 10);

const readSums = async (client: Client, { startedAt, now }: History): Promise<readonly ShownSum[]> => {
  const query = { from: dayOf(startedAt), to: dayOf(now), interval: 'month' };
  const { data } = await client.look(ROOT, { path: '/admin/summary', query });
  const byCurrency = Map.groupBy(data as readonly HistoryJson[], ({ currency }) => String(currency));
  return [...byCurrency].map(([currency, rows]) => ({
    currency,
    count: total(rows, 'count'),
    amount: total(rows, 'amount_cents'),
    refunded: total(rows, 'refunded_cents'),
  }));
};

const total = (rows: readonly HistoryJson[], field: string): number => rows.reduce((sum, row) => sum + row[field], 0);
