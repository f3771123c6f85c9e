/**
 * @module Sets the method saved by a payer on the hosted page, as soon as it may be charged. That is once its set-up
 * has finished, or once it has paid the open payment.
 */

import { type PaymentMethod, paymentMethodShape } from '../../payment-methods/payment-method.ts';
import { findUnattended, heldAs } from '../../payment-methods/usable-method.ts';
import { versionedRecord } from '../../platform/versioned-record.ts';
import type { BillingDeps } from '../billing/biller.ts';
import { isLive } from '../record/subscription.ts';
import { subscriptionStore } from '../record/subscription-store.ts';
import { changeMethod } from './change-method.ts';

/**
 * Sets the wanted method if it may be charged. Safe to repeat. Does nothing if another change has replaced the wanted
 * method.
 */
export const setWantedMethod = async (deps: BillingDeps, subscriptionId: string, methodId: string): Promise<void> => {
  const subscription = await subscriptionStore(deps.table).load(subscriptionId);
  if (!subscription || subscription.wantedMethodId !== methodId || !isLive(subscription)) return;
  const found: PaymentMethod | undefined = await versionedRecord(deps, paymentMethodShape).load(methodId);
  const method = found && (await findUnattended(deps.table, subscription, heldAs(found)));
  if (method) await changeMethod(deps, subscription, { method, right: [] });
};
