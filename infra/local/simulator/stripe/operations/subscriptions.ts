import * as z from 'zod';
import type { LedgerPrice, LedgerSubscription } from '../../ledger/billing-documents.ts';
import { methodOf } from '../../ledger/invoices.ts';
import { changeSubscription, endSubscription, isLedgerSubscriptionLive } from '../../ledger/subscription-end.ts';
import {
  type FirstCharge,
  type NewSubscription,
  restartSubscription,
  resumeLedgerSubscription,
  type Started,
  startSubscription,
} from '../../ledger/subscriptions.ts';
import type { Unit } from '../../ledger/unit.ts';
import { Refused } from '../../protocol/vendor.ts';
import { stripeSubscriptionView } from '../views/subscription-views.ts';
import { stripeMethodView } from '../views/views.ts';
import { checkCharge } from '../wire/currencies.ts';
import { actionRequired, declineFields, invalidStripeRequest, stripeError, stripeNotFound } from '../wire/errors.ts';
import { checkUsable, findMethod, findStripeCustomer } from '../wire/method-data.ts';
import {
  anything,
  choice,
  clearable,
  createdRange,
  expand,
  flag,
  mergeMetadata,
  metadata,
  page,
  readParameters,
  text,
  whole,
} from '../wire/parameters.ts';
import type { StripeObject } from '../wire/request.ts';
import { getRoute, listPage, type StripeRequest, type StripeRoute } from '../wire/request.ts';
import { addPrice, priceData } from './catalog.ts';

/** Subscriptions of one item, collected automatically, with Stripe's payment behaviors except pending updates. */
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
  { method: 'POST', path: `${PATH}/:id`, run: withView((request) => update(request)) },
  { method: 'POST', path: `${PATH}/:id/resume`, run: withView((request) => resume(request)) },
  { method: 'DELETE', path: `${PATH}/:id`, run: withView((request) => cancel(request)) },
];

const common = {
  automatic_tax: anything.optional(),
  billing_mode: anything.optional(),
  cancel_at_period_end: flag.optional(),
  collection_method: choice(['charge_automatically']).optional(),
  default_payment_method: text().optional(),
  description: clearable(500).optional(),
  expand: expand.optional(),
  metadata: metadata.optional(),
  off_session: flag.optional(),
  payment_settings: z
    .strictObject({
      payment_method_options: anything.optional(),
      payment_method_types: anything.optional(),
      save_default_payment_method: choice(['off', 'on_subscription']).optional(),
    })
    .optional(),
  proration_behavior: choice(['always_invoice', 'create_prorations', 'none']).optional(),
  trial_settings: z
    .strictObject({
      end_behavior: z.strictObject({ missing_payment_method: choice(['cancel', 'create_invoice', 'pause']) }),
    })
    .optional(),
};

const createFields = z.strictObject({
  ...common,
  customer: text(),
  items: z
    .array(
      z.strictObject({
        price: text().optional(),
        price_data: priceData.optional(),
        quantity: z.literal('1').optional(),
      }),
    )
    .length(1),
  payment_behavior: choice(['allow_incomplete', 'default_incomplete', 'error_if_incomplete']).optional(),
  trial_end: whole.optional(),
  trial_period_days: whole.optional(),
});
type CreateFields = z.output<typeof createFields>;

