import { DomainError } from '../../core/errors.ts';
import { instant, iso } from '../../core/time.ts';
import type { PaymentMethod } from '../../payment-methods/payment-method.ts';
import { type HeldMethod, heldAs, type UsableMethod } from '../../payment-methods/use.ts';
import type { BillingDeps } from '../billing/biller.ts';
import { claimAttempt } from '../billing/charge.ts';
import { type DunningPolicy, lastRetry, nextRetry } from '../billing/dunning.ts';
import { isPaidFor } from '../billing/periods.ts';
import {
  carryOutAtProvider,
  changeMethodCommand,
  resumeCommand,
  resumeInNewPeriod,
  sendToProvider,
} from '../provider-billed/commands.ts';
import { invalidStateError, requireDone, subscriptionsPortOf } from '../provider-billed/port.ts';
import { syncFromProvider } from '../provider-billed/sync.ts';
import { startTransfer } from '../provider-billed/transfer.ts';
import { hasOpenAttempt, isFirst } from '../record/states.ts';
import { subscriptionStore } from '../record/store.ts';
import { isLive, isProviderBilled, mayExistAtProvider, type Subscription } from '../record/subscription.ts';
import { edit } from '../record/versions.ts';
import { attemptCharge } from '../service-billed/collect.ts';

/** Charged with it from now on; what is past due is tried with it at once, and whatever comes of that, it stays. */
export const changeMethod = async (
  deps: BillingDeps,
  subscription: Subscription,
  method: UsableMethod,
): Promise<Subscription> => {
  const store = subscriptionStore(deps.table);
  if (isProviderBilled(subscription)) {
    const told = await tellOfMethod(deps, subscription, method);
    if (isLive(subscription) && !isLive(told)) throw invalidStateError(told);
    return withMethodOf(deps, told, method);
  }
  const changed = await store.change(subscription, (current) => {
    if (current.paymentMethodId === method.paymentMethodId) return current;
    const next = edit(current, 'method_changed', deps.now(), methodFields(current, method));
    return isOwed(next) ? claimAttempt(next, deps.now()) : next;
  });
  const isClaimed = hasOpenAttempt(changed.charge) && !hasOpenAttempt(subscription.charge);
  if (!isClaimed || changed.status !== 'past_due') return changed;
  const { subscription: tried } = await attemptCharge(deps, store, changed, { method, attended: true });
  return tried;
};

/**
 * The provider charges the method from the next time on, and tries an open invoice with it at once.
 * @returns the subscription as the provider has it: it may be over there
 */
const tellOfMethod = async (
  deps: BillingDeps,
  subscription: Subscription,
  method: HeldMethod,
): Promise<Subscription> => {
  if (subscription.paymentMethodId === method.paymentMethodId) return subscription;
  if (subscription.transfer) throw new DomainError('PAYMENT_IN_PROGRESS');
  const store = subscriptionStore(deps.table);
  const { providerCustomerId: payer = subscription.providerCustomerId } = method;
  const isOthers = payer !== subscription.providerCustomerId;
  // A renewal that nobody has told of yet is not charged once more.
  const stands = isLive(subscription) && isOthers ? await syncFromProvider(deps, store, subscription) : subscription;
  if (isLive(stands) && isOthers) return startTransfer(deps, stands, method);
  if (!isLive(stands)) return stands;
  const { subscription: told, isDone } = await sendToProvider(deps, stands, changeMethodCommand(method));
  if (!isDone && isLive(told)) throw invalidStateError(told);
  return told;
};

const withMethodOf = async (
  deps: BillingDeps,
  subscription: Subscription,
  method: HeldMethod,
): Promise<Subscription> => {
  const changed = await subscriptionStore(deps.table).change(subscription, (current) =>
    current.paymentMethodId === method.paymentMethodId
      ? current
      : edit(current, 'method_changed', deps.now(), methodFields(current, method)),
  );
  return changed.held && isLive(changed) ? release(deps, changed) : changed;
};

