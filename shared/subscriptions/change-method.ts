import { DomainError } from '../core/errors.ts';
import { instant, iso } from '../core/time.ts';
import type { PaymentMethod } from '../payment-methods/payment-method.ts';
import { readProvider } from './adopt.ts';
import { attemptClaimed, edited } from './changes.ts';
import { attemptCharge } from './charge.ts';
import type { BillingDeps } from './deps.ts';
import { tellProvider, withMethod } from './native-commands.ts';
import { inState, isNative } from './native-port.ts';
import { subscriptionStore } from './store.ts';
import { isLive, type Subscription } from './subscription.ts';
import { transferTo } from './transfer.ts';
import { type DunningPolicy, isFirst, isUnclear, nextRetry } from './transitions.ts';

/** Charged with it from now on; what is past due is tried with it at once, and whatever comes of that, it stays. */
export const changeMethod = async (
  deps: BillingDeps,
  subscription: Subscription,
  method: PaymentMethod,
): Promise<Subscription> => {
  const store = subscriptionStore(deps.table);
  if (isNative(subscription)) {
    const told = await tellOfMethod(deps, subscription, method);
    if (isLive(subscription) && !isLive(told)) throw inState(told);
    return withMethodOf(deps, told, method);
  }
  const changed = await store.change(subscription, (current) => {
    if (current.paymentMethodId === method.id) return current;
    const next = edited(current, 'method_changed', deps.now(), methodFields(current, method));
    return isOwed(next) ? attemptClaimed(next, deps.now()) : next;
  });
  const isClaimed = isUnclear(changed.charge) && !isUnclear(subscription.charge);
  if (!isClaimed || changed.status !== 'past_due') return changed;
  const { subscription: tried } = await attemptCharge(deps, store, changed, { attended: true });
  return tried;
};

/**
 * The provider charges the method from the next time on, and tries an open invoice with it at once.
 * @returns the subscription as the provider has it: it may be over there
 */
const tellOfMethod = async (
  deps: BillingDeps,
  subscription: Subscription,
  method: PaymentMethod,
): Promise<Subscription> => {
  if (subscription.paymentMethodId === method.id) return subscription;
  if (subscription.transfer) throw new DomainError('PAYMENT_IN_PROGRESS');
  const store = subscriptionStore(deps.table);
  const { providerCustomerId: payer = subscription.providerCustomerId } = method;
  const isOthers = payer !== subscription.providerCustomerId;
  // A renewal that nobody has told of yet is not charged once more.
  const stands = isLive(subscription) && isOthers ? await readProvider(deps, store, subscription) : subscription;
  if (isLive(stands) && isOthers) return transferTo(deps, stands, method);
  if (!isLive(stands)) return stands;
  const { subscription: told, isDone } = await tellProvider(deps, stands, withMethod(method));
  if (!isDone && isLive(told)) throw inState(told);
  return told;
};

const withMethodOf = (deps: BillingDeps, subscription: Subscription, method: PaymentMethod): Promise<Subscription> =>
  subscriptionStore(deps.table).change(subscription, (current) =>
    current.paymentMethodId === method.id
      ? current
      : edited(current, 'method_changed', deps.now(), methodFields(current, method)),
  );

/** Another method takes a gone one's place, unasked: what is past due waits for its next retry. */
export const handMethodOver = async (
  deps: BillingDeps,
  subscription: Subscription,
  goneId: string,
  heir: PaymentMethod | undefined,
): Promise<Subscription> => {
  if (subscription.transfer) throw new DomainError('PAYMENT_IN_PROGRESS');
  if (heir && isNative(subscription)) {
    return withMethodOf(deps, await tellOfMethod(deps, subscription, heir), heir);
  }
  return subscriptionStore(deps.table).change(subscription, (current) => {
    if (current.paymentMethodId !== goneId) return current;
    const fields = heir ? methodFields(current, heir) : { paymentMethodId: undefined, methodRef: undefined };
    const next = edited(current, 'method_changed', deps.now(), fields);
    return heir && isOwed(next) ? withRetry(next, deps.now(), deps.dunning) : next;
  });
};

const methodFields = (subscription: Subscription, method: PaymentMethod) => ({
  paymentMethodId: method.id,
  methodRef: method.providerMethodId,
  providerCustomerId: method.providerCustomerId ?? subscription.providerCustomerId,
});

/** Past due, and no attempt under way. */
const isOwed = ({ status, charge, billingOwner }: Subscription): boolean =>
  billingOwner === 'service' && status === 'past_due' && charge !== undefined && !isUnclear(charge);

/** Where retries had been stopped, another method has them go on. */
const withRetry = (subscription: Subscription, now: number, policy: DunningPolicy): Subscription => {
  const { charge } = subscription;
  if (!charge?.failedAt || isFirst(charge) || charge.retryAt !== undefined) return subscription;
  const at = nextRetry(policy, instant(charge.failedAt), now);
  return at === undefined ? subscription : { ...subscription, charge: { ...charge, retryAt: iso(at) } };
};
