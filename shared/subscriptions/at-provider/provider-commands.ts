/**
 * @module Commands to a billing provider, as a kind of call. The record gets the provider's response, or its state after
 * a refusal. No write claims a command, because it is never sent again. An unknown outcome leaves `openCommand`, which
 * the next sync ends.
 */

import type { CallResult } from '../../calls/call-kind.ts';
import { requireFree } from '../../calls/exclusions.ts';
import { makeCall } from '../../calls/run-call.ts';
import { DomainError } from '../../core/errors.ts';
import type { Outcome } from '../../core/outcome.ts';
import { epochSeconds, type Instant, instant, MINUTE_MS } from '../../core/time.ts';
import type { HeldMethod } from '../../payment-methods/usable-method.ts';
import type { TransactionStep } from '../../platform/table.ts';
import type { CallOptions } from '../../providers/payment-port.ts';
import type { ProviderInvoice, ProviderSubscription, SubscriptionsPort } from '../../providers/subscription-port.ts';
import { declinedError } from '../../providers/unwrap.ts';
import type { BillingDeps } from '../billing/biller.ts';
import { isPaidFor } from '../billing/periods.ts';
import { isLive, type Subscription } from '../record/subscription.ts';
import { openCallsOf } from '../record/subscription-states.ts';
import { subscriptionStore } from '../record/subscription-store.ts';
import { forgetOpen, IS_MET, leaveOpen, type OpenCommand } from './open-command.ts';
import { invalidStateError, requireAnswer, subscriptionsPortOf } from './provider-biller.ts';
import { invoicesOf, recordInvoicePayment } from './provider-invoices.ts';
import {
  type AtProvider,
  type CallAtProvider,
  isAtProvider,
  READ_AT_PROVIDER,
  requireChanged,
  requireSettled,
  storeReport,
} from './store-report.ts';

/** The response to an immediate cancellation has only the dropped invoices. */
type Response = ProviderSubscription | DroppedInvoices;

export interface Command {
  /** Part of the idempotency key, so equal names are equal commands. */
  readonly name: string;
  /** The rest of the key; the `lock` of the record if absent. */
  readonly key?: string | number;
  readonly send: (
    port: SubscriptionsPort,
    target: CallOptions & { readonly subscriptionId: string },
  ) => Promise<Outcome<Response>>;
  /** True if the subscription already has the state that the command requests. */
  readonly isMet?: (subscription: Subscription) => boolean;
  /** Set if an event reports a command whose outcome was unknown and that had no effect. */
  readonly kind?: OpenCommand;
  /** The conditions of the caller's right, checked immediately before the call. Absent without a caller. */
  readonly onlyIf?: readonly TransactionStep[];
}

export const scheduleCancelCommand: Command = {
  name: 'schedule-cancel',
  kind: 'cancel',
  send: (port, target) => port.scheduleCancel({ ...target, cancel: true }),
  isMet: IS_MET.cancel,
};

export const withdrawCancelCommand: Command = {
  name: 'keep',
  kind: 'reactivate',
  send: (port, target) => port.scheduleCancel({ ...target, cancel: false }),
  isMet: IS_MET.reactivate,
};

/** @param right the conditions of the waiting caller's right; absent if due work replaces the method */
export const changeMethodCommand = (
  { paymentMethodId, methodRef = '' }: HeldMethod,
  right: readonly TransactionStep[] | undefined,
): Command => ({
  name: `method:${paymentMethodId}`,
  send: (port, target) => port.changeMethod({ ...target, methodId: methodRef, isAttended: right !== undefined }),
  ...(right && { onlyIf: right }),
});

/** The payer has paid one open invoice, so the other open invoices are paid with the same method. */
export const payOwed = async (
  deps: BillingDeps,
  subscription: Subscription,
  { id, methodRef }: { readonly id: string; readonly methodRef?: string | undefined },
): Promise<Subscription> => {
  if (methodRef === undefined || subscription.status !== 'past_due') return subscription;
  const { record } = await sendToProvider(deps, subscription, {
    name: 'owed',
    key: id,
    send: (port, target) => port.payOwed({ ...target, methodId: methodRef }),
  });
  return record;
};

export const pauseCommand: Command = {
  name: 'pause',
  send: (port, target) => port.pause({ ...target, dropsUnpaid: true }),
  isMet: ({ status, owed }) => status === 'paused' && owed === undefined,
};

const resumeCommand: Command = {
  name: 'resume',
  kind: 'resume',
  send: (port, target) => port.resume({ ...target, inNewPeriod: false }),
  isMet: IS_MET.resume,
};

