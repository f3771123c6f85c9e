/** @module The data shown on a hosted page. The data has no e-mail address, owner, metadata or timeline. */

import * as z from 'zod';
import { ADVICE } from '../core/decline-advice.ts';
import { once } from '../core/once.ts';
import { nextActionSchema, timestamp } from '../http/fields.ts';
import { PAYMENT_STATUSES } from '../payments/payment.ts';
import { openSlots, type ProviderConfig, providerConfigSchema } from '../queries/browser-config.ts';
import { mayReturnTo, type PageSettings } from './page-settings.ts';

const sellerSchema = () => {
  const text = z.string().nullable();
  return z
    .object({
      name: text.describe('PAGE_NAME; null if it is not set.'),
      color: text.describe('PAGE_COLOR, `#rrggbb`; null if it is not set.'),
      terms_url: text.describe('PAGE_TERMS_URL; null if it is not set.'),
      privacy_url: text.describe('PAGE_PRIVACY_URL; null if it is not set.'),
    })
    .describe('The seller, from the settings of the service.');
};

export const pageStateSchema = /* @__PURE__ */ once(() => {
  const text = z.string().nullable();
  const secret = text.describe("For the provider's library in the browser; null if there is nothing to confirm.");
  const nextAction = nextActionSchema.nullable().describe("The payer's next step; null if none.");
  return z
    .object({
      kind: z.enum(['payment', 'link', 'subscription']).describe('The kind of record that the token opens.'),
      status: z
        .string()
        .describe(
          'The status of the payment or the subscription, as their own routes show it; of a payment link `active` or `spent`.',
        ),
      seller: sellerSchema(),
      payment_id: text.describe('The payment; null for a payment link and a subscription.'),
      amount_cents: z.int().nullable().describe('The total price, in minor units; for a payment link, of one unit.'),
      currency: text.describe('The ISO 4217 code in upper case.'),
      description: text.describe('The description of the purchase; null without one.'),
      product: z
        .object({ name: z.string().describe('The name of the product in the catalog.') })
        .nullable()
        .describe('The product that is bought; null without one.'),
      quantity: z
        .union([
          z.int(),
          z.object({
            min: z.int().describe('The smallest number that the payer may choose.'),
            max: z.int().describe('The largest number that the payer may choose.'),
          }),
        ])
        .nullable()
        .describe('Units of the product; for a payment link, the range that the payer may choose from.'),
      method: z
        .object({
          brand: text.describe('The brand of the card, or the wallet, in lower case; null if unknown.'),
          last_four: text.describe('The last four digits of the card or account; null if unknown.'),
        })
        .nullable()
        .describe('The method of the last attempt, or the one that will be charged; null without one.'),
      decline: z
        .object({ advice: z.enum(ADVICE).describe('As in `decline` of a payment.') })
        .nullable()
        .describe('Advice after a declined last attempt; else null.'),
      providers: z.array(providerConfigSchema).describe('The slots that the payer may pay with, as in `GET /config`.'),
      client_secret: secret,
      next_action: nextAction,
      return_url: text.describe('Where the page sends the payer afterwards; null if the payer stays.'),
      test: z.boolean().describe('True if no real money moves.'),
      interval: z
        .object({
          billing_interval: z.string().describe('The unit of a period, as in a subscription.'),
          interval_multiplier: z.int().describe('Units of `billing_interval` per period.'),
        })
        .nullable()
        .describe('How often a subscription is charged; null for other pages.'),
      next_billing_date: timestamp
        .nullable()
        .describe('When a subscription is charged next; null if no charge is planned.'),
      cancel_at_period_end: z.boolean().nullable().describe('True if a subscription ends with its period.'),
      open_payment: z
        .object({
          payment_id: z.string().describe('The payment that is open, `pay_…`.'),
          status: z.enum(PAYMENT_STATUSES).describe('The status of that payment, as in `Payment`.'),
          next_action: nextAction,
          client_secret: secret,
        })
        .nullable()
        .describe(
          "The subscription's open payment; null without one. If the payer must authenticate a new method, `next_action` and `client_secret` of the page are set instead.",
        ),
    })
    .meta({ id: 'PageState', description: 'The record that a hosted page shows, and its seller.' });
});

export type PageState = z.output<ReturnType<typeof pageStateSchema>>;

type Settled = 'seller' | 'test' | 'return_url' | 'providers';

/** The fields of one kind of page. An omitted field is null. */
interface PageFields extends Partial<Omit<PageState, Settled | 'kind' | 'status'>> {
  readonly kind: PageState['kind'];
  readonly status: string;
  readonly returnUrl: string | undefined;
  /** The slots by which the payer may pay. */
  readonly slots: readonly string[];
}

const NOTHING = {
  payment_id: null,
  amount_cents: null,
  currency: null,
  description: null,
  product: null,
  quantity: null,
  method: null,
  decline: null,
  client_secret: null,
  next_action: null,
  interval: null,
  next_billing_date: null,
  cancel_at_period_end: null,
  open_payment: null,
} as const;

export const pageState = (pages: PageSettings, { slots, returnUrl, ...fields }: PageFields): PageState => {
  const providers: readonly ProviderConfig[] = openSlots(pages).filter(({ provider_id: slot }) => slots.includes(slot));
  const { name, color, termsUrl, privacyUrl } = pages.seller;
  return {
    ...NOTHING,
    ...fields,
    seller: {
      name: name || null,
      color: color || null,
      terms_url: termsUrl || null,
      privacy_url: privacyUrl || null,
    },
    providers: [...providers],
    // The return URL is checked again, because PAGE_RETURN_HOSTS may have changed since the link was made.
    return_url: returnUrl !== undefined && mayReturnTo(pages, returnUrl) ? returnUrl : null,
    test: providers.some(({ test }) => test),
  };
};

export const productOf = (item: Readonly<Record<string, unknown>> | undefined): PageState['product'] =>
  typeof item?.['name'] === 'string' ? { name: item['name'] } : null;
