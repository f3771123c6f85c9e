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
  /** The caller waits: an attempt that the provider refuses without trying to charge is taken back, too. */
  readonly isAttended?: true;
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
  { claim, before, isAttended }: ClaimedAttempt,
): Promise<Attempted> => {
  const { payment, outcome } = await charge(deps, store, provider, claim);
  const takeBack = () => releaseClaim(deps, store, payment, before);
  if (outcome.kind === 'not_done') {
    const { isOurs, payment: stands } = await takeBack();
    return isOurs
      ? { payment: stands, notDone: outcome, isUnclear: false }
      : { payment: stands, isUnclear: isOpen(stands) };
  }
  const onRefusal = isAttended ? takeBack : undefined;
  const answer = await recordAnswer(deps, { store, provider, onRefusal }, payment, outcome);
  return { ...answer, isUnclear: outcome.kind !== 'done' && isOpen(answer.payment) };
};

const isOpen = ({ status }: VisiblePayment): boolean => status === 'processing';

/** Where an event has moved the payment on meanwhile, another confirmation came first: its outcome counts. */
const releaseClaim = async (
  deps: Pick<MoneyDeps, 'now'>,
  store: PaymentStore,
  claim: VisiblePayment,
  before: VisiblePayment,
): Promise<{ readonly isOurs: boolean; readonly payment: VisiblePayment }> => {
  const committed = await store.commit(claim, claimReleased(claim, before, deps.now()));
  const stands = committed.ok ? committed.payment : committed.found;
  if (!stands || !isVisible(stands)) throw new Error('a claimed payment vanished');
  return { isOurs: committed.ok, payment: stands };
};
