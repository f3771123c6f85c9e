/** @module The parameters shared by creating and updating a subscription. */
import * as z from 'zod';
import type { FirstCharge, Started } from '../../billing/subscriptions.ts';
import type { LedgerPrice, LedgerSubscription } from '../../ledger/billing-documents.ts';
import type { Unit } from '../../ledger/unit.ts';
import { Refused } from '../../protocol/vendor.ts';
import { stripeMethodView } from '../views/payment-views.ts';
import { actionRequired, declineFields, invalidStripeRequest, stripeError, stripeNotFound } from '../wire/errors.ts';
import { checkUsable, findMethod } from '../wire/method-data.ts';
import { anything, choice, clearable, expand, flag, metadata, text, whole } from '../wire/parameters.ts';
import type { StripeRequest } from '../wire/request.ts';
import { addPrice, priceData } from './catalog.ts';
import { discountsField, taxRatesField } from './discounts.ts';

/** `cancel_at` may name the end of the current period instead of a time. */
export const endTime = z.union([choice(['min_period_end', 'max_period_end']), whole]);

export const subscriptionFields = {
  automatic_tax: anything.optional(),
  cancel_at_period_end: flag.optional(),
  collection_method: choice(['charge_automatically']).optional(),
  default_payment_method: text().optional(),
  default_tax_rates: taxRatesField.optional(),
  description: clearable(500).optional(),
  discounts: discountsField.optional(),
  expand: expand.optional(),
  metadata: metadata.optional(),
  off_session: flag.optional(),
  payment_behavior: choice(['allow_incomplete', 'default_incomplete', 'error_if_incomplete']).optional(),
  payment_settings: z
    .strictObject({
      payment_method_options: anything.optional(),
      payment_method_types: anything.optional(),
      save_default_payment_method: choice(['off', 'on_subscription']).optional(),
    })
    .optional(),
  trial_settings: z
    .strictObject({
      end_behavior: z.strictObject({ missing_payment_method: choice(['cancel', 'create_invoice', 'pause']) }),
    })
    .optional(),
};
const sentFields = z.strictObject(subscriptionFields);
type Sent = z.output<typeof sentFields>;

const MOST_UNITS = 1_000_000;
export const quantityField = whole.refine((n) => n >= 0 && n <= MOST_UNITS);

export const keepsPayingMethod = ({ payment_settings: settings }: Pick<Sent, 'payment_settings'>) =>
  settings?.save_default_payment_method && settings.save_default_payment_method === 'on_subscription';

const OUTCOMES: Readonly<Record<NonNullable<Sent['payment_behavior']>, FirstCharge['outcome']>> = {
  allow_incomplete: 'attempted',
  default_incomplete: 'awaited',
  error_if_incomplete: 'required',
};

export const firstCharge = (
  call: StripeRequest['call'],
  {
    payment_behavior: behavior = 'allow_incomplete',
    off_session: offSession,
  }: Pick<Sent, 'payment_behavior' | 'off_session'>,
): FirstCharge => ({ attempt: attemptOf(call), onSession: offSession !== true, outcome: OUTCOMES[behavior] });

/** @throws Refused if a required first charge did not succeed. */
export const paidFor = ({ subscription, declined, asked }: Started, { outcome }: FirstCharge): LedgerSubscription => {
  if (outcome !== 'required' || (!declined && !asked)) return subscription;
  const error = {
    ...(declined && !asked ? declineFields(declined.reason) : actionRequired('subscription')),
    ...(declined && { payment_method: stripeMethodView(declined.method) }),
  };
  throw new Refused(stripeError(402, error, true));
};

/** Names the attempt. A repeated call is the same attempt. */
export const attemptOf = (call: StripeRequest['call']): string =>
  `key:${call.headers.get('idempotency-key') ?? call.path}`;

export const itemPrice = {
  price: text().optional(),
  price_data: priceData.optional(),
};
interface PriceNamed {
  readonly price?: string | undefined;
  readonly price_data?: z.output<typeof priceData> | undefined;
}

export const priceFor = (unit: Unit, item: PriceNamed): LedgerPrice => {
  if (item.price_data) return addPrice(unit, item.price_data, { param: 'items[0][price_data]', metadata: {} });
  const id = item.price ?? '';
  const price = unit.documents.prices.get(unit.slot, id);
  if (!price) throw stripeNotFound('price', id, 'items[0][price]');
  return price;
};

export const ownMethod = (unit: Unit, id: string, customerId: string): string => {
  const method = checkUsable(findMethod(unit, id, 'default_payment_method'), customerId);
  if (method.customerId === customerId) return method.id;
  throw invalidStripeRequest({
    message: `The customer does not have a payment method with the ID ${id}. The payment method must be attached to the customer.`,
    param: 'default_payment_method',
  });
};

/** @returns epoch ms. @throws Refused unless the time, in seconds, is in the future. */
export const futureTime = (unit: Unit, seconds: number, param: string): number => {
  if (seconds * 1_000 > unit.at) return seconds * 1_000;
  throw invalidStripeRequest({
    message: 'Invalid timestamp: must be an integer Unix timestamp in the future.',
    param,
  });
};

const TWO_YEARS_MS = 731 * 86_400_000;

/**
 * Stripe documents a limit of two years from the anchor, but counts the two years from now (stripe-ruby issue 804).
 * @throws Refused unless the trial ends in the future, at most two years from now
 */
export const trialTime = (unit: Unit, seconds: number): number => {
  const end = futureTime(unit, seconds, 'trial_end');
  if (end <= unit.at + TWO_YEARS_MS) return end;
  throw invalidStripeRequest({
    message: 'Invalid timestamp: can be no more than two years in the future.',
    param: 'trial_end',
  });
};