const create = ({ call, unit }: StripeRequest): LedgerSubscription => {
  const sent = readParameters(call, createFields);
  const customerId = findStripeCustomer(unit, sent.customer, 'customer').id;
  const price = priceFor(unit, sent);
  // A price of 0 is not charged; any other amount must satisfy the rules of charges.
  if (price.amount > 0) checkCharge(price.amount, price.currency);
  const wanted: NewSubscription = {
    id: unit.newId('subscription'),
    provider: unit.slot,
    metadata: mergeMetadata({}, sent.metadata),
    wire: {},
    createdAt: unit.at,
    customerId,
    methodId:
      sent.default_payment_method === undefined ? null : ownMethod(unit, sent.default_payment_method, customerId),
    priceId: price.id,
    amount: price.amount,
    currency: price.currency,
    unit: price.unit,
    count: price.count,
    description: sent.description ?? null,
    trialEnd: trialEndOf(unit, sent),
    withoutMethod: sent.trial_settings?.end_behavior.missing_payment_method ?? 'create_invoice',
    cancelAtPeriodEnd: sent.cancel_at_period_end ?? false,
    canceledAt: sent.cancel_at_period_end ? unit.at : null,
    endedAt: null,
    endReason: null,
    pausedCollection: null,
    keepsPayingMethod: keepsPayingMethod(sent) ?? false,
  };
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

const keepsPayingMethod = ({ payment_settings: settings }: Pick<CreateFields, 'payment_settings'>) =>
  settings?.save_default_payment_method && settings.save_default_payment_method === 'on_subscription';

const OUTCOMES: Readonly<Record<NonNullable<CreateFields['payment_behavior']>, FirstCharge['outcome']>> = {
  allow_incomplete: 'attempted',
  default_incomplete: 'awaited',
  error_if_incomplete: 'required',
};

const firstCharge = (
  call: StripeRequest['call'],
  {
    payment_behavior: behavior = 'allow_incomplete',
    off_session: offSession,
  }: Pick<CreateFields, 'payment_behavior' | 'off_session'>,
): FirstCharge => ({ attempt: attemptOf(call), onSession: offSession !== true, outcome: OUTCOMES[behavior] });

const paidFor = ({ subscription, declined, asked }: Started, { outcome }: FirstCharge): LedgerSubscription => {
  if (outcome !== 'required' || (!declined && !asked)) return subscription;
  const error = {
    ...(declined && !asked ? declineFields(declined.reason) : actionRequired('subscription')),
    ...(declined && { payment_method: stripeMethodView(declined.method) }),
  };
  throw new Refused(stripeError(402, error, true));
};

/** A repeated call is the same attempt. */
const attemptOf = (call: StripeRequest['call']): string => `key:${call.headers.get('idempotency-key') ?? call.path}`;

const priceFor = (unit: Unit, { items }: CreateFields): LedgerPrice => {
  const [item] = items;
  if (item?.price_data) return addPrice(unit, item.price_data, { param: 'items[0][price_data]', metadata: {} });
  const id = item?.price ?? '';
  const price = unit.documents.prices.get(unit.slot, id);
  if (!price) throw stripeNotFound('price', id, 'items[0][price]');
  return price;
};

const ownMethod = (unit: Unit, id: string, customerId: string): string => {
  const method = checkUsable(findMethod(unit, id, 'default_payment_method'), customerId);
  if (method.customerId === customerId) return method.id;
  throw invalidStripeRequest({
    message: `The customer does not have a payment method with the ID ${id}. The payment method must be attached to the customer.`,
    param: 'default_payment_method',
  });
};

const DAY_SECONDS = 86_400;

const trialEndOf = (unit: Unit, sent: CreateFields): number | null => {
  const now = Math.floor(unit.at / 1_000);
  const days = sent.trial_period_days;
  const end = sent.trial_end ?? (days === undefined || days === 0 ? undefined : now + days * DAY_SECONDS);
  if (end === undefined) return null;
  if (end > now) return end * 1_000;
  throw invalidStripeRequest({
    message: 'Invalid timestamp: must be an integer Unix timestamp in the future.',
    param: 'trial_end',
  });
};

const find = ({ unit, id }: StripeRequest): LedgerSubscription => {
  const subscription = unit.documents.subscriptions.get(unit.slot, id);
  if (!subscription) throw stripeNotFound('subscription', id, 'id');
  return subscription;
};

const updateFields = z.strictObject({
  ...common,
  billing_cycle_anchor: z.strictObject({ type: choice(['now', 'unchanged']) }).optional(),
  pause_collection: z
    .union([z.literal(''), z.strictObject({ behavior: choice(['keep_as_draft', 'mark_uncollectible', 'void']) })])
    .optional(),
  payment_behavior: createFields.shape.payment_behavior,
});

const update = (request: StripeRequest): LedgerSubscription => {
  const { unit, call } = request;
  const sent = readParameters(call, updateFields);
  const before = find(request);
  const others = Object.keys(sent).filter((field) => field !== 'metadata' && field !== 'expand');
  if (INCOMPLETE.includes(before.status) && others.length > 0) {
    throw invalidStripeRequest({
      message: `A subscription that is ${before.status} can only update its metadata and default_source.`,
    });
  }
  if (before.status === 'canceled' && others.length > 0) {
    throw invalidStripeRequest({
      message: 'A canceled subscription can only update its cancellation_details and metadata.',
    });
  }
  const after: LedgerSubscription = {
    ...before,
    ...(sent.default_payment_method !== undefined && {
      methodId: ownMethod(unit, sent.default_payment_method, before.customerId),
    }),
    ...(sent.description !== undefined && { description: sent.description }),
    ...(sent.cancel_at_period_end !== undefined && endOf(unit, before, sent.cancel_at_period_end)),
    ...(sent.pause_collection !== undefined && {
      pausedCollection: sent.pause_collection === '' ? null : sent.pause_collection.behavior,
    }),
    ...(sent.trial_settings && { withoutMethod: sent.trial_settings.end_behavior.missing_payment_method }),
    keepsPayingMethod: keepsPayingMethod(sent) ?? before.keepsPayingMethod,
    metadata: mergeMetadata(before.metadata, sent.metadata),
  };
  if (sent.billing_cycle_anchor?.type === 'now') {
    const first = firstCharge(call, sent);
    return paidFor(restartSubscription(unit, { before, changes: after }, first), first);
  }
  return JSON.stringify(after) === JSON.stringify(before) ? before : changeSubscription(unit, before, after);
};

const INCOMPLETE: readonly LedgerSubscription['status'][] = ['incomplete', 'incomplete_expired'];

const endOf = (unit: Unit, before: LedgerSubscription, atPeriodEnd: boolean) => ({
  cancelAtPeriodEnd: atPeriodEnd,
  canceledAt: atPeriodEnd ? (before.canceledAt ?? unit.at) : null,
});

const resume = (request: StripeRequest): LedgerSubscription => {
  const { unit, call } = request;
  readParameters(call, z.strictObject({ billing_cycle_anchor: choice(['now']).optional(), expand: expand.optional() }));
  const subscription = find(request);
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
  const subscription = find(request);
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
