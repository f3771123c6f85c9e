/**
 * @module Moves a subscription to another customer at the provider, because a provider charges only methods of the
 * subscription's customer. To charge another customer's method, the service creates a second subscription, the
 * successor, for that customer and cancels the former. Collection of the former is paused first, so the two never
 * charge for the same time. Due work repeats the transfer until it is finished.
 */

import { type CallKind, type CallResult, type LookedUp, OVER, type RefusedCall } from '../../calls/call-kind.ts';
import { FIRST_LOOK_MS, RETRY_MS } from '../../calls/call-times.ts';
import { requireFree } from '../../calls/exclusions.ts';
import { lookUpCall } from '../../calls/look-up.ts';
import { makeCall } from '../../calls/run-call.ts';
import { DomainError } from '../../core/errors.ts';
import { mapOutcome, type Outcome, type Refusal } from '../../core/outcome.ts';
import { epochSeconds, type Instant, instant, iso, SECOND_MS } from '../../core/time.ts';
import type { HeldMethod } from '../../payment-methods/usable-method.ts';
import { refusalError } from '../../payments/create-intent.ts';
import { putAlias } from '../../platform/alias.ts';
import type { TransactionStep } from '../../platform/table.ts';
import type { ProviderSubscription, SubscriptionsPort } from '../../providers/subscription-port.ts';
import { declinedError, failedError, unavailableError } from '../../providers/unwrap.ts';
import type { BillingDeps } from '../billing/biller.ts';
import { isPaidFor } from '../billing/periods.ts';
import { isLive, type Subscription } from '../record/subscription.ts';
import { openCallsOf } from '../record/subscription-states.ts';
import { subscriptionStore } from '../record/subscription-store.ts';
import { edit } from '../record/subscription-versions.ts';
import { creationRequest } from './create-at-provider.ts';
import { invalidStateError, requireAnswer, subscriptionsPortOf } from './provider-biller.ts';
import { cancelCreations, findNewCreations, hasCharged, recordDropped } from './provider-commands.ts';
import { invoicesOf } from './provider-invoices.ts';
import { findAt, hasOtherState, storeRenewal, storeReport, syncIfKnown } from './store-report.ts';

/**
 * Starts a transfer. Paid time is kept. A past-due subscription starts and immediately charges a new period.
 * @throws DomainError PAYMENT_DECLINED, or the reason why the successor cannot be created. The transfer is then
 * aborted. After an unknown outcome, due work continues it.
 */
export const startTransfer = async (
  deps: BillingDeps,
  subscription: Subscription,
  { method, onlyIf }: { readonly method: HeldMethod; readonly onlyIf?: readonly TransactionStep[] | undefined },
): Promise<Subscription> => {
  const claimed = await subscriptionStore(deps.table).change(
    subscription,
    (current) => claimTransfer(current, method, deps.now()),
    onlyIf,
  );
  if (!isTransferClaim(claimed)) return claimed;
  const port = await subscriptionsPortOf(deps, claimed);
  const result = await makeCall(TRANSFER_CALL, { deps, port, isFirst: true, mayCharge: true }, claimed);
  const error = errorOf(result);
  if (error) throw error;
  return result.record;
};

/** Continues a transfer as due work. @returns the result for the log, or the error code if the transfer was aborted */
export const lookUpTransfer = async (
  deps: BillingDeps,
  subscription: Subscription,
  { mayCharge }: Pick<TransferParts, 'mayCharge'>,
): Promise<string> => {
  if (!isTransferClaim(subscription)) return subscription.status;
  const port = await subscriptionsPortOf(deps, subscription);
  const result = await lookUpCall(TRANSFER_CALL, { deps, port, isFirst: false, mayCharge }, subscription);
  return (result.refusal && errorOf(result)?.code) ?? result.text;
};

