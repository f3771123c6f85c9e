/**
 * @module Commands to a billing provider. They run like claimed calls (calls/call-kind.ts), but without a claim,
 * because a command is never resent. The record gets the provider's response or, after a refusal, the provider's state.
 * After an unknown outcome, `openCommand` remains until the next sync resolves it.
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

/** An immediate cancellation responds with the dropped invoices only. */
type Response = ProviderSubscription | DroppedInvoices;

export interface Command {
  /** Part of the idempotency key. Commands with the same name and key count as one command. */
  readonly name: string;
  /** The rest of the key; defaults to the record's `lock`. */
  readonly key?: string | number;
  readonly send: (
    port: SubscriptionsPort,
    target: CallOptions & { readonly subscriptionId: string },
  ) => Promise<Outcome<Response>>;
  /** True if the subscription already has the state that the command requests. */
  readonly isMet?: (subscription: Subscription) => boolean;
  /** Set if an event must report that a command with an unknown outcome had no effect. */
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

/** After the payer has paid one open invoice here, pays the other open invoices with the same method. */
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
 * Sends a command, and requires that it succeeds or that the provider has the wanted state.
 * @throws DomainError INVALID_STATE if the provider refuses because the subscription has changed there; the new state
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
): Promise<CallResult<Subscription>> => requireSent(subscription, await makeCommand(deps, subscription, command));

/**
 * Resumes collection from the end of the paid time, or starts a new period now if that has passed. Before a charge, the
 * provider is read, because an earlier call may have succeeded and a paid invoice's event may be late.
 * @throws DomainError PAYMENT_IN_PROGRESS while an invoice is being charged. After PAYMENT_DECLINED the subscription is
 * unchanged, and the next call makes another charge.
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

/**
 * Starts a new period at the provider and charges it. Repeats use the same idempotency key until the charge is known to
 * be paid or declined, even if other fields have changed.
 */
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
 * Cancels immediately. If the provider's creation has an unknown outcome, its later events trigger the cancellation
 * there.
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
  // A refused command had no effect, so it leaves no open command. If the read after it failed, the request ends with
  // an error.
  const isUnknown = result.unanswered?.outcome.kind === 'unknown';
  if (isUnknown && command.kind) await leaveOpen(deps, subscription, command.kind);
  return result;
};

/**
 * @throws DomainError PAYMENT_IN_PROGRESS during a transfer, or while it is unknown whether the provider has the
 * subscription
 */
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
    // This command supersedes an earlier command with an unknown outcome, so that outcome is not reported.
    return { state: 'settled', record: await forgetOpen(deps, await storeReport(deps, claim, report)) };
  },
  endsUnread: ({ kind }) => kind === 'declined',
});

/** @throws DomainError unless the command succeeded, or a read after a refusal shows a changed state */
const requireSent = (was: Subscription, result: CallResult<Subscription>): CallResult<Subscription> => {
  const { record, refusal, notDone, unanswered } = result;
  if (refusal?.kind === 'refused') requireChanged(was, record, refusal);
  const failed = notDone ?? unanswered?.outcome ?? (refusal?.kind === 'declined' ? refusal : undefined);
  return failed ? requireAnswer(failed, was) : result;
};

/** Requires the state requested by the command. If the command was not refused, a live subscription suffices. */
const requireMet = ({ record, refusal }: CallResult<Subscription>, { isMet }: Command): Subscription => {
  if (isMet?.(record) || (!refusal && isLive(record))) return record;
  throw invalidStateError(record);
};

type DroppedInvoices = Pick<ProviderSubscription, 'owed'>;

/**
 * Cancels the payments of voided invoices. Also records charged invoices and those being charged, so later events can
 * settle them.
 */
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

/** Allowance for a provider clock behind ours. */
const CLOCKS_MS = MINUTE_MS;

interface Creations {
  /** The provider's customer of the subscriptions. */
  readonly customerId: string;
  /** Earliest start of the creation calls. Used only if the customer was deleted. */
  readonly since: Instant;
}

/** Searches for subscriptions that may still charge, because a provider forgets idempotency keys after a day. */
const findCreations = async (
  port: SubscriptionsPort,
  subscription: Subscription,
  { customerId, since }: Creations,
): Promise<readonly ProviderSubscription[]> => {
  const createdSince = epochSeconds(since - CLOCKS_MS);
  const ours = { customerId, ourSubscriptionId: subscription.id, createdSince };
  return requireAnswer(await port.findOurs(ours), subscription);
};

/** Finds the subscriptions whose ids are not noted in the record, so the record may adopt them. */
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

/** Search terms for subscriptions created by the open charge. Undefined if no creation can have started. */
export const creationsOfCharge = ({
  charge,
  createdAt,
  providerCustomerId: customerId,
}: Subscription): Creations | undefined =>
  customerId === undefined ? undefined : { customerId, since: instant(charge?.start ?? createdAt) };

/**
 * Cancels subscriptions possibly left at the provider by a creation with an unknown outcome. This includes noted ids,
 * because an earlier run may have failed to cancel them. The current subscription of a live record is kept.
 * @returns the record with the noted ids and charges
 */
export const cancelEarlierCreations = async (deps: BillingDeps, subscription: Subscription): Promise<Subscription> => {
  const wanted = creationsOfCharge(subscription);
  if (!wanted) return subscription;
  const port = await subscriptionsPortOf(deps, subscription);
  const found = (await findCreations(port, subscription, wanted)).map(({ subscriptionId }) => subscriptionId);
  const noted = await noteFormer(deps, subscription, found);
  // Another run was faster, and the payer may have reactivated since. The found subscription may then be the new one.
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

/** True if the newest invoice or an open invoice was charged or is being charged. */
export const hasCharged = (answer: ProviderSubscription): boolean => invoicesOf(answer).some(isCharged);

const isCharged = ({ status }: ProviderInvoice): boolean => status === 'succeeded' || status === 'processing';

/**
 * Notes subscription ids before they are canceled at the provider, because their late or repeated events must not be
 * mistaken for events of a later creation. Notes nothing if the charge has changed since the read.
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
