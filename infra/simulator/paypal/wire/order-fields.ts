/** @module The fields of an order that the simulator checks. Other fields are ignored. */
import * as z from 'zod';
import { characters } from '../../state/characters.ts';
import { refused } from './errors.ts';
import { customerReference, vaultId } from './request.ts';

export const paypalAmount = z.looseObject({
  currency_code: z.string().length(3),
  value: z
    .string()
    .max(32)
    .regex(/^((-?[0-9]+)|(-?([0-9]+)?[.][0-9]+))$/),
});

const text = characters(127).min(1);

const experience = z.looseObject({
  return_url: z.url().optional(),
  cancel_url: z.url().optional(),
  user_action: z.enum(['CONTINUE', 'PAY_NOW']).optional(),
  shipping_preference: z.enum(['GET_FROM_FILE', 'NO_SHIPPING', 'SET_PROVIDED_ADDRESS']).optional(),
});

const initiator = z.enum(['CUSTOMER', 'MERCHANT']);
const usage = z.enum(['FIRST', 'SUBSEQUENT', 'DERIVED']).optional();

const usagePattern = z
  .enum(
    ['RECURRING', 'THRESHOLD', 'SUBSCRIPTION', 'UNSCHEDULED', 'INSTALLMENT']
      .flatMap((plan) => [`${plan}_PREPAID`, `${plan}_POSTPAID`])
      .concat('IMMEDIATE', 'DEFERRED'),
  )
  .optional();

const walletCredential = z.looseObject({
  payment_initiator: initiator,
  usage,
  usage_pattern: usagePattern,
  charge_pattern: usagePattern,
});

const paypalSource = z.looseObject({
  vault_id: vaultId.optional(),
  stored_credential: walletCredential.optional(),
  experience_context: experience.optional(),
  attributes: z
    .looseObject({
      customer: customerReference.optional(),
      vault: z
        .looseObject({ store_in_vault: z.enum(['ON_SUCCESS']), usage_type: z.enum(['MERCHANT', 'PLATFORM']) })
        .optional(),
    })
    .optional(),
});

const storedCredential = z.looseObject({
  payment_initiator: initiator,
  payment_type: z.enum(['ONE_TIME', 'RECURRING', 'UNSCHEDULED']),
  usage,
});
export type StoredCredential = z.output<typeof storedCredential> | z.output<typeof walletCredential>;

export const paymentSource = z.looseObject({
  paypal: paypalSource.optional(),
  card: z
    .looseObject({
      vault_id: vaultId,
      stored_credential: storedCredential.optional(),
      attributes: z
        .looseObject({
          customer: customerReference.optional(),
          vault: z.looseObject({ store_in_vault: z.enum(['ON_SUCCESS']) }).optional(),
        })
        .optional(),
      experience_context: experience.pick({ return_url: true, cancel_url: true }).optional(),
    })
    .optional(),
});
export type PaymentSource = z.output<typeof paymentSource>;

export const intentSchema = z.enum(['CAPTURE', 'AUTHORIZE']);

export const orderRequest = z.looseObject({
  intent: intentSchema,
  purchase_units: z
    .array(
      z.looseObject({
        reference_id: z.string().min(1).max(256).default('default'),
        custom_id: text.optional(),
        invoice_id: text.optional(),
        description: text.optional(),
        soft_descriptor: z.string().min(1).max(22).optional(),
        amount: paypalAmount,
      }),
    )
    .length(1),
  payment_source: paymentSource.optional(),
  /** The return URLs for the payer of an order without a payment source. */
  application_context: experience.optional(),
});

export const patchRequest = z.array(
  z.looseObject({ op: z.enum(['add', 'replace', 'remove']), path: z.string(), value: z.unknown().optional() }),
);

export const confirmRequest = z.looseObject({ payment_source: paymentSource });
export const captureRequest = z.looseObject({ payment_source: paymentSource.optional() });

/** @throws Refused 422 for a price that PayPal cannot charge. */
export const readPayPalPrice = (sent: unknown) =>
  readPayPalMoney(paypalAmount.parse(sent), { at: '/purchase_units/0/amount', indivisible: 'DECIMAL_PRECISION' });

/**
 * PayPal's currencies, copied from its documentation independently of the service, so that tests detect mistakes in the
 * service's table. Amounts are in the smallest unit that PayPal accepts.
 */
const CURRENCIES: ReadonlySet<string> = new Set(
  'AUD BRL CAD CNY CZK DKK EUR HKD HUF ILS JPY MYR MXN TWD NZD NOK PHP PLN GBP SGD SEK CHF THB USD'.split(' '),
);

/** The currencies with the note "This currency does not support decimals." in PayPal's documentation. */
const WITHOUT_DECIMALS: ReadonlySet<string> = new Set(['HUF', 'JPY', 'TWD']);

/** Currencies with two decimals by ISO 4217 but without decimals at PayPal. */
const HUNDREDTHS_BY_ISO: ReadonlySet<string> = new Set(['HUF', 'TWD']);

/** PayPal accepts up to 999999999999999.99. */
const ABOVE_MAX = 1e15;

const decimalsOf = (currency: string): number => (WITHOUT_DECIMALS.has(currency) ? 0 : 2);

interface MoneyPlace {
  /** JSON pointer of the amount. */
  readonly at: string;
  /** The issue for decimals in a currency without decimals. It differs by operation. */
  readonly indivisible: 'DECIMAL_PRECISION' | 'DECIMALS_NOT_SUPPORTED';
}

/** @throws Refused 422 for an amount that PayPal cannot charge or refund. */
export const readPayPalMoney = (sent: z.output<typeof paypalAmount>, { at, indivisible }: MoneyPlace) => {
  const { currency_code: currency, value } = sent;
  if (!CURRENCIES.has(currency)) throw refused('INVALID_CURRENCY_CODE', `${at}/currency_code`);
  const decimals = value.split('.')[1] ?? '';
  if (decimals.length > decimalsOf(currency)) {
    throw refused(decimalsOf(currency) === 0 ? indivisible : 'DECIMAL_PRECISION', `${at}/value`);
  }
  if (Number(value) >= ABOVE_MAX) throw refused('MAX_VALUE_EXCEEDED', `${at}/value`);
  // Exact for every representable amount. Multiplying the fraction would not be exact.
  const amount = Number(`${value}e${decimalsOf(currency)}`);
  if (!Number.isSafeInteger(amount)) throw refused('MAX_VALUE_EXCEEDED', `${at}/value`);
  if (amount <= 0) throw refused('CANNOT_BE_ZERO_OR_NEGATIVE', `${at}/value`);
  return { amount, currency };
};

export const moneyView = (
  amount: number,
  currency: string,
): { readonly currency_code: string; readonly value: string } => {
  const decimals = decimalsOf(currency);
  const text = String(Math.abs(amount)).padStart(decimals + 1, '0');
  const at = text.length - decimals;
  const value = decimals === 0 ? text : `${text.slice(0, at)}.${text.slice(at)}`;
  return { currency_code: currency, value: amount < 0 ? `-${value}` : value };
};

/** Converts an amount from PayPal's units to ISO 4217 minor units. */
export const paypalMinorUnits = (amount: number, currency: string): number =>
  HUNDREDTHS_BY_ISO.has(currency) ? amount * 100 : amount;
