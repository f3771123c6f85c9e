import type { Reply } from '../http/reply.ts';
import { referencePartition } from '../table/keys.ts';
import { listRows } from '../table/listing.ts';
import type { Table } from '../table/table.ts';
import { tierSchema } from './records.ts';
import { tierView } from './view.ts';

/** More tiers than a price page shows. */
const MAX_TIERS = 500;

/** The active tiers by rank; public. */
export const listTiers = async ({ table }: { readonly table: Table }): Promise<Reply> => {
  const { rows } = await listRows(table, {
    index: 'owner',
    partition: referencePartition('tiers'),
    descending: false,
    filter: [{ equals: ['f.a', true] }],
    offset: 0,
    limit: MAX_TIERS,
  });
  const items = await table.getMany(rows);
  const tiers = items.flatMap((item) => (item ? [tierSchema.parse(item)] : [])).filter((tier) => tier.is_active);
  return { data: tiers.toSorted((one, other) => one.rank - other.rank).map(tierView) };
};
