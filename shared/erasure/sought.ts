import * as z from 'zod';
import { erasureKey, SOUGHT_PREFIX, soughtKey } from '../table/keys.ts';
import type { Table } from '../table/table.ts';
import { erasedIds } from '../webhooks/record/erased.ts';
import type { ErasureJob } from './job.ts';

/** What an erasure looks for in logs, events, deliveries and stored answers. The e-mail addresses are removed when it is done. */
export interface Sought {
  readonly userId: string | undefined;
  /** In lower case. */
  readonly emails: readonly string[];
  /** Ids of the person's records, ours and the providers'. */
  readonly ids: ReadonlySet<string>;
}

export const seekEmails = async (
  table: Table,
  erasureId: string,
  emails: readonly (string | undefined)[],
): Promise<void> => {
  const found = new Set(emails.filter((email) => email !== undefined).map((email) => email.toLowerCase()));
  await Promise.all([...found].map((email) => table.put({ ...soughtKey(erasureId, email), email })));
};

const soughtSchema = z.object({ pk: z.string(), sk: z.string(), email: z.string() });

const soughtItems = async (table: Table, erasureId: string) => {
  const items: z.infer<typeof soughtSchema>[] = [];
  const range = { from: SOUGHT_PREFIX, to: `${SOUGHT_PREFIX}~` };
  for await (const item of table.eachItem({ partition: erasureKey(erasureId).pk, ...range, consistent: true })) {
    items.push(soughtSchema.parse(item));
  }
  return items;
};

export const soughtBy = async (table: Table, { id, userId, email }: ErasureJob): Promise<Sought> => {
  const [items, ids] = await Promise.all([soughtItems(table, id), erasedIds(table, id)]);
  const emails = new Set([...(email === undefined ? [] : [email]), ...items.map((item) => item.email)]);
  return { userId, emails: [...emails], ids };
};

export const forgetSought = async (table: Table, erasureId: string): Promise<void> => {
  for (const { pk, sk } of await soughtItems(table, erasureId)) await table.remove({ pk, sk });
};
