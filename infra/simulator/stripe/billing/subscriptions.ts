/**
 * @module Automatically collected subscriptions of one item, with all of Stripe's payment behaviors except pending
 * updates.
 */
import * as z from 'zod';
import { methodOf } from '../../billing/invoices.ts';
import { endSubscription, isLedgerSubscriptionLive } from '../../billing/subscription-end.ts';
import { type NewSubscription, resumeLedgerSubscription, startSubscription } from '../../billing/subscriptions.ts';
import type { LedgerSubscription } from '../../ledger/billing-documents.ts';
import type { Unit } from '../../ledger/unit.ts';
import { stripeSubscriptionView } from '../views/subscription-views.ts';
import { checkCharge } from '../wire/currencies.ts';
import { invalidStripeRequest, stripeNotFound } from '../wire/errors.ts';
import { findStripeCustomer } from '../wire/method-data.ts';
import {
  anything,
  choice,
  createdRange,
  expand,
  flag,
  mergeMetadata,
  page,
  readParameters,
  text,
  whole,
} from '../wire/parameters.ts';
import type { StripeObject } from '../wire/request.ts';
import { getRoute, listPage, type StripeRequest, type StripeRoute } from '../wire/request.ts';
import { discountIdsFor, taxRateIdsFor } from './discounts.ts';
import {
  attemptOf,
  endTime,
  firstCharge,
  futureTime,
  itemPrice,
  keepsPayingMethod,
  ownMethod,
  paidFor,
  priceFor,
  quantityField,
  subscriptionFields,
  trialTime,
} from './subscription-terms.ts';
import { findSubscription, updateStripeSubscription } from './subscription-update.ts';

const PATH = '/v1/subscriptions';

const withView = (run: (request: StripeRequest) => LedgerSubscription) => (request: StripeRequest) => ({
  object: stripeSubscriptionView(run(request), request.unit),
});

export const subscriptionRoutes: readonly StripeRoute[] = [
  { method: 'POST', path: PATH, run: withView((request) => create(request)) },
  { method: 'GET', path: PATH, run: (request) => ({ object: list(request) }) },
  getRoute<LedgerSubscription>(`${PATH}/:id`, 'subscription', (unit) => ({
    collection: unit.documents.subscriptions,
    view: (subscription) => stripeSubscriptionView(subscription, unit),
  })),
  { method: 'POST', path: `${PATH}/:id`, run: withView(updateStripeSubscription) },
  { method: 'POST', path: `${PATH}/:id/resume`, run: withView((request) => resume(request)) },
  { method: 'DELETE', path: `${PATH}/:id`, run: withView((request) => cancel(request)) },
];

const createFields = z.strictObject({
  ...subscriptionFields,
  billing_mode: z.strictObject({ type: choice(['classic', 'flexible']), flexible: anything.optional() }).optional(),
  cancel_at: endTime.optional(),
  customer: text(),
  items: z.array(z.strictObject({ ...itemPrice, quantity: quantityField.optional() })).length(1),
  proration_behavior: choice(['always_invoice', 'create_prorations', 'none']).optional(),
  trial_end: whole.optional(),
  trial_period_days: whole.optional(),
});
type CreateFields = z.output<typeof createFields>;

const create = ({ call, unit }: StripeRequest): LedgerSubscription => {
  const sent = readParameters(call, createFields);
  const wanted = newSubscription(unit, sent);
  // A price of 0 is not charged. Any other amount must be valid for a charge.
  if (wanted.amount > 0) checkCharge(wanted.amount, wanted.currency);
  const first = firstCharge(call, sent);
  const needsMethod = first.outcome !== 'awaited' && wanted.trialEnd === null && wanted.amount > 0;
  if (needsMethod && !methodOf(unit, wanted)) {
    throw invalidStripeRequest({
      code: 'resource_missing',
      message:
        'This customer has no attached payment source or default payment method. Please consider adding a default ' +
        'payment method.',
    });
  }
  return paidFor(startSubscription(unit, wanted, first), first);
};

