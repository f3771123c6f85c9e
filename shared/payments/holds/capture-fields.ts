/** @module The fields of a payment that several captures have taken. A payment with one capture has none of them. */

import * as z from 'zod';

export const severalCapturesFields = {
  /** In the provider's order. Their sum is the payment's total. */
  captures: z
    .array(
      z.object({
        /** The provider's. */
        id: z.string(),
        amountCents: z.int(),
        /** The sum of the refunds of this capture that succeeded or whose outcome is open. */
        returnedCents: z.int(),
      }),
    )
    .optional(),
  /** The tax and the discount of the whole hold, set once a capture has changed them. */
  heldSplit: z.object({ taxCents: z.int(), discountCents: z.int() }).optional(),
};
