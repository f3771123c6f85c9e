import { DomainError } from '../core/errors.ts';
import type { Outcome } from '../core/outcome.ts';
import { epochSeconds, type Instant, instant, MINUTE } from '../core/time.ts';
import type { HeldMethod } from '../payment-methods/usable-method.ts';
import type { TransactionStep } from '../platform/table.ts';
import type { CallOptions } from '../providers/payment-port.ts';
import type { ProviderInvoice, ProviderSubscription, SubscriptionsPort } from '../providers/subscription-port.ts';
import type { BillingDeps } from './biller.ts';
import { isPaidFor } from './periods.ts';
import { invalidStateError, requireAnswer, subscriptionsPortOf } from './provider-biller.ts';
import { invoicesOf, recordInvoicePayment } from './provider-invoices.ts';
import { requireSettled, storeReport, syncAfterRefusal } from './store-report.ts';
import { isLive, type Subscription } from './subscription.ts';
import { subscriptionStore } from './subscription-store.ts';

/** A command to a provider that bills subscriptions. */
export interface Command {
  /** Part of the idempotency key: equal names are equal commands. */
  readonly name: string;
  readonly send: (
    port: SubscriptionsPort,
    target: CallOptions & { readonly subscriptionId: string },
  ) => Promise<Outcome<ProviderSubscription>>;
  /** The subscription already has the state that the command requests. */
  readonly isMet: (subscription: Subscription) => boolean;
  /** The conditions of the caller's right, checked immediately before the call; absent without a caller. */
  readonly onlyIf?: readonly TransactionStep[];
}

export const scheduleCancelCommand: Command = {
  name: 'schedule-cancel',
  send: (port, target) => port.scheduleCancel({ ...target, cancel: true }),
  isMet: ({ status, cancelAtPeriodEnd }) => status === 'canceled' || cancelAtPeriodEnd,
};

export const withdrawCancelCommand: Command = {
  name: 'keep',
  send: (port, target) => port.scheduleCancel({ ...target, cancel: false }),
  isMet: (subscription) => isLive(subscription) && !subscription.cancelAtPeriodEnd,
};

/** @param right the conditions of the right of the caller who waits; absent where due work replaces the method */
export const changeMethodCommand = (
  { paymentMethodId, methodRef = '' }: HeldMethod,
  right: readonly TransactionStep[] | undefined,
): Command => ({
  name: `method:${paymentMethodId}`,
  send: (port, target) => port.changeMethod({ ...target, methodId: methodRef, isAttended: right !== undefined }),
  isMet: () => false,
  ...(right && { onlyIf: right }),
});

/** The payer has paid one open invoice: the others are paid with the same method. */
export const payOwed = async (
  deps: BillingDeps,
  subscription: Subscription,
  { id, methodRef }: { readonly id: string; readonly methodRef?: string | undefined },
): Promise<Subscription> => {
  if (methodRef === undefined || subscription.status !== 'past_due') return subscription;
  const command: Command = {
    name: `owed:${id}`,
    send: (port, target) => port.payOwed({ ...target, methodId: methodRef }),
    isMet: () => false,
  };
  const outcome = await send(deps, subscription, { command, key: command.name });
  return (await storeOutcome(deps, subscription, outcome)).subscription;
};

export const pauseCommand: Command = {
  name: 'pause',
  send: (port, target) => port.pause({ ...target, dropsUnpaid: true }),
  isMet: ({ status, owed }) => status === 'paused' && owed === undefined,
};

const resumeCommand: Command = {
  name: 'resume',
  send: (port, target) => port.resume({ ...target, inNewPeriod: false }),
  isMet: ({ status }) => status === 'active',
};

const resumeInNewPeriodCommand: Command = {
  ...resumeCommand,
  send: (port, target) => port.resume({ ...target, inNewPeriod: true }),
};

/** The subscription as stored after a command, and whether the provider carried the command out. */
interface CommandResult {
  readonly subscription: Subscription;
  readonly isDone: boolean;
}

/**
 * @throws DomainError INVALID_STATE where the provider's subscription has changed and refuses the command: its new state
 * is stored. PAYMENT_IN_PROGRESS while it is unknown whether the provider has the subscription.
 */
export const carryOutAtProvider = async (
  deps: BillingDeps,
  subscription: Subscription,
  command: Command,
): Promise<Subscription> => requireMet(await sendToProvider(deps, subscription, command), command);

/** Like `carryOutAtProvider`, for callers that continue after a refusal. */
export const sendToProvider = async (
  deps: BillingDeps,
  subscription: Subscription,
  command: Command,
): Promise<CommandResult> => {
  const outcome = await send(deps, subscription, { command, key: `${command.name}:${subscription.lock}` });
  return storeOutcome(deps, subscription, outcome);
};

