/** @module Does the due work of a payment and sets the next due time. The work may run late or twice. */

import { standingOf } from '../access/standing.ts';
import type { CallKind, LookedUp } from '../calls/call-kind.ts';
import { type LookResult, nextLook, RETRY_MS } from '../calls/call-times.ts';
import { lookUpCall } from '../calls/look-up.ts';
import { DomainError } from '../core/errors.ts';
import { instant, iso } from '../core/time.ts';
import { findUnattended } from '../payment-methods/usable-method.ts';
import { organizationKey } from '../platform/keys.ts';
import type { Table } from '../platform/table.ts';
import type { ProviderPayment } from '../providers/payment-port.ts';
import type { PaymentProvider } from '../providers/provider.ts';
import type { MoneyDeps } from '../providers/provider-deps.ts';
import { storeReading } from './apply-reading.ts';
import { cancelIntent } from './cancel-intent.ts';
import { captureApproval, claimApproval } from './capture-approval.ts';
import { CHARGE_CALL } from './charge-call.ts';
import { createIntent, type IntentParts } from './create-intent.ts';
import { hasLostPlace } from './discount-of-payment.ts';
import { checkHold } from './holds/check-hold.ts';
import { hasHoldCall, lookUpHoldCall } from './holds/hold-call.ts';
import {
  confirmationEnds,
  isVisiblePayment,
  keptSecret,
  type Payment,
  type VisiblePayment,
  wantsMethodSaved,
} from './payment.ts';
import { findMismatch } from './payment-amounts.ts';
import { mayBeStuck, nextPaymentDue, warnIfStuck } from './payment-due.ts';
import { isAhead, isSettled } from './payment-states.ts';
import { type PaymentStore, paymentStore } from './payment-store.ts';
import { isUnderWay, providerReference } from './payment-versions.ts';
import { withFactsRead } from './recorded-facts.ts';
import { saveMethod } from './save-method.ts';
import { finishUpdate } from './update-call.ts';

export interface DuePaymentDeps extends Pick<MoneyDeps, 'table' | 'now' | 'log' | 'providers' | 'ids'> {
  /** True if the payment is still the open charge of its subscription, or has no subscription. */
  readonly isChargeOpen: (payment: Pick<VisiblePayment, 'id' | 'subscriptionId'>) => Promise<boolean>;
}

/** Another commit was faster and has set the next due time. */
const OVERTAKEN = 'another write came first';

export const runDuePayment = async (deps: DuePaymentDeps, paymentId: string): Promise<string> => {
  const store = paymentStore(deps.table, deps.now);
  const payment = await store.load(paymentId);
  if (!payment) return 'gone';
  try {
    const provider = () => deps.providers.require(payment.providerId, 'payments');
    return isVisiblePayment(payment)
      ? await runVisible({ deps, store, provider }, payment)
      : await finishCreation({ deps, store, provider }, payment);
  } catch (error) {
    if (!(error instanceof DomainError)) throw error;
    // The result for the log is the refusal's code. The work is retried later.
    await retryLater(deps, store, paymentId);
    return error.code;
  }
};

/** `provider` opens the provider only when needed. */
interface DueParts {
  readonly deps: DuePaymentDeps;
  readonly store: PaymentStore;
  readonly provider: () => Promise<PaymentProvider>;
}

interface OpenParts extends IntentParts {
  readonly deps: DuePaymentDeps;
}

const open = async ({ deps, store, provider }: DueParts): Promise<OpenParts> => ({
  deps,
  store,
  provider: await provider(),
});

const finishCreation = async (parts: DueParts, payment: Payment): Promise<string> => {
  await createIntent(await open(parts), payment);
  return 'created';
};

const runVisible = async (parts: DueParts, payment: VisiblePayment): Promise<string> => {
  const { deps, store } = parts;
  const now = deps.now();
  if (payment.clientSecret !== undefined && keptSecret(payment, now) === undefined) {
    await store.setTimes(payment, { clientSecret: undefined });
    const rest = { ...payment, clientSecret: undefined };
    return isDue(nextPaymentDue(rest), now) ? runVisible(parts, rest) : 'secret removed';
  }
  if (isDue(payment.reconcileAt, now) && payment.draft) return settleDraft(await open(parts), payment);
  // The expiry of a reserved use or place comes before the lookup. Otherwise, the frequent lookups of a pending payment
  // would always come first.
  if (hasLostPlace(payment, now)) return expire(await open(parts), payment);
  if (isDue(payment.reconcileAt, now)) {
    if (!isSettled(payment.status)) return lookForOutcome(await open(parts), payment);
  }
  if (payment.status === 'requires_capture' && isDue(payment.holdCheckAt, now))
    return checkHold(await open(parts), payment);
  if (wantsMethodSaved(payment)) return saveMethodFirst(parts, payment);
  if (isDue(payment.factsAt, now)) return lookForFacts(parts, payment);
  if (hasExpired(payment, now)) return expire(await open(parts), payment);
  await resetDue(store, payment);
  return 'nothing due';
};

