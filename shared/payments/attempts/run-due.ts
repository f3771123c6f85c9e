import { DomainError } from '../../core/errors.ts';
import { instant, iso, MINUTE } from '../../core/time.ts';
import { findUnattended } from '../../payment-methods/use.ts';
import type { PaymentProvider } from '../../providers/port/provider.ts';
import type { MoneyDeps } from '../../providers/registry/deps.ts';
import type { Table } from '../../table/table.ts';
import { type LookupResult, nextPaymentDue, RESEND_WITHIN_MS, reconcileTime, warnIfStuck } from '../record/due.ts';
import {
  CONFIRMATION_PERIOD_MS,
  isVisiblePayment,
  liveSecret,
  type Payment,
  type VisiblePayment,
  wantsMethodSaved,
} from '../record/payment.ts';
import { isSettled } from '../record/states.ts';
import { type PaymentStore, paymentStore } from '../record/store.ts';
import { advance, isUnderWay, providerReference } from '../record/versions.ts';
import { recordAnswer } from './answer.ts';
import { captureApproval, chargeAttempt } from './attempt.ts';
import { cancelIntent } from './cancel-intent.ts';
import { createIntent } from './create-intent.ts';
import { storeReading } from './reconcile.ts';
import { saveMethod } from './save-method.ts';
import { finishUpdate } from './update-intent.ts';

export interface DuePaymentDeps extends Pick<MoneyDeps, 'table' | 'now' | 'log' | 'providers'> {
  /** The subscription of the payment still wants it collected; true where the payment has no subscription. */
  readonly isChargeOpen: (payment: Pick<VisiblePayment, 'id' | 'subscriptionId'>) => Promise<boolean>;
}

/** When something that failed is tried again. */
const RETRY_MS = 5 * MINUTE;

/** Whose commit has set the next appointment. */
const OVERTAKEN = 'another came first';

/** Does what a payment's appointment is about, and sets the next one. Safe to repeat, late or twice. */
export const runDuePayment = async (deps: DuePaymentDeps, paymentId: string): Promise<string> => {
  const store = paymentStore(deps.table, deps.now);
  const payment = await store.load(paymentId);
  if (!payment) return 'gone';
  try {
    const done = await keep(deps, store, payment);
    return done;
  } catch (error) {
    if (!(error instanceof DomainError)) throw error;
    // The provider or the identity of the record was against it: it comes round again, and the code says why.
    await retryLater(deps, store, paymentId);
    return error.code;
  }
};

const keep = async (deps: DuePaymentDeps, store: PaymentStore, payment: Payment): Promise<string> => {
  const now = deps.now();
  if (!isVisiblePayment(payment)) {
    await createIntent(deps, store, await deps.providers.require(payment.providerId, 'payments'), payment);
    return 'created';
  }
  if (payment.clientSecret !== undefined && liveSecret(payment, now) === undefined) {
    await store.removeSecret(payment);
    const rest = { ...payment, clientSecret: undefined };
    return isDue(nextPaymentDue(rest), now) ? keep(deps, store, rest) : 'secret removed';
  }
  if (isDue(payment.reconcileAt, now)) {
    if (payment.draft) return settle(deps, store, payment);
    if (!isSettled(payment.status)) return reconcile(deps, store, payment);
  }
  if (wantsMethodSaved(payment)) {
    const saved = await saveMethod(deps, payment);
    if (saved.methodNotKept) {
      await resetDue(store, saved);
      return 'method not kept';
    }
    if (saved === payment) await store.postpone(payment, iso(now + RETRY_MS));
    return saved === payment ? 'method not saved yet' : 'method saved';
  }
  if (hasExpired(payment, now)) return expire(deps, store, payment);
  await resetDue(store, payment);
  return 'nothing due';
};

/** An update whose end is unclear is settled; then the provider is asked whether the payer has acted meanwhile. */
const settle = async (deps: DuePaymentDeps, store: PaymentStore, payment: VisiblePayment): Promise<string> => {
  const provider = await deps.providers.require(payment.providerId, 'payments');
  const { payment: settled, refusal } = await finishUpdate({ deps, store, provider }, payment);
  const mayHaveActed = isUnderWay(settled.status) || (provider.can.capturesOnApproval && !isSettled(settled.status));
  if (mayHaveActed) return reconcile(deps, store, settled);
  await resetDue(store, settled);
  return refusal ? 'update dropped' : 'updated';
};

const isDue = (at: string | undefined, now: number): boolean => at !== undefined && instant(at) <= now;

const hasExpired = (payment: VisiblePayment, now: number): boolean =>
  (payment.status === 'created' || payment.status === 'requires_payment_method') &&
  instant(payment.createdAt) + CONFIRMATION_PERIOD_MS <= now;

/** A pending payment waits for its payer for a day. */
const payerIsLate = (payment: VisiblePayment, now: number): boolean =>
  payment.status === 'pending' && instant(payment.claimedAt ?? payment.createdAt) + CONFIRMATION_PERIOD_MS <= now;

