import { DomainError } from '../core/errors.ts';
import { type Instant, iso } from '../core/time.ts';
import type { PaymentProvider } from '../providers/provider.ts';
import type { TransactionStep } from '../table/table.ts';
import { recordAnswer } from './answer.ts';
import { cancelAtProvider } from './cancel.ts';
import { claimed } from './changes.ts';
import { charge } from './charge.ts';
import { finishCreation } from './creation.ts';
import type { MoneyDeps } from './deps.ts';
import { isVisible, type Payment, type VisiblePayment } from './payment.ts';
import { FIRST_LOOK_MS, type PaymentStore, paymentStore } from './store.ts';
import { claimRefusal, isSettled } from './transitions.ts';

/** Payments that the service itself decides on (a subscription's): the same records, claims and keys as anybody's. */
export type CollectDeps = Pick<MoneyDeps, 'table' | 'now' | 'log' | 'providers'>;

export type WantedPayment = Omit<Payment, 'version' | 'status' | 'createdAt' | 'updatedAt' | 'attempt' | 'reconcileAt'>;

export interface Wanted {
  /** As it is to be created, should it not be there yet; and what the attempt is made with. */
  readonly payment: WantedPayment;
  /** Attempts whose failure is known: one more is made only where there have been no others. */
  readonly attempts: number;
  /** What must hold at the very moment in which the attempt is claimed. */
  readonly onlyIf: readonly TransactionStep[];
}

export type Collected =
  | { readonly kind: 'payment'; readonly payment: VisiblePayment }
  /** The provider would not even have it: nothing is there. */
  | { readonly kind: 'refused'; readonly error: DomainError }
  /** It could not be created yet: nothing was charged. */
  | { readonly kind: 'not yet'; readonly error: DomainError };

/** Makes one attempt at a payment, unless one is under way, has come to an end that is not known yet, or was enough. */
export const collect = async (deps: CollectDeps, wanted: Wanted): Promise<Collected> => {
  const store = paymentStore(deps.table, deps.now);
  const provider = await deps.providers.forPayments(wanted.payment.providerId);
  const creating = asCreating(wanted.payment, deps.now());
  const found = (await store.insertOrFind(creating)) ?? creating;
  try {
    const attempt = isVisible(found)
      ? await claimOne(deps, store, found, wanted)
      : await createClaimed(deps, store, provider, found, wanted);
    if (!attempt.claimed) return { kind: 'payment', payment: attempt.payment };
    const charged = await charge(deps, store, provider, attempt.payment);
    const answer = await recordAnswer(deps, store, provider, charged.payment, charged.outcome);
    return { kind: 'payment', payment: answer.payment };
  } catch (error) {
    if (!(error instanceof DomainError)) throw error;
    const stands = await store.load(found.id);
    if (!stands) return { kind: 'refused', error };
    return isVisible(stands) ? { kind: 'payment', payment: stands } : { kind: 'not yet', error };
  }
};

interface Attempt {
  readonly claimed: boolean;
  readonly payment: VisiblePayment;
}

/** It comes into sight with its first attempt claimed: one write for both. */
const createClaimed = async (
  deps: CollectDeps,
  store: PaymentStore,
  provider: PaymentProvider,
  creating: Payment,
  { payment: wanted, onlyIf }: Wanted,
): Promise<Attempt> => {
  let claim: VisiblePayment | undefined;
  const as = (created: VisiblePayment): VisiblePayment => {
    claim = { ...claimed(created, wanted, deps.now()), version: created.version };
    return claim;
  };
  const payment = await finishCreation(deps, store, provider, creating, { as, onlyIf });
  return { claimed: payment === claim, payment };
};

const asCreating = (wanted: WantedPayment, now: Instant): Payment => ({
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
  { payment: wanted, attempts, onlyIf }: Wanted,
): Promise<Attempt> => {
  if (claimRefusal(payment) !== undefined || payment.attempt !== attempts) return { claimed: false, payment };
  const next = claimed(payment, wanted, deps.now());
  const committed = await store.commit(payment, next, onlyIf);
  if (committed.ok) return { claimed: true, payment: next };
  if (!committed.found || !isVisible(committed.found)) throw new DomainError('VERSION_CONFLICT');
  return { claimed: false, payment: committed.found };
};

const SHOW_TRIES = 5;

/** Shows a withheld payment: its subscription is shown by now. */
export const showPayment = async (deps: CollectDeps, id: string): Promise<void> => {
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
export const collectedPayment = async (deps: CollectDeps, id: string): Promise<VisiblePayment | undefined> => {
  const payment = await paymentStore(deps.table, deps.now).load(id);
  return payment && isVisible(payment) ? payment : undefined;
};

/**
 * Sees to it that a payment is not charged any more, as far as that can still be: one that is under way is left alone.
 * @throws DomainError where the provider cannot be asked now.
 */
export const letGo = async (deps: CollectDeps, id: string): Promise<VisiblePayment | undefined> => {
  const store = paymentStore(deps.table, deps.now);
  const payment = await store.loadVisible(id);
  if (!payment || isSettled(payment.status) || payment.status === 'processing' || payment.providerInvoiceId) {
    return payment;
  }
  const provider = await deps.providers.forPayments(payment.providerId);
  return cancelAtProvider(deps, store, provider, payment, 'cancel');
};
