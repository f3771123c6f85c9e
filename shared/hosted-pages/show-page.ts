/** @module Shows the state of a hosted page. */

import { assertNever } from '../core/errors.ts';
import { pageGone } from '../http/link-caller.ts';
import type { ApiRequest, Reply } from '../http/request.ts';
import type { VisiblePayment } from '../payments/payment.ts';
import { type PaymentPageDeps, paymentPage } from './payment-page.ts';

/** No cache may keep a client secret. */
const NEVER_KEPT = { 'cache-control': 'no-store' } as const;

type PageRecord = VisiblePayment;

export const showPage = async (
  deps: PaymentPageDeps,
  { record, http }: ApiRequest<unknown, unknown, unknown, PageRecord>,
): Promise<Reply> => {
  const kind = http.opened?.kind;
  switch (kind) {
    case 'payment':
      return { data: await paymentPage(deps, record), headers: NEVER_KEPT };
    case 'payment_link':
    case 'subscription':
    case undefined:
      throw pageGone();
    default:
      return assertNever(kind);
  }
};
