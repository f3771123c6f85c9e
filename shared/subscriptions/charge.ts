import type { DomainError } from '../core/errors.ts';
import type { DeclineCode } from '../core/outcome.ts';
import type { UsableMethod } from '../payment-methods/use.ts';
import { type Collected, collect, showPayment } from '../payments/collect.ts';
import { chargeDropped, chargeFailed } from './changes.ts';
import type { BillingDeps } from './deps.ts';
import { wantedIf } from './is-wanted.ts';
import { periodPayment } from './period-payment.ts';
import { settled } from './settle.ts';
import type { SubscriptionStore } from './store.ts';
import { type Charge, isVisible, type Subscription } from './subscription.ts';
import { isFirst } from './transitions.ts';

/** What came of an attempt, and the subscription as it is now. */
export interface Attempted {
  readonly subscription: Subscription;
  readonly declined?: DeclineCode | undefined;
  /** Nothing was charged, and why. */
  readonly error?: DomainError | undefined;
}

export interface ChargeWith {
  /** Has passed the rule of use, for whoever asks for this charge. */
  readonly method: UsableMethod;
  /** The payer waits for the answer. */
  readonly attended: boolean;
}

/** Makes one attempt at the open charge, which the caller has claimed, and records what came of it. */
export const attemptCharge = async (
  deps: BillingDeps,
  store: SubscriptionStore,
  subscription: Subscription,
  { method, attended }: ChargeWith,
): Promise<Attempted> => {
  const { charge } = subscription;
  if (!charge || subscription.billingOwner !== 'service') throw new Error('nothing of ours is to be charged');
  const collected = await collect(deps, {
    payment: {
      ...periodPayment(subscription, charge.paymentId),
      ...(!attended && { offSession: true }),
      ...(!isVisible(subscription) && { withheld: true }),
    },
    method,
    attempts: charge.attempts,
    onlyIf: [wantedIf(subscription.id, charge.paymentId)],
  });
  const next = await store.change(subscription, (current) => recorded(deps, current, charge, collected));
  if (collected.kind !== 'payment') return { subscription: next, error: collected.error };
  if (collected.payment.withheld && isVisible(next)) await showPayment(deps, charge.paymentId);
  const { status, failureCode } = collected.payment;
  return { subscription: next, ...(status === 'failed' && { declined: failureCode ?? 'processing_error' }) };
};

const recorded = (deps: BillingDeps, current: Subscription, charge: Charge, collected: Collected): Subscription => {
  if (current.charge?.paymentId !== charge.paymentId) return current;
  if (collected.kind === 'payment') return settled(current, collected.payment, deps.now(), deps.dunning);
  // Whoever waits for a creation is told, and it is forgotten.
  if (current.status === 'creating') return current;
  if (isFirst(charge) && current.status !== 'past_due') return chargeDropped(current);
  if (collected.kind === 'not yet') return current;
  return chargeFailed(current, { code: 'processing_error', attempts: 0, spent: true }, deps.now(), deps.dunning);
};
