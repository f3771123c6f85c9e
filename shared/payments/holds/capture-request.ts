/** @module The body of a capture. */

import * as z from 'zod';
import { centsField } from '../../http/fields.ts';

export const captureBody = z
  .object({
    subtotal_cents: centsField.describe(
      'The price before tax and discount, in minor units; derived if you send a total.',
    ),
    tax_cents: centsField.describe("The tax in minor units; the payment's own if absent."),
    discount_cents: centsField.describe("The discount in minor units; the payment's own if absent."),
    total_cents: centsField.meta({
      description:
        'The amount to capture, in minor units, from 1 to `capturable_cents`; everything if no field is sent.',
      examples: [1_500],
    }),
    amount_cents: centsField.describe('Another name for `total_cents`. If both are sent, they must be equal.'),
  })
  .meta({ id: 'CapturePayment', description: 'The amount to capture. Send `{}` to capture everything.' });
export type CaptureBody = z.output<typeof captureBody>;