const lookForOutcome = (parts: OpenParts, payment: VisiblePayment): Promise<string> =>
  hasHoldCall(payment) ? lookUpHoldCall(parts, payment) : reconcile(parts, payment);

/** Saves the method before the read for facts, which then uses the new version. */
const saveMethodFirst = async (parts: DueParts, payment: VisiblePayment): Promise<string> => {
  const saved = await saveMethodNow(parts, payment);
  if (!isDue(payment.factsAt, parts.deps.now())) return saved;
  const current = await parts.store.load(payment.id);
  return current && isVisiblePayment(current) ? lookForFacts(parts, current) : saved;
};

/**
 * Reads the record's missing facts. Counts the look first, so a failed look counts too. Stores a later status,
 * because money may have moved, and ignores an earlier status.
 */
const lookForFacts = async ({ deps, store, provider }: DueParts, payment: VisiblePayment): Promise<string> => {
  const claimed = await store.claimFactLook(payment);
  if (!claimed) return OVERTAKEN;
  const found = await (await provider()).findPayment({ ...providerReference(claimed), withSettlement: true });
  if (found.kind !== 'done') return 'facts unclear';
  const report = found.value;
  if (isAhead(claimed.status, report.status)) {
    return (await storeReading(deps, store, { payment: claimed, report, cause: 'reconciliation' })).outcome;
  }
  if (report.status !== claimed.status || findMismatch(claimed, report)) return 'no facts';
  const { isOurs } = await store.change(claimed, (current) =>
    current.status === report.status ? withFactsRead(current, report, deps.now()) : undefined,
  );
  return isOurs ? 'facts' : 'no facts';
};

const saveMethodNow = async ({ deps, store }: DueParts, payment: VisiblePayment): Promise<string> => {
  const saved = await saveMethod(deps, payment);
  if (saved.methodNotKept) {
    await resetDue(store, saved);
    return 'method not kept';
  }
  if (saved !== payment) return 'method saved';
  await store.putOff(payment, iso(deps.now() + RETRY_MS));
  return 'method not saved yet';
};

/** Settles an update with an unknown outcome. Then reads the provider if the payer may have acted since. */
const settleDraft = async (parts: OpenParts, payment: VisiblePayment): Promise<string> => {
  const { payment: settled, refusal } = await finishUpdate(parts, payment);
  const { capturesOnApproval } = parts.provider.can;
  const mayHaveActed = isUnderWay(settled.status) || (capturesOnApproval && !isSettled(settled.status));
  if (mayHaveActed) return reconcile(parts, settled);
  await resetDue(parts.store, settled);
  return refusal ? 'update dropped' : 'updated';
};

const isDue = (at: string | undefined, now: number): boolean => at !== undefined && instant(at) <= now;

const hasExpired = (payment: VisiblePayment, now: number): boolean =>
  (payment.status === 'created' || payment.status === 'requires_payment_method') &&
  confirmationEnds(payment, payment.createdAt) <= now;

/**
 * True if a pending payment has waited too long for its payer. It waits for a day, or until its link expires if that is
 * later.
 */
const payerIsLate = (payment: VisiblePayment, now: number): boolean =>
  payment.status === 'pending' && confirmationEnds(payment, payment.claimedAt ?? payment.createdAt) <= now;

const expire = async (parts: OpenParts, payment: VisiblePayment): Promise<string> => {
  const expired = await cancelIntent(parts, payment, 'expiry');
  if (expired === payment) await scheduleNext(parts, payment);
  return expired.status;
};

const reconcile = async (parts: OpenParts, payment: VisiblePayment): Promise<string> =>
  (await lookUpCall(DUE_CHARGE, parts, payment)).text;

