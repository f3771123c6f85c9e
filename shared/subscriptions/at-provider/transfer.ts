/**
 * @module Moves a subscription to another customer at the provider, because a provider charges a subscription only
 * with methods of its own customer. To charge another customer's method, the service creates a second subscription for
 * that customer, the successor, and cancels the former subscription. Collection of the former subscription is paused
 * first, so that the two never charge for the same time. Due work repeats the transfer until it is finished.
 */

import type { RefusedCall } from '../../calls/call-kind.ts';
import { FIRST_LOOK_MS } from '../../calls/call-times.ts';
import { requireFree } from '../../calls/exclusions.ts';
import { runCreation } from '../../calls/run-creation.ts';
import { DomainError } from '../../core/errors.ts';
import type { NotDone, Outcome } from '../../core/outcome.ts';
import { epochSeconds, type Instant, instant, iso, SECOND_MS } from '../../core/time.ts';
import type { HeldMethod } from '../../payment-methods/usable-method.ts';
import { putAlias } from '../../platform/alias.ts';
import type { TransactionStep } from '../../platform/table.ts';
import type { CallOptions } from '../../providers/payment-port.ts';
import type { ProviderSubscription, SubscriptionsPort } from '../../providers/subscription-port.ts';
import { declinedError, unavailableError } from '../../providers/unwrap.ts';
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
import { storeRenewal, storeReport, syncAfterRefusal, syncIfKnown } from './store-report.ts';

/** Paid time stays paid. A past-due subscription starts a new period, which is charged immediately. */
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
  return continueTransfer(deps, claimed);
};

