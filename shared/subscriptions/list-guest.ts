import { DomainError } from '../core/errors.ts';
import { offsetReply } from '../http/paging.ts';
import type { Reply } from '../http/reply.ts';
import type { ApiRequest } from '../http/request.ts';
import { guestPartition } from '../table/keys.ts';
import { listRows } from '../table/listing.ts';
import type { Table } from '../table/table.ts';
import type { GuestListQuery } from './requests.ts';
import { subscriptionRecord, type VisibleSubscription } from './subscription.ts';
import { guestListView, subscriptionView } from './view.ts';

interface GuestListDeps {
  readonly table: Table;
  readonly guestEmailList: 'minimal' | 'full' | 'token';
}

/**
 * A guest's subscriptions by e-mail. Without a token a small, fixed set of fields; with one, the records of its guest_id
 * in full. An unknown e-mail costs and answers the same as a known one.
 */
export const listGuestSubscriptions = async (
  { table, guestEmailList }: GuestListDeps,
  { params, query, caller }: ApiRequest<{ email: string }, GuestListQuery>,
): Promise<Reply> => {
  const guest = caller.kind === 'guest' && caller.email === params.email ? caller : undefined;
  if (guestEmailList === 'token' && !guest) throw new DomainError('AUTHENTICATION_REQUIRED');
  const listed = await listRows(table, {
    index: 'owner',
    partition: guestPartition(params.email, 'SUB'),
    descending: true,
    filter: [],
    offset: query.offset,
    limit: query.limit,
  });
  const items = await table.getMany(listed.rows);
  const inFull = ({ guestId }: VisibleSubscription) =>
    guestEmailList === 'full' || (guest !== undefined && guestId === guest.guestId);
  const subscriptions = items.flatMap((item) => (item && subscriptionRecord.parse(item)) ?? []);
  return offsetReply(
    subscriptions.map((one) => (inFull(one) ? subscriptionView(one) : guestListView(one))),
    listed,
    query,
  );
};
