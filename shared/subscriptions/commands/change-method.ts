/** @module Changes a subscription's method to the payer's choice, to a successor, or to none. */

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

/** Sets the method. Charges a past-due subscription immediately, and keeps the method even after a decline. */
export const changeMethod = async (
  deps: BillingDeps,
  subscription: Subscription,
  { method, right }: AttendedCharge,
): Promise<Subscription> => {
  if (isProviderBilled(subscription)) {
    const current = await changeAtProvider(deps, subscription, { method, right });
    if (isLive(subscription) && !isLive(current)) throw invalidStateError(current);
    const stored = await storeMethod(deps, current, method);
    // The hold ends only once the provider reports collection, so the caller can retry after a failure.
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
  // Once the method is stored, the caller may have lost the right, or the organization may have been deleted.
  if (charged.error?.code === 'VERSION_CONFLICT') throw charged.error;
  if (!charged.declined && !isLive(charged.subscription)) throw invalidStateError(charged.subscription);
  return charged.subscription;
};

/**
 * Sets the method for future charges at the provider, and charges an open invoice immediately. Calls the provider even
 * if the record already has this method, because another change may have succeeded there without a response.
 * @returns the provider's current state; the subscription may have ended there
 */
const changeAtProvider = async (
  deps: BillingDeps,
  subscription: Subscription,
  { method, right }: { readonly method: HeldMethod; readonly right?: readonly TransactionStep[] },
): Promise<Subscription> => {
  requireFree('command', openCallsOf(subscription));
  const { providerCustomerId = subscription.providerCustomerId } = method;
  const isTransfer = isLive(subscription) && providerCustomerId !== subscription.providerCustomerId;
  // Before a new period may be charged, read the provider to find a renewal without an event yet. A transfer itself
  // waits for a charge in progress.
  const isHeld = isLive(subscription) && subscription.held !== undefined;
  const read = isTransfer ? syncFromProvider : isHeld && syncBeforeCharge;
  const current = read ? await read(deps, subscription) : subscription;
  if (!isLive(current)) return current;
  if (isTransfer) return startTransfer(deps, current, { method, onlyIf: right });
  // Earlier changes may have had no response. This write advances the lock, so this change gets a new idempotency key.
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

/** A removal not requested by the payer, with an optional successor. */
interface Replacement {
  readonly removedId: string;
  /** Undefined if the subscription must wait for another method. */
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
 * Removes a method that can or may no longer be charged, because it was deleted here or at the provider, its owner left
 * the organization, or its customer was deleted. A billing provider pauses collection and voids open invoices, and the
 * subscription becomes past due in the next period.
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
  // Collection cannot be paused while it is unknown whether the provider has the subscription.
  const isUnknownThere = providerSubscriptionId === undefined && mayExistAtProvider(subscription);
  if (isUnknownThere) throw new DomainError('PAYMENT_IN_PROGRESS');
  const unpaidFrom = Math.max(deps.now(), instant(subscription.paidUntil ?? subscription.currentPeriodEnd));
  const held = { finalAt: iso(lastRetry(deps.dunning, unpaidFrom)) };
  const stored = await holdAtProvider(deps, subscription, methodId, held);
  // A report from before the pause may have cleared the hold, so store it again.
  return subscriptionStore(deps.table).change(stored, (current) =>
    current.paymentMethodId === methodId
      ? edit(current, { reason: 'method_changed', now: deps.now() }, { ...NO_METHOD, held })
      : current,
  );
};

/**
 * Stores the hold, then pauses collection. The hold is stored first, so that an early report of the pause is recognized
 * as a hold.
 */
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

/** Pauses collection again if the provider resumed it while the record has no method to charge. */
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
 * After a refused pause, checks whether the subscription has ended at the provider, where it charges nothing more.
 * Otherwise its first invoice is in progress, and the pause may be retried once that invoice is paid.
 * @throws DomainError PAYMENT_IN_PROGRESS unless it has ended
 */
const requireEnded = async (deps: BillingDeps, refused: Subscription): Promise<void> => {
  const port = await subscriptionsPortOf(deps, refused);
  const found = requireAnswer(await findAt(port, refused.providerSubscriptionId ?? ''), refused);
  if (!found || found.status === 'canceled') return;
  throw new DomainError('PAYMENT_IN_PROGRESS');
};

/** True if the subscription is service-billed and past due without an open attempt. */
const isOwed = ({ status, charge, billingOwner }: Subscription): boolean =>
  billingOwner === 'service' && status === 'past_due' && charge !== undefined && !hasOpenAttempt(charge);

/** Plans the next retry with the new method, because a hard decline of the old method had stopped the retries. */
const withRetry = (subscription: Subscription, { now, policy }: SettleOptions): Subscription => {
  const { charge } = subscription;
  if (!charge?.failedAt || isFirst(charge) || charge.retryAt !== undefined) return subscription;
  const at = nextRetry(policy, instant(charge.failedAt), now);
  return at === undefined ? subscription : { ...subscription, charge: { ...charge, retryAt: iso(at) } };
};
