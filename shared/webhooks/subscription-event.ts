/** @module Applies a provider's subscription events, never to a subscription that the service bills. */

import type { ProviderSlot } from '../core/settings.ts';
import { epochSeconds, instant } from '../core/time.ts';
import { findAlias } from '../platform/alias.ts';
import type { InboundEventType, ProviderEvent } from '../providers/event-port.ts';
import type { EventSubscription, ProviderSubscription } from '../providers/subscription-port.ts';
import { requireAnswer, subscriptionsPortOf } from '../subscriptions/at-provider/provider-biller.ts';
import { noteFormer, recordDropped, storeCharged } from '../subscriptions/at-provider/provider-commands.ts';
import { skipsTime } from '../subscriptions/at-provider/provider-invoices.ts';
import { applyReport, awaitsFirstCharge, isAboutFormer } from '../subscriptions/at-provider/provider-report.ts';
import { namesOtherMethod, openPlanAt } from '../subscriptions/at-provider/store-report.ts';
import type { BillingDeps } from '../subscriptions/billing/biller.ts';
import { isProviderBilled, listCentsOf, type Subscription } from '../subscriptions/record/subscription.ts';
import { subscriptionStore } from '../subscriptions/record/subscription-store.ts';
import { edit } from '../subscriptions/record/subscription-versions.ts';
import type { EventResult, InboundEvent } from './inbound-event.ts';
import { applyInvoice, FORMER, recordFormerInvoice } from './invoice-event.ts';
import {
  ageOf,
  noteFollowed,
  resultOf,
  resultOfChange,
  type SubscriptionEventContext,
  syncSubscription,
} from './subscription-context.ts';

type SubscriptionEventType = Extract<InboundEventType, `subscription.${string}` | `invoice.${string}`>;

export const applySubscriptionEvent = async (
  deps: BillingDeps,
  { slot, type, event }: InboundEvent<SubscriptionEventType>,
): Promise<EventResult> => {
  const store = subscriptionStore(deps.table);
  const subscription = await findSubscription({ deps, store }, slot, event);
  if (!subscription && isMadeByHand(event)) return { kind: 'ignored', reason: 'not ours', owner: {} };
  // A running creation reads its own outcome, so the event is retried later.
  if (!subscription || subscription.status === 'creating') return { kind: 'early' };
  const context: SubscriptionEventContext = { deps, store, subscription, event };
  if (subscription.providerId !== slot) return resultOf(context, 'quarantined', 'provider differs');
  if (!isProviderBilled(subscription)) return resultOf(context, 'ignored', 'billed here');
  // Readers do not see a declined creation. They see its payment only if money has moved.
  if (subscription.status === 'declined' && type !== 'invoice.payment_succeeded') {
    return resultOf(context, 'ignored', 'declined');
  }
  // During a transfer, the event may be about either of two subscriptions at the provider, so the event is retried.
  if (subscription.transfer) return { kind: 'early' };
  const { subscription: news, invoice } = event.object;
  const isSame = !isAboutFormer(subscription, providerIdIn(event));
  const opened = isSame && (await openPlanAt(deps, subscription, news?.currentPeriodStart ?? invoice?.periodStart));
  return applyToProviderBilled({ ...context, subscription: opened || subscription }, type);
};

const applyToProviderBilled = async (
  context: SubscriptionEventContext,
  type: SubscriptionEventType,
): Promise<EventResult> => {
  const { subscription, event } = context;
  const { status } = subscription;
  const namedId = providerIdIn(event);
  if (namedId !== undefined && isAboutFormer(subscription, namedId)) return applyToFormer(context, type, namedId);
  // While the provider's subscription is created again, that creation reads its own outcome. The event is retried.
  if (status === 'canceled' && awaitsFirstCharge(subscription.charge)) return { kind: 'early' };
  if (type === 'invoice.payment_succeeded' || type === 'invoice.payment_failed') return applyInvoice(context, type);
  return status === 'canceled' ? cancelAtProvider(context, namedId) : applyNews(context, type, namedId);
};

/** Records a former provider subscription's charges. If it still runs, cancels it to prevent double charges. */
const applyToFormer = async (
  context: SubscriptionEventContext,
  type: SubscriptionEventType,
  namedId: string,
): Promise<EventResult> => {
  if (type === 'invoice.payment_succeeded') return recordFormerInvoice(context);
  const isState = type === 'subscription.created' || type === 'subscription.updated';
  const mayRun = isState && context.event.object.subscription?.status !== 'canceled';
  return mayRun ? cancelAtProvider(context, namedId) : resultOf(context, 'ignored', FORMER);
};

/** True if the subscription was made at the provider by hand. Ours have our id in their metadata. */
const isMadeByHand = ({ isOfInterface, object }: ProviderEvent): boolean =>
  !isOfInterface && (object.subscription ?? object.invoice)?.ourSubscriptionId === undefined;

const providerIdIn = ({ object, type }: ProviderEvent): string | undefined =>
  object.invoice?.subscriptionId ?? (type?.startsWith('invoice.') ? undefined : object.id);

/** Finds the subscription by the provider's ids in the event, otherwise by our id in its metadata. */
const findSubscription = async (
  { deps, store }: Pick<SubscriptionEventContext, 'deps' | 'store'>,
  slot: ProviderSlot,
  { object }: ProviderEvent,
): Promise<Subscription | undefined> => {
  for (const id of [object.invoice?.subscriptionId, object.subscription?.subscriptionId, object.id]) {
    const alias = id === undefined ? undefined : await findAlias(deps.table, slot, id);
    if (alias?.kind === 'SUB') return store.load(alias.id);
  }
  const ours = object.subscription?.ourSubscriptionId ?? object.invoice?.ourSubscriptionId;
  return ours === undefined ? undefined : store.load(ours);
};