const claimTransfer = (subscription: Subscription, method: HeldMethod, now: Instant): Subscription => {
  const { status, held, providerSubscriptionId, providerGeneration = 1 } = subscription;
  if (!isLive(subscription)) throw invalidStateError(subscription);
  // A held subscription was paused only because it had no method, so setting a method may continue it.
  if (status === 'paused' && !held)
    throw new DomainError('INVALID_STATE', { message: 'Resume the subscription first' });
  requireFree('transfer', openCallsOf(subscription));
  if (!providerSubscriptionId) throw new DomainError('PAYMENT_IN_PROGRESS');
  return {
    ...subscription,
    providerGeneration: providerGeneration + 1,
    transfer: {
      paymentMethodId: method.paymentMethodId ?? '',
      methodRef: method.methodRef ?? '',
      providerCustomerId: method.providerCustomerId ?? '',
      customerId: method.customerId,
      freeUntil: isPaidFor(subscription, now) ? paidUntilOf(subscription) : undefined,
      claimedAt: iso(now),
      lookAt: iso(now + FIRST_LOOK_MS),
    },
  };
};

const paidUntilOf = ({ period, currentPeriodEnd, paidUntil }: Subscription): string | undefined =>
  period < 0 ? currentPeriodEnd : paidUntil;

type ActiveTransfer = NonNullable<Subscription['transfer']>;

type TransferClaim = Subscription & { readonly transfer: ActiveTransfer; readonly providerSubscriptionId: string };

const isTransferClaim = (subscription: Subscription): subscription is TransferClaim =>
  subscription.transfer !== undefined && subscription.providerSubscriptionId !== undefined;

interface TransferParts {
  readonly deps: BillingDeps;
  readonly port: SubscriptionsPort;
  /** True if no earlier run can have called the provider. */
  readonly isFirst: boolean;
  /** False if the method may no longer be charged. */
  readonly mayCharge: boolean;
}

/** The error of an unfinished transfer. */
const errorOf = ({ record, refusal, notDone, unanswered }: CallResult<Subscription>): DomainError | undefined => {
  if (notDone) return unavailableError(notDone);
  if (unanswered) return failedError(unanswered.outcome, refusalError, { subscription_id: record.id });
  if (refusal?.kind === 'declined') return declinedError(refusal);
  if (refusal === OVER) return invalidStateError(record);
  if (refusal === COLLECTING) return new DomainError('PAYMENT_IN_PROGRESS');
  return refusal && refusalError(refusal);
};

/** The created successors. */
type Successors = readonly ProviderSubscription[];

/**
 * If the method may no longer be charged, a lookup cancels the successors and aborts the transfer. If an earlier run
 * has charged the method or canceled the former subscription, the lookup instead finishes the transfer without another
 * charge. Due work later removes the method.
 */
const TRANSFER_CALL: CallKind<TransferParts, Subscription, TransferClaim, Successors> &
  LookedUp<TransferParts, Subscription, TransferClaim> = {
  send: async (parts, claimed) => {
    const { deps, port } = parts;
    const held = await port.pause(targetOf(claimed, 'hold', claimed.providerSubscriptionId));
    if (held.kind === 'refused') return { claim: claimed, outcome: await findReplacement(parts, claimed, held) };
    if (held.kind !== 'done') return { claim: claimed, outcome: held };
    // A renewal may have been paid before the pause.
    const claim = await withRenewal(deps, claimed, held.value);
    if (isBeingPaid(held.value)) return { claim, outcome: COLLECTING };
    const created = await port.create(successorRequest(claim, held.value));
    return { claim, outcome: mapOutcome(created, (successor) => [successor]) };
  },

  find: async (parts, claim) => ({ kind: 'done', value: parts.isFirst ? [] : await findSuccessors(parts, claim) }),

  apply: async (parts, claimed, { by, report: successors }) => {
    const [successor] = successors;
    if (!successor) return { state: 'absent', record: claimed };
    // After a response, the former subscription is not read, because the pause before the response has reported it.
    const former = by === 'response' ? undefined : await findFormer(parts, claimed);
    if (!parts.mayCharge && isWithoutEffect(former, successors)) return { state: 'over', record: claimed };
    const claim = former ? await withRenewal(parts.deps, claimed, former) : claimed;
    const current = await keepScheduledCancel(parts, claim, successor);
    if (endedUncharged(current)) return { state: 'over', record: claim };
    return { state: 'settled', record: await replaceFormer(parts, claim, current) };
  },

  endsUnread: ({ kind }) => kind === 'declined',
  end: async (parts, claim, { refusal, found = [] }) => {
    const { deps, port, mayCharge } = parts;
    const ids = found.map(({ subscriptionId }) => subscriptionId);
    await cancelCreations(port, claim, ids);
    const aborted = await abortTransfer(parts, claim);
    if (!mayCharge || refusal?.kind === 'declined') return { record: aborted, refusal };
    // Events that arrived during the transfer were postponed, so the provider is read now.
    const synced = (await syncIfKnown(deps, aborted)) ?? aborted;
    if (refusal !== COLLECTING && hasOtherState(aborted, synced)) return { record: synced, refusal: OVER };
    return { record: synced, refusal: refusal === OVER ? SUCCESSOR_CANCELED : refusal };
  },

  takeBack: async (parts, claim, notDone) => ({ record: await abortTransfer(parts, claim), notDone }),

  claimedAt: ({ transfer }) => claimTimeOf(transfer),
  step: () => -1,
  // Collection is paused until the transfer ends, so lookups stay frequent and resends are unlimited.
  resendWithinMs: Number.POSITIVE_INFINITY,
  maySend: async ({ mayCharge }) => mayCharge,
  setLook: async ({ deps }, claim) => {
    await subscriptionStore(deps.table).putOff(claim, iso(deps.now() + RETRY_MS));
    return undefined;
  },
  stuck: ({ id, providerId }) => ['subscription stuck', { subscription_id: id, provider: providerId }],
  statusOf: ({ status }) => status,
};

