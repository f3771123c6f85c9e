/** @module The fields of Square's objects that the adapter reads. Other fields are ignored. */

import * as z from 'zod';

const money = z.looseObject({ amount: z.int(), currency: z.string() });

const error = z.looseObject({ category: z.string(), code: z.string(), field: z.nullish(z.string()) });
export type SquareError = z.infer<typeof error>;

/** A fact in an undocumented form counts as unknown, and never makes a response unreadable. */
const fact = <T extends z.ZodType>(schema: T) => z.catch(z.nullish(schema), undefined);
const word = fact(z.string());

export const cardSchema = z.looseObject({
  id: z.nullish(z.string()),
  card_brand: z.nullish(z.string()),
  last_4: z.nullish(z.string()),
  exp_month: z.nullish(z.int()),
  exp_year: z.nullish(z.int()),
  customer_id: z.nullish(z.string()),
  enabled: z.nullish(z.boolean()),
  card_type: word,
  prepaid_type: word,
  fingerprint: word,
});
export type SquareCard = z.infer<typeof cardSchema>;

const fees = fact(z.array(z.looseObject({ amount_money: z.nullish(money) })));
export type SquareFees = NonNullable<z.infer<typeof fees>>;

const failures = z.nullish(z.array(z.looseObject({ code: z.string() })));

export const squarePaymentSchema = z.looseObject({
  id: z.string().check(z.minLength(1)),
  status: z.string(),
  amount_money: money,
  order_id: z.string().check(z.minLength(1)),
  reference_id: z.nullish(z.string()),
  note: word,
  approved_money: fact(money),
  delayed_until: word,
  updated_at: word,
  version_token: word,
  card_details: z.nullish(
    z.looseObject({
      auth_result_code: z.nullish(z.string()),
      errors: failures,
      card: fact(cardSchema),
    }),
  ),
  bank_account_details: z.nullish(
    z.looseObject({
      errors: failures,
      bank_name: word,
      country: word,
      fingerprint: word,
      ach_details: fact(z.looseObject({ account_number_suffix: word })),
    }),
  ),
  wallet_details: fact(z.looseObject({ brand: word })),
  processing_fee: fees,
  receipt_url: word,
});
export type SquarePayment = z.infer<typeof squarePaymentSchema>;

export const squareRefundedSchema = z.looseObject({ refund_ids: z.nullish(z.array(z.string().check(z.minLength(1)))) });

export const squareOrderSchema = z.looseObject({
  id: z.string().check(z.minLength(1)),
  state: z.nullish(z.string()),
  version: z.nullish(z.int()),
  reference_id: z.nullish(z.string()),
  created_at: word,
  total_money: money,
  tenders: z.nullish(
    z.array(
      z.looseObject({
        id: z.nullish(z.string()),
        payment_id: z.nullish(z.string()),
        card_details: z.nullish(z.looseObject({ status: z.nullish(z.string()) })),
        bank_account_details: z.nullish(z.looseObject({ status: z.nullish(z.string()) })),
      }),
    ),
  ),
});
export type SquareOrder = z.infer<typeof squareOrderSchema>;

export const squareCustomerSchema = z.looseObject({
  id: z.string().check(z.minLength(1)),
  given_name: z.nullish(z.string()),
  family_name: z.nullish(z.string()),
  email_address: z.nullish(z.string()),
  phone_number: z.nullish(z.string()),
  reference_id: z.nullish(z.string()),
});
export type SquareCustomer = z.infer<typeof squareCustomerSchema>;

const moment = z.iso.datetime({ offset: true });

export const squareRefundSchema = z.looseObject({
  id: z.string().check(z.minLength(1), z.maxLength(255)),
  status: z.nullish(z.string()),
  amount_money: money,
  /** Absent if the refund belongs to no payment. */
  payment_id: z.nullish(z.string()),
  reason: z.nullish(z.string()),
  created_at: moment,
  processing_fee: fees,
});
export type SquareRefund = z.infer<typeof squareRefundSchema>;

export const squareDisputeSchema = z.looseObject({
  id: z.nullish(z.string().check(z.minLength(1), z.maxLength(255))),
  /** The name of `id` in an earlier API version. */
  dispute_id: z.nullish(z.string().check(z.minLength(1), z.maxLength(255))),
  amount_money: money,
  reason: z.nullish(z.string()),
  state: z.string(),
  due_at: z.nullish(z.string()),
  disputed_payment: z.nullish(z.looseObject({ payment_id: z.nullish(z.string()) })),
  created_at: moment,
  updated_at: z.nullish(moment),
});
export type SquareDispute = z.infer<typeof squareDisputeSchema>;

/** The response to a declined charge includes the failed payment. */
export const squareRefusalSchema = z.looseObject({
  errors: z.array(error).check(z.minLength(1)),
  payment: z.nullish(
    z.looseObject({
      id: z.nullish(z.string()),
      card_details: squarePaymentSchema.shape.card_details,
      bank_account_details: squarePaymentSchema.shape.bank_account_details,
    }),
  ),
});
