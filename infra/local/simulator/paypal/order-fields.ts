import * as z from 'zod';
import { readMoney } from './currencies.ts';
import { customerId, vaultId } from './request.ts';

/** What an order may be made of, as far as the simulator knows it; other fields are let pass. */
const money = z.looseObject({
  currency_code: z.string().length(3),
  value: z
    .string()
    .max(32)
    .regex(/^((-?[0-9]+)|(-?([0-9]+)?[.][0-9]+))$/),
});

const text = z.string().min(1).max(127);

const experience = z.looseObject({
  return_url: z.url().optional(),
  cancel_url: z.url().optional(),
  user_action: z.enum(['CONTINUE', 'PAY_NOW']).optional(),
  shipping_preference: z.enum(['GET_FROM_FILE', 'NO_SHIPPING', 'SET_PROVIDED_ADDRESS']).optional(),
});

const paypalSource = z.looseObject({
  vault_id: vaultId.optional(),
  experience_context: experience.optional(),
  attributes: z
    .looseObject({
      customer: z.looseObject({ id: customerId.optional() }).optional(),
      vault: z
        .looseObject({ store_in_vault: z.enum(['ON_SUCCESS']), usage_type: z.enum(['MERCHANT', 'PLATFORM']) })
        .optional(),
    })
    .optional(),
});

const storedCredential = z.looseObject({
  payment_initiator: z.enum(['CUSTOMER', 'MERCHANT']),
  payment_type: z.enum(['ONE_TIME', 'RECURRING', 'UNSCHEDULED']),
});

export const paymentSource = z.looseObject({
  paypal: paypalSource.optional(),
  card: z.looseObject({ vault_id: vaultId, stored_credential: storedCredential.optional() }).optional(),
});
export type PaymentSource = z.output<typeof paymentSource>;

export const orderRequest = z.looseObject({
  intent: z.enum(['CAPTURE']),
  purchase_units: z
    .array(
      z.looseObject({
        reference_id: z.string().min(1).max(256).default('default'),
        custom_id: text.optional(),
        invoice_id: text.optional(),
        description: text.optional(),
        amount: money,
      }),
    )
    .length(1),
  payment_source: paymentSource.optional(),
});

export const patchRequest = z.array(
  z.looseObject({ op: z.enum(['add', 'replace', 'remove']), path: z.string(), value: z.unknown().optional() }),
);

export const confirmRequest = z.looseObject({ payment_source: paymentSource });
export const captureRequest = z.looseObject({ payment_source: paymentSource.optional() });

/** @throws Refused 422 as PayPal does for what it cannot charge. */
export const priceOf = (sent: unknown) => readMoney(money.parse(sent));
