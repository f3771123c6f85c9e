/** @module The fields of a payment with several captures. A payment with one capture lacks them. */

import * as z from 'zod';

export const severalCapturesFields = {
  /** In the provider's order. Their sum is the payment's total. */
  captures: z
    .array(
      z.object({
        /** The provider's id of the capture. */
        id: z.string(),
        amountCents: z.int(),
        /** The sum of this capture's refunds, both successful and pending. */
        returnedCents: z.int(),
      }),
    )
    .optional(),
  /** The hold's tax and discount, stored once a capture has changed those of the payment. */
  heldSplit: z.object({ taxCents: z.int(), discountCents: z.int() }).optional(),
};
