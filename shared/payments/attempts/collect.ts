import { DomainError } from '../../core/errors.ts';
import { type Instant, iso } from '../../core/time.ts';
import type { UsableMethod } from '../../payment-methods/use.ts';
import type { PaymentProvider } from '../../providers/port/provider.ts';
import type { MoneyDeps } from '../../providers/registry/deps.ts';
import { unavailableError } from '../../providers/registry/unwrap.ts';
import type { TransactionStep } from '../../table/table.ts';
import { claimRefusal } from '../record/decisions.ts';
import { FIRST_LOOK_MS } from '../record/due.ts';
import { isVisiblePayment, type Payment, type VisiblePayment } from '../record/payment.ts';
import { isSettled } from '../record/states.ts';
import { type PaymentStore, paymentStore } from '../record/store.ts';
import { claimAttempt } from '../record/versions.ts';
import { makeAttempt } from './attempt.ts';
import { cancelIntent } from './cancel-intent.ts';
import { createIntent } from './create-intent.ts';

/** Payments that the service itself decides on (a subscription's): the same records, claims and keys as anybody's. */
export type CollectDeps = Pick<MoneyDeps, 'table' | 'now' | 'log' | 'providers'>;

export type PeriodPayment = Omit<Payment, 'version' | 'status' | 'createdAt' | 'updatedAt' | 'attempt' | 'reconcileAt'>;

export interface CollectRequest {
  /** As it is to be created, should it not be there yet. */
  readonly payment: PeriodPayment;
  /** What the attempt is made with. */
  readonly method: UsableMethod;
  /** Attempts whose failure is known: one more is made only where there have been no others. */
  readonly attempts: number;
  /** What must hold at the very moment in which the attempt is claimed. */
  readonly onlyIf: readonly TransactionStep[];
}

export type CollectResult =
  | { readonly kind: 'payment'; readonly payment: VisiblePayment }
  /** The provider would not even have it: nothing is there. */
  | { readonly kind: 'refused'; readonly error: DomainError }
  /** It could not be created yet, or its provider did nothing: nothing was charged. */
  | { readonly kind: 'not yet'; readonly error: DomainError };

/** Makes one attempt at a payment, unless one is under way, has come to an end that is not known yet, or was enough. */
export const collect = async (deps: CollectDeps, wanted: CollectRequest): Promise<CollectResult> => {
  const store = paymentStore(deps.table, deps.now);
  const provider = await deps.providers.require(wanted.payment.providerId, 'payments');
  const creating = asCreating(wanted.payment, deps.now());
  const found = (await store.insertOrFind(creating)) ?? creating;
  try {
    const isFirstTry = found === creating;
    const attempt = isVisiblePayment(found)
      ? await claimOne(deps, store, found, wanted)
      : await createClaimed(deps, store, provider, { creating: found, wanted, isFirstTry });
    if (!attempt.before) return { kind: 'payment', payment: attempt.payment };
    const { payment: claim, before } = attempt;
    const answer = await makeAttempt(deps, store, provider, {
      claim,
      before,
      ...(wanted.payment.withheld && { isAttended: true }),
    });
    // Nobody has seen the payment: the caller is told why it was refused.
    if (wanted.payment.withheld && answer.refusal) return { kind: 'refused', error: answer.refusal };
    if (answer.notDone) throw unavailableError(answer.notDone, { payment_id: found.id });
    return { kind: 'payment', payment: answer.payment };
  } catch (error) {
    if (!(error instanceof DomainError)) throw error;
    if (error.code === 'PROVIDER_UNAVAILABLE') return { kind: 'not yet', error };
    const stands = await store.load(found.id);
    if (!stands) return { kind: 'refused', error };
    return isVisiblePayment(stands) ? { kind: 'payment', payment: stands } : { kind: 'not yet', error };
  }
};

interface Attempt {
  readonly payment: VisiblePayment;
  /** As it was before the attempt was claimed; undefined where none was. */
  readonly before?: VisiblePayment;
}

interface NewAttempt {
  readonly creating: Payment;
  readonly wanted: CollectRequest;
  readonly isFirstTry: boolean;
}

/** It comes into sight with its first attempt claimed: one write for both. */
const createClaimed = async (
  deps: CollectDeps,
  store: PaymentStore,
  provider: PaymentProvider,
  { creating, wanted, isFirstTry }: NewAttempt,
): Promise<Attempt> => {
  const {
    method,
    onlyIf,
    payment: { offSession, returnUrl },
  } = wanted;
  let before: VisiblePayment | undefined;
  let claim: VisiblePayment | undefined;
  const as = (created: VisiblePayment): VisiblePayment => {
    before = created;
    claim = { ...claimAttempt(created, { method, offSession, returnUrl }, deps.now()), version: created.version };
    return claim;
  };
  const publication = { as, onlyIf: [...onlyIf, ...method.onlyIf], isFirstTry };
  const payment = await createIntent(deps, store, provider, creating, publication);
  return before && payment === claim ? { payment, before } : { payment };
};

const asCreating = (wanted: PeriodPayment, now: Instant): Payment => ({
  ...wanted,
  version: 0,
  status: 'creating',
  createdAt: iso(now),
  updatedAt: iso(now),
  attempt: 0,
  reconcileAt: iso(now + FIRST_LOOK_MS),
  offSession: undefined,
});

const claimOne = async (
  deps: CollectDeps,
  store: PaymentStore,
  payment: VisiblePayment,
  { payment: { offSession, returnUrl }, method, attempts, onlyIf }: CollectRequest,
): Promise<Attempt> => {
  if (claimRefusal(payment) !== undefined || payment.attempt !== attempts) return { payment };
  const next = claimAttempt(payment, { method, offSession, returnUrl }, deps.now());
  const committed = await store.commit(payment, next, [...onlyIf, ...method.onlyIf]);
  if (committed.ok) return { payment: next, before: payment };
  if (!committed.found || !isVisiblePayment(committed.found)) throw new DomainError('VERSION_CONFLICT');
  return { payment: committed.found };
};

const SHOW_TRIES = 5;

/** Shows a withheld payment: its subscription is shown by now. */
export const publishPayment = async (deps: CollectDeps, id: string): Promise<void> => {
  const store = paymentStore(deps.table, deps.now);
  let payment = await store.loadVisible(id);
  for (let tries = 0; payment?.withheld && tries < SHOW_TRIES; tries += 1) {
    const { withheld: _, ...shown } = payment;
    const next = { ...shown, version: payment.version + 1, updatedAt: iso(deps.now()) };
    if ((await store.commit(payment, next)).ok) return;
    payment = await store.loadVisible(id);
  }
};

/** A payment as it stands; undefined while nobody could have been charged for it. */
export const findCollectedPayment = async (deps: CollectDeps, id: string): Promise<VisiblePayment | undefined> => {
  const payment = await paymentStore(deps.table, deps.now).load(id);
  return payment && isVisiblePayment(payment) ? payment : undefined;
};

/**
 * Sees to it that a payment is not charged any more, as far as that can still be: one that is under way is left alone.
 * @throws DomainError where the provider cannot be asked now.
 */
export const releasePayment = async (deps: CollectDeps, id: string): Promise<VisiblePayment | undefined> => {
  const store = paymentStore(deps.table, deps.now);
  const payment = await store.loadVisible(id);
  if (!payment || isSettled(payment.status) || payment.status === 'processing' || payment.providerInvoiceId) {
    return payment;
  }
  const provider = await deps.providers.require(payment.providerId, 'payments');
  return cancelIntent(deps, store, provider, payment, 'cancel');
};