/**
 * @throws DomainError INVALID_STATE if the subscription has changed at the provider, which refuses the command. The new
 * state is stored. PAYMENT_IN_PROGRESS while it is unknown whether the provider has the subscription.
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
): Promise<CallResult<Subscription>> => requireSent(subscription, await makeCommand(deps, subscription, command));

/**
 * Collects again from the end of the paid time on. If that has passed, a new period starts now. The provider is read
 * before it charges, because it may have carried out an earlier call, and an invoice without an event yet may be paid.
 * @throws DomainError PAYMENT_IN_PROGRESS while an invoice is being charged. PAYMENT_DECLINED leaves the subscription
 * as it was, and the next call makes another charge.
 */
export const resumeAtProvider = async (
  deps: BillingDeps,
  subscription: Subscription,
  onlyIf: readonly TransactionStep[],
): Promise<Subscription> => {
  const command = { ...resumeCommand, onlyIf };
  if (isPaidFor(subscription, deps.now())) return carryOutAtProvider(deps, subscription, command);
  const { providerSubscriptionId } = requireAtProvider(subscription);
  const port = await subscriptionsPortOf(deps, subscription);
  const answer = requireAnswer(await port.find(providerSubscriptionId), subscription);
  const synced = await storeReport(deps, subscription, answer);
  if (answer.status !== 'paused') return requireMet({ record: synced }, resumeCommand);
  requireSettled(answer);
  return isPaidFor(synced, deps.now())
    ? carryOutAtProvider(deps, synced, command)
    : resumeInNewPeriod(deps, synced, command);
};

/** Until the charge is known to be paid, a repeated call is the same charge, even if fields have changed. */
const resumeInNewPeriod = async (
  deps: BillingDeps,
  subscription: Subscription,
  command: Command,
): Promise<Subscription> => {
  const { paidUntil, lapsed = 0 } = subscription;
  const result = await makeCommand(deps, subscription, {
    ...command,
    name: 'begin',
    key: `${paidUntil ?? 'never'}:${lapsed}`,
    send: (port, target) => port.resume({ ...target, inNewPeriod: true }),
  });
  if (result.refusal?.kind !== 'declined') return requireMet(requireSent(subscription, result), command);
  await subscriptionStore(deps.table).change(subscription, (current) =>
    (current.lapsed ?? 0) === lapsed ? { ...current, lapsed: lapsed + 1 } : current,
  );
  throw declinedError(result.refusal);
};

/**
 * Cancels immediately. If the subscription may not exist at the provider yet, it is canceled there when its events
 * arrive.
 * @throws DomainError PAYMENT_IN_PROGRESS during a transfer
 */
export const cancelProviderSubscription = async (deps: BillingDeps, subscription: Subscription): Promise<void> => {
  if (!isAtProvider(subscription)) return;
  await carryOutAtProvider(deps, subscription, {
    name: 'cancel',
    key: subscription.providerGeneration ?? 1,
    kind: 'cancel',
    send: (port, target) => port.cancel(target),
    isMet: (synced) => !isLive(synced),
  });
};

const makeCommand = async (
  deps: BillingDeps,
  subscription: Subscription,
  command: Command,
): Promise<CallResult<Subscription>> => {
  const claim = requireAtProvider(subscription);
  const port = await subscriptionsPortOf(deps, subscription);
  await subscriptionStore(deps.table).requireAll(command.onlyIf);
  const result = await makeCall(commandCall(command), { deps, port }, claim);
  // A refused command did nothing. If the read after it did not happen, the request ends with an error instead.
  const isUnknown = result.unanswered?.outcome.kind === 'unknown';
  if (isUnknown && command.kind) await leaveOpen(deps, subscription, command.kind);
  return result;
};

/** @throws DomainError PAYMENT_IN_PROGRESS during a transfer, or while it is unknown whether the provider has it */
const requireAtProvider = (subscription: Subscription): AtProvider => {
  requireFree('command', openCallsOf(subscription));
  if (isAtProvider(subscription)) return subscription;
  throw new DomainError('PAYMENT_IN_PROGRESS');
};

const commandCall = ({ name, key, send }: Command): CallAtProvider<AtProvider, Response> => ({
  ...READ_AT_PROVIDER,
  send: async ({ port }, claim) => {
    const { id, lock, providerSubscriptionId: subscriptionId } = claim;
    return { claim, outcome: await send(port, { subscriptionId, idempotencyKey: `${id}:${name}:${key ?? lock}` }) };
  },
  apply: async ({ deps }, claim, { by, report }) => {
    if (by !== 'response') return { state: 'absent', record: claim };
    if (!('status' in report)) return { state: 'settled', record: await recordDropped(deps, claim, report) };
    // A later command decides, so nothing is reported of an earlier command with an unknown outcome.
    return { state: 'settled', record: await forgetOpen(deps, await storeReport(deps, claim, report)) };
  },
  endsUnread: ({ kind }) => kind === 'declined',
});

