import { DomainError } from '../core/errors.ts';
import { instant, iso, MINUTE } from '../core/time.ts';
import { findUnattended } from '../payment-methods/use.ts';
import type { PaymentProvider } from '../providers/provider.ts';
import { isWanted } from '../subscriptions/is-wanted.ts';
import type { Table } from '../table/table.ts';
import { recordAnswer } from './answer.ts';
import { cancelAtProvider } from './cancel.ts';
import { captureApproved } from './capture-approved.ts';
import { inStatus, isUnclear, knownOf } from './changes.ts';
import { charge } from './charge.ts';
import { finishCreation } from './creation.ts';
import type { MoneyDeps } from './deps.ts';
import {
  CONFIRMATION_PERIOD_MS,
  isVisible,
  liveSecret,
  type Payment,
  type VisiblePayment,
  wantsMethodSaved,
} from './payment.ts';
import { saveMethodOf } from './save-method.ts';
import { settleDraft } from './settle-draft.ts';
import { appointmentOf, type PaymentStore, paymentStore } from './store.ts';
import { type Looked, tellIfStuck } from './stuck.ts';
import { storeRead } from './sync.ts';
import { isSettled, RESEND_WITHIN_MS, reconcileTime } from './transitions.ts';

export type AppointmentDeps = Pick<MoneyDeps, 'table' | 'now' | 'log' | 'providers'>;

/** When something that failed is tried again. */
const RETRY_MS = 5 * MINUTE;

/** Whose commit has set the next appointment. */
const OVERTAKEN = 'another came first';

/** Does what a payment's appointment is about, and sets the next one. Safe to repeat, late or twice. */
export const keepPaymentAppointment = async (deps: AppointmentDeps, paymentId: string): Promise<string> => {
  const store = paymentStore(deps.table, deps.now);
  const payment = await store.load(paymentId);
  if (!payment) return 'gone';
  try {
    const done = await keep(deps, store, payment);
    return done;
  } catch (error) {
    if (!(error instanceof DomainError)) throw error;
    // The provider or the identity of the record was against it: it comes round again, and the code says why.
    await tryAgain(deps, store, paymentId);
    return error.code;
  }
};

const keep = async (deps: AppointmentDeps, store: PaymentStore, payment: Payment): Promise<string> => {
  const now = deps.now();
  if (!isVisible(payment)) {
    await finishCreation(deps, store, await deps.providers.forPayments(payment.providerId), payment);
    return 'created';
  }
  if (payment.clientSecret !== undefined && liveSecret(payment, now) === undefined) {
    await store.removeSecret(payment);
    const rest = { ...payment, clientSecret: undefined };
    return isDue(appointmentOf(rest), now) ? keep(deps, store, rest) : 'secret removed';
  }
  if (isDue(payment.reconcileAt, now)) {
    if (payment.draft) return settle(deps, store, payment);
    if (!isSettled(payment.status)) return reconcile(deps, store, payment);
  }
  if (wantsMethodSaved(payment)) {
    const saved = await saveMethodOf(deps, payment);
    if (saved.methodNotKept) {
      await restore(store, saved);
      return 'method not kept';
    }
    if (saved === payment) await store.postpone(payment, iso(now + RETRY_MS));
    return saved === payment ? 'method not saved yet' : 'method saved';
  }
  if (hasExpired(payment, now)) return expire(deps, store, payment);
  await restore(store, payment);
  return 'nothing due';
};

/** An update whose end is unclear is settled; then the provider is asked whether the payer has acted meanwhile. */
const settle = async (deps: AppointmentDeps, store: PaymentStore, payment: VisiblePayment): Promise<string> => {
  const provider = await deps.providers.forPayments(payment.providerId);
  const { payment: settled, refusal } = await settleDraft({ deps, store, provider }, payment);
  const mayHaveActed = isUnclear(settled.status) || (provider.can.capturesOnApproval && !isSettled(settled.status));
  if (mayHaveActed) return reconcile(deps, store, settled);
  await restore(store, settled);
  return refusal ? 'update dropped' : 'updated';
};

const isDue = (at: string | undefined, now: number): boolean => at !== undefined && instant(at) <= now;

