/** @module Payment histories of a period that Stripe bills, with Stripe's coupons and balances. */

import { present } from '../builders/present.ts';
import { DAY_SECONDS, HOUR_SECONDS } from '../builders/seconds.ts';
import {
  dispute,
  giveBack,
  type Held,
  MONTH,
  newestPayment,
  type PeriodStage,
  startOf,
  type Way,
} from './paid-periods.ts';
import { anotherMethod, patch, readSubscription } from './subscribers.ts';

const dashboard = ({ service }: PeriodStage, { id }: Held, wish: object): Promise<unknown> =>
  service.control('POST', `/simulator/subscriptions/${id}`, { ...wish });

const setBalance = async ({ service }: PeriodStage, of: Held, balance: number): Promise<void> => {
  const { provider_subscription_id: there } = await readSubscription(service, of.who, of.id);
  const { subscriptions } = await service.ledger();
  const { customer } = present(subscriptions.find(({ id }) => id === there));
  await service.control('POST', `/simulator/customers/${customer}/balance`, { balance });
};

/** Starts the next period, and Stripe collects it. */
const renewed = async ({ service }: PeriodStage, of: Held): Promise<void> => {
  const { current_period_end: end } = await readSubscription(service, of.who, of.id);
  await service.moveTo(end);
  await service.advance(2 * HOUR_SECONDS);
  await service.settle();
};

const newestInvoice = async ({ service }: PeriodStage, of: Held) => {
  const { provider_subscription_id: there } = await readSubscription(service, of.who, of.id);
  return present((await service.ledger()).invoices.filter(({ subscription }) => subscription === there).at(-1));
};

interface Renewal {
  /** Runs before the renewal. */
  readonly first?: (stage: PeriodStage, of: Held) => Promise<unknown>;
  /** The price paid for the period, before the refund. */
  readonly price: number;
  /** The amount refunded after the payment. */
  readonly back?: number;
  readonly elsewhere?: number;
}

const renewal = (name: string, { first, price, back = 0, elsewhere = 0 }: Renewal): Way => ({
  name,
  pay: async (stage, of) => {
    await first?.(stage, of);
    await renewed(stage, of);
    if (back > 0) await giveBack(stage, (await newestPayment(stage, of)).id, back);
    return { price, elsewhere, payments: [{ missing: back, since: await startOf(stage, of) }] };
  },
});

const coupon = (fields: object) => (stage: PeriodStage, of: Held) => dashboard(stage, of, { coupon: fields });
const HALF_FOREVER = coupon({ percent_off: 50, duration: 'forever' });
const balance = (cents: number) => (stage: PeriodStage, of: Held) => setBalance(stage, of, cents);

/** The card declines, and then the account owner closes the open invoice by `action`. */
const settledByHand = (name: string, { action, price }: { readonly action: string; readonly price: number }): Way => ({
  name,
  pay: async (stage, of) => {
    const { service } = stage;
    const payment_method_id = await anotherMethod(service, of.who, 'pm_card_chargeCustomerFail');
    await patch(service, of.who, { id: of.id, body: { payment_method_id } });
    await renewed(stage, of);
    await service.control('POST', `/simulator/invoices/${(await newestInvoice(stage, of)).id}`, { action });
    await service.settle();
    await patch(service, of.who, { id: of.id, body: { payment_method_id: of.who.names.payment_method_id } });
    await service.settle();
    return { price, elsewhere: price, payments: [] };
  },
});

export const WAYS_AT_STRIPE: readonly Way[] = [
  renewal('renewed', { price: MONTH }),
  renewal('renewed and refunded in part', { price: MONTH, back: 700 }),
  renewal('free because of a coupon of 100 % for one invoice', { first: coupon({ percent_off: 100 }), price: 0 }),
  renewal('free because of a permanent coupon of 100 %', {
    ...{ first: coupon({ percent_off: 100, duration: 'forever' }), price: 0 },
  }),
  renewal('paid at half price with a coupon for one invoice', { first: coupon({ percent_off: 50 }), price: 1_500 }),
  renewal('paid at half price with a permanent coupon', { first: HALF_FOREVER, price: 1_500 }),
  renewal('paid at half price with a coupon, and refunded in part', { first: HALF_FOREVER, price: 1_500, back: 600 }),
  renewal('paid at a price that a permanent coupon lowers by an amount', {
    first: coupon({ amount_off: 1_100, duration: 'forever' }),
    price: 1_900,
  }),
  renewal('paid from the payer’s balance', { first: balance(-5_000), price: MONTH, elsewhere: MONTH }),
  renewal('paid in part from the payer’s balance', { first: balance(-1_000), price: MONTH, elsewhere: 1_000 }),
  renewal('paid in part from the payer’s balance, and the rest refunded', {
    first: balance(-1_000),
    price: MONTH,
    back: 2_000,
  }),
  renewal('paid together with an older debt', { first: balance(500), price: MONTH }),
  {
    name: 'paid in full before a coupon was added',
    pay: async (stage, of) => {
      await HALF_FOREVER(stage, of);
      return { price: MONTH, payments: [] };
    },
  },
  {
    name: 'paid at half price with a coupon, and lost in a dispute',
    pay: async (stage, of) => {
      await HALF_FOREVER(stage, of);
      await renewed(stage, of);
      await dispute(stage, (await newestPayment(stage, of)).id, { ends: 'lost' });
      return { price: 0, payments: [] };
    },
  },
  settledByHand('written off', { action: 'mark_uncollectible', price: 0 }),
  settledByHand('voided', { action: 'void', price: 0 }),
  settledByHand('paid outside Stripe', { action: 'pay_out_of_band', price: MONTH }),
  {
    name: 'renewed after a refund of the previous period',
    pay: async (stage, of) => {
      await giveBack(stage, (await newestPayment(stage, of)).id);
      await stage.service.advance(DAY_SECONDS);
      await renewed(stage, of);
      return { price: MONTH, payments: [] };
    },
  },
];
