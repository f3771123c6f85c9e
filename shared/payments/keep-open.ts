/** @module Keeps a payment open for its payer until the link to its hosted page expires. */

import { DomainError } from '../core/errors.ts';
import type { StoreDeps } from '../platform/table.ts';
import { PAYABLE, type VisiblePayment } from './payment.ts';
import { paymentStore } from './payment-store.ts';

interface KeptOpen {
  readonly until: string;
  readonly returnUrl: string | undefined;
}

/** Never shortens the wait, so an earlier link's later expiry stays valid. */
export const keepPaymentOpen = async (
  { table, now }: StoreDeps,
  payment: VisiblePayment,
  { until, returnUrl }: KeptOpen,
): Promise<void> => {
  const store = paymentStore(table, now);
  let current: VisiblePayment | undefined = payment;
  for (let tries = 0; current && tries < MOST_TRIES; tries += 1) {
    const linkUntil: string = [until, current.linkUntil ?? ''].toSorted()[1] ?? until;
    if (await store.setTimes(current, { linkUntil, linkReturnUrl: returnUrl })) return;
    current = await store.loadVisible(payment.id);
    if (current && !PAYABLE.includes(current.status)) break;
  }
  throw new DomainError('VERSION_CONFLICT');
};

const MOST_TRIES = 5;
