import * as z from 'zod';

/** What the adapter reads of PayPal's answers and events; everything else is let pass. */
const moneySchema = z.looseObject({ currency_code: z.string(), value: z.string() });

export const captureSchema = z.looseObject({
  id: z.string(),
  status: z.string().optional(),
  amount: moneySchema.optional(),
  custom_id: z.string().optional(),
  processor_response: z.looseObject({ response_code: z.string().optional() }).optional(),
  supplementary_data: z
    .looseObject({ related_ids: z.looseObject({ order_id: z.string().optional() }).optional() })
    .optional(),
});
export type Capture = z.infer<typeof captureSchema>;

const vaulted = z.looseObject({
  attributes: z
    .looseObject({
      vault: z.looseObject({ id: z.string().optional(), status: z.string().optional() }).optional(),
    })
    .optional(),
});

export const orderSchema = z.looseObject({
  id: z.string(),
  status: z.string(),
  payment_source: z.looseObject({ paypal: vaulted.optional(), card: vaulted.optional() }).nullish(),
  purchase_units: z
    .array(
      z.looseObject({
        amount: moneySchema,
        custom_id: z.string().optional(),
        description: z.string().optional(),
        payments: z.looseObject({ captures: z.array(captureSchema).optional() }).optional(),
      }),
    )
    .min(1),
  links: z.array(z.looseObject({ rel: z.string(), href: z.string() })).optional(),
});
export type Order = z.infer<typeof orderSchema>;

export const paymentTokenSchema = z.looseObject({
  id: z.string(),
  customer: z.looseObject({ id: z.string().optional() }).optional(),
  payment_source: z
    .looseObject({
      paypal: z.looseObject({}).optional(),
      card: z
        .looseObject({
          brand: z.string().optional(),
          last_digits: z.string().optional(),
          expiry: z.string().optional(),
        })
        .optional(),
    })
    .optional(),
});
export type PaymentToken = z.infer<typeof paymentTokenSchema>;

export const refusalSchema = z.looseObject({
  name: z.string().optional(),
  details: z.array(z.looseObject({ issue: z.string(), field: z.string().optional() })).optional(),
});
