/**
 * @module Builds the record of a subscription created at a billing provider by another integration. Pure. The provider
 * keeps billing it, so the record starts in the current period, with its payment from before the import.
 */

import type { Owned } from '../../access/record-kind.ts';
import { FIRST_LOOK_MS } from '../../calls/call-times.ts';
import type { Product } from '../../catalog/catalog-records.ts';
import type { ProviderSlot } from '../../core/settings.ts';
import { epochSeconds, type Instant, iso, SECOND_MS } from '../../core/time.ts';
import type { HeldSubscription } from '../../providers/holdings-port.ts';
import { periodAt, periodStart, type Schedule } from '../billing/periods.ts';
import { soldAs } from '../billing/subscription-plan.ts';
import type { SubscriptionPlan } from '../record/plan-change.ts';
import type { Subscription } from '../record/subscription.ts';
import { intervalOf, providerInterval } from './provider-biller.ts';
import { openingPeriod } from './provider-invoices.ts';
import { chargedPrice } from './provider-pricing.ts';
import { applyReport } from './provider-report.ts';
import { reportOf } from './store-report.ts';

/** Why a subscription is not imported. */
type PlanProblem = 'currency' | 'interval' | 'discount_ends' | 'tax' | 'price_differs';

export type AdoptedPlan = SubscriptionPlan & Pick<Subscription, 'currency' | 'listCents'>;

/**
 * The imported plan as stored here. A permanent discount at the provider reduces the plan's total.
 * @param product our product for the provider's price; its total, currency and interval must equal the provider's
 */
export const adoptedPlan = ({ terms }: HeldSubscription, product: Product | undefined): AdoptedPlan | PlanProblem => {
  const { listCents, currency, quantity, pricing, isTaxed } = terms;
  const interval = intervalOf(terms);
  if (listCents === undefined) return 'currency';
  if (interval === undefined) return 'interval';
  if (isTaxed) return 'tax';
  const charged = chargedPrice({ totalCents: listCents, taxCents: 0, discountCents: 0 }, pricing);
  if (!charged) return 'discount_ends';
  const { totalCents, discountCents } = charged;
  const plan = {
    ...{ subtotalCents: listCents, taxCents: 0, discountCents, totalCents, currency },
    ...interval,
    quantity: product ? quantity : 1,
    listCents: totalCents === listCents ? undefined : listCents,
  };
  if (!product) return plan;
  const isSame = isSold(product, { ...plan, quantity });
  return isSame ? { ...plan, ...soldAs(product) } : 'price_differs';
};

const isSold = (product: Product, plan: AdoptedPlan): boolean => {
  const { total_cents: each, currency, billing_interval: unit, interval_multiplier: multiplier } = product;
  const sold = unit && intervalOf(providerInterval({ billingInterval: unit, intervalMultiplier: multiplier }));
  return (
    each * plan.quantity === plan.totalCents &&
    currency === plan.currency &&
    sold?.billingInterval === plan.billingInterval &&
    sold.intervalMultiplier === plan.intervalMultiplier
  );
};

interface AdoptedAs {
  readonly id: string;
  readonly slot: ProviderSlot;
  readonly owner: Owned;
  readonly customerId: string;
  readonly providerCustomerId: string;
  readonly method: { readonly id: string; readonly methodRef: string };
  readonly plan: AdoptedPlan;
  /** When the provider was read, before the record is stored. */
  readonly readAt: Instant;
}

export const adoptedSubscription = (held: HeldSubscription, as: AdoptedAs, now: Instant): Subscription => {
  const { report, terms } = held;
  const isTrial = report.status === 'trialing';
  const at = iso(now);
  const draft: Subscription = {
    ...{ id: as.id, version: 0, lock: 0, status: 'creating', createdAt: at, updatedAt: at },
    ...{ billingOwner: 'provider', ...as.owner, customerId: as.customerId, providerCustomerId: as.providerCustomerId },
    ...{ paymentMethodId: as.method.id, methodRef: as.method.methodRef, providerId: as.slot },
    ...{ providerSubscriptionId: report.subscriptionId, providerGeneration: 1 },
    ...as.plan,
    ...calendarOf(held, as.plan),
    cancelAtPeriodEnd: false,
    tierUnpaidSince: isTrial ? at : undefined,
    activeSince: isTrial ? undefined : iso(terms.startedAt * SECOND_MS),
    paidUntil: report.status === 'past_due' ? iso(report.currentPeriodStart * SECOND_MS) : undefined,
    importedAt: iso(as.readAt),
    openedBy: terms.openedBy,
    adoption: {
      claimedAt: at,
      lookAt: iso(now + FIRST_LOOK_MS),
      methodRef: terms.methodId === undefined ? as.method.methodRef : undefined,
    },
  };
  return applyReport(draft, { ...reportOf(report), ...paidBefore(draft, held), at: epochSeconds(as.readAt) }, now);
};

const paidBefore = (draft: Subscription, { report, terms }: HeldSubscription) =>
  terms.openedBy && {
    paidUntil: report.currentPeriodEnd,
    paidPeriod: openingPeriod(draft, terms.openedBy, report.currentPeriodStart),
    isPaid: true,
  };

/** Uses the provider's anchor if the current period fits it, otherwise the start of the current period. */
const calendarOf = (
  { report, terms }: HeldSubscription,
  plan: AdoptedPlan,
): Pick<Subscription, 'anchor' | 'period' | 'currentPeriodStart' | 'currentPeriodEnd' | 'trialEnd'> => {
  const start = report.currentPeriodStart * SECOND_MS;
  const end = report.currentPeriodEnd * SECOND_MS;
  const times = { currentPeriodStart: iso(start), currentPeriodEnd: iso(end) };
  if (report.status === 'trialing') return { ...times, anchor: iso(end), period: -1, trialEnd: iso(end) };
  const schedule: Schedule = { ...plan, anchor: iso(terms.anchor * SECOND_MS) };
  const period = periodAt(schedule, start);
  const isOfAnchor = period >= 0 && periodStart(schedule, period) === start;
  const trialEnd = report.trialEnd === undefined ? undefined : iso(report.trialEnd * SECOND_MS);
  return isOfAnchor
    ? { ...times, anchor: schedule.anchor, period, trialEnd }
    : { ...times, anchor: iso(start), period: 0, trialEnd };
};