const newSubscription = (unit: Unit, sent: CreateFields): NewSubscription => {
  const customerId = findStripeCustomer(unit, sent.customer, 'customer').id;
  const [item] = sent.items;
  const price = priceFor(unit, item ?? {});
  const id = unit.newId('subscription');
  const method = sent.default_payment_method;
  const quantity = item?.quantity ?? 1;
  const cancelAt = typeof sent.cancel_at === 'number' ? futureTime(unit, sent.cancel_at, 'cancel_at') : null;
  const endsWithPeriod = sent.cancel_at_period_end ?? typeof sent.cancel_at === 'string';
  return {
    id,
    provider: unit.slot,
    metadata: mergeMetadata({}, sent.metadata),
    wire: {},
    createdAt: unit.at,
    customerId,
    methodId: method === undefined ? null : ownMethod(unit, method, customerId),
    priceId: price.id,
    quantity,
    amount: price.amount * quantity,
    currency: price.currency,
    unit: price.unit,
    count: price.count,
    description: sent.description ?? null,
    trialEnd: trialEndOf(unit, sent),
    withoutMethod: sent.trial_settings?.end_behavior.missing_payment_method ?? 'create_invoice',
    cancelAtPeriodEnd: endsWithPeriod,
    cancelAt,
    canceledAt: endsWithPeriod || cancelAt !== null ? unit.at : null,
    endedAt: null,
    endReason: null,
    pausedCollection: null,
    keepsPayingMethod: keepsPayingMethod(sent) ?? false,
    discountIds: discountIdsFor(unit, { id, customerId, currency: price.currency, discountIds: [] }, sent.discounts),
    taxRateIds: taxRateIdsFor(unit, [], sent.default_tax_rates),
    billingMode: sent.billing_mode?.type ?? 'flexible',
  };
};

const DAY_SECONDS = 86_400;

const trialEndOf = (unit: Unit, sent: CreateFields): number | null => {
  const now = Math.floor(unit.at / 1_000);
  const days = sent.trial_period_days;
  const end = sent.trial_end ?? (days === undefined || days === 0 ? undefined : now + days * DAY_SECONDS);
  return end === undefined ? null : trialTime(unit, end);
};

const resume = (request: StripeRequest): LedgerSubscription => {
  const { unit, call } = request;
  readParameters(call, z.strictObject({ billing_cycle_anchor: choice(['now']).optional(), expand: expand.optional() }));
  const subscription = findSubscription(request);
  if (subscription.status !== 'paused') {
    throw invalidStripeRequest({ message: `You cannot resume a subscription that is ${subscription.status}.` });
  }
  return resumeLedgerSubscription(unit, subscription, { attempt: attemptOf(call), outcome: 'attempted' }).subscription;
};

/** An ended subscription can be read, but not canceled. */
const cancel = (request: StripeRequest): LedgerSubscription => {
  const { unit, call, id } = request;
  const fields = { invoice_now: flag.optional(), prorate: flag.optional(), cancellation_details: anything.optional() };
  readParameters(call, z.strictObject({ ...fields, expand: expand.optional() }));
  const subscription = findSubscription(request);
  if (!isLedgerSubscriptionLive(subscription)) throw stripeNotFound('subscription', id, 'id');
  return endSubscription(unit, subscription, 'cancellation_requested');
};

/** Ended subscriptions are listed only on request. */
const list = (request: StripeRequest): StripeObject => {
  const { unit, call } = request;
  const status = choice(STATUSES).optional();
  const sent = readParameters(
    call,
    z.strictObject({ ...page, created: createdRange.optional(), customer: text().optional(), status }),
  );
  if (sent.customer !== undefined) findStripeCustomer(unit, sent.customer, 'customer');
  const isWanted = (subscription: LedgerSubscription): boolean => {
    if (sent.status === undefined) return isLedgerSubscriptionLive(subscription);
    return sent.status === 'ended'
      ? !isLedgerSubscriptionLive(subscription)
      : ['all', subscription.status].includes(sent.status);
  };
  return listPage(request, sent, {
    collection: unit.documents.subscriptions,
    wanted: isWanted,
    view: (subscription) => stripeSubscriptionView(subscription, unit),
    holder: sent.customer,
    kind: 'subscription',
  });
};

const STATUSES = [
  'active',
  'all',
  'canceled',
  'ended',
  'incomplete',
  'incomplete_expired',
  'past_due',
  'paused',
  'trialing',
  'unpaid',
] as const;
