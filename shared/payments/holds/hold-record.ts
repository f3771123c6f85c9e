/** @module The stored form of a claimed capture or release, and of its failure. */

import * as z from 'zod';
import { DECLINE_CODES } from '../../core/outcome.ts';

const optional = z.string().optional();

/** `key` marks the Idempotency-Key of the claiming request. */
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

/** `released` by the merchant here, `expired` at or after `captureBefore`, `provider` for any other end. */
export const HOLD_ENDS = ['released', 'expired', 'provider'] as const;
export type HoldEnd = (typeof HOLD_ENDS)[number];

export const HOLD_FAILURES = ['not_done', 'declined'] as const;

/** `not_done` if the provider has not carried out the call, `declined` by the bank. */
export const holdFailureSchema = z.lazy(() =>
  z.object({
    call: z.enum(['capture', 'release']),
    reason: z.enum(HOLD_FAILURES),
    code: z.enum(DECLINE_CODES).optional(),
  }),
);
export type HoldFailure = z.infer<typeof holdFailureSchema>;
