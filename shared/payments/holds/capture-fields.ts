/**
 * @module The fields that captures add to a payment. `captures` is set only for several captures. `heldSplit` may also
 * be set after a single capture.
 */

import * as z from 'zod';

export const severalCapturesFields = {
  /** The captures in the provider's order. The sum of their amounts is the payment's total. */
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
  /** The hold's tax and discount, stored after a capture has changed the payment's tax or discount. */
  heldSplit: z.object({ taxCents: z.int(), discountCents: z.int() }).optional(),
};
