/** @module Reads a payment at its provider, in the adapter's own API version, if an event alone is unclear. */

import { decideReading, type ReadingDecision } from '../payments/apply-reading.ts';
import type { VisiblePayment } from '../payments/payment.ts';
import type { PaymentStore } from '../payments/payment-store.ts';
import { providerReference } from '../payments/payment-versions.ts';
import type { MoneyDeps } from '../providers/provider-deps.ts';

type Deps = Pick<MoneyDeps, 'now' | 'log' | 'providers'>;

/** @throws Error if the provider cannot be read now; the event is then retried */
export const readForEvent = async (deps: Deps, payment: VisiblePayment): Promise<ReadingDecision> => {
  const provider = await deps.providers.require(payment.providerId, 'payments');
  const found = await provider.findPayment(providerReference(payment));
  if (found.kind !== 'done') throw new Error('the provider cannot be read now');
  return decideReading(deps, { payment, report: found.value, cause: 'event' });
};

/** Stores the result of the read, if it changes the payment. @returns the current payment */
export const storeReadForEvent = async (
  deps: Deps,
  store: PaymentStore,
  payment: VisiblePayment,
): Promise<VisiblePayment> => {
  const { record } = await store.change(payment, async (current) => {
    const reading = await readForEvent(deps, current);
    return reading.outcome === 'store' ? { next: reading.next, by: 'read' } : undefined;
  });
  return record;
};
