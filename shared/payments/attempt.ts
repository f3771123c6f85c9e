import type { PaymentProvider } from '../providers/provider.ts';
import { type Answer, recordAnswer } from './answer.ts';
import { claimReleased } from './changes.ts';
import { charge } from './charge.ts';
import type { MoneyDeps } from './deps.ts';
import { isVisible, type VisiblePayment } from './payment.ts';
import type { PaymentStore } from './store.ts';

export interface ClaimedAttempt {
  readonly claim: VisiblePayment;
  /** The payment to go back to, should the provider certainly have done nothing. */
  readonly before: VisiblePayment;
}

export interface Attempted extends Answer {
  /** Nobody knows whether the provider has charged. */
  readonly isUnclear: boolean;
}

/**
 * Carries out an attempt that has just been claimed, and records what came of it. An attempt that certainly did not
 * happen is taken back: no event tells of it, and the next attempt is free.
 */
export const makeAttempt = async (
  deps: Pick<MoneyDeps, 'now' | 'log'>,
  store: PaymentStore,
  provider: PaymentProvider,
  { claim, before }: ClaimedAttempt,
): Promise<Attempted> => {
  const { payment, outcome } = await charge(deps, store, provider, claim);
  if (outcome.kind !== 'not_done') {
    const answer = await recordAnswer(deps, store, provider, payment, outcome);
    return { ...answer, isUnclear: outcome.kind !== 'done' && answer.payment.status === 'processing' };
  }
  const committed = await store.commit(payment, claimReleased(payment, before, deps.now()));
  const stands = committed.ok ? committed.payment : committed.found;
  if (!stands || !isVisible(stands)) throw new Error('a claimed payment vanished');
  // Where an event has moved the payment on meanwhile, another confirmation came first: its outcome counts.
  return committed.ok
    ? { payment: stands, notDone: outcome, isUnclear: false }
    : { payment: stands, isUnclear: stands.status === 'processing' };
};
