import * as z from 'zod';

/** What the adapter reads of Square's objects; whatever else they hold is let pass. */
const money = z.looseObject({ amount: z.int(), currency: z.string() });

const error = z.looseObject({ category: z.string(), code: z.string(), field: z.string().nullish() });
export type SquareError = z.infer<typeof error>;

export const cardSchema = z.looseObject({
  id: z.string().nullish(),
  card_brand: z.string().nullish(),
  last_4: z.string().nullish(),
  exp_month: z.int().nullish(),
  exp_year: z.int().nullish(),
  customer_id: z.string().nullish(),
});
export type SquareCard = z.infer<typeof cardSchema>;

export const paymentSchema = z.looseObject({
  id: z.string().min(1),
  status: z.string(),
  amount_money: money,
  order_id: z.string().min(1),
  reference_id: z.string().nullish(),
  card_details: z
    .looseObject({
      card: cardSchema.nullish(),
      auth_result_code: z.string().nullish(),
      errors: z.array(error).nullish(),
    })
    .nullish(),
  bank_account_details: z.looseObject({ errors: z.array(error).nullish() }).nullish(),
});
export type SquarePayment = z.infer<typeof paymentSchema>;

export const orderSchema = z.looseObject({
  id: z.string().min(1),
  state: z.string().nullish(),
  version: z.int().nullish(),
  reference_id: z.string().nullish(),
  total_money: money,
  tenders: z
    .array(
      z.looseObject({
        id: z.string().nullish(),
        payment_id: z.string().nullish(),
        card_details: z.looseObject({ status: z.string().nullish() }).nullish(),
        bank_account_details: z.looseObject({ status: z.string().nullish() }).nullish(),
      }),
    )
    .nullish(),
});
export type SquareOrder = z.infer<typeof orderSchema>;

export const customerSchema = z.looseObject({
  id: z.string().min(1),
  given_name: z.string().nullish(),
  family_name: z.string().nullish(),
  email_address: z.string().nullish(),
  phone_number: z.string().nullish(),
  reference_id: z.string().nullish(),
});
export type SquareCustomer = z.infer<typeof customerSchema>;

/** The failed payment comes with a charge that was declined. */
export const refusalSchema = z.looseObject({
  errors: z.array(error).min(1),
  payment: z.looseObject({ id: z.string().nullish(), card_details: paymentSchema.shape.card_details }).nullish(),
});