/** @throws DomainError unless the provider has carried out the command, or a read after a refusal shows another state */
const requireSent = (was: Subscription, result: CallResult<Subscription>): CallResult<Subscription> => {
  const { record, refusal, notDone, unanswered } = result;
  if (refusal?.kind === 'refused') requireChanged(was, record, refusal);
  const failed = notDone ?? unanswered?.outcome ?? (refusal?.kind === 'declined' ? refusal : undefined);
  return failed ? requireAnswer(failed, was) : result;
};

/** A cancellation may be stored while the command runs. The command has then had no effect. */
const requireMet = ({ record, refusal }: CallResult<Subscription>, { isMet }: Command): Subscription => {
  if (isMet?.(record) || (!refusal && isLive(record))) return record;
  throw invalidStateError(record);
};

type DroppedInvoices = Pick<ProviderSubscription, 'owed'>;

/** Cancels the payments of voided invoices. A charge under way is recorded, so that its events can settle it. */
export const recordDropped = async (
  deps: BillingDeps,
  subscription: Subscription,
  { owed }: DroppedInvoices,
): Promise<Subscription> => {
  const known = (subscription.owed ?? []).map(({ invoiceId }) => invoiceId);
  for (const invoice of owed) {
    const isKnown = invoice.isVoid && known.includes(invoice.invoiceId);
    if (isKnown || isCharged(invoice)) await recordInvoicePayment(deps, subscription, invoice);
  }
  return subscription;
};

/** The provider's clock may be behind by this much. */
const CLOCKS_MS = MINUTE_MS;

interface Creations {
  /** The customer at the provider that the subscriptions belong to. */
  readonly customerId: string;
  /** The creating calls started at this time or later. Needed only if the customer was deleted. */
  readonly since: Instant;
}

/** The subscriptions that may still charge, found by a search because a provider keeps its keys for only a day. */
const findCreations = async (
  port: SubscriptionsPort,
  subscription: Subscription,
  { customerId, since }: Creations,
): Promise<readonly ProviderSubscription[]> => {
  const createdSince = epochSeconds(since - CLOCKS_MS);
  const ours = { customerId, ourSubscriptionId: subscription.id, createdSince };
  return requireAnswer(await port.findOurs(ours), subscription);
};

/** The found subscriptions that the record may adopt, because it has not noted their ids. */
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

/** How to find the subscriptions that the open charge created. Undefined if it cannot have created a subscription. */
export const creationsOfCharge = ({
  charge,
  createdAt,
  providerCustomerId: customerId,
}: Subscription): Creations | undefined =>
  customerId === undefined ? undefined : { customerId, since: instant(charge?.start ?? createdAt) };

/**
 * Cancels the subscriptions that a creation with an unknown outcome may have left at the provider. An earlier run may
 * have noted an id and failed to cancel it, so noted subscriptions are canceled too. The subscription of a live record
 * is kept.
 * @returns the record, which notes their ids and charges
 */
export const cancelEarlierCreations = async (deps: BillingDeps, subscription: Subscription): Promise<Subscription> => {
  const wanted = creationsOfCharge(subscription);
  if (!wanted) return subscription;
  const port = await subscriptionsPortOf(deps, subscription);
  const found = (await findCreations(port, subscription, wanted)).map(({ subscriptionId }) => subscriptionId);
  const noted = await noteFormer(deps, subscription, found);
  // Another run was faster, and the payer may have returned since. The found subscription may be the payer's new
  // subscription.
  if (!hasSameCharge(noted, subscription)) return noted;
  const ids = found.filter((id) => !isLive(noted) || id !== noted.providerSubscriptionId);
  let stored = noted;
  for (const id of ids) stored = await storeCharged(deps, stored, requireAnswer(await port.find(id), stored));
  await cancelCreations(port, stored, ids);
  return stored;
};

export const hasSameCharge = (current: Subscription, read: Subscription): boolean =>
  current.charge?.paymentId === read.charge?.paymentId;

/** Records a period charged before the cancellation as paid, so that a returning payer is not charged twice. */
export const storeCharged = async (
  deps: BillingDeps,
  subscription: Subscription,
  answer: ProviderSubscription,
): Promise<Subscription> =>
  subscription.status === 'canceled' && hasCharged(answer) ? storeReport(deps, subscription, answer) : subscription;

/** True if its newest invoice or an open invoice was charged, or is being charged. */
export const hasCharged = (answer: ProviderSubscription): boolean => invoicesOf(answer).some(isCharged);

const isCharged = ({ status }: ProviderInvoice): boolean => status === 'succeeded' || status === 'processing';

/**
 * Notes subscriptions that the record will never have, before they are canceled at the provider. Their events may come
 * late or repeatedly, and must not be taken for events of a later creation. Notes nothing if the charge has changed
 * since the record was read.
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
