import { DomainError } from '../core/errors.ts';
import type { Outcome } from '../core/outcome.ts';
import type { CallOptions } from '../providers/call-options.ts';
import type { NativeSubscriptions, ProviderSubscription } from '../providers/native-subscriptions.ts';
import { adopt } from './adopt.ts';
import type { BillingDeps } from './deps.ts';
import { answerOf, nativeOf } from './native-port.ts';
import { subscriptionStore } from './store.ts';
import type { Subscription } from './subscription.ts';

/** What a caller asks of a subscription that its provider bills: the provider does it, and its answer is taken over. */
type Change = (
  native: NativeSubscriptions,
  of: CallOptions & { readonly subscriptionId: string },
) => Promise<Outcome<ProviderSubscription>>;

export const scheduled =
  (cancel: boolean): Change =>
  (native, of) =>
    native.scheduleCancel({ ...of, cancel });

export const withMethod =
  (methodId: string): Change =>
  (native, of) =>
    native.changeMethod({ ...of, methodId });

export const paused: Change = (native, of) => native.pause(of);
export const resumed: Change = (native, of) => native.resume({ ...of, anew: false });
const begunAnew: Change = (native, of) => native.resume({ ...of, anew: true });

/** @throws DomainError PAYMENT_IN_PROGRESS while it is not known whether the provider has it. */
export const changeAtProvider = async (
  deps: BillingDeps,
  subscription: Subscription,
  name: string,
  change: Change,
): Promise<Subscription> => {
  const outcome = await ask(deps, subscription, `${name}:${subscription.lock}`, change);
  return adopt(deps, subscriptionStore(deps.table), subscription, answerOf(outcome, subscription));
};

/**
 * A new period starts now, and is charged. Asked for again before it is known to be paid, it is the same charge, whatever
 * else has been changed meanwhile. @throws DomainError PAYMENT_DECLINED: it is as it was, and the next try another charge
 */
export const resumeAnewAtProvider = async (deps: BillingDeps, subscription: Subscription): Promise<Subscription> => {
  const store = subscriptionStore(deps.table);
  const { paidUntil, lapsed = 0 } = subscription;
  const outcome = await ask(deps, subscription, `begin:${paidUntil ?? 'never'}:${lapsed}`, begunAnew);
  if (outcome.kind !== 'declined') return adopt(deps, store, subscription, answerOf(outcome, subscription));
  await store.change(subscription, (current) =>
    (current.lapsed ?? 0) === lapsed ? { ...current, lapsed: lapsed + 1 } : current,
  );
  throw new DomainError('PAYMENT_DECLINED', { details: { decline_code: outcome.code } });
};

const ask = async (
  deps: BillingDeps,
  subscription: Subscription,
  key: string,
  change: Change,
): Promise<Outcome<ProviderSubscription>> => {
  const { id, providerSubscriptionId, transfer } = subscription;
  if (providerSubscriptionId === undefined || transfer) throw new DomainError('PAYMENT_IN_PROGRESS');
  const native = await nativeOf(deps, subscription);
  return change(native, { subscriptionId: providerSubscriptionId, idempotencyKey: `${id}:${key}` });
};

/**
 * At once. One that the provider may not have yet is ended there when its events come.
 * @throws DomainError PAYMENT_IN_PROGRESS while it is being made once more
 */
export const cancelAtProvider = async (deps: BillingDeps, subscription: Subscription): Promise<void> => {
  const { id, providerSubscriptionId, providerGeneration } = subscription;
  if (subscription.transfer) throw new DomainError('PAYMENT_IN_PROGRESS');
  if (providerSubscriptionId === undefined) return;
  const native = await nativeOf(deps, subscription);
  const idempotencyKey = `${id}:cancel:${providerGeneration ?? 1}`;
  answerOf(await native.cancel({ subscriptionId: providerSubscriptionId, idempotencyKey }), subscription);
};

/** What an earlier try has made for a customer there: looked for, since a provider forgets its keys after a day. */
export const madeBefore = async (
  native: NativeSubscriptions,
  subscription: Subscription,
  customerId = subscription.providerCustomerId ?? '',
): Promise<readonly ProviderSubscription[]> =>
  answerOf(await native.findOurs({ customerId, ourSubscriptionId: subscription.id }), subscription);

/** A creation whose answer was lost may have left one at the provider after all: it is not to charge any more. */
export const endWhatWasMade = async (deps: BillingDeps, subscription: Subscription): Promise<void> => {
  const { id, providerCustomerId } = subscription;
  if (providerCustomerId === undefined) return;
  const native = await nativeOf(deps, subscription);
  for (const { subscriptionId } of await madeBefore(native, subscription)) {
    const idempotencyKey = `${id}:cancel:${subscriptionId}`;
    answerOf(await native.cancel({ subscriptionId, idempotencyKey }), subscription);
  }
};
