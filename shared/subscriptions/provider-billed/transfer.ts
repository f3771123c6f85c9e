import { DomainError } from '../../core/errors.ts';
import type { Outcome } from '../../core/outcome.ts';
import { epochSeconds, instant, iso, MINUTE, SECOND } from '../../core/time.ts';
import type { HeldMethod } from '../../payment-methods/use.ts';
import type { CallOptions } from '../../providers/port/call-options.ts';
import type { ProviderSubscription, SubscriptionsPort } from '../../providers/port/subscriptions.ts';
import { unavailableError } from '../../providers/registry/unwrap.ts';
import { putAlias } from '../../table/alias.ts';
import type { BillingDeps } from '../billing/biller.ts';
import { isPaidFor } from '../billing/periods.ts';
import { type SubscriptionStore, subscriptionStore } from '../record/store.ts';
import type { Subscription } from '../record/subscription.ts';
import { edit } from '../record/versions.ts';
import { findEarlierCreations } from './commands.ts';
import { creationRequest } from './create.ts';
import { invalidStateError, requireDone, subscriptionsPortOf } from './port.ts';
import { storeReport, syncAfterRefusal, syncIfKnown } from './sync.ts';

/**
 * A provider charges a subscription with the methods of its own customer there, and no other's. For another customer's
 * method it is made once more, for that customer, and the former one ends: what is paid for stays paid for, and what is
 * past due is charged at once, for a period that begins now. The former one is held from the start, so that the two of
 * them never charge for the same time; the rest is repeated by its appointment until it is done.
 */
export const startTransfer = async (
  deps: BillingDeps,
  subscription: Subscription,
  method: HeldMethod,
): Promise<Subscription> => {
  const { status, charge, providerSubscriptionId, providerGeneration = 1 } = subscription;
  if (status === 'paused') throw new DomainError('INVALID_STATE', { message: 'Resume it first' });
  if (subscription.transfer || charge || !providerSubscriptionId) throw new DomainError('PAYMENT_IN_PROGRESS');
  const store = subscriptionStore(deps.table);
  const claimed = await store.commit(subscription, {
    ...subscription,
    providerGeneration: providerGeneration + 1,
    transfer: {
      paymentMethodId: method.paymentMethodId ?? '',
      methodRef: method.methodRef ?? '',
      providerCustomerId: method.providerCustomerId ?? '',
      customerId: method.customerId,
      freeUntil: isPaidFor(subscription, deps.now()) ? paidUntilOf(subscription) : undefined,
      lookAt: iso(deps.now() + MINUTE),
    },
  });
  if (!claimed.ok) throw new DomainError('VERSION_CONFLICT');
  return continueTransfer(deps, store, claimed.subscription);
};

const paidUntilOf = ({ period, currentPeriodEnd, paidUntil }: Subscription): string | undefined =>
  period < 0 ? currentPeriodEnd : paidUntil;

/**
 * Every step under a key of its own, which stays the same however often this is called.
 * @throws DomainError PAYMENT_DECLINED, or why it cannot be made there: then it goes on as before
 */
export const continueTransfer = async (
  deps: BillingDeps,
  store: SubscriptionStore,
  subscription: Subscription,
): Promise<Subscription> => {
  const { id, transfer, providerSubscriptionId: former, providerGeneration = 1 } = subscription;
  if (!transfer || former === undefined) return subscription;
  const native = await subscriptionsPortOf(deps, subscription);
  const keyed: Keyed = (step, subscriptionId) => ({
    subscriptionId,
    idempotencyKey: `${id}:transfer:${providerGeneration}:${step}`,
  });
  const isAgain = instant(transfer.lookAt) <= deps.now();
  const made = await madeOnceMore(native, keyed, subscription, { ...transfer, former, isAgain });
  // A first try of which the provider did nothing is taken back; after an earlier try it is repeated.
  const didNothing = made.kind === 'not_done' && !isAgain;
  if (made.kind === 'declined' || made.kind === 'refused' || didNothing) {
    if (!subscription.held) await release(native, keyed('release', former), subscription);
    const left = await undone(store, subscription);
    if (made.kind === 'not_done') throw unavailableError(made);
    if (made.kind === 'declined') throw new DomainError('PAYMENT_DECLINED', { details: { decline_code: made.code } });
    // Events that came meanwhile were answered as too early: what they told is read.
    if (made.reason !== COLLECTING) throw invalidStateError(await syncAfterRefusal(deps, left, made));
    await syncIfKnown(deps, store, left);
    throw new DomainError('PAYMENT_IN_PROGRESS');
  }
  const report = requireDone(made, subscription);
  const ending = subscription.cancelAtPeriodEnd
    ? await native.scheduleCancel({ ...keyed('end', report.subscriptionId), cancel: true })
    : undefined;
  const stands = await asItStands(native, report);
  // The new one may have been canceled there before its end was scheduled.
  if (ending && stands.status !== 'canceled') requireDone(ending, subscription);
  requireDone(await native.cancel(keyed('cancel', former)), subscription);
  return storeReport(deps, store, await handedOver(deps, store, subscription, report), stands);
};

/**
 * The method that was to take over may no longer be charged: what an earlier try has made ends, and all is as before.
 * Where that try has charged the method, or ended the former one, nothing more is charged by finishing the transfer: it is
 * finished, and the method is taken from the subscription when its lending ends.
 */
