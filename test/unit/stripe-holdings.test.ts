import type Stripe from 'stripe';
import { expect, test } from 'vitest';
import { STRIPE_CURRENCIES, stripeAmounts } from '../../shared/providers/stripe/currencies.ts';
import { stripeHoldings } from '../../shared/providers/stripe/holdings.ts';
import type { StripeCall } from '../../shared/providers/stripe/outcome.ts';
import type { ProviderInvoice, SubscriptionsPort } from '../../shared/providers/subscription-port.ts';

/** The price of the current period, which the Stripe customer paid, and the part of it that was refunded. */
const [TOTAL, REFUNDED] = [90_000, 30_000];
const PERIOD = 1_790_000_000;

const call: StripeCall = async (ask, read) => ({ kind: 'done', value: read(await ask()) });
const listed = (data: readonly unknown[]) => ({ autoPagingToArray: async () => data });

const stripeWith = (currency: string): Stripe => {
  const inUnits = (amountCents: number): number => Number(stripeAmounts.toProvider({ amountCents, currency }));
  const code = currency.toLowerCase();
  const price = { id: 'price_1', unit_amount: inUnits(TOTAL), recurring: { interval: 'month', interval_count: 1 } };
  const subscription = {
    ...{ id: 'sub_1', currency: code, status: 'active', schedule: null, collection_method: 'charge_automatically' },
    ...{ pause_collection: null, default_payment_method: null, default_source: null, discounts: [], customer: 'cus_1' },
    ...{ automatic_tax: { enabled: false }, default_tax_rates: [], billing_cycle_anchor: PERIOD, start_date: PERIOD },
    items: { data: [{ price, quantity: 1, discounts: [], tax_rates: [] }] },
  };
  const charge = { amount_refunded: inUnits(REFUNDED) };
  return {
    customers: {
      retrieve: async () => ({ id: 'cus_1', email: null, invoice_settings: { default_payment_method: null } }),
      listPaymentMethods: () => listed([]),
    },
    subscriptions: { list: () => listed([subscription]), retrieve: async () => subscription },
    paymentIntents: { retrieve: async () => ({ id: 'pi_1', currency: code, latest_charge: charge }) },
  } as unknown as Stripe;
};

const subscriptionsIn = (currency: string, invoice: Partial<ProviderInvoice>): SubscriptionsPort => {
  const latestInvoice = {
    ...{ invoiceId: 'in_1', intentId: 'pi_1', subscriptionId: 'sub_1', status: 'succeeded', currency },
    ...{ amountCents: TOTAL, periodStart: PERIOD, ...invoice },
  };
  const value = { subscriptionId: 'sub_1', status: 'active', currentPeriodStart: PERIOD, latestInvoice };
  return { find: async () => ({ kind: 'done', value }) } as unknown as SubscriptionsPort;
};

const heldIn = async (currency: string, invoice: Partial<ProviderInvoice> = {}) => {
  const parts = { subscriptions: subscriptionsIn(currency, invoice), readMethod: () => expect.unreachable() };
  const found = await stripeHoldings(stripeWith(currency), call, parts).holdingsOf('cus_1');
  return found.kind === 'done' ? found.value.subscriptions[0]?.terms : undefined;
};

test.each([...STRIPE_CURRENCIES.keys()])(
  'prices and refunds from before the import are converted from the units of %s',
  async (currency) => {
    expect(await heldIn(currency)).toMatchObject({
      listCents: TOTAL,
      openedBy: { invoice: 'in_1', paidCents: TOTAL - REFUNDED },
    });
  },
);

test('a balance of the payer counts as paid, and an invoice paid outside Stripe has no refund', async () => {
  const withBalance = await heldIn('USD', { amountCents: 50_000, totalCents: TOTAL });
  expect(withBalance?.openedBy?.paidCents).toBe(TOTAL - REFUNDED);
  const outside = await heldIn('USD', { isPaidElsewhere: true });
  expect(outside?.openedBy?.paidCents).toBe(TOTAL);
});
