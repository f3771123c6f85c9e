/** @module The body of a confirmation, whose fields a create or an update may also have. */

import * as z from 'zod';
import { boundedText, tokenText, verificationTokenSchema } from '../http/fields.ts';

export const webUrl = boundedText(2048)
  .check(z.url({ protocol: /^https?$/ }))
  .nullish()
  .meta({
    description: `The URL to which the provider returns the payer after the provider's own page: http or https, at most 2,048 characters. PayPal
      and 3-D Secure by redirect require it.`,
    examples: ['https://shop.example/paid'],
  });

export const chargedMethod = tokenText(255)
  .nullish()
  .meta({
    description: `The method to charge: the id of a saved payment method, the provider's id of such a method, or a one-time token that the provider's
        library made in the browser.`,
    examples: ['pmt_ff1f7d6ee53651bba2808e45'],
  });

export const confirmBody = z
  .object({
    payment_method_id: chargedMethod,
    return_url: webUrl,
    off_session: z
      .boolean()
      .nullish()
      .describe(
        'True if you charge a saved payment method while the payer is absent. Only for a service key with `X-Act-For`; ignored from others. If the bank requires the payer, the payment is declined with `authentication_required` and stays `failed`, and the payer may confirm it.',
      ),
    verification_token: verificationTokenSchema.describe(
      "The proof of the payer's authentication that the provider's library made in the browser (Square). Used once and not stored.",
    ),
  })
  .meta({
    id: 'ConfirmPayment',
    description: "The method to charge instead of the payment's own. Send `{}` to charge the payment's own method.",
  });
