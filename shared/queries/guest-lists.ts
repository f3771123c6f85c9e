import { DomainError } from '../core/errors.ts';
import { decodeCursor, encodeCursor, offsetReply } from '../http/paging.ts';
import type { Reply } from '../http/reply.ts';
import type { ApiRequest } from '../http/request.ts';
import { isShown, paymentOf, type VisiblePayment } from '../payments/record/payment.ts';
import { guestPaymentView, paymentView } from '../payments/record/view.ts';
import type { ReadDeps } from '../providers/registry/deps.ts';
import { subscriptionRecord, type VisibleSubscription } from '../subscriptions/record/subscription.ts';
import { guestSubscriptionView, subscriptionView } from '../subscriptions/record/view.ts';
import { guestPartition } from '../table/keys.ts';
import { listRows } from '../table/listing.ts';
import type { GuestPaymentsQuery } from './parameters.ts';
import { pageByCreation } from './payment-page.ts';
import type { GuestSubscriptionsQuery } from './subscription-parameters.ts';

export interface GuestListDeps extends ReadDeps {
  readonly guestEmailList: 'minimal' | 'full' | 'token';
}

/**
 * A guest's payments by e-mail. Without a token a small, fixed set of fields; with one, the records of its guest_id in
 * full. An unknown e-mail costs and answers the same as a known one.
 */
export const listGuestPayments = async (
  deps: GuestListDeps,
  { params, query, caller }: ApiRequest<{ email: string }, GuestPaymentsQuery>,
): Promise<Reply> => {
  const guest = caller.kind === 'guest' && caller.email === params.email ? caller : undefined;
  if (deps.guestEmailList === 'token' && !guest) throw new DomainError('AUTHENTICATION_REQUIRED');
  const found = await pageByCreation(
    deps.table,
    {
      index: 'owner',
      partition: guestPartition(params.email, 'PAY'),
      descending: true,
      filter: [],
      offset: query.cursor === undefined ? (query.page - 1) * query.limit : 0,
      limit: query.limit,
      cursor: query.cursor === undefined ? undefined : decodeCursor(query.cursor),
    },
    { statuses: undefined },
  );
  const items = await deps.table.getMany(found.rows.map(({ pk, sk }) => ({ pk, sk })));
  const inFull = (payment: VisiblePayment) =>
    deps.guestEmailList === 'full' || (guest !== undefined && payment.guestId === guest.guestId);
  const payments = items.flatMap((item) => (item ? [paymentOf(item)] : [])).filter(isShown);
  return {
    data: payments.map((payment) => (inFull(payment) ? paymentView(payment) : guestPaymentView(payment))),
    meta: {
      page: query.page,
      limit: query.limit,
      total: found.total,
      ...(!found.totalIsExact && { total_is_exact: false }),
      hasMore: found.hasMore,
      ...(found.next && { next_cursor: encodeCursor(found.next) }),
    },
    ...(found.next && { next: { limit: String(query.limit), cursor: encodeCursor(found.next) } }),
    ...(found.totalIsExact && { headers: { 'x-total-count': String(found.total) } }),
  };
};

/**
 * A guest's subscriptions by e-mail. Without a token a small, fixed set of fields; with one, the records of its guest_id
 * in full. An unknown e-mail costs and answers the same as a known one.
 */
export const listGuestSubscriptions = async (
  { table, guestEmailList }: GuestListDeps,
  { params, query, caller }: ApiRequest<{ email: string }, GuestSubscriptionsQuery>,
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
    subscriptions.map((one) => (inFull(one) ? subscriptionView(one) : guestSubscriptionView(one))),
    listed,
    query,
  );
};