const hasExpired = (payment: VisiblePayment, now: number): boolean =>
  (payment.status === 'created' || payment.status === 'requires_payment_method') &&
  instant(payment.createdAt) + CONFIRMATION_PERIOD_MS <= now;

/** A pending payment waits for its payer for a day. */
const payerIsLate = (payment: VisiblePayment, now: number): boolean =>
  payment.status === 'pending' && instant(payment.claimedAt ?? payment.createdAt) + CONFIRMATION_PERIOD_MS <= now;

const expire = async (deps: AppointmentDeps, store: PaymentStore, payment: VisiblePayment): Promise<string> => {
  const provider = await deps.providers.forPayments(payment.providerId);
  const expired = await cancelAtProvider(deps, store, provider, payment, 'expiry');
  if (expired === payment) await scheduleNext(deps, store, payment);
  return expired.status;
};

/** Asks the provider about an unclear payment, looking up before anything is sent again. */
const reconcile = async (deps: AppointmentDeps, store: PaymentStore, payment: VisiblePayment): Promise<string> => {
  const now = deps.now();
  const provider = await deps.providers.forPayments(payment.providerId);
  const found = await provider.findPayment(knownOf(payment));
  if (found.kind !== 'done') {
    // An approval lasts a few hours: a payment that waits for the payer is looked at more often.
    if (payment.status === 'pending') await store.reschedule(payment, iso(now + RETRY_MS));
    else await scheduleNext(deps, store, payment);
    return 'provider unclear';
  }
  const stored = await storeRead(deps, store, payment, found.value, 'reconciliation');
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
      if (isUnclear(payment.status)) await scheduleNext(deps, store, payment, 'still under way');
      else await restore(store, { ...payment, reconcileAt: undefined });
      return 'unchanged';
    case 'mismatch':
      await scheduleNext(deps, store, payment);
      return 'mismatch';
  }
};

/** The payer has approved and nobody has told: what the event would have led to is done now. */
const captureNow = async (deps: AppointmentDeps, store: PaymentStore, payment: VisiblePayment): Promise<string> => {
  const captured = await captureApproved(deps, store, payment);
  return captured.kind === 'captured' ? captured.payment.status : OVERTAKEN;
};

/** A claim that the provider has not seen: sent again under its own key for a while, then given up. */
const resendOrFail = async (
  deps: AppointmentDeps,
  store: PaymentStore,
  provider: PaymentProvider,
  payment: VisiblePayment,
): Promise<string> => {
  const now = deps.now();
  const isLate = now > instant(payment.claimedAt ?? payment.createdAt) + RESEND_WITHIN_MS;
  if (isLate || !(await isWanted(deps.table, payment)) || !(await mayStillCharge(deps.table, payment))) {
    const failed = inStatus(payment, 'failed', now, 'reconciliation', { failureCode: 'processing_error' });
    await store.commit(payment, failed);
    return 'failed';
  }
  const charged = await charge(deps, store, provider, payment);
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
  deps: AppointmentDeps,
  store: PaymentStore,
  payment: VisiblePayment,
  looked: Looked = 'nobody can say',
): Promise<void> => {
  tellIfStuck(deps, payment, looked);
  const since = instant(payment.claimedAt ?? payment.createdAt);
  let step = (payment.reconcileStep ?? 0) + 1;
  while (reconcileTime(since, step) <= deps.now()) step += 1;
  await store.reschedule(payment, iso(reconcileTime(since, step)), step);
};

const tryAgain = async (deps: AppointmentDeps, store: PaymentStore, paymentId: string): Promise<void> => {
  const payment = await store.load(paymentId);
  if (!payment || !appointmentOf(payment)) return;
  tellIfStuck(deps, payment, 'nobody can say');
  await store.postpone(payment, iso(deps.now() + RETRY_MS));
};

/** The lease moved the appointment; it goes back to what the record says. */
const restore = async (store: PaymentStore, payment: VisiblePayment): Promise<void> => {
  const at = appointmentOf(payment);
  if (at === undefined) await store.dropAppointment(payment);
  else await store.postpone(payment, at);
};
