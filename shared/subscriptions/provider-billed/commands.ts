import { DomainError } from '../../core/errors.ts';
import type { Outcome } from '../../core/outcome.ts';
import type { HeldMethod } from '../../payment-methods/use.ts';
import type { CallOptions } from '../../providers/port/call-options.ts';
import type { ProviderSubscription, SubscriptionsPort } from '../../providers/port/subscriptions.ts';
import type { BillingDeps } from '../billing/biller.ts';
import { subscriptionStore } from '../record/store.ts';
import { isLive, type Subscription } from '../record/subscription.ts';
import { invalidStateError, requireDone, subscriptionsPortOf } from './port.ts';
import { storeReport, syncAfterRefusal } from './sync.ts';

/** A command to the provider that bills. */
export interface Command {
  /** A part of its idempotency key: equal names are equal commands. */
  readonly name: string;
  readonly send: (
    native: SubscriptionsPort,
    of: CallOptions & { readonly subscriptionId: string },
  ) => Promise<Outcome<ProviderSubscription>>;
  /** The subscription already is as the command would leave it. */
  readonly isMet: (subscription: Subscription) => boolean;
}

export const scheduleCancelCommand: Command = {
  name: 'schedule-cancel',
  send: (native, of) => native.scheduleCancel({ ...of, cancel: true }),
  isMet: ({ status, cancelAtPeriodEnd }) => status === 'canceled' || cancelAtPeriodEnd,
};

export const withdrawCancelCommand: Command = {
  name: 'keep',
  send: (native, of) => native.scheduleCancel({ ...of, cancel: false }),
  isMet: (subscription) => isLive(subscription) && !subscription.cancelAtPeriodEnd,
};

export const changeMethodCommand = ({ paymentMethodId, methodRef = '' }: HeldMethod): Command => ({
  name: `method:${paymentMethodId}`,
  send: (native, of) => native.changeMethod({ ...of, methodId: methodRef }),
  isMet: () => false,
});

export const pauseCommand: Command = {
  name: 'pause',
  send: (native, of) => native.pause(of),
  isMet: ({ status }) => status === 'paused',
};

export const resumeCommand: Command = {
  name: 'resume',
  send: (native, of) => native.resume({ ...of, anew: false }),
  isMet: ({ status }) => status === 'active',
};

const beginAnew: Command = { ...resumeCommand, send: (native, of) => native.resume({ ...of, anew: true }) };

/** The subscription as the provider has it after a command, and whether the provider carried the command out. */
interface Told {
  readonly subscription: Subscription;
  readonly isDone: boolean;
}

/**
 * @throws DomainError INVALID_STATE where the provider's subscription has moved on and does not take the command any
 * more: its state is stored then. PAYMENT_IN_PROGRESS while it is not known whether the provider has it.
 */
export const carryOutAtProvider = async (
  deps: BillingDeps,
  subscription: Subscription,
  command: Command,
): Promise<Subscription> => met(await sendToProvider(deps, subscription, command), command);

/** The same for callers that go on where the provider's subscription has moved on. */
export const sendToProvider = async (
  deps: BillingDeps,
  subscription: Subscription,
  command: Command,
): Promise<Told> => {
  const outcome = await ask(deps, subscription, `${command.name}:${subscription.lock}`, command);
  return stored(deps, subscription, outcome);
};

/**
 * A new period starts now, and is charged. Asked for again before it is known to be paid, it is the same charge, whatever
 * else has been changed meanwhile. @throws DomainError PAYMENT_DECLINED: it is as it was, and the next try another charge
 */
export const resumeInNewPeriod = async (deps: BillingDeps, subscription: Subscription): Promise<Subscription> => {
  const store = subscriptionStore(deps.table);
  const { paidUntil, lapsed = 0 } = subscription;
  const outcome = await ask(deps, subscription, `begin:${paidUntil ?? 'never'}:${lapsed}`, beginAnew);
  if (outcome.kind !== 'declined') return met(await stored(deps, subscription, outcome), beginAnew);
  await store.change(subscription, (current) =>
    (current.lapsed ?? 0) === lapsed ? { ...current, lapsed: lapsed + 1 } : current,
  );
  throw new DomainError('PAYMENT_DECLINED', { details: { decline_code: outcome.code } });
};

const ask = async (
  deps: BillingDeps,
  subscription: Subscription,
  key: string,
  { send }: Command,
): Promise<Outcome<ProviderSubscription>> => {
  const { id, providerSubscriptionId, transfer } = subscription;
  if (providerSubscriptionId === undefined || transfer) throw new DomainError('PAYMENT_IN_PROGRESS');
  const native = await subscriptionsPortOf(deps, subscription);
  return send(native, { subscriptionId: providerSubscriptionId, idempotencyKey: `${id}:${key}` });
};

const stored = async (
  deps: BillingDeps,
  subscription: Subscription,
  outcome: Outcome<ProviderSubscription>,
): Promise<Told> => {
  if (outcome.kind === 'refused') {
    return { subscription: await syncAfterRefusal(deps, subscription, outcome), isDone: false };
  }
  const store = subscriptionStore(deps.table);
  return {
    subscription: await storeReport(deps, store, subscription, requireDone(outcome, subscription)),
    isDone: true,
  };
};

/** A subscription may be canceled by others while its command is carried out. */
const met = ({ subscription, isDone }: Told, { isMet }: Command): Subscription => {
  if (isMet(subscription) || (isDone && isLive(subscription))) return subscription;
  throw invalidStateError(subscription);
};

/**
 * At once. One that the provider may not have yet is ended there when its events come.
 * @throws DomainError PAYMENT_IN_PROGRESS while it is being made once more
 */
export const cancelProviderSubscription = async (deps: BillingDeps, subscription: Subscription): Promise<void> => {
  const { id, providerSubscriptionId, providerGeneration } = subscription;
  if (subscription.transfer) throw new DomainError('PAYMENT_IN_PROGRESS');
  if (providerSubscriptionId === undefined) return;
  const native = await subscriptionsPortOf(deps, subscription);
  const idempotencyKey = `${id}:cancel:${providerGeneration ?? 1}`;
  const outcome = await native.cancel({ subscriptionId: providerSubscriptionId, idempotencyKey });
  if (outcome.kind !== 'refused') return void requireDone(outcome, subscription);
  const stands = await syncAfterRefusal(deps, subscription, outcome);
  if (isLive(stands)) throw invalidStateError(stands);
};

/** What an earlier try has made for a customer there: looked for, since a provider forgets its keys after a day. */
export const findEarlierCreations = async (
  native: SubscriptionsPort,
  subscription: Subscription,
  customerId = subscription.providerCustomerId ?? '',
): Promise<readonly ProviderSubscription[]> =>
  requireDone(await native.findOurs({ customerId, ourSubscriptionId: subscription.id }), subscription);

/** A creation whose answer was lost may have left one at the provider after all: it is not to charge any more. */
export const cancelEarlierCreations = async (deps: BillingDeps, subscription: Subscription): Promise<void> => {
  const { id, providerCustomerId } = subscription;
  if (providerCustomerId === undefined) return;
  const native = await subscriptionsPortOf(deps, subscription);
  for (const { subscriptionId } of await findEarlierCreations(native, subscription)) {
    const idempotencyKey = `${id}:cancel:${subscriptionId}`;
    requireDone(await native.cancel({ subscriptionId, idempotencyKey }), subscription);
  }
};
