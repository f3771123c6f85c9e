import type { ProviderSlot } from '../../core/settings.ts';
import type { ProviderEvent } from '../../providers/port/events.ts';
import type { BillingDeps } from '../../subscriptions/billing/biller.ts';
import { requireDone, subscriptionsPortOf } from '../../subscriptions/provider-billed/port.ts';
import { applyReport, awaitsFirstCharge } from '../../subscriptions/provider-billed/report.ts';
import { type SubscriptionStore, subscriptionStore } from '../../subscriptions/record/store.ts';
import { isProviderBilled, type Subscription } from '../../subscriptions/record/subscription.ts';
import { edit } from '../../subscriptions/record/versions.ts';
import { findAlias } from '../../table/alias.ts';
import { applyInvoice, FORMER, recordFormerInvoice } from './invoice-event.ts';
import type { EventResult } from './result.ts';
import { resultOf, resultOfChange, type SubscriptionEventContext, syncSubscription } from './subscription-context.ts';

/** What providers tell of subscriptions that they bill. What is billed here is decided here, whatever anybody tells. */
type SubscriptionEventType = Extract<
  NonNullable<ProviderEvent['type']>,
  `subscription.${string}` | `invoice.${string}`
>;

export const isSubscriptionEvent = (type: ProviderEvent['type']): type is SubscriptionEventType =>
  (type?.startsWith('subscription.') || type?.startsWith('invoice.')) ?? false;

export const applySubscriptionEvent = async (
  deps: BillingDeps,
  slot: ProviderSlot,
  event: ProviderEvent,
  type: SubscriptionEventType,
): Promise<EventResult> => {
  const store = subscriptionStore(deps.table);
  const subscription = await subscriptionOfEvent(deps, store, slot, event);
  // A creation that is under way learns by itself what comes of it.
  if (!subscription || subscription.status === 'creating') return { kind: 'early' };
  const told: SubscriptionEventContext = { deps, store, subscription, event };
  if (subscription.providerId !== slot) return resultOf(told, 'quarantined', 'provider differs');
  if (!isProviderBilled(subscription)) return resultOf(told, 'ignored', 'billed here');
  // Which of the two it is of shows when it has been made once more.
  if (subscription.transfer) return { kind: 'early' };
  const { providerSubscriptionId: known, formerProviderIds = [] } = subscription;
  const named = providerIdIn(event);
  if (named !== undefined && formerProviderIds.includes(named)) {
    return type === 'invoice.payment_succeeded' ? recordFormerInvoice(told) : resultOf(told, 'ignored', FORMER);
  }
  if (named !== undefined && known !== undefined && named !== known) {
    return resultOf(told, 'ignored', FORMER);
  }
  // One that is being made once more learns by itself what comes of it.
  if (subscription.status === 'canceled' && awaitsFirstCharge(subscription.charge)) return { kind: 'early' };
  if (type === 'invoice.payment_succeeded' || type === 'invoice.payment_failed') return applyInvoice(told, type);
  if (subscription.status === 'canceled') return endThere(told, named);
  return applyNews(told, type, named);
};

const providerIdIn = ({ object, type }: ProviderEvent): string | undefined =>
  object.invoice?.subscriptionId ?? (type?.startsWith('invoice.') ? undefined : object.id);

/** By the provider's id of it, else by ours, which was left with the provider. */
const subscriptionOfEvent = async (
  deps: BillingDeps,
  store: SubscriptionStore,
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

/** Canceled here, and the provider may not know: it is not to charge any more. */
const endThere = async (told: SubscriptionEventContext, named: string | undefined): Promise<EventResult> => {
  const { deps, subscription, event } = told;
  if (event.type === 'subscription.deleted' || named === undefined) return resultOf(told, 'ignored', 'no change');
  const native = await subscriptionsPortOf(deps, subscription);
  const found = requireDone(await native.find(named), subscription);
  if (found.status === 'canceled') return resultOf(told, 'ignored', 'no change');
  const idempotencyKey = `${subscription.id}:cancel:${named}`;
  requireDone(await native.cancel({ subscriptionId: named, idempotencyKey }), subscription);
  return resultOf(told, 'applied', 'canceled at the provider');
};

const applyNews = async (
  told: SubscriptionEventContext,
  type: Exclude<SubscriptionEventType, `invoice.${string}`>,
  named: string | undefined,
): Promise<EventResult> => {
  const { deps, store, subscription, event } = told;
  switch (type) {
    case 'subscription.trial_will_end': {
      if (subscription.status !== 'trialing' || subscription.trialNoticed)
        return resultOf(told, 'ignored', 'no change');
      await store.change(subscription, (current) =>
        current.trialNoticed ? current : edit(current, 'trial_will_end', deps.now(), { trialNoticed: true }),
      );
      return resultOf(told, 'applied', 'trial will end');
    }
    case 'subscription.deleted': {
      // Final, and so never stale.
      const said = { status: 'canceled', at: event.createdAt } as const;
      await store.change(subscription, (current) => applyReport(current, said, deps.now()));
      return resultOf(told, 'applied', 'canceled');
    }
    case 'subscription.created':
    case 'subscription.updated':
      return applyState(told, named);
  }
};

/** Newer than what is known, it is taken at its word; older, it is stale; where nobody can tell, the provider is read. */
const applyState = async (told: SubscriptionEventContext, named: string | undefined): Promise<EventResult> => {
  const { deps, store, subscription, event } = told;
  const news = event.object.subscription;
  const age = ageOf(event, subscription);
  if (age === 'older') return resultOf(told, 'ignored', 'stale');
  const isClear =
    age === 'newer' &&
    news?.status !== undefined &&
    // When it is tried again, its invoice says alone.
    (news.status !== 'past_due' || subscription.status === 'past_due') &&
    subscription.providerSubscriptionId !== undefined &&
    // Whether a first charge has been paid, its invoice says alone.
    !awaitsFirstCharge(subscription.charge);
  if (!isClear) return syncSubscription(told, named);
  let isOvertaken = false;
  const next = await store.change(subscription, (current) => {
    isOvertaken = ageOf(event, current) !== 'newer';
    return isOvertaken ? current : applyReport(current, { ...news, at: event.createdAt }, deps.now());
  });
  return isOvertaken ? syncSubscription(told, named) : resultOfChange(told, next);
};

/** Clocks differ, and what a call answers was so at some time while it ran. */
const UNSURE_SECONDS = 30;

const ageOf = ({ createdAt }: ProviderEvent, { knownAt = 0 }: Subscription): 'older' | 'newer' | 'unsure' => {
  if (Math.abs(createdAt - knownAt) <= UNSURE_SECONDS) return 'unsure';
  return createdAt < knownAt ? 'older' : 'newer';
};