/**
 * Collects again from the end of the paid time on; if that has passed, a new period starts now. The provider is read before
 * it charges: an earlier call may have been carried out, and an invoice without an event yet may be paid.
 * @throws DomainError PAYMENT_IN_PROGRESS while an invoice is being charged; PAYMENT_DECLINED: the subscription stays as it was,
 * and the next call makes another charge
 */
export const resumeAtProvider = async (
  deps: BillingDeps,
  subscription: Subscription,
  onlyIf: readonly TransactionStep[],
): Promise<Subscription> => {
  const command = { ...resumeCommand, onlyIf };
  if (isPaidFor(subscription, deps.now())) return carryOutAtProvider(deps, subscription, command);
  const { providerSubscriptionId, transfer } = subscription;
  if (providerSubscriptionId === undefined || transfer) throw new DomainError('PAYMENT_IN_PROGRESS');
  const port = await subscriptionsPortOf(deps, subscription);
  const answer = requireAnswer(await port.find(providerSubscriptionId), subscription);
  const synced = await storeReport(deps, subscription, answer);
  if (answer.status !== 'paused') return requireMet({ subscription: synced, isDone: true }, resumeCommand);
  requireSettled(answer);
  return isPaidFor(synced, deps.now())
    ? carryOutAtProvider(deps, synced, command)
    : resumeInNewPeriod(deps, synced, { ...resumeInNewPeriodCommand, onlyIf });
};

/** A repeated call before the charge is known to be paid is the same charge, even if other fields have changed since. */
const resumeInNewPeriod = async (
  deps: BillingDeps,
  subscription: Subscription,
  command: Command,
): Promise<Subscription> => {
  const { paidUntil, lapsed = 0 } = subscription;
  const outcome = await send(deps, subscription, { command, key: `begin:${paidUntil ?? 'never'}:${lapsed}` });
  if (outcome.kind !== 'declined') return requireMet(await storeOutcome(deps, subscription, outcome), command);
  await subscriptionStore(deps.table).change(subscription, (current) =>
    (current.lapsed ?? 0) === lapsed ? { ...current, lapsed: lapsed + 1 } : current,
  );
  throw new DomainError('PAYMENT_DECLINED', { details: { decline_code: outcome.code } });
};

const send = async (
  deps: BillingDeps,
  subscription: Subscription,
  { command, key }: { readonly command: Command; readonly key: string },
): Promise<Outcome<ProviderSubscription>> => {
  const { id, providerSubscriptionId, transfer } = subscription;
  if (providerSubscriptionId === undefined || transfer) throw new DomainError('PAYMENT_IN_PROGRESS');
  const port = await subscriptionsPortOf(deps, subscription);
  await subscriptionStore(deps.table).requireAll(command.onlyIf);
  return command.send(port, { subscriptionId: providerSubscriptionId, idempotencyKey: `${id}:${key}` });
};

const storeOutcome = async (
  deps: BillingDeps,
  subscription: Subscription,
  outcome: Outcome<ProviderSubscription>,
): Promise<CommandResult> => {
  if (outcome.kind === 'refused') {
    return { subscription: await syncAfterRefusal(deps, subscription, outcome), isDone: false };
  }
  const answer = requireAnswer(outcome, subscription);
  return { subscription: await storeReport(deps, subscription, answer), isDone: true };
};

/** A cancellation may be stored while the command runs: then the command has had no effect. */
const requireMet = ({ subscription, isDone }: CommandResult, { isMet }: Command): Subscription => {
  if (isMet(subscription) || (isDone && isLive(subscription))) return subscription;
  throw invalidStateError(subscription);
};

/**
 * Cancels at once. A subscription that may not exist at the provider yet is canceled there when its events arrive.
 * @throws DomainError PAYMENT_IN_PROGRESS during a transfer
 */
export const cancelProviderSubscription = async (deps: BillingDeps, subscription: Subscription): Promise<void> => {
  const { id, providerSubscriptionId, providerGeneration } = subscription;
  if (subscription.transfer) throw new DomainError('PAYMENT_IN_PROGRESS');
  if (providerSubscriptionId === undefined) return;
  const port = await subscriptionsPortOf(deps, subscription);
  const idempotencyKey = `${id}:cancel:${providerGeneration ?? 1}`;
  const outcome = await port.cancel({ subscriptionId: providerSubscriptionId, idempotencyKey });
  if (outcome.kind !== 'refused') return recordDropped(deps, subscription, requireAnswer(outcome, subscription));
  const synced = await syncAfterRefusal(deps, subscription, outcome);
  if (isLive(synced)) throw invalidStateError(synced);
};

/**
 * The payments of invoices that were voided are canceled. A charge that was under way continues: it gets its payment, which its events
 * settle.
 */
export const recordDropped = async (
  deps: BillingDeps,
  subscription: Subscription,
  { owed }: Pick<ProviderSubscription, 'owed'>,
): Promise<void> => {
  const known = (subscription.owed ?? []).map(({ invoiceId }) => invoiceId);
  for (const invoice of owed) {
    const isKnown = invoice.isVoid && known.includes(invoice.invoiceId);
    if (isKnown || isCharged(invoice)) await recordInvoicePayment(deps, subscription, invoice);
  }
};

