/** @module The fields of PayPal's responses and events that the adapter reads. Other fields are ignored. */

import * as z from 'zod';

const moneySchema = z.looseObject({
  currency_code: z.string(),
  value: z.string().check(z.regex(/^-?(?:\d+|\d*\.\d+)$/)),
});

const linksSchema = z.array(z.looseObject({ rel: z.string(), href: z.string() }));
const timeSchema = z.iso.datetime({ offset: true });

/** A fact in an undocumented form counts as unknown, and never makes a response unreadable. */
const fact = <T extends z.ZodType>(schema: T) => z.catch(z.optional(schema), undefined);
const word = fact(z.string());
const money = fact(moneySchema);

const card = z.looseObject({
  brand: word,
  last_digits: word,
  expiry: word,
  type: word,
  bin_details: fact(z.looseObject({ issuing_bank: word, bin_country_code: word })),
  authentication_result: fact(
    z.looseObject({
      liability_shift: word,
      three_d_secure: fact(z.looseObject({ authentication_status: word, enrollment_status: word })),
    }),
  ),
});
export type PayPalCard = Partial<z.infer<typeof card>>;

const movement = {
  id: z.string(),
  status: z.optional(z.string()),
  amount: z.optional(moneySchema),
  custom_id: z.optional(z.string()),
  processor_response: z.optional(
    z.looseObject({ response_code: z.optional(z.string()), payment_advice_code: z.optional(z.string()) }),
  ),
  supplementary_data: z.optional(
    z.looseObject({
      related_ids: z.optional(
        z.looseObject({ order_id: z.optional(z.string()), authorization_id: z.optional(z.string()) }),
      ),
    }),
  ),
};

export const captureSchema = z.looseObject({
  ...movement,
  create_time: fact(timeSchema),
  seller_receivable_breakdown: fact(
    z.looseObject({
      paypal_fee: money,
      paypal_fee_in_receivable_currency: money,
      net_amount: money,
      receivable_amount: money,
      exchange_rate: fact(z.looseObject({ value: word })),
    }),
  ),
});
export type Capture = z.infer<typeof captureSchema>;

/** An amount that PayPal holds for a later capture. */
export const authorizationSchema = z.looseObject({
  ...movement,
  create_time: fact(timeSchema),
  update_time: fact(timeSchema),
  expiration_time: fact(timeSchema),
});
export type Authorization = z.infer<typeof authorizationSchema>;

/** Most fields are optional, because the minimal representation has only the id, the status and the links. */
export const paypalRefundSchema = z.looseObject({
  id: z.string(),
  status: z.optional(z.string()),
  status_details: z.optional(z.looseObject({ reason: z.optional(z.string()) })),
  amount: z.optional(moneySchema),
  custom_id: z.optional(z.string()),
  create_time: z.optional(timeSchema),
  seller_payable_breakdown: fact(
    z.looseObject({
      paypal_fee: money,
      paypal_fee_in_receivable_currency: money,
      net_amount: money,
      net_amount_in_receivable_currency: money,
    }),
  ),
});
export type PayPalRefund = z.infer<typeof paypalRefundSchema>;

/** The fields in which a refund, or a capture itself, names the capture and its order. */
export const captureNameSchema = z.looseObject({
  supplementary_data: z.optional(
    z.looseObject({
      related_ids: z.optional(z.looseObject({ capture_id: z.optional(z.string()), order_id: z.optional(z.string()) })),
    }),
  ),
  links: z.optional(z.array(z.looseObject({ href: z.string() }))),
});

/** Some fields are optional, because the list of disputes omits the outcome and the transactions of a dispute. */
export const paypalDisputeSchema = z.looseObject({
  dispute_id: z.string().check(z.minLength(1)),
  create_time: timeSchema,
  update_time: z.optional(timeSchema),
  status: z.string(),
  dispute_amount: moneySchema,
  reason: z.optional(z.string()),
  seller_response_due_date: z.optional(timeSchema),
  dispute_outcome: z.optional(z.looseObject({ outcome_code: z.optional(z.string()) })),
  disputed_transactions: z.optional(z.array(z.looseObject({ seller_transaction_id: z.optional(z.string()) }))),
});
export type PayPalDispute = z.infer<typeof paypalDisputeSchema>;

export const paypalDisputesAnswer = z.looseObject({
  items: z.optional(z.array(paypalDisputeSchema)),
  links: z.optional(linksSchema),
});

const vaulted = {
  attributes: z.optional(
    z.looseObject({
      vault: z.optional(z.looseObject({ id: z.optional(z.string()) })),
    }),
  ),
};
const cardInWallet = fact(z.looseObject({ card: fact(card) }));

export const paypalOrderSchema = z.looseObject({
  id: z.string(),
  status: z.string(),
  create_time: fact(timeSchema),
  intent: z.optional(z.string()),
  payment_source: z.nullish(
    z.looseObject({
      paypal: z.optional(z.looseObject(vaulted)),
      card: z.optional(card.extend(vaulted)),
      venmo: fact(z.looseObject({})),
      apple_pay: cardInWallet,
      google_pay: cardInWallet,
    }),
  ),
  purchase_units: z
    .array(
      z.looseObject({
        amount: moneySchema,
        custom_id: z.optional(z.string()),
        description: z.optional(z.string()),
        payments: z.optional(
          z.looseObject({
            authorizations: z.optional(z.array(authorizationSchema)),
            captures: z.optional(z.array(captureSchema)),
            refunds: z.optional(z.array(z.looseObject({ id: z.string() }))),
          }),
        ),
      }),
    )
    .check(z.minLength(1)),
  links: z.optional(linksSchema),
});
export type Order = z.infer<typeof paypalOrderSchema>;

export const paymentTokenSchema = z.looseObject({
  id: z.string(),
  customer: z.optional(z.looseObject({ id: z.optional(z.string()), merchant_customer_id: z.optional(z.string()) })),
  payment_source: z.optional(
    z.looseObject({
      paypal: z.optional(z.looseObject({})),
      card: z.optional(
        z.looseObject({
          brand: z.optional(z.string()),
          last_digits: z.optional(z.string()),
          expiry: z.optional(z.string()),
          type: word,
          bin_details: fact(z.looseObject({ bin_country_code: word })),
        }),
      ),
    }),
  ),
});
export type PaymentToken = z.infer<typeof paymentTokenSchema>;

export const paypalRefusalSchema = z.looseObject({
  name: z.optional(z.string()),
  details: z.optional(z.array(z.looseObject({ issue: z.string(), field: z.optional(z.string()) }))),
});