const claimTransfer = (subscription: Subscription, method: HeldMethod, now: Instant): Subscription => {
  const { status, held, providerSubscriptionId, providerGeneration = 1 } = subscription;
  if (!isLive(subscription)) throw invalidStateError(subscription);
  // A held subscription was paused only because it had no method, so it continues with the next method.
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

/** A transfer under way, with the data that its steps at the provider need. */
interface TransferContext {
  readonly deps: BillingDeps;
  readonly port: SubscriptionsPort;
  readonly subscription: Subscription;
  readonly transfer: ActiveTransfer;
  /** The provider's id of the former subscription. */
  readonly formerId: string;
  /** True if an earlier run may have called the provider. */
  readonly isRepeated: boolean;
}

const contextOf = async (deps: BillingDeps, subscription: Subscription): Promise<TransferContext | undefined> => {
  const { transfer, providerSubscriptionId: formerId } = subscription;
  if (!transfer || formerId === undefined) return undefined;
  const port = await subscriptionsPortOf(deps, subscription);
  return { deps, port, subscription, transfer, formerId, isRepeated: instant(transfer.lookAt) <= deps.now() };
};

type Target = CallOptions & { readonly subscriptionId: string };

/** Each step has its own idempotency key, which is the same in every run. */
const targetOf = (
  { subscription: { id, providerGeneration = 1 } }: TransferContext,
  step: 'hold' | 'release' | 'end' | 'cancel',
  subscriptionId: string,
): Target => ({ subscriptionId, idempotencyKey: `${id}:transfer:${providerGeneration}:${step}` });

/**
 * Runs a transfer to its end. Safe to repeat.
 * @throws DomainError PAYMENT_DECLINED, or the reason why the successor cannot be created. The transfer is then
 * aborted.
 */
export const continueTransfer = async (deps: BillingDeps, subscription: Subscription): Promise<Subscription> => {
  const claimed = await contextOf(deps, subscription);
  if (!claimed) return subscription;
  const { context, held } = await holdFormer(claimed);
  return runCreation({
    isFirstTry: !context.isRepeated,
    send: () => createSuccessor(context, held),
    publish: (successor) => replaceFormer(context, successor),
    remove: (reason) => failTransfer(context, reason),
    keep: async (reason) => requireAnswer(reason, context.subscription),
  });
};

const replaceFormer = async (context: TransferContext, successor: ProviderSubscription): Promise<Subscription> => {
  const { deps, port, subscription, formerId } = context;
  const current = await keepScheduledCancel(context, successor);
  if (endedUncharged(current)) return failTransfer(context, { kind: 'refused', reason: 'canceled' });
  const canceled = await port.cancel(targetOf(context, 'cancel', formerId));
  await recordDropped(deps, subscription, requireAnswer(canceled, subscription));
  return storeReport(deps, await finishTransfer(context, successor), current);
};

/** Aborts the transfer. @throws DomainError always, with the reason why no successor was created */
const failTransfer = async (context: TransferContext, reason: RefusedCall | NotDone): Promise<never> => {
  const { deps } = context;
  const aborted = await abortTransfer(context);
  if (reason.kind === 'not_done') throw unavailableError(reason);
  if (reason.kind === 'declined') throw declinedError(reason);
  // Events that arrived during the transfer were postponed, so the provider is read now.
  if (reason.reason !== COLLECTING) throw invalidStateError(await syncAfterRefusal(deps, aborted, reason));
  await syncIfKnown(deps, aborted);
  throw new DomainError('PAYMENT_IN_PROGRESS');
};

/** Schedules the successor's cancellation if needed. @returns the successor as it is now */
const keepScheduledCancel = async (
  context: TransferContext,
  successor: ProviderSubscription,
): Promise<ProviderSubscription> => {
  const { port, subscription } = context;
  const target = targetOf(context, 'end', successor.subscriptionId);
  const scheduled = subscription.cancelAtPeriodEnd ? await port.scheduleCancel({ ...target, cancel: true }) : undefined;
  const found = await port.find(successor.subscriptionId);
  const current = found.kind === 'done' ? found.value : successor;
  // The successor may have been canceled at the provider before its cancellation was scheduled.
  if (scheduled && current.status !== 'canceled') requireAnswer(scheduled, subscription);
  return current;
};

/**
 * Cancels the successors of earlier runs and aborts the transfer, because its method may no longer be charged. If an
 * earlier run has charged the method or canceled the former subscription, finishing charges nothing more. The transfer
 * is then finished, and due work removes the method from the subscription afterwards.
 */
export const abandonTransfer = async (deps: BillingDeps, subscription: Subscription): Promise<Subscription> => {
  const context = await contextOf(deps, subscription);
  if (!context) return subscription;
  const { port, formerId } = context;
  const created = await findSuccessors(context);
  if (created.length > 0) {
    const { status } = requireAnswer(await port.find(formerId), subscription);
    const isFree = created.every((creation) => creation.status === 'trialing');
    if (status === 'canceled' || !isFree) return continueTransfer(deps, subscription);
  }
  const ids = created.map(({ subscriptionId }) => subscriptionId);
  await cancelCreations(port, subscription, ids);
  return abortTransfer(context);
};

/** Resumes collection of the former subscription, unless it was paused before the transfer because it had no method. */
const abortTransfer = async (context: TransferContext): Promise<Subscription> => {
  const { deps, port, subscription, formerId } = context;
  if (!subscription.held) {
    const released = await port.resume({ ...targetOf(context, 'release', formerId), inNewPeriod: false });
    // A refusal means that the former subscription has ended at the provider, so there is nothing to resume.
    if (released.kind === 'unknown' || released.kind === 'not_done') requireAnswer(released, subscription);
  }
  return subscriptionStore(deps.table).change(subscription, (current) =>
    isSameTransfer(current, subscription) ? { ...current, transfer: undefined } : current,
  );
};

/** Pauses collection of the former subscription. A renewal that was paid before the pause is recorded. */
const holdFormer = async (
  context: TransferContext,
): Promise<{ readonly context: TransferContext; readonly held: Outcome<ProviderSubscription> }> => {
  const { deps, port, subscription, formerId } = context;
  const held = await port.pause(targetOf(context, 'hold', formerId));
  if (held.kind !== 'done') return { context, held };
  return { context: { ...context, subscription: await storeRenewal(deps, subscription, held.value) }, held };
};

/**
 * Creates the successor once the former subscription is paused. Searches for a successor of an earlier run if this run
 * is a repeat, or if the former subscription cannot be paused because it has ended.
 */
const createSuccessor = async (
  context: TransferContext,
  held: Outcome<ProviderSubscription>,
): Promise<Outcome<ProviderSubscription>> => {
  const { port, isRepeated } = context;
  if (held.kind === 'unknown' || held.kind === 'not_done') return held;
  if (held.kind !== 'done' || isRepeated) {
    const [created] = await findSuccessors(context);
    if (created) return { kind: 'done', value: created };
  }
  if (held.kind !== 'done') return held;
  if (isBeingPaid(held.value)) return { kind: 'refused', reason: COLLECTING };
  return port.create(successorRequest(context, held.value));
};

/**
 * The successors that earlier runs have created. A successor that was canceled with its customer before it charged
 * anything is left out.
 */
const findSuccessors = async ({
  port,
  subscription,
  transfer,
}: TransferContext): Promise<readonly ProviderSubscription[]> => {
  const created = await findNewCreations(port, subscription, {
    customerId: transfer.providerCustomerId,
    since: claimTimeOf(transfer),
  });
  const found: ProviderSubscription[] = [];
  for (const creation of created) {
    const isOver = creation.status === 'canceled';
    const current = isOver ? requireAnswer(await port.find(creation.subscriptionId), subscription) : creation;
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

const COLLECTING = 'invoice_processing';

/**
 * The request that creates the successor. Nothing is charged before the end of the paid time, which the former
 * subscription's latest invoice may have extended.
 */
const successorRequest = (
  { subscription, transfer }: TransferContext,
  { latestInvoice }: ProviderSubscription,
): ReturnType<typeof creationRequest> => {
  const { methodRef, providerCustomerId } = transfer;
  const invoicePaidUntil = latestInvoice?.status === 'succeeded' ? iso(latestInvoice.periodEnd * SECOND_MS) : undefined;
  const freeUntil = [transfer.freeUntil, invoicePaidUntil]
    .filter((until) => until !== undefined)
    .toSorted()
    .at(-1);
  const isFree = freeUntil !== undefined && instant(freeUntil) > claimTimeOf(transfer);
  const request = creationRequest(
    { ...subscription, methodRef, providerCustomerId },
    isFree ? epochSeconds(instant(freeUntil)) : undefined,
  );
  return { ...request, isBridge: subscription.period >= 0 };
};

const claimTimeOf = ({ claimedAt, lookAt }: ActiveTransfer): Instant =>
  claimedAt === undefined ? instant(lookAt) - FIRST_LOOK_MS : instant(claimedAt);

const isSameTransfer = (current: Subscription, { transfer, providerGeneration }: Subscription): boolean =>
  current.transfer?.methodRef === transfer?.methodRef && current.providerGeneration === providerGeneration;

const finishTransfer = async (
  { deps, subscription, formerId }: TransferContext,
  { subscriptionId }: ProviderSubscription,
): Promise<Subscription> => {
  const { id, providerId } = subscription;
  await putAlias(deps.table, { providerId, externalId: subscriptionId }, { kind: 'SUB', id });
  return subscriptionStore(deps.table).change(subscription, (current) => {
    const { transfer, formerProviderIds = [] } = current;
    if (!transfer || !isSameTransfer(current, subscription)) return current;
    const { paymentMethodId, methodRef, providerCustomerId, customerId = current.customerId } = transfer;
    return edit(
      current,
      { reason: 'method_changed', now: deps.now() },
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