/** The clock of the provider may be behind. */
const CLOCKS_MS = MINUTE;

interface Creations {
  /** The provider's customer of the subscriptions. */
  readonly customerId: string;
  /** The creating calls began at this time or later. Needed only if the customer was deleted. */
  readonly since: Instant;
}

/**
 * All subscriptions at the provider that were created for this record and may still charge. They are searched for, since a
 * provider keeps its idempotency keys for a day only.
 */
const findCreations = async (
  port: SubscriptionsPort,
  subscription: Subscription,
  { customerId, since }: Creations,
): Promise<readonly ProviderSubscription[]> => {
  const createdSince = epochSeconds(since - CLOCKS_MS);
  const ours = { customerId, ourSubscriptionId: subscription.id, createdSince };
  return requireAnswer(await port.findOurs(ours), subscription);
};

/** Those that the record may adopt: it has not noted their ids. */
export const findNewCreations = async (
  port: SubscriptionsPort,
  subscription: Subscription,
  creations: Creations,
): Promise<readonly ProviderSubscription[]> => {
  const { providerSubscriptionId, formerProviderIds = [] } = subscription;
  const noted = [providerSubscriptionId, ...formerProviderIds];
  const found = await findCreations(port, subscription, creations);
  return found.filter(({ subscriptionId }) => !noted.includes(subscriptionId));
};

/** The creations of the open charge; undefined if it cannot have created any. */
export const creationsOfCharge = ({
  charge,
  createdAt,
  providerCustomerId: customerId,
}: Subscription): Creations | undefined =>
  customerId === undefined ? undefined : { customerId, since: instant(charge?.start ?? createdAt) };

/**
 * A creation with an unknown outcome may have left a subscription at the provider: cancels it. An earlier run may have noted
 * its id and failed to cancel it; so noted ones are canceled, too, except the one that a live record has.
 * @returns the record, which notes their ids and what they have charged
 */
export const cancelEarlierCreations = async (deps: BillingDeps, subscription: Subscription): Promise<Subscription> => {
  const wanted = creationsOfCharge(subscription);
  if (!wanted) return subscription;
  const port = await subscriptionsPortOf(deps, subscription);
  const found = (await findCreations(port, subscription, wanted)).map(({ subscriptionId }) => subscriptionId);
  const noted = await noteFormer(deps, subscription, found);
  // Another run was faster, and the payer may have returned since: what was found may be their new subscription.
  if (!hasSameCharge(noted, subscription)) return noted;
  const ids = found.filter((id) => !isLive(noted) || id !== noted.providerSubscriptionId);
  let stored = noted;
  for (const id of ids) stored = await storeCharged(deps, stored, requireAnswer(await port.find(id), stored));
  await cancelCreations(port, stored, ids);
  return stored;
};

export const hasSameCharge = (current: Subscription, read: Subscription): boolean =>
  current.charge?.paymentId === read.charge?.paymentId;

/**
 * A period that was charged before the cancellation is paid: a payer who returns is not charged for it again. A charge under way
 * gets its payment, which its events settle.
 */
export const storeCharged = async (
  deps: BillingDeps,
  subscription: Subscription,
  answer: ProviderSubscription,
): Promise<Subscription> =>
  subscription.status === 'canceled' && hasCharged(answer) ? storeReport(deps, subscription, answer) : subscription;

/** Its newest invoice or an open one was charged, or is being charged. */
export const hasCharged = (answer: ProviderSubscription): boolean => invoicesOf(answer).some(isCharged);

const isCharged = ({ status }: ProviderInvoice): boolean => status === 'succeeded' || status === 'processing';

/**
 * Notes, before they are canceled at the provider, subscriptions that the record will never have: their events come late or
 * again, and must not be taken for those of a later creation. Notes nothing if the charge has changed since the record was read.
 */
export const noteFormer = (
  { table }: BillingDeps,
  subscription: Subscription,
  ids: readonly string[],
): Promise<Subscription> =>
  subscriptionStore(table).change(subscription, (current) => {
    const { providerSubscriptionId, formerProviderIds = [] } = current;
    if (!hasSameCharge(current, subscription)) return current;
    const further = ids.filter((id) => id !== providerSubscriptionId && !formerProviderIds.includes(id));
    return further.length === 0 ? current : { ...current, formerProviderIds: [...formerProviderIds, ...further] };
  });

export const cancelCreations = async (
  port: SubscriptionsPort,
  subscription: Subscription,
  ids: readonly string[],
): Promise<void> => {
  for (const subscriptionId of ids) {
    const idempotencyKey = `${subscription.id}:cancel:${subscriptionId}`;
    requireAnswer(await port.cancel({ subscriptionId, idempotencyKey }), subscription);
  }
};