export const abandonTransfer = async (
  deps: BillingDeps,
  store: SubscriptionStore,
  subscription: Subscription,
): Promise<Subscription> => {
  const { id, transfer, providerSubscriptionId: former, providerGeneration = 1 } = subscription;
  if (!transfer || former === undefined) return subscription;
  const native = await subscriptionsPortOf(deps, subscription);
  const found = await findEarlierCreations(native, subscription, transfer.providerCustomerId);
  const made = found.filter(({ subscriptionId }) => subscriptionId !== former);
  if (made.length > 0) {
    const { status } = requireDone(await native.find(former), subscription);
    const isFree = made.every((one) => one.status === 'trialing');
    if (status === 'canceled' || !isFree) return continueTransfer(deps, store, subscription);
  }
  for (const { subscriptionId } of made) {
    const idempotencyKey = `${id}:cancel:${subscriptionId}`;
    requireDone(await native.cancel({ subscriptionId, idempotencyKey }), subscription);
  }
  const idempotencyKey = `${id}:transfer:${providerGeneration}:release`;
  if (!subscription.held) await release(native, { subscriptionId: former, idempotencyKey }, subscription);
  return undone(store, subscription);
};

/** The former one collects again; one that was held back for want of a method stays so. */
const release = async (native: SubscriptionsPort, of: ReturnType<Keyed>, subscription: Subscription): Promise<void> => {
  const released = await native.resume({ ...of, anew: false });
  // A refusal: the subscription is over there, and there is nothing to release.
  if (released.kind === 'unknown' || released.kind === 'not_done') requireDone(released, subscription);
};

type Transfer = NonNullable<Subscription['transfer']>;
type Keyed = (step: string, subscriptionId: string) => CallOptions & { readonly subscriptionId: string };

/**
 * An earlier try may have made it: looked for where this is another, and where the former one cannot be held: it is
 * over, by such a try or by somebody else.
 */
const madeOnceMore = async (
  native: SubscriptionsPort,
  keyed: Keyed,
  subscription: Subscription,
  { former, isAgain, ...transfer }: Transfer & { readonly former: string; readonly isAgain: boolean },
): Promise<Outcome<ProviderSubscription>> => {
  const held = await native.pause(keyed('hold', former));
  if (held.kind === 'unknown' || held.kind === 'not_done') return held;
  const isNew = held.kind === 'done' && !isAgain;
  const [made] = isNew ? [] : await findEarlierCreations(native, subscription, transfer.providerCustomerId);
  if (made) return { kind: 'done', value: made };
  if (held.kind !== 'done') return held;
  const invoice = held.value.latestInvoice;
  if (invoice?.status === 'processing') return { kind: 'refused', reason: COLLECTING };
  const paidUntil = invoice?.status === 'succeeded' ? iso(invoice.periodEnd * SECOND) : undefined;
  const [freeUntil] = [transfer.freeUntil, paidUntil]
    .filter((until) => until !== undefined)
    .sort()
    .reverse();
  const isFree = freeUntil !== undefined && instant(freeUntil) > instant(transfer.lookAt) - MINUTE;
  return native.create(wantedBy(subscription, { ...transfer, freeUntil: isFree ? freeUntil : undefined }));
};

/** The former one's invoice is on its way to be paid. */
const COLLECTING = 'invoice_processing';

const wantedBy = (subscription: Subscription, { methodRef, providerCustomerId, freeUntil }: Transfer) =>
  creationRequest(
    { ...subscription, methodRef, providerCustomerId },
    freeUntil === undefined ? undefined : epochSeconds(instant(freeUntil)),
  );

/** Where its end was scheduled after it was made. */
const asItStands = async (native: SubscriptionsPort, made: ProviderSubscription): Promise<ProviderSubscription> => {
  const found = await native.find(made.subscriptionId);
  return found.kind === 'done' ? found.value : made;
};

const isSame = (current: Subscription, { transfer, providerGeneration }: Subscription): boolean =>
  current.transfer?.methodRef === transfer?.methodRef && current.providerGeneration === providerGeneration;

const undone = (store: SubscriptionStore, subscription: Subscription): Promise<Subscription> =>
  store.change(subscription, (current) =>
    isSame(current, subscription) ? { ...current, transfer: undefined } : current,
  );

const handedOver = async (
  deps: BillingDeps,
  store: SubscriptionStore,
  subscription: Subscription,
  { subscriptionId }: ProviderSubscription,
): Promise<Subscription> => {
  const { id, providerId } = subscription;
  await putAlias(deps.table, { providerId, externalId: subscriptionId }, { kind: 'SUB', id });
  return store.change(subscription, (current) => {
    const { transfer, providerSubscriptionId: former, formerProviderIds = [] } = current;
    if (!transfer || !isSame(current, subscription)) return current;
    const { paymentMethodId, methodRef, providerCustomerId, customerId = current.customerId } = transfer;
    return edit(current, 'method_changed', deps.now(), {
      ...{ paymentMethodId, methodRef, providerCustomerId, customerId },
      providerSubscriptionId: subscriptionId,
      ...(former && { formerProviderIds: [...formerProviderIds, former] }),
      transfer: undefined,
      held: undefined,
    });
  });
};
