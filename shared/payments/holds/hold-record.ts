/** @module The stored form of a claimed capture or release, and of its failure. */

import * as z from 'zod';
import { DECLINE_CODES } from '../../core/outcome.ts';

const optional = z.string().optional();

/** A claimed capture or release. `key` is a mark of the Idempotency-Key of the request that made the claim. */
export const holdCallSchema = z.lazy(() =>
  z.discriminatedUnion('kind', [
    z.object({
      kind: z.literal('capture'),
      totalCents: z.int(),
      taxCents: z.int(),
      discountCents: z.int(),
      claimedAt: z.string(),
      key: optional,
    }),
    z.object({ kind: z.literal('release'), claimedAt: z.string(), key: optional }),
  ]),
);
export type HoldCall = z.infer<typeof holdCallSchema>;

/**
 * How a hold ended: `released` by the merchant here, `expired` at or after `captureBefore`, `provider` for any other
 * end.
 */
export const HOLD_ENDS = ['released', 'expired', 'provider'] as const;
export type HoldEnd = (typeof HOLD_ENDS)[number];

export const HOLD_FAILURES = ['not_done', 'declined'] as const;

/**
 * Why a capture or a release failed: `not_done` if the provider did not carry it out, `declined` if the bank declined
 * it.
 */
export const holdFailureSchema = z.lazy(() =>
  z.object({
    call: z.enum(['capture', 'release']),
    reason: z.enum(HOLD_FAILURES),
    code: z.enum(DECLINE_CODES).optional(),
  }),
);
export type HoldFailure = z.infer<typeof holdFailureSchema>;
