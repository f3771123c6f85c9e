/**
 * @module How a test payment method behaves when charged. The vendors' test values (`pm_card_…`, `cnon:…`, `SIM-…`) map
 * to these behaviors; no vendor adds another.
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

/**
 * How the refunds of a method proceed. Without such a course, a refund succeeds immediately. A succeeded refund fails
 * later if the bank returns the money.
 */
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
   * `refunds` sets the outcome of refunds. `disputed` makes the holder dispute each charge. `holdMs` is the bank's own
   * hold time, if it differs from the provider's. With `declinesCapture`, the bank refuses every capture. With
   * `delaysCapture`, a capture is pending until it succeeds or fails.
   */
  z.object({
    kind: z.literal('succeeds'),
    refunds: z.enum(REFUND_COURSES).optional(),
    disputed: z.object({ reason: z.enum(DISPUTE_REASONS), inquiry: z.boolean() }).optional(),
    holdMs: z.int().optional(),
    /** The merchant's payout currency. Charges are converted to it. */
    settlesIn: z.string().optional(),
    declinesCapture: z.literal(true).optional(),
    delaysCapture: z.enum(['succeeded', 'failed']).optional(),
  }),
  /** With `attaches`, the method can be stored and fails only when charged. */
  z.object({ kind: z.literal('declines'), reason: z.enum(DECLINE_REASONS), attaches: z.boolean() }),
  /**
   * `until` says when a charge needs no authentication: `never`, once the method is authenticated for later use
   * (`set_up`), or while the customer is absent (`absent`), like a method set up elsewhere. `afterwards` is the decline
   * after a passed authentication.
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
  /** The method's first charge gets no response. `committed` is true if the charge took effect. */
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
