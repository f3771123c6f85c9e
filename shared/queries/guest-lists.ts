/**
 * @module A guest's payments and subscriptions by e-mail address. Without a guest token, each record shows a few fixed
 * fields. Unknown and known addresses cause the same cost and the same reply.
 */

import { type Audience, audienceOf } from '../access/audience.ts';
import type { Owned, RecordKind } from '../access/record-kind.ts';
import { DomainError } from '../core/errors.ts';
import { offsetReply, onlyRecordFilter, runList } from '../http/paging.ts';
import type { ApiRequest, Reply } from '../http/request.ts';
import { paymentRecord, type VisiblePayment } from '../payments/payment.ts';
import { guestPaymentView, paymentView } from '../payments/payment-view.ts';
import { encodeCursor } from '../platform/cursor.ts';
import type { Clause } from '../platform/expression.ts';
import { guestPartition, type OwnedKind } from '../platform/keys.ts';
import type { Listed } from '../platform/listing.ts';
import type { StoreDeps, Table } from '../platform/table.ts';
import { type CountedPage, listCounted, type Total } from '../platform/totals.ts';
import { subscriptionRecord, type VisibleSubscription } from '../subscriptions/record/subscription.ts';
import { guestSubscriptionView, subscriptionView } from '../subscriptions/record/subscription-view.ts';
import type { GuestPaymentsQuery, GuestSubscriptionsQuery } from './parameters.ts';
import { type PageFound, pageByCreation, paymentsReply, positionOf } from './payment-page.ts';

export interface GuestListDeps extends StoreDeps {
  readonly guestEmailList: 'minimal' | 'full' | 'token';
}

type GuestRequest<Query> = ApiRequest<{ email: string }, Query>;

export const listGuestPayments = (deps: GuestListDeps, request: GuestRequest<GuestPaymentsQuery>): Promise<Reply> =>
  listByEmail(GUEST_PAYMENTS, deps, request);

export const listGuestSubscriptions = (
  deps: GuestListDeps,
  request: GuestRequest<GuestSubscriptionsQuery>,
): Promise<Reply> => listByEmail(GUEST_SUBSCRIPTIONS, deps, request);

interface GuestPage<Query, Page> {
  readonly listed: Page;
  readonly page: Query;
  readonly total: Total;
  readonly email: string;
}

interface GuestList<T, Query, Page> {
  readonly record: RecordKind<T>;
  readonly kind: OwnedKind;
  readonly findPage: (
    table: Table,
    email: string,
    search: { query: Query; filter: readonly Clause[] },
  ) => Promise<Page>;
  readonly fullView: (record: T, audience: Audience) => unknown;
  readonly minimalView: (record: T) => unknown;
  readonly replyOf: (views: readonly unknown[], list: GuestPage<Query, Page>) => Reply;
}

const listByEmail = async <T extends Owned, Query, Page extends Pick<Listed, 'rows'> & CountedPage>(
  list: GuestList<T, Query, Page>,
  { table, guestEmailList }: GuestListDeps,
  { params, query, caller }: GuestRequest<Query>,
): Promise<Reply> => {
  const guest = caller.kind === 'guest' && caller.email === params.email ? caller : undefined;
  if (guestEmailList === 'token' && !guest) {
    const message = 'Authentication is required; send the guest token of this e-mail address as X-Guest-Token';
    throw new DomainError('AUTHENTICATION_REQUIRED', { message });
  }
  const isFull = ({ guestId }: T) => guestEmailList === 'full' || (guest !== undefined && guestId === guest.guestId);
  return runList(table, {
    findPage: () =>
      list.findPage(table, params.email, { query, filter: guest ? onlyRecordFilter(guest, list.kind) : [] }),
    recordOf: list.record.parse,
    viewsOf: (records) =>
      records.map((record) => (isFull(record) ? list.fullView(record, audienceOf(caller)) : list.minimalView(record))),
    replyOf: (views, listed, total) => list.replyOf(views, { listed, page: query, total, email: params.email }),
  });
};

const GUEST_PAYMENTS: GuestList<VisiblePayment, GuestPaymentsQuery, PageFound & CountedPage> = {
  record: paymentRecord,
  kind: 'PAY',
  findPage: (table, email, { query, filter }) =>
    pageByCreation(
      table,
      {
        index: 'owner',
        partition: guestPartition(email, 'PAY'),
        descending: true,
        filter,
        ...positionOf(query, { list: guestPartition(email, 'PAY') }),
      },
      filter.length === 0 ? { statuses: undefined } : undefined,
    ),
  fullView: paymentView,
  minimalView: guestPaymentView,
  replyOf: (views, { listed, page, total, email }) => {
    const list = guestPartition(email, 'PAY');
    const next = listed.next && { limit: String(page.limit), cursor: encodeCursor(listed.next, list) };
    return paymentsReply(views, listed, { query: page, list, total, next });
  },
};

const GUEST_SUBSCRIPTIONS: GuestList<VisibleSubscription, GuestSubscriptionsQuery, Listed & CountedPage> = {
  record: subscriptionRecord,
  kind: 'SUB',
  findPage: (table, email, { query: { offset, limit }, filter }) =>
    listCounted(table, {
      index: 'owner',
      partition: guestPartition(email, 'SUB'),
      descending: true,
      filter,
      offset,
      limit,
    }),
  fullView: subscriptionView,
  minimalView: guestSubscriptionView,
  replyOf: offsetReply,
};
