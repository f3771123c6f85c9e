/**
 * @module Creates, charges and cancels the payments of subscriptions. A subscription's payment uses the same records,
 * claims and keys as any other payment.
 */

import { FIRST_LOOK_MS } from '../calls/call-times.ts';
import { DomainError } from '../core/errors.ts';
import { type Instant, iso } from '../core/time.ts';
import type { UsableMethod } from '../payment-methods/usable-method.ts';
import type { TransactionStep } from '../platform/table.ts';
import type { MoneyDeps } from '../providers/provider-deps.ts';
import { unavailableError } from '../providers/unwrap.ts';
import { cancelIntent } from './cancel-intent.ts';
import { makeAttempt } from './charge-call.ts';
import { createIntent, type IntentParts } from './create-intent.ts';
import { isVisiblePayment, type Payment, type VisiblePayment } from './payment.ts';
import { claimRefusal } from './payment-decisions.ts';
import { isSettled } from './payment-states.ts';
import { paymentStore } from './payment-store.ts';
import { type ChosenMethod, claimAttempt } from './payment-versions.ts';

export type CollectDeps = Pick<MoneyDeps, 'table' | 'now' | 'log' | 'providers'>;

export type PeriodPayment = Omit<Payment, 'version' | 'status' | 'createdAt' | 'updatedAt' | 'attempt' | 'reconcileAt'>;

export interface CollectRequest {
  readonly payment: PeriodPayment;
  readonly method: UsableMethod;
  /** The number of failed attempts known to the caller. If the payment has more, no attempt is made. */
  readonly attempts: number;
  readonly onlyIf: readonly TransactionStep[];
  /** The conditions of the caller's permission; absent without a caller. If a condition fails, nothing is charged. */
  readonly right?: readonly TransactionStep[] | undefined;
}

export type CollectResult =
  | { readonly kind: 'payment'; readonly payment: VisiblePayment }
  /** The provider refused the payment. No record of the payment exists, or its record is withheld from readers. */
  | { readonly kind: 'refused'; readonly error: DomainError }
  /** The payment could not be created or claimed, or its provider did nothing. Nothing was charged. */
  | { readonly kind: 'not yet'; readonly error: DomainError };

/** Makes one attempt to charge a payment, unless the payment must not be charged or an attempt is still open. */
export const collect = async (deps: CollectDeps, wanted: CollectRequest): Promise<CollectResult> => {
  const store = paymentStore(deps.table, deps.now);
  const provider = await deps.providers.require(wanted.payment.providerId, 'payments');
  const creating = asCreating(wanted.payment, deps.now());
  const found = (await store.insertOrFind(creating)) ?? creating;
  try {
    return await attempt({ deps, store, provider }, found, { ...wanted, isFirstTry: found === creating });
  } catch (error) {
    if (!(error instanceof DomainError)) throw error;
    if (error.code === 'PROVIDER_UNAVAILABLE') return { kind: 'not yet', error };
    const stands = await store.load(found.id);
    if (!stands) return { kind: 'refused', error };
    return isVisiblePayment(stands) && !isUntried(stands, wanted)
      ? { kind: 'payment', payment: stands }
      : { kind: 'not yet', error };
  }
};

/** True if only the attempts that the caller knows were made, and another attempt may be claimed. */
const isUntried = (payment: VisiblePayment, { attempts }: CollectRequest): boolean =>
  payment.attempt === attempts && claimRefusal(payment) === undefined;

interface NewAttempt extends CollectRequest {
  readonly isFirstTry: boolean;
}

const attempt = async (parts: IntentParts, found: Payment, wanted: NewAttempt): Promise<CollectResult> => {
  const { payment: claim, before } = isVisiblePayment(found)
    ? await claimNextAttempt(parts, found, wanted)
    : await createAndClaim(parts, found, wanted);
  if (!before) return { kind: 'payment', payment: claim };
  const { withheld } = wanted.payment;
  const answer = await makeAttempt(parts, { claim, before, ...(withheld && { isAttended: true }) });
  // No reader has seen a withheld payment, so the caller gets the reason of the refusal.
  if (withheld && answer.refusal) return { kind: 'refused', error: answer.refusal };
  if (answer.notDone) throw unavailableError(answer.notDone, { payment_id: found.id });
  return { kind: 'payment', payment: answer.payment };
};

interface Attempt {
  readonly payment: VisiblePayment;
  /** The payment before this call claimed an attempt; undefined if this call claimed no attempt. */
  readonly before?: VisiblePayment | undefined;
}

/** Publishes the payment and claims its first attempt in one write. */
const createAndClaim = async (
  parts: IntentParts,
  creating: Payment,
  { isFirstTry, ...wanted }: NewAttempt,
): Promise<Attempt> => {
  const onlyIf = conditionsOf(wanted);
  const { payment, created } = await createIntent(parts, creating, { claim: chosenBy(wanted), onlyIf, isFirstTry });
  return { payment, before: created };
};

const conditionsOf = ({ onlyIf, method, right = [] }: Omit<CollectRequest, 'payment'>): readonly TransactionStep[] => [
  ...onlyIf,
  ...method.onlyIf,
  ...right,
];

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

const claimNextAttempt = async (
  { deps, store }: IntentParts,
  payment: VisiblePayment,
  wanted: CollectRequest,
): Promise<Attempt> => {
  const { record, was, isOurs, unmet } = await store.change(payment, (current) => {
    if (claimRefusal(current) !== undefined || current.attempt !== wanted.attempts) return undefined;
    const next = claimAttempt(current, chosenBy(wanted), deps.now());
    return { next, onlyIf: conditionsOf(wanted) };
  });
  if (unmet && wanted.right) throw new DomainError('VERSION_CONFLICT');
  return { payment: record, before: isOurs ? was : undefined };
};

const chosenBy = ({ method, payment: { offSession, returnUrl } }: CollectRequest): ChosenMethod => ({
  method,
  offSession,
  returnUrl,
});

/** Shows a withheld payment to its readers. Call this function after the subscription has become visible. */
export const publishPayment = async (deps: CollectDeps, id: string): Promise<void> => {
  await paymentStore(deps.table, deps.now).changeById(id, ({ withheld, ...shown }) =>
    withheld ? { ...shown, version: shown.version + 1, updatedAt: iso(deps.now()) } : undefined,
  );
};

/** Undefined until the payment's intent exists at the provider. Until then, nothing can have been charged. */
export const findCollectedPayment = (
  deps: Pick<CollectDeps, 'table' | 'now'>,
  id: string,
): Promise<VisiblePayment | undefined> => paymentStore(deps.table, deps.now).loadVisible(id);

/**
 * Cancels a payment, unless an attempt is under way or the payment belongs to a provider's invoice.
 * @throws DomainError if the provider cannot be reached now
 */
export const releasePayment = async (deps: CollectDeps, id: string): Promise<VisiblePayment | undefined> => {
  const store = paymentStore(deps.table, deps.now);
  const payment = await store.loadVisible(id);
  if (!payment || isSettled(payment.status) || payment.status === 'processing' || payment.providerInvoiceId) {
    return payment;
  }
  const provider = await deps.providers.require(payment.providerId, 'payments');
  return cancelIntent({ deps, store, provider }, payment, 'cancel');
};
