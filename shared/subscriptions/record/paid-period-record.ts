/** @module The record of what a subscription's period was paid with. */

import * as z from 'zod';

/** A payment that counts in a period. */
const creditSourceSchema = z.lazy(() =>
  z.object({
    id: z.string(),
    /** What counts of its total. */
    cents: z.int(),
    /** The time that the payment paid for. */
    overMs: z.int(),
  }),
);
export type CreditSource = z.infer<typeof creditSourceSchema>;

export const paidPeriodSchema = z.lazy(() =>
  z.object({
    /** When the period began. */
    start: z.string(),
    /** The price of the whole period, as it was paid. */
    totalCents: z.int(),
    taxCents: z.int(),
    discountCents: z.int(),
    /** The payments whose refunds and losses lower the credit. What the payer paid elsewhere has none. */
    payments: z.array(creditSourceSchema),
  }),
);
export type PaidPeriod = z.infer<typeof paidPeriodSchema>;