/** Each step has its own idempotency key, the same in every run. */
const targetOf = (
  { id, providerGeneration = 1 }: TransferClaim,
  step: 'hold' | 'release' | 'end' | 'cancel',
  subscriptionId: string,
) => ({ subscriptionId, idempotencyKey: `${id}:transfer:${providerGeneration}:${step}` });

/**
 * Finds a successor after a refused pause. The provider refuses a pause if the former subscription has ended, and an
 * earlier run may have replaced it with a successor.
 */
const findReplacement = async (
  parts: TransferParts,
  claim: TransferClaim,
  refusal: Refusal,
): Promise<Outcome<Successors>> => {
  const created = await findSuccessors(parts, claim);
  return created.length > 0 ? { kind: 'done', value: created } : refusal;
};

/** The successors created by earlier runs, except those canceled before they charged anything. */
const findSuccessors = async ({ port }: TransferParts, claim: TransferClaim): Promise<Successors> => {
  const { providerCustomerId: customerId } = claim.transfer;
  const created = await findNewCreations(port, claim, { customerId, since: claimTimeOf(claim.transfer) });
  const found: ProviderSubscription[] = [];
  for (const creation of created) {
    const isOver = creation.status === 'canceled';
    const current = isOver ? requireAnswer(await port.find(creation.subscriptionId), claim) : creation;
    if (!endedUncharged(current)) found.push(current);
  }
  return found;
};

const endedUncharged = (creation: ProviderSubscription): boolean =>
  creation.status === 'canceled' && !hasCharged(creation);

/** True if an invoice of the former subscription is being collected, or its payer is authenticating it. */
const isBeingPaid = (former: ProviderSubscription): boolean =>
  invoicesOf(former).some(
    ({ status, nextAction }) => status === 'processing' || (status === 'pending' && nextAction !== undefined),
  );

const COLLECTING: RefusedCall = { kind: 'refused', reason: 'invoice_processing' };
const SUCCESSOR_CANCELED: RefusedCall = { kind: 'refused', reason: 'canceled' };

/**
 * The request to create the successor, free until the end of the paid time. The former subscription's latest invoice
 * may have extended that time.
 */
const successorRequest = (
  claim: TransferClaim,
  { latestInvoice }: ProviderSubscription,
): ReturnType<typeof creationRequest> => {
  const { transfer, period } = claim;
  const { methodRef, providerCustomerId } = transfer;
  const invoicePaidUntil = latestInvoice?.status === 'succeeded' ? iso(latestInvoice.periodEnd * SECOND_MS) : undefined;
  const freeUntil = [transfer.freeUntil, invoicePaidUntil]
    .filter((until) => until !== undefined)
    .toSorted()
    .at(-1);
  const isFree = freeUntil !== undefined && instant(freeUntil) > claimTimeOf(transfer);
  const request = creationRequest(
    { ...claim, methodRef, providerCustomerId },
    isFree ? epochSeconds(instant(freeUntil)) : undefined,
  );
  return { ...request, isBridge: period >= 0 };
};

