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
export const resumed: Change = (native, of) => native.resume(of);

/** @throws DomainError PAYMENT_IN_PROGRESS while it is not known whether the provider has it. */
export const changeAtProvider = async (
  deps: BillingDeps,
  subscription: Subscription,
  name: string,
  change: Change,
): Promise<Subscription> => {
  const { id, providerSubscriptionId, lock } = subscription;
  if (providerSubscriptionId === undefined) throw new DomainError('PAYMENT_IN_PROGRESS');
  const native = await nativeOf(deps, subscription);
  const of = { subscriptionId: providerSubscriptionId, idempotencyKey: `${id}:${name}:${lock}` };
  const report = answerOf(await change(native, of), subscription);
  return adopt(deps, subscriptionStore(deps.table), subscription, report);
};

/** At once. One that the provider may not have yet is ended there when its events come. */
export const cancelAtProvider = async (deps: BillingDeps, subscription: Subscription): Promise<void> => {
  const { id, providerSubscriptionId, providerGeneration } = subscription;
  if (providerSubscriptionId === undefined) return;
  const native = await nativeOf(deps, subscription);
  const idempotencyKey = `${id}:cancel:${providerGeneration ?? 1}`;
  answerOf(await native.cancel({ subscriptionId: providerSubscriptionId, idempotencyKey }), subscription);
};

/** A creation whose answer was lost may have left one at the provider after all: it is not to charge any more. */
export const endWhatWasMade = async (deps: BillingDeps, subscription: Subscription): Promise<void> => {
  const { id, providerCustomerId } = subscription;
  if (providerCustomerId === undefined) return;
  const native = await nativeOf(deps, subscription);
  const ours = { customerId: providerCustomerId, ourSubscriptionId: id };
  for (const { subscriptionId } of answerOf(await native.findOurs(ours), subscription)) {
    const idempotencyKey = `${id}:cancel:${subscriptionId}`;
    answerOf(await native.cancel({ subscriptionId, idempotencyKey }), subscription);
  }
};