/**
 * Cancels the named subscription at the provider and voids its open invoices, so that nothing more is charged. Our
 * record is canceled or uses another provider subscription, but the named one may still run or have open invoices.
 */
const cancelAtProvider = async (
  context: SubscriptionEventContext,
  namedId: string | undefined,
): Promise<EventResult> => {
  const { deps, subscription } = context;
  if (namedId === undefined) return resultOf(context, 'ignored', 'no change');
  const noted = await noteFormer(deps, subscription, [namedId]);
  const found = await readCharges(deps, noted, namedId);
  const isOver = found?.status === 'canceled' && !found.owed.some(({ isOpen }) => isOpen);
  if (found === undefined || isOver) return resultOf(context, 'ignored', 'no change');
  const port = await subscriptionsPortOf(deps, subscription);
  const idempotencyKey = `${subscription.id}:cancel:${namedId}`;
  const canceled = await port.cancel({ subscriptionId: namedId, idempotencyKey });
  await recordDropped(deps, subscription, requireAnswer(canceled, subscription));
  return resultOf(context, 'applied', 'canceled at the provider');
};

/**
 * Records the payment of a charge that was in progress when the subscription ended. No event names that charge once its
 * invoice is void.
 * @returns undefined if the provider does not have the subscription
 */
const readCharges = async (
  deps: BillingDeps,
  subscription: Subscription,
  endedId: string,
): Promise<ProviderSubscription | undefined> => {
  const port = await subscriptionsPortOf(deps, subscription);
  const found = await port.find(endedId);
  if (found.kind === 'refused' && found.reason === 'resource_missing') return undefined;
  const answer = requireAnswer(found, subscription);
  if (!isAboutFormer(subscription, endedId)) await storeCharged(deps, subscription, answer);
  return answer;
};

const applyNews = async (
  context: SubscriptionEventContext,
  type: Exclude<SubscriptionEventType, `invoice.${string}`>,
  namedId: string | undefined,
): Promise<EventResult> => {
  const { deps, store, subscription, event } = context;
  switch (type) {
    case 'subscription.trial_will_end': {
      if (subscription.status !== 'trialing' || subscription.trialNoticed) {
        return resultOf(context, 'ignored', 'no change');
      }
      await store.change(subscription, (current) =>
        current.trialNoticed
          ? current
          : edit(current, { reason: 'trial_will_end', now: deps.now() }, { trialNoticed: true }),
      );
      return resultOf(context, 'applied', 'trial will end');
    }
    case 'subscription.deleted': {
      // A deletion is final, so it is never stale.
      const report = { status: 'canceled', at: event.createdAt } as const;
      const ended = await store.change(subscription, (current) =>
        isAboutFormer(current, namedId) ? current : applyReport(current, report, deps.now()),
      );
      await cancelAtProvider({ ...context, subscription: ended }, namedId);
      return resultOf(context, 'applied', 'canceled');
    }
    case 'subscription.created':
    case 'subscription.updated':
      return applyState(context, namedId);
  }
};

/** Applies an event newer than the record, ignores an older one, and reads the provider if the order is unknown. */
const applyState = async (context: SubscriptionEventContext, namedId: string | undefined): Promise<EventResult> => {
  const { deps, store, subscription, event } = context;
  if (ageOf(event, subscription) === 'older') return resultOf(context, 'ignored', 'stale');
  let isUndecided = false;
  const next = await store.change(subscription, (current) => {
    isUndecided = isAboutFormer(current, namedId) || !decidesAlone(event, current);
    const report = { ...event.object.subscription, price: undefined, at: event.createdAt };
    return isUndecided ? current : noteFollowed(event, applyReport(current, report, deps.now()));
  });
  if (isUndecided) return syncSubscription(context, namedId);
  // Cancels at the provider, which may not know of this cancellation and would charge the next period.
  if (event.isOfInterface && next.status === 'canceled') {
    await cancelAtProvider({ ...context, subscription: next }, namedId);
  }
  return resultOfChange(context, next);
};

/** True if the event decides without a read. Checked in each write, because the record may have changed since. */
const decidesAlone = (event: ProviderEvent, current: Subscription): boolean => {
  const news = event.object.subscription;
  return (
    ageOf(event, current) === 'newer' &&
    news?.status !== undefined &&
    current.providerSubscriptionId !== undefined &&
    !namesOtherMethod(current, news) &&
    (event.isOfInterface || tellsAll(current, news))
  );
};

/**
 * True if the event is enough without its invoices. Only invoices contain the time of the next retry, and show whether
 * the first charge is paid, whether an older period is owed, and what was paid in an unreported period.
 */
const tellsAll = (subscription: Subscription, news: EventSubscription): boolean => {
  const { status, charge, trialEnd } = subscription;
  const listCents = listCentsOf(subscription);
  const isOfKnownTrial = trialEnd === undefined || news.trialEnd === epochSeconds(instant(trialEnd));
  return (
    (status !== 'trialing' || isOfKnownTrial) &&
    (news.status === 'past_due') === (status === 'past_due') &&
    (news.price?.amountCents ?? listCents) === listCents &&
    !skipsTime(subscription, news.currentPeriodStart) &&
    !awaitsFirstCharge(charge)
  );
};
