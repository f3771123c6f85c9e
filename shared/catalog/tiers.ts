import { runList } from '../http/paging.ts';
import type { Reply } from '../http/request.ts';
import { referencePartition } from '../table/keys.ts';
import { listRows } from '../table/listing.ts';
import type { Table } from '../table/table.ts';
import { tierSchema } from './records.ts';
import { tierView } from './view.ts';

/** More tiers than a price page shows. */
const MAX_TIERS = 500;

/** The active tiers by rank; public. */
export const listTiers = async ({ table }: { readonly table: Table }): Promise<Reply> =>
  runList(table, {
    findPage: () =>
      listRows(table, {
        index: 'owner',
        partition: referencePartition('tiers'),
        descending: false,
        filter: [{ equals: ['f.a', true] }],
        offset: 0,
        limit: MAX_TIERS,
      }),
    recordOf: (item) => {
      const tier = tierSchema.parse(item);
      return tier.is_active ? tier : undefined;
    },
    viewsOf: (tiers) => tiers.toSorted((one, other) => one.rank - other.rank).map(tierView),
    replyOf: (views) => ({ data: views }),
  });