const expire = async (deps: DuePaymentDeps, store: PaymentStore, payment: VisiblePayment): Promise<string> => {
  const provider = await deps.providers.require(payment.providerId, 'payments');
  const expired = await cancelIntent(deps, store, provider, payment, 'expiry');
  if (expired === payment) await scheduleNext(deps, store, payment);
  return expired.status;
};

/** Asks the provider about an unclear payment, looking up before anything is sent again. */
const reconcile = async (deps: DuePaymentDeps, store: PaymentStore, payment: VisiblePayment): Promise<string> => {
  const now = deps.now();
  const provider = await deps.providers.require(payment.providerId, 'payments');
  const found = await provider.findPayment(providerReference(payment));
  if (found.kind !== 'done') {
    // An approval lasts a few hours: a payment that waits for the payer is looked at more often.
    if (payment.status === 'pending') await store.reschedule(payment, iso(now + RETRY_MS));
    else await scheduleNext(deps, store, payment);
    return 'provider unclear';
  }
  const stored = await storeReading(deps, store, payment, found.value, 'reconciliation');
  const isTrue = stored.outcome !== 'overtaken' && stored.outcome !== 'mismatch';
  if (found.value.awaitsCapture && isTrue && stored.payment.status === 'pending') {
    return captureNow(deps, store, stored.payment);
  }
  switch (stored.outcome) {
    case 'overtaken':
      return OVERTAKEN;
    case 'stored':
      return stored.payment.status;
    case 'not reached':
      return resendOrFail(deps, store, provider, payment);
    case 'same':
      if (payerIsLate(payment, now) && !payment.providerInvoiceId) return expire(deps, store, payment);
      if (isUnderWay(payment.status)) await scheduleNext(deps, store, payment, 'still under way');
      else await resetDue(store, { ...payment, reconcileAt: undefined });
      return 'unchanged';
    case 'mismatch':
      await scheduleNext(deps, store, payment);
      return 'mismatch';
  }
};

/** The payer has approved and nobody has told: what the event would have led to is done now. */
const captureNow = async (deps: DuePaymentDeps, store: PaymentStore, payment: VisiblePayment): Promise<string> => {
  const captured = await captureApproval(deps, store, payment);
  return captured.kind === 'captured' ? captured.payment.status : OVERTAKEN;
};

/** A claim that the provider has not seen: sent again under its own key for a while, then given up. */
const resendOrFail = async (
  deps: DuePaymentDeps,
  store: PaymentStore,
  provider: PaymentProvider,
  payment: VisiblePayment,
): Promise<string> => {
  const now = deps.now();
  const isLate = now > instant(payment.claimedAt ?? payment.createdAt) + RESEND_WITHIN_MS;
  if (isLate || !(await deps.isChargeOpen(payment)) || !(await mayStillCharge(deps.table, payment))) {
    const failed = advance(payment, 'failed', now, 'reconciliation', { failureCode: 'processing_error' });
    await store.commit(payment, failed);
    return 'failed';
  }
  const charged = await chargeAttempt(deps, store, provider, payment);
  // This call did nothing; the one before may have arrived since, so the claim stands.
  if (charged.outcome.kind === 'not_done') {
    await scheduleNext(deps, store, charged.payment);
    return 'not sent';
  }
  const answer = await recordAnswer(deps, { store, provider }, charged.payment, charged.outcome);
  if (answer.payment === charged.payment) await scheduleNext(deps, store, charged.payment);
  return answer.payment.status;
};

/** What the attempt charges is still there, and still lent. */
const mayStillCharge = async (table: Table, payment: VisiblePayment): Promise<boolean> =>
  payment.methodRef === undefined || (await findUnattended(table, payment, payment)) !== undefined;

const scheduleNext = async (
  deps: DuePaymentDeps,
  store: PaymentStore,
  payment: VisiblePayment,
  looked: LookupResult = 'nobody can say',
): Promise<void> => {
  warnIfStuck(deps, payment, looked);
  const since = instant(payment.claimedAt ?? payment.createdAt);
  let step = (payment.reconcileStep ?? 0) + 1;
  while (reconcileTime(since, step) <= deps.now()) step += 1;
  await store.reschedule(payment, iso(reconcileTime(since, step)), step);
};

const retryLater = async (deps: DuePaymentDeps, store: PaymentStore, paymentId: string): Promise<void> => {
  const payment = await store.load(paymentId);
  if (!payment || !nextPaymentDue(payment)) return;
  warnIfStuck(deps, payment, 'nobody can say');
  await store.postpone(payment, iso(deps.now() + RETRY_MS));
};

/** The lease moved the appointment; it goes back to what the record says. */
const resetDue = async (store: PaymentStore, payment: VisiblePayment): Promise<void> => {
  const at = nextPaymentDue(payment);
  if (at === undefined) await store.dropAppointment(payment);
  else await store.postpone(payment, at);
};
