/** @module Changes a subscription's method at the payer's request, to a successor, or by removing it. */

import { requireFree } from '../../calls/exclusions.ts';
import { DomainError } from '../../core/errors.ts';
import { instant, iso } from '../../core/time.ts';
import type { PaymentMethod } from '../../payment-methods/payment-method.ts';
import { type HeldMethod, heldAs } from '../../payment-methods/usable-method.ts';
import type { TransactionStep } from '../../platform/table.ts';
import { invalidStateError, requireAnswer, subscriptionsPortOf } from '../at-provider/provider-biller.ts';
import {
  changeMethodCommand,
  recordDropped,
  resumeAtProvider,
  sendToProvider,
} from '../at-provider/provider-commands.ts';
import { findAt, syncBeforeCharge, syncFromProvider } from '../at-provider/store-report.ts';
import { startTransfer } from '../at-provider/transfer.ts';
import { type AttendedCharge, type BillingDeps, settlementOf } from '../billing/biller.ts';
import { lastRetry, nextRetry } from '../billing/dunning.ts';
import { attemptCharge } from '../billing/service-biller.ts';
import { claimChargeAttempt, type SettleOptions } from '../billing/subscription-charge.ts';
import { isLive, isProviderBilled, mayExistAtProvider, type Subscription } from '../record/subscription.ts';
import { hasOpenAttempt, isFirst, openCallsOf } from '../record/subscription-states.ts';
import { subscriptionStore } from '../record/subscription-store.ts';
import { edit, withMethod } from '../record/subscription-versions.ts';

/** Sets the method. A past-due subscription is charged immediately, and keeps the method whatever the outcome. */
export const changeMethod = async (
  deps: BillingDeps,
  subscription: Subscription,
  { method, right }: AttendedCharge,
): Promise<Subscription> => {
  if (isProviderBilled(subscription)) {
    const current = await changeAtProvider(deps, subscription, { method, right });
    if (isLive(subscription) && !isLive(current)) throw invalidStateError(current);
    const stored = await storeMethod(deps, current, method);
    // The hold lasts until the provider reports that it collects again, so the caller may repeat the call after a
    // failure.
    return stored.held && isLive(stored) ? resumeAtProvider(deps, stored, right) : stored;
  }
  const changed = await subscriptionStore(deps.table).change(
    subscription,
    (current) => {
      if (current.paymentMethodId === method.paymentMethodId) return current;
      const next = withMethod(current, method, deps.now());
      return isOwed(next) ? claimChargeAttempt(next, deps.now()) : next;
    },
    right,
  );
  const isClaimed = hasOpenAttempt(changed.charge) && !hasOpenAttempt(subscription.charge);
  if (!isClaimed || changed.status !== 'past_due') return changed;
  const charged = await attemptCharge(deps, changed, { method, right });
  // After the method was stored, the caller may have lost the right, or the organization may have been deleted.
  if (charged.error?.code === 'VERSION_CONFLICT') throw charged.error;
  if (!charged.declined && !isLive(charged.subscription)) throw invalidStateError(charged.subscription);
  return charged.subscription;
};

/**
 * Sets the method at the provider, which charges it from the next charge on, and charges an open invoice immediately.
 * The call is made even if the record already has this method, because the provider may have carried out another change
 * whose response was lost.
 * @returns the subscription as the provider has it, which may have ended there
 */
const changeAtProvider = async (
  deps: BillingDeps,
  subscription: Subscription,
  { method, right }: { readonly method: HeldMethod; readonly right?: readonly TransactionStep[] },
): Promise<Subscription> => {
  requireFree('command', openCallsOf(subscription));
  const { providerCustomerId = subscription.providerCustomerId } = method;
  const isTransfer = isLive(subscription) && providerCustomerId !== subscription.providerCustomerId;
  // If a new period may be charged, the provider is read first, so that a renewal without an event yet is not charged
  // again. A transfer itself waits for a charge that is under way.
  const isHeld = isLive(subscription) && subscription.held !== undefined;
  const read = isTransfer ? syncFromProvider : isHeld && syncBeforeCharge;
  const current = read ? await read(deps, subscription) : subscription;
  if (!isLive(current)) return current;
  if (isTransfer) return startTransfer(deps, current, { method, onlyIf: right });
  // Earlier changes may have had no response, so this write advances the lock, which gives this change a new
  // idempotency key.
  const claimed = await subscriptionStore(deps.table).change(current, (found) =>
    isLive(found) ? { ...found } : found,
  );
  if (!isLive(claimed)) return claimed;
  const { record: changed, refusal } = await sendToProvider(deps, claimed, changeMethodCommand(method, right));
  if (refusal && isLive(changed)) throw invalidStateError(changed);
  return changed;
};

const storeMethod = (deps: BillingDeps, subscription: Subscription, method: HeldMethod): Promise<Subscription> =>
  subscriptionStore(deps.table).change(subscription, (current) =>
    current.paymentMethodId === method.paymentMethodId ? current : withMethod(current, method, deps.now()),
  );

/** A subscription's method is removed without a request of the payer, and a successor may replace it. */
interface Replacement {
  readonly removedId: string;
  /** Undefined if the subscription waits for another method. */
  readonly successor: PaymentMethod | undefined;
}

