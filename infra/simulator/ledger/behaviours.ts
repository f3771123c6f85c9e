/**
 * @module The behaviors of a test payment method when it is charged. The vendors' test values (`pm_card_…`, `cnon:…`,
 * `SIM-…`) name these behaviors; no vendor adds another.
 */

import * as z from 'zod';

export const DECLINE_REASONS = [
  'generic_decline',
  'do_not_honor',
  'insufficient_funds',
  'lost_card',
  'stolen_card',
  'fraudulent',
  'expired_card',
  'incorrect_cvc',
  'incorrect_postal_code',
  'processing_error',
  'card_velocity_exceeded',
  'authentication_required',
  'authentication_failed',
  'pickup_card',
  'invalid_account',
  'account_closed',
  'authorization_revoked',
  'payment_stopped',
  'never_again',
  'agreement_canceled',
  'wrong_data',
] as const;
export type DeclineReason = (typeof DECLINE_REASONS)[number];

/** A refund without a course succeeds immediately. A succeeded refund fails when the bank sends the money back. */
const REFUND_COURSES = ['pending_then_succeeded', 'pending_then_failed', 'succeeded_then_failed'] as const;
export type RefundCourse = (typeof REFUND_COURSES)[number];

export const DISPUTE_REASONS = [
  'fraudulent',
  'product_not_received',
  'product_unacceptable',
  'duplicate',
  'credit_not_processed',
  'subscription_canceled',
  'general',
] as const;
export type DisputeReason = (typeof DISPUTE_REASONS)[number];

export const behaviourSchema = z.discriminatedUnion('kind', [
  /**
   * `refunds` is the outcome of refunds of the method's charges. With `disputed`, the holder disputes each charge.
   * `holdMs` is how long the bank holds an amount, if not as long as the provider; with `declinesCapture`, the bank
   * refuses every capture, and with `delaysCapture`, a capture is pending first, until it succeeds or fails.
   */
  z.object({
    kind: z.literal('succeeds'),
    refunds: z.enum(REFUND_COURSES).optional(),
    disputed: z.object({ reason: z.enum(DISPUTE_REASONS), inquiry: z.boolean() }).optional(),
    holdMs: z.int().optional(),
    /** The merchant receives this currency, converted. */
    settlesIn: z.string().optional(),
    declinesCapture: z.literal(true).optional(),
    delaysCapture: z.enum(['succeeded', 'failed']).optional(),
  }),
  /** With `attaches`, the method can be stored, and fails only when it is charged. */
  z.object({ kind: z.literal('declines'), reason: z.enum(DECLINE_REASONS), attaches: z.boolean() }),
  /**
   * Requires authentication always if `until` is `never`, until the method was authenticated for later use if `set_up`,
   * and only if the customer is present, as for a method that was set up elsewhere, if `absent`. `afterwards` is the
   * decline that follows a passed authentication.
   */
  z.object({
    kind: z.literal('asks_customer'),
    until: z.enum(['never', 'set_up', 'absent']),
    afterwards: z.enum(DECLINE_REASONS).optional(),
  }),
  z.object({ kind: z.literal('settles_later'), outcome: z.enum(['succeeded', 'failed']) }),
  z.object({
    kind: z.literal('succeeds_then_declines'),
    times: z.int().nonnegative(),
    reason: z.enum(DECLINE_REASONS).default('generic_decline'),
  }),
  /** The first charge of the method gets no response. `committed` is true if the charge took effect. */
  z.object({ kind: z.literal('loses_connection'), committed: z.boolean() }),
]);
export type Behaviour = z.infer<typeof behaviourSchema>;

export const succeeds: Behaviour = { kind: 'succeeds' };
export const heldForAnHour: Behaviour = { kind: 'succeeds', holdMs: 3_600_000 };
export const settlesInEuros: Behaviour = { kind: 'succeeds', settlesIn: 'EUR' };
export const captureDeclined: Behaviour = { kind: 'succeeds', declinesCapture: true };
export const captureDelayed: Behaviour = { kind: 'succeeds', delaysCapture: 'succeeded' };
export const captureDeclinedLater: Behaviour = { kind: 'succeeds', delaysCapture: 'failed' };
export const declines = (reason: DeclineReason): Behaviour => ({ kind: 'declines', reason, attaches: false });

const THEN: ReadonlyMap<string, DeclineReason> = new Map(
  Object.entries({
    decline: 'generic_decline',
    nsf: 'insufficient_funds',
    expired: 'expired_card',
    lost: 'lost_card',
    stolen: 'stolen_card',
    authentication: 'authentication_required',
    pickup: 'pickup_card',
    invalid: 'invalid_account',
    closed: 'account_closed',
    revoked: 'authorization_revoked',
    stopped: 'payment_stopped',
    never: 'never_again',
    canceled: 'agreement_canceled',
    data: 'wrong_data',
  } as const),
);

/** With `ok-3-then-lost`, the method can be stored, pays three times, and is declined from then on. */
export const laterDecline = (name: string): Behaviour | undefined => {
  const [, times = '', end = ''] = /^ok-(\d{1,4})-then-([a-z]+)$/.exec(name) ?? [];
  const reason = THEN.get(end);
  return reason && { kind: 'succeeds_then_declines', times: Number(times), reason };
};
