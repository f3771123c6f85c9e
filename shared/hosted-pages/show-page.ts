/** @module Shows the state of a hosted page. */

import { isIdOf } from '../core/ids.ts';
import type { ApiRequest, Reply } from '../http/request.ts';
import type { PaymentLink } from '../payment-links/payment-link.ts';
import type { VisiblePayment } from '../payments/payment.ts';
import type { VisibleSubscription } from '../subscriptions/record/subscription.ts';
import { linkPage } from './page-of-link.ts';
import { type PaymentPageDeps, paymentPage } from './page-of-payment.ts';
import { subscriptionPage } from './page-of-subscription.ts';
import type { PageState } from './page-state.ts';

/** Forbids caches to store the response, because it may contain a client secret. */
const NEVER_KEPT = { 'cache-control': 'no-store' } as const;

export type PageRecord = VisiblePayment | VisibleSubscription | PaymentLink;

const isPayment = (record: PageRecord): record is VisiblePayment => isIdOf('payment', record.id);
const isLink = (record: PageRecord): record is PaymentLink => isIdOf('payment_link', record.id);

const stateOf = (deps: PaymentPageDeps, record: PageRecord): Promise<PageState> => {
  if (isPayment(record)) return paymentPage(deps, record);
  return isLink(record) ? linkPage(deps, record) : subscriptionPage(deps, record);
};

export const showPage = async (
  deps: PaymentPageDeps,
  { record }: ApiRequest<unknown, unknown, unknown, PageRecord>,
): Promise<Reply> => ({ data: await stateOf(deps, record), headers: NEVER_KEPT });
