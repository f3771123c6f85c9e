/** @module Shows the state of a hosted page. */

import { isIdOf } from '../core/ids.ts';
import type { ApiRequest, Reply } from '../http/request.ts';
import type { VisiblePayment } from '../payments/payment.ts';
import type { VisibleSubscription } from '../subscriptions/record/subscription.ts';
import { type PaymentPageDeps, paymentPage } from './payment-page.ts';
import { subscriptionPage } from './subscription-page.ts';

/** No cache may keep a client secret. */
const NEVER_KEPT = { 'cache-control': 'no-store' } as const;

export type PageRecord = VisiblePayment | VisibleSubscription;

const isPayment = (record: PageRecord): record is VisiblePayment => isIdOf('payment', record.id);

export const showPage = async (
  deps: PaymentPageDeps,
  { record }: ApiRequest<unknown, unknown, unknown, PageRecord>,
): Promise<Reply> => {
  const state = isPayment(record) ? await paymentPage(deps, record) : await subscriptionPage(deps, record);
  return { data: state, headers: NEVER_KEPT };
};