const DUE_CHARGE: CallKind<OpenParts, VisiblePayment, VisiblePayment, ProviderPayment, ProviderPayment | undefined> &
  LookedUp<OpenParts, VisiblePayment, VisiblePayment> = {
  ...CHARGE_CALL,
  find: ({ provider }, claim) => provider.findPayment(providerReference(claim)),
  apply: async (parts, claim, said) => {
    if (said.by !== 'look' || !said.report) return CHARGE_CALL.apply(parts, claim, said);
    const says = await storeFound(parts, claim, said.report);
    return says === NOT_REACHED ? { state: 'absent', record: claim } : { state: 'settled', record: claim, says };
  },
  claimedAt: ({ claimedAt, createdAt }) => instant(claimedAt ?? createdAt),
  step: ({ reconcileStep = 0 }) => reconcileStep,
  maySend: async ({ deps }, claim) => (await deps.isChargeOpen(claim)) && (await mayStillCharge(deps.table, claim)),
  // An approval lasts only a few hours, so a payment that waits for its payer is read more often.
  setLook: async ({ deps, store }, claim, { at, step, looked }) => {
    const waitsForPayer = claim.status === 'pending' && looked === 'outcome_unknown';
    await (waitsForPayer
      ? store.reschedule(claim, iso(deps.now() + RETRY_MS))
      : store.reschedule(claim, iso(at), step));
    return undefined;
  },
  stuck: (claim) =>
    mayBeStuck(claim) ? ['payment stuck', { payment_id: claim.id, provider: claim.providerId }] : undefined,
  statusOf: ({ status }) => status,
};

/** The provider has not received the attempt. */
const NOT_REACHED = 'not reached';

/** @returns the result for the log, or NOT_REACHED */
const storeFound = async (parts: OpenParts, payment: VisiblePayment, report: ProviderPayment): Promise<string> => {
  const { deps, store } = parts;
  const stored = await storeReading(deps, store, { payment, report, cause: 'reconciliation' });
  const isTrue = stored.outcome !== 'overtaken' && stored.outcome !== 'mismatch';
  if (report.awaitsCapture && isTrue && stored.payment.status === 'pending') {
    return captureNow(parts, stored.payment);
  }
  switch (stored.outcome) {
    case 'overtaken':
      return OVERTAKEN;
    case 'stored':
      return stored.payment.status;
    case 'not reached':
      return NOT_REACHED;
    case 'same':
      return keepWaiting(parts, payment);
    case 'mismatch':
      await scheduleNext(parts, payment);
      return 'mismatch';
  }
};

const keepWaiting = async (parts: OpenParts, payment: VisiblePayment): Promise<string> => {
  const now = parts.deps.now();
  const isLate = payerIsLate(payment, now) && !payment.providerInvoiceId;
  if (isLate || hasExpired(payment, now)) return expire(parts, payment);
  if (isUnderWay(payment.status)) await scheduleNext(parts, payment, 'still_under_way');
  else await parts.store.setTimes(payment, { reconcileAt: undefined, reconcileStep: undefined });
  return 'unchanged';
};

/** Captures the payment as an approval event would, because the payer has approved but no event has arrived. */
const captureNow = async (parts: OpenParts, payment: VisiblePayment): Promise<string> => {
  const { deps, store } = parts;
  const { record, was, isOurs, unmet } = await store.change(payment, (current) =>
    current.version === payment.version ? claimApproval(current, deps.now()) : undefined,
  );
  if (unmet) return keepWaiting(parts, payment);
  return isOurs ? (await captureApproval({ deps, store }, record, was)).status : OVERTAKEN;
};

/** True if the organization and the attempt's method still exist, and the method's owner is still a member. */
const mayStillCharge = async (table: Table, payment: VisiblePayment): Promise<boolean> => {
  const { organizationId, methodRef } = payment;
  if (organizationId !== undefined) {
    const organization = await table.get(organizationKey(organizationId));
    if (!standingOf(organizationId, organization, undefined).exists) return false;
  }
  return methodRef === undefined || (await findUnattended(table, payment, payment)) !== undefined;
};

const scheduleNext = async (
  { deps, store }: Pick<OpenParts, 'deps' | 'store'>,
  payment: VisiblePayment,
  looked: LookResult = 'outcome_unknown',
): Promise<void> => {
  warnIfStuck(deps, payment, looked);
  const { at, step } = nextLook(DUE_CHARGE.claimedAt(payment), payment.reconcileStep ?? 0, deps.now());
  await store.reschedule(payment, iso(at), step);
};

const retryLater = async (deps: DuePaymentDeps, store: PaymentStore, paymentId: string): Promise<void> => {
  const payment = await store.load(paymentId);
  if (!payment || !nextPaymentDue(payment)) return;
  warnIfStuck(deps, payment, 'outcome_unknown');
  await store.putOff(payment, iso(deps.now() + RETRY_MS));
};

/** Recomputes the due time from the record, because the lease has moved the due time. */
const resetDue = async (store: PaymentStore, payment: VisiblePayment): Promise<void> => {
  await store.setTimes(payment, {});
};
