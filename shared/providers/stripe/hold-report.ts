/** @module Reads the hold of a PaymentIntent whose capture method is `manual`. */

import * as z from 'zod';
import { DAY_MS, iso, SECOND_MS } from '../../core/time.ts';
import type { ProviderHold } from '../payment-port.ts';
import { reportedAmount, stripeAmounts } from './currencies.ts';

const number = z.nullish(z.number());

const charge = z.object({
  created: number,
  status: z.nullish(z.string()),
  payment_method_details: z.nullish(z.object({ card: z.nullish(z.object({ capture_before: number })) })),
});

/** The fields of an intent that describe a hold. A charge is an object only if the request expanded it. */
const holdSchema = z.object({
  status: z.string(),
  amount: z.number(),
  currency: z.string(),
  capture_method: z.nullish(z.string()),
  amount_capturable: number,
  amount_received: number,
  canceled_at: number,
  latest_charge: z.nullish(z.union([z.string(), charge])),
  last_payment_error: z.nullish(z.unknown()),
});
type HoldFields = z.infer<typeof holdSchema>;

/** How long Stripe holds an amount on a card, unless the charge says otherwise (docs.stripe.com/payments). */
const HOLD_MS = 7 * DAY_MS;

/** @returns undefined if the intent never held an amount */
const readStripeHold = (intent: HoldFields): ProviderHold | undefined => {
  if (intent.capture_method !== 'manual' || !wasHeld(intent)) return undefined;
  const inCents = (units: number): number => stripeAmounts.toCents(units, intent.currency.toUpperCase());
  const { canceled_at: canceledAt } = intent;
  return {
    authorizedCents: inCents(intent.amount),
    capturableCents: inCents(intent.amount_capturable ?? 0),
    captureBefore: captureBefore(intent),
    ...(intent.status === 'canceled' && canceledAt && { endedAt: iso(canceledAt * SECOND_MS) }),
  };
};

/**
 * True if the intent holds or has held an amount. A declined attempt also leaves a charge, but then the intent has a
 * `last_payment_error`. Stripe removes this error once a later attempt succeeds.
 */
const wasHeld = ({ status, latest_charge: latest, last_payment_error: error }: HoldFields): boolean => {
  if (status === 'requires_capture' || status === 'succeeded') return true;
  if (status !== 'canceled' || !latest) return false;
  return typeof latest === 'object' ? latest.status === 'succeeded' : !error;
};

const captureBefore = ({ latest_charge: latest }: HoldFields): string | undefined => {
  if (typeof latest !== 'object' || !latest) return undefined;
  const before = latest.payment_method_details?.card?.capture_before;
  if (before) return iso(before * SECOND_MS);
  return latest.created ? iso(latest.created * SECOND_MS + HOLD_MS) : undefined;
};

/** The amount and the hold of an intent. After a partial capture, the amount is the captured part. */
export const heldAmount = (intent: HoldFields) => {
  const hold = readStripeHold(intent);
  const isCaptured = hold !== undefined && intent.status === 'succeeded';
  const amount = isCaptured ? (intent.amount_received ?? intent.amount) : intent.amount;
  return { ...reportedAmount({ amount, currency: intent.currency }), ...(hold && { hold }) };
};

/** The `heldAmount` of an intent in an event; undefined for any other object. */
export const eventHold = (object: unknown): ReturnType<typeof heldAmount> | undefined => {
  const intent = holdSchema.safeParse(object).data;
  return intent && heldAmount(intent);
};
