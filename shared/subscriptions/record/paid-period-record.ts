/** @module The record of how a subscription's period was paid. */

import * as z from 'zod';

/** A payment that counts toward a period. */
const creditSourceSchema = z.lazy(() =>
  z.object({
    id: z.string(),
    /** The part of the payment's total that counts. */
    cents: z.int(),
    /** The length of the time for which the payment paid, in milliseconds. */
    overMs: z.int(),
  }),
);
export type CreditSource = z.infer<typeof creditSourceSchema>;

export const paidPeriodSchema = z.lazy(() =>
  z.object({
    /** When the period began. */
    start: z.string(),
    /** The paid price of the whole period. */
    totalCents: z.int(),
    taxCents: z.int(),
    discountCents: z.int(),
    /** Refunds and losses of these payments lower the credit. Money paid outside this service has no entry. */
    payments: z.array(creditSourceSchema),
  }),
);
export type PaidPeriod = z.infer<typeof paidPeriodSchema>;