/** Replaces a method, or removes it without a successor. A past-due subscription keeps its next retry. */
export const replaceMethodOf = async (
  deps: BillingDeps,
  subscription: Subscription,
  { removedId, successor }: Replacement,
): Promise<Subscription> => {
  if (!successor) return removeMethodFrom(deps, subscription, removedId);
  requireFree('command', openCallsOf(subscription));
  if (!isProviderBilled(subscription)) return storeReplacement(deps, subscription, { removedId, successor });
  const method = heldAs(successor);
  return storeMethod(deps, await changeAtProvider(deps, subscription, { method }), method);
};

const storeReplacement = (
  deps: BillingDeps,
  subscription: Subscription,
  { removedId, successor }: Replacement,
): Promise<Subscription> =>
  subscriptionStore(deps.table).change(subscription, (current) => {
    if (current.paymentMethodId !== removedId) return current;
    if (!successor) return edit(current, { reason: 'method_changed', now: deps.now() }, NO_METHOD);
    const next = withMethod(current, heldAs(successor), deps.now());
    return isOwed(next) ? withRetry(next, settlementOf(deps)) : next;
  });

const NO_METHOD = { paymentMethodId: undefined, methodRef: undefined } as const;

/**
 * Removes a method that can or may no longer be charged. It was removed here or at the provider, its owner has left the
 * organization, or its customer was deleted. If the provider bills, collection is paused there, open invoices are
 * voided, and the subscription is past due from the next period on.
 */
export const removeMethodFrom = async (
  deps: BillingDeps,
  subscription: Subscription,
  methodId: string,
): Promise<Subscription> => {
  if (!isProviderBilled(subscription)) {
    return storeReplacement(deps, subscription, { removedId: methodId, successor: undefined });
  }
  requireFree('command', openCallsOf(subscription));
  const { providerSubscriptionId } = subscription;
  // While it is unknown whether the provider has the subscription, its collection cannot be paused.
  const isUnknownThere = providerSubscriptionId === undefined && mayExistAtProvider(subscription);
  if (isUnknownThere) throw new DomainError('PAYMENT_IN_PROGRESS');
  const unpaidFrom = Math.max(deps.now(), instant(subscription.paidUntil ?? subscription.currentPeriodEnd));
  const held = { finalAt: iso(lastRetry(deps.dunning, unpaidFrom)) };
  const stored = await holdAtProvider(deps, subscription, methodId, held);
  // A report from before the pause may have ended the hold, because the provider still collected then.
  return subscriptionStore(deps.table).change(stored, (current) =>
    current.paymentMethodId === methodId
      ? edit(current, { reason: 'method_changed', now: deps.now() }, { ...NO_METHOD, held })
      : current,
  );
};

/** Stores the hold first, so that an early report of the pause is recognized as a hold. */
const holdAtProvider = async (
  deps: BillingDeps,
  subscription: Subscription,
  methodId: string,
  held: NonNullable<Subscription['held']>,
): Promise<Subscription> => {
  const stored = await subscriptionStore(deps.table).change(subscription, (current) =>
    current.paymentMethodId === methodId ? { ...current, held } : current,
  );
  if (stored.paymentMethodId === methodId) await pauseForHold(deps, stored);
  return stored;
};

/** Pauses collection that was resumed at the provider, while the record has no method that it may charge. */
export const holdAgain = async (deps: BillingDeps, subscription: Subscription): Promise<void> => {
  const claimed = await subscriptionStore(deps.table).change(subscription, (current) => ({ ...current }));
  if (claimed.held && claimed.paymentMethodId === undefined && isLive(claimed)) await pauseForHold(deps, claimed);
};

const pauseForHold = async (deps: BillingDeps, held: Subscription): Promise<void> => {
  const { id, providerSubscriptionId, lock } = held;
  if (providerSubscriptionId === undefined) return;
  const port = await subscriptionsPortOf(deps, held);
  const target = { subscriptionId: providerSubscriptionId, idempotencyKey: `${id}:hold:${lock}` };
  const outcome = await port.pause({ ...target, dropsUnpaid: true });
  if (outcome.kind === 'refused') await requireEnded(deps, held);
  else await recordDropped(deps, held, requireAnswer(outcome, held));
};

/**
 * A provider refuses to pause a subscription that has ended, which charges nothing more. It also refuses one whose first
 * invoice is under way, which can be paused as soon as that is paid.
 * @throws DomainError PAYMENT_IN_PROGRESS unless it has ended
 */
const requireEnded = async (deps: BillingDeps, refused: Subscription): Promise<void> => {
  const port = await subscriptionsPortOf(deps, refused);
  const found = requireAnswer(await findAt(port, refused.providerSubscriptionId ?? ''), refused);
  if (!found || found.status === 'canceled') return;
  throw new DomainError('PAYMENT_IN_PROGRESS');
};

/** True if the service bills the subscription and it is past due without an open attempt. */
const isOwed = ({ status, charge, billingOwner }: Subscription): boolean =>
  billingOwner === 'service' && status === 'past_due' && charge !== undefined && !hasOpenAttempt(charge);

/** Plans the next retry. A hard decline had stopped the retries, but the subscription has another method now. */
const withRetry = (subscription: Subscription, { now, policy }: SettleOptions): Subscription => {
  const { charge } = subscription;
  if (!charge?.failedAt || isFirst(charge) || charge.retryAt !== undefined) return subscription;
  const at = nextRetry(policy, instant(charge.failedAt), now);
  return at === undefined ? subscription : { ...subscription, charge: { ...charge, retryAt: iso(at) } };
};