const claimTimeOf = ({ claimedAt, lookAt }: ActiveTransfer): Instant =>
  claimedAt === undefined ? instant(lookAt) - FIRST_LOOK_MS : instant(claimedAt);

/** @returns undefined if the provider no longer knows the former subscription */
const findFormer = async ({ port }: TransferParts, claim: TransferClaim): Promise<ProviderSubscription | undefined> =>
  requireAnswer(await findAt(port, claim.providerSubscriptionId), claim);

/** Stores a paid renewal of the former subscription. @returns the claim as stored */
const withRenewal = async (
  deps: BillingDeps,
  claim: TransferClaim,
  former: ProviderSubscription,
): Promise<TransferClaim> => {
  const stored = await storeRenewal(deps, claim, former);
  return isTransferClaim(stored) ? stored : claim;
};

/** True if no successor has charged the method and the former subscription still runs. */
const isWithoutEffect = (former: ProviderSubscription | undefined, successors: Successors): boolean =>
  former !== undefined &&
  former.status !== 'canceled' &&
  successors.every((successor) => successor.status === 'trialing');

/** Schedules the successor's cancellation if needed. @returns the successor as it is now */
const keepScheduledCancel = async (
  { port }: TransferParts,
  claim: TransferClaim,
  successor: ProviderSubscription,
): Promise<ProviderSubscription> => {
  const target = targetOf(claim, 'end', successor.subscriptionId);
  const scheduled = claim.cancelAtPeriodEnd ? await port.scheduleCancel({ ...target, cancel: true }) : undefined;
  const found = await port.find(successor.subscriptionId);
  const current = found.kind === 'done' ? found.value : successor;
  // The successor may have been canceled at the provider before its cancellation was scheduled.
  if (scheduled && current.status !== 'canceled') requireAnswer(scheduled, claim);
  return current;
};

/** Cancels the former subscription, and stores its successor. */
const replaceFormer = async (
  { deps, port }: TransferParts,
  claim: TransferClaim,
  successor: ProviderSubscription,
): Promise<Subscription> => {
  const canceled = await port.cancel(targetOf(claim, 'cancel', claim.providerSubscriptionId));
  await recordDropped(deps, claim, requireAnswer(canceled, claim));
  return storeReport(deps, await finishTransfer(deps, claim, successor), successor);
};

const finishTransfer = async (
  { table, now }: BillingDeps,
  claim: TransferClaim,
  { subscriptionId }: ProviderSubscription,
): Promise<Subscription> => {
  const { id, providerId, providerSubscriptionId: formerId } = claim;
  await putAlias(table, { providerId, externalId: subscriptionId }, { kind: 'SUB', id });
  return subscriptionStore(table).change(claim, (current) => {
    const { transfer, formerProviderIds = [] } = current;
    if (!transfer || !isSameTransfer(current, claim)) return current;
    const { paymentMethodId, methodRef, providerCustomerId, customerId = current.customerId } = transfer;
    return edit(
      current,
      { reason: 'method_changed', now: now() },
      {
        ...{ paymentMethodId, methodRef, providerCustomerId, customerId },
        providerSubscriptionId: subscriptionId,
        formerProviderIds: [...formerProviderIds, formerId],
        transfer: undefined,
        held: undefined,
      },
    );
  });
};

/** Aborts the transfer. Resumes collection of the former subscription unless it was already on hold. */
const abortTransfer = async ({ deps, port }: TransferParts, claim: TransferClaim): Promise<Subscription> => {
  if (!claim.held) {
    const target = targetOf(claim, 'release', claim.providerSubscriptionId);
    const released = await port.resume({ ...target, inNewPeriod: false });
    // A refusal means that the former subscription has ended at the provider, so there is nothing to resume.
    if (released.kind === 'unknown' || released.kind === 'not_done') requireAnswer(released, claim);
  }
  return subscriptionStore(deps.table).change(claim, (current) =>
    isSameTransfer(current, claim) ? { ...current, transfer: undefined } : current,
  );
};

const isSameTransfer = (current: Subscription, { transfer, providerGeneration }: TransferClaim): boolean =>
  current.transfer?.methodRef === transfer.methodRef && current.providerGeneration === providerGeneration;
