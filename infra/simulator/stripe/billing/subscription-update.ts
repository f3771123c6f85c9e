/**
 * @module Updates of a subscription by its owner, through the API or the dashboard. A change of price or quantity needs
 * `proration_behavior: none`, because the simulator has no prorations.
 */
import * as z from 'zod';
import { changeTerms, type TermsChange } from '../../billing/subscription-changes.ts';
import { restartSubscription } from '../../billing/subscriptions.ts';
import type { LedgerSubscription } from '../../ledger/billing-documents.ts';
import type { Unit } from '../../ledger/unit.ts';
import { NOT_OFFERED, Refused } from '../../protocol/vendor.ts';
import { itemIdOf } from '../views/subscription-views.ts';
import { checkCharge } from '../wire/currencies.ts';
import { invalidStripeRequest, stripeNotFound } from '../wire/errors.ts';
import { anything, choice, flag, mergeMetadata, readParameters, text, whole } from '../wire/parameters.ts';
import type { StripeRequest } from '../wire/request.ts';
import { discountIdsFor, taxRateIdsFor } from './discounts.ts';
import {
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

const updateFields = z.strictObject({
  ...subscriptionFields,
  billing_cycle_anchor: z.strictObject({ type: choice(['now', 'unchanged']) }).optional(),
  cancel_at: z.union([z.literal(''), endTime]).optional(),
  cancellation_details: anything.optional(),
  items: z
    .array(
      z.strictObject({
        id: text(),
        ...itemPrice,
        quantity: quantityField.optional(),
        deleted: z.literal('false').optional(),
      }),
    )
    .length(1)
    .optional(),
  pause_collection: z
    .union([z.literal(''), z.strictObject({ behavior: choice(['keep_as_draft', 'mark_uncollectible', 'void']) })])
    .optional(),
  proration_behavior: choice(['always_invoice', 'create_prorations', 'none']).optional(),
  trial_end: z.union([z.literal('now'), whole]).optional(),
  trial_from_plan: flag.optional(),
});
type UpdateFields = z.output<typeof updateFields>;

export const findSubscription = ({ unit, id }: StripeRequest): LedgerSubscription => {
  const subscription = unit.documents.subscriptions.get(unit.slot, id);
  if (!subscription) throw stripeNotFound('subscription', id, 'id');
  return subscription;
};

export const updateStripeSubscription = (request: StripeRequest): LedgerSubscription => {
  const { unit, call } = request;
  const sent = readParameters(call, updateFields);
  const before = findSubscription(request);
  checkChangeable(before, sent);
  requireNoProration(sent, 'none');
  const changes: Partial<LedgerSubscription> = {
    ...plainChanges(unit, before, sent),
    ...itemChanges(unit, before, sent),
    ...endChanges(unit, before, sent),
  };
  const first = firstCharge(call, sent);
  if (sent.billing_cycle_anchor?.type === 'now') {
    return paidFor(restartSubscription(unit, { before, changes }, first), first);
  }
  const trialEnd = trialEndOf(unit, sent);
  return paidFor(changeTerms(unit, { before, changes, trialEnd }, first), first);
};

const INCOMPLETE: readonly LedgerSubscription['status'][] = ['incomplete', 'incomplete_expired'];

/** @throws Refused if the subscription is incomplete or has ended, because then only its metadata can change. */
const checkChangeable = ({ status }: LedgerSubscription, sent: UpdateFields): void => {
  const others = Object.keys(sent).filter((field) => field !== 'metadata' && field !== 'expand');
  if (others.length === 0) return;
  if (INCOMPLETE.includes(status)) {
    throw invalidStripeRequest({
      message: `A subscription that is ${status} can only update its metadata and default_source.`,
    });
  }
  if (status === 'canceled' && others.some((field) => field !== 'cancellation_details')) {
    throw invalidStripeRequest({
      message: 'A canceled subscription can only update its cancellation_details and metadata.',
    });
  }
};

const plainChanges = (unit: Unit, before: LedgerSubscription, sent: UpdateFields): Partial<LedgerSubscription> => ({
  ...(sent.default_payment_method !== undefined && {
    methodId: ownMethod(unit, sent.default_payment_method, before.customerId),
  }),
  ...(sent.description !== undefined && { description: sent.description }),
  ...(sent.pause_collection !== undefined && {
    pausedCollection: sent.pause_collection === '' ? null : sent.pause_collection.behavior,
  }),
  ...(sent.trial_settings && { withoutMethod: sent.trial_settings.end_behavior.missing_payment_method }),
  keepsPayingMethod: keepsPayingMethod(sent) ?? before.keepsPayingMethod,
  discountIds: discountIdsFor(unit, before, sent.discounts),
  taxRateIds: taxRateIdsFor(unit, before.taxRateIds, sent.default_tax_rates),
  metadata: mergeMetadata(before.metadata, sent.metadata),
});

const itemChanges = (unit: Unit, before: LedgerSubscription, sent: UpdateFields): Partial<LedgerSubscription> => {
  const [item] = sent.items ?? [];
  if (!item) return {};
  if (item.id !== itemIdOf(before)) throw stripeNotFound('subscription item', item.id, 'items[0][id]');
  const named = item.price !== undefined || item.price_data !== undefined;
  const price = priceFor(unit, named ? item : { price: before.priceId });
  const quantity = item.quantity ?? before.quantity;
  const amount = price.amount * quantity;
  if (price.currency !== before.currency) {
    throw invalidStripeRequest({
      message: `The price specified only supports \`${price.currency.toLowerCase()}\`. This doesn't match the expected currency: \`${before.currency.toLowerCase()}\`.`,
    });
  }
  if (amount > 0) checkCharge(amount, price.currency);
  if (amount !== before.amount && before.status !== 'trialing') requireNoProration(sent, undefined);
  return { priceId: price.id, quantity, amount, unit: price.unit, count: price.count };
};

/**
 * @param without the behavior of a request that omits `proration_behavior`; undefined if the request must name one
 * @throws Refused unless the value is `none`
 */
const requireNoProration = ({ proration_behavior: sent }: UpdateFields, without: 'none' | undefined): void => {
  if ((sent ?? without) === 'none') return;
  const { answer } = invalidStripeRequest({
    message: 'The simulator changes a price or a quantity only with proration_behavior: none.',
    param: 'proration_behavior',
  });
  throw new Refused({ ...answer, headers: NOT_OFFERED });
};

/** Only an empty `cancel_at` clears a separate end date. `cancel_at_period_end: false` keeps it. */
const endChanges = (unit: Unit, before: LedgerSubscription, sent: UpdateFields): Partial<LedgerSubscription> => {
  const { cancel_at: cancelAt, cancel_at_period_end: atPeriodEnd } = sent;
  if (cancelAt !== undefined && atPeriodEnd !== undefined) {
    throw invalidStripeRequest({
      message: 'You may only specify one of these parameters: cancel_at, cancel_at_period_end.',
    });
  }
  const canceledAt = before.canceledAt ?? unit.at;
  if (cancelAt === '') return { cancelAt: null, cancelAtPeriodEnd: false, canceledAt: null };
  if (cancelAt !== undefined) {
    const end = typeof cancelAt === 'number' ? futureTime(unit, cancelAt, 'cancel_at') : before.periodEnd;
    return { cancelAt: end, cancelAtPeriodEnd: false, canceledAt };
  }
  if (atPeriodEnd === true) return { cancelAt: null, cancelAtPeriodEnd: true, canceledAt };
  if (atPeriodEnd === false) {
    return { cancelAtPeriodEnd: false, canceledAt: before.cancelAt === null ? null : before.canceledAt };
  }
  return {};
};

const trialEndOf = (unit: Unit, { trial_end: end }: UpdateFields): TermsChange['trialEnd'] =>
  typeof end === 'number' ? trialTime(unit, end) : end;
