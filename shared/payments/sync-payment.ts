/** @module Reads a payment, its refunds and its disputes at the provider, and stores them as reported. */

import { audienceOf } from '../access/audience.ts';
import type { ApiRequest, Reply } from '../http/request.ts';
import type { PaymentProvider } from '../providers/provider.ts';
import type { MoneyDeps } from '../providers/provider-deps.ts';
import { requireReport, unansweredError } from '../providers/unwrap.ts';
import { decideReading } from './apply-reading.ts';
import type { VisiblePayment } from './payment.ts';
import { paymentStore } from './payment-store.ts';
import { providerReference } from './payment-versions.ts';
import { paymentView } from './payment-view.ts';
import { readMoneyBack } from './read-money-back.ts';

/** Reads and stores the refunds and disputes of a succeeded payment. @returns the payment after these changes */
const withMoneyBack = async (
  deps: MoneyDeps,
  { refunds: port }: PaymentProvider,
  payment: VisiblePayment,
): Promise<VisiblePayment> => {
  if (payment.status !== 'succeeded' || !port) return payment;
  const unread = await readMoneyBack({ deps, port, payment });
  if (unread) throw unansweredError(unread, { payment_id: payment.id });
  return (await paymentStore(deps.table, deps.now).loadVisible(payment.id)) ?? payment;
};

export const syncPayment = async (
  deps: MoneyDeps,
  request: ApiRequest<{ provider_payment_id: string }, unknown, unknown, VisiblePayment>,
): Promise<Reply> => {
  const store = paymentStore(deps.table, deps.now);
  const provider = await deps.providers.require(request.record.providerId, 'payments');
  const { record } = await store.change(request.record, async (payment) => {
    const report = requireReport(await provider.findPayment(providerReference(payment)), { payment_id: payment.id });
    const decision = decideReading(deps, { payment, report, cause: 'sync' });
    return decision.outcome === 'store' ? { next: decision.next, by: 'read' } : undefined;
  });
  return { data: paymentView(await withMoneyBack(deps, provider, record), audienceOf(request.caller)) };
};