/** Another method takes a gone one's place, unasked: what is past due waits for its next retry. */
export const replaceMethodOf = async (
  deps: BillingDeps,
  subscription: Subscription,
  goneId: string,
  heir: PaymentMethod | undefined,
): Promise<Subscription> => {
  if (subscription.transfer) throw new DomainError('PAYMENT_IN_PROGRESS');
  const next = heir && heldAs(heir);
  if (next && isProviderBilled(subscription))
    return withMethodOf(deps, await tellOfMethod(deps, subscription, next), next);
  return replaceMethod(deps, subscription, goneId, next);
};

const replaceMethod = (
  deps: BillingDeps,
  subscription: Subscription,
  goneId: string,
  heir: HeldMethod | undefined,
): Promise<Subscription> =>
  subscriptionStore(deps.table).change(subscription, (current) => {
    if (current.paymentMethodId !== goneId) return current;
    const fields = heir ? methodFields(current, heir) : { paymentMethodId: undefined, methodRef: undefined };
    const next = edit(current, 'method_changed', deps.now(), fields);
    return heir && isOwed(next) ? withRetry(next, deps.now(), deps.dunning) : next;
  });

/**
 * The member whose own method paid has left the organization: nothing is charged to it any more. Where the provider
 * bills, collection is held back there; from the next period on the subscription is past due.
 */
export const endLending = async (
  deps: BillingDeps,
  subscription: Subscription,
  methodId: string,
): Promise<Subscription> => {
  if (!isProviderBilled(subscription)) return replaceMethod(deps, subscription, methodId, undefined);
  const { id, providerSubscriptionId, lock, transfer } = subscription;
  // Until it is known whether the provider has made it, its collection cannot be held back there.
  const isUnknownThere = providerSubscriptionId === undefined && mayExistAtProvider(subscription);
  if (transfer || isUnknownThere) throw new DomainError('PAYMENT_IN_PROGRESS');
  if (providerSubscriptionId !== undefined) {
    const native = await subscriptionsPortOf(deps, subscription);
    const outcome = await native.pause({
      subscriptionId: providerSubscriptionId,
      idempotencyKey: `${id}:hold:${lock}`,
    });
    // A refusal: it is over there, and charges nothing more.
    if (outcome.kind !== 'refused') requireDone(outcome, subscription);
  }
  const unpaidFrom = Math.max(deps.now(), instant(subscription.paidUntil ?? subscription.currentPeriodEnd));
  const held = { finalAt: iso(lastRetry(deps.dunning, unpaidFrom)) };
  return subscriptionStore(deps.table).change(subscription, (current) => {
    if (current.paymentMethodId !== methodId) return current;
    return edit(current, 'method_changed', deps.now(), { paymentMethodId: undefined, methodRef: undefined, held });
  });
};

/** Collection goes on with the new method: what is paid for runs on, else a new period is charged now. */
const release = async (deps: BillingDeps, subscription: Subscription): Promise<Subscription> => {
  const released = await subscriptionStore(deps.table).change(subscription, (current) => ({
    ...current,
    held: undefined,
  }));
  return isPaidFor(released, deps.now())
    ? carryOutAtProvider(deps, released, resumeCommand)
    : resumeInNewPeriod(deps, released);
};

/** The method brings its own customer: the former customer has no part in the subscription any more. */
const methodFields = (
  subscription: Subscription,
  { paymentMethodId, methodRef, providerCustomerId, customerId }: HeldMethod,
) => ({
  paymentMethodId,
  methodRef,
  customerId: customerId ?? subscription.customerId,
  providerCustomerId: providerCustomerId ?? subscription.providerCustomerId,
});

/** Past due, and no attempt under way. */
const isOwed = ({ status, charge, billingOwner }: Subscription): boolean =>
  billingOwner === 'service' && status === 'past_due' && charge !== undefined && !hasOpenAttempt(charge);

/** Where retries had been stopped, another method has them go on. */
const withRetry = (subscription: Subscription, now: number, policy: DunningPolicy): Subscription => {
  const { charge } = subscription;
  if (!charge?.failedAt || isFirst(charge) || charge.retryAt !== undefined) return subscription;
  const at = nextRetry(policy, instant(charge.failedAt), now);
  return at === undefined ? subscription : { ...subscription, charge: { ...charge, retryAt: iso(at) } };
};
