import type Stripe from 'stripe';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { DAY_MS, MINUTE_MS } from '../../shared/core/time.ts';
import { DAY_SECONDS } from '../builders/seconds.ts';
import { createRig, errorOf, type Rig } from './simulator-harness.ts';

let rig: Rig;
beforeEach(() => {
  rig = createRig();
});
afterEach(() => rig.close());

type Unit = 'day' | 'week' | 'month' | 'year';
type Params = Partial<Stripe.SubscriptionCreateParams>;

interface Wish {
  readonly unit?: Unit;
  readonly count?: number;
  readonly method?: string;
  readonly params?: Params;
}

const attach = (customer: string, method: string) => rig.stripe.paymentMethods.attach(method, { customer });

const subscribe = async ({ unit = 'month', count = 1, method = 'pm_card_visa', params = {} }: Wish = {}) => {
  const customer = await rig.stripe.customers.create({ email: 'ana@example.com' });
  const { id: methodId } = await attach(customer.id, method);
  const product = await rig.stripe.products.create({ name: 'Gold' });
  const price = {
    currency: 'usd',
    product: product.id,
    unit_amount: 1_000,
    recurring: { interval: unit, interval_count: count },
  };
  return rig.stripe.subscriptions.create({
    customer: customer.id,
    default_payment_method: methodId,
    items: [{ price_data: price }],
    off_session: true,
    payment_behavior: 'error_if_incomplete',
    metadata: { subscription_id: 'sub_1' },
    ...params,
  });
};

const customerOf = ({ customer }: Stripe.Subscription): string => String(customer);
const iso = (seconds: number): string => new Date(seconds * 1_000).toISOString();
const at = (text: string): number => Date.parse(text);

/** The invoices of a subscription, oldest first. */
const invoicesOf = async ({ id }: Stripe.Subscription): Promise<Stripe.Invoice[]> =>
  (await rig.stripe.invoices.list({ subscription: id, limit: 100 })).data.toReversed();
/** The start times of the billed periods, in ISO format, from the subscription's invoices. */
const billed = async (subscription: Stripe.Subscription): Promise<string[]> =>
  (await invoicesOf(subscription)).map(({ lines }) => iso(lines.data[0]?.period.start ?? 0));
const statusOf = async ({ id }: Stripe.Subscription) => (await rig.stripe.subscriptions.retrieve(id)).status;

interface Charge {
  readonly status: string;
  readonly created_at: string;
  readonly payment_id: string | null;
}
const charges = async (): Promise<readonly Charge[]> =>
  ((await rig.control('GET', '/ledger')).body as { charges: readonly Charge[] }).charges;

describe('the simulated billing calendar', () => {
  test.each<[string, string, Wish, string, readonly string[]]>([
    [
      'monthly from 31 January',
      '2030-01-31T10:30:00Z',
      {},
      '2030-05-01T00:00:00Z',
      ['2030-01-31', '2030-02-28', '2030-03-31', '2030-04-30'],
    ],
    [
      'monthly into a leap year',
      '2031-12-31T10:30:00Z',
      { count: 2 },
      '2032-05-01T00:00:00Z',
      ['2031-12-31', '2032-02-29', '2032-04-30'],
    ],
    [
      'yearly from 29 February',
      '2032-02-29T10:30:00Z',
      { unit: 'year' },
      '2036-03-01T00:00:00Z',
      ['2032-02-29', '2033-02-28', '2034-02-28', '2035-02-28', '2036-02-29'],
    ],
    [
      'quarterly over a year end',
      '2030-08-31T10:30:00Z',
      { count: 3 },
      '2031-06-01T00:00:00Z',
      ['2030-08-31', '2030-11-30', '2031-02-28', '2031-05-31'],
    ],
    [
      'every second week',
      '2030-12-20T10:30:00Z',
      { unit: 'week', count: 2 },
      '2031-01-20T00:00:00Z',
      ['2030-12-20', '2031-01-03', '2031-01-17'],
    ],
    [
      'every fifth day',
      '2030-02-25T10:30:00Z',
      { unit: 'day', count: 5 },
      '2030-03-15T00:00:00Z',
      ['2030-02-25', '2030-03-02', '2030-03-07', '2030-03-12'],
    ],
  ])('is correct: %s', async (...[_, from, wish, until, days]) => {
    await rig.clock.moveTo(at(from));
    const subscription = await subscribe(wish);
    await rig.clock.moveTo(at(until));
    const expected = days.map((day) => `${day}T10:30:00.000Z`);
    expect(await billed(subscription)).toEqual(expected);
    expect((await charges()).map(({ status, created_at: when }) => [status, when])).toEqual(
      expected.map((when) => ['succeeded', when]),
    );
  });

  /**
   * The n-th due time: on the anchor day, or on the last day of a shorter month. Computed independently of the
   * simulator's calendar.
   */
  const oracle = (
    anchor: number,
    { unit, count }: { readonly unit: Unit; readonly count: number },
    n: number,
  ): number => {
    if (unit === 'day' || unit === 'week') return anchor + n * count * (unit === 'day' ? 1 : 7) * DAY_MS;
    const date = new Date(anchor);
    const month = date.getUTCMonth() + n * count * (unit === 'month' ? 1 : 12);
    const last = new Date(Date.UTC(date.getUTCFullYear(), month + 1, 0)).getUTCDate();
    const day = Math.min(date.getUTCDate(), last);
    return Date.UTC(date.getUTCFullYear(), month, day) + (anchor % DAY_MS);
  };

  test('is correct to the second for a year, for every interval', async () => {
    const anchor = at('2031-10-31T23:59:59Z');
    await rig.clock.moveTo(anchor);
    const intervals = (['day', 'week', 'month', 'year'] as const).flatMap((unit) =>
      [1, 2, 3].map((count) => ({ unit, count: unit === 'day' ? count * 15 : count })),
    );
    const made = [];
    for (const interval of intervals) made.push({ ...interval, subscription: await subscribe(interval) });
    const until = anchor + 366 * DAY_MS;
    await rig.clock.moveTo(until);
    for (const { subscription, ...interval } of made) {
      const expected: string[] = [];
      for (let n = 0; oracle(anchor, interval, n) <= until; n += 1) {
        expected.push(new Date(oracle(anchor, interval, n)).toISOString());
      }
      expect(await billed(subscription)).toEqual(expected);
    }
  });

  test('uses whole seconds', async () => {
    await rig.clock.moveTo(at('2030-03-01T00:00:00.750Z'));
    const subscription = await subscribe();
    expect(iso(subscription.billing_cycle_anchor)).toBe('2030-03-01T00:00:00.000Z');
    await rig.clock.moveTo(at('2030-04-01T00:00:00.000Z'));
    expect(await billed(subscription)).toHaveLength(2);
  });
});

describe('the simulated events of a subscription', () => {
  const sent = async (of: { readonly id: string }) => {
    const events = await rig.events();
    const about = events.filter(({ data }) => JSON.stringify(data.object).includes(of.id));
    return about.map(({ type, created }) => `${iso(created).slice(0, 10)} ${type}`);
  };
  const types = async (): Promise<string[]> => (await rig.events()).map(({ type }) => type);

  test('report its creation, renewal and end, each at the correct time', async () => {
    const subscription = await subscribe();
    await rig.clock.advance(31 * DAY_MS);
    await rig.stripe.subscriptions.update(subscription.id, { cancel_at_period_end: true });
    await rig.clock.advance(28 * DAY_MS);
    expect(await sent(subscription)).toEqual([
      '2030-01-01 customer.subscription.created',
      '2030-01-01 invoice.paid',
      '2030-01-01 invoice.payment_succeeded',
      '2030-02-01 customer.subscription.updated',
      '2030-02-01 invoice.paid',
      '2030-02-01 invoice.payment_succeeded',
      '2030-02-01 customer.subscription.updated',
      '2030-03-01 customer.subscription.deleted',
    ]);
    const renewal = (await rig.events()).filter(({ created }) => iso(created).startsWith('2030-02-01'));
    expect(renewal.slice(0, 3).map(({ type }) => type)).toEqual([
      'customer.subscription.updated',
      'charge.succeeded',
      'payment_intent.succeeded',
    ]);
    expect(renewal[0]?.data.previous_attributes).toMatchObject({ items: {}, latest_invoice: expect.any(String) });
    expect((await charges()).map(({ payment_id: ours }) => ours)).toEqual([null, null]);
  });

  test('announce the end of a trial once, three days ahead or at the start of a shorter trial', async () => {
    const trial = (days: number) => ({
      params: { trial_end: Math.floor(rig.clock.now() / 1_000) + days * DAY_SECONDS },
    });
    const long = await subscribe(trial(10));
    const short = await subscribe(trial(2));
    await rig.clock.advance(12 * DAY_MS);
    const notices = async (of: Stripe.Subscription) =>
      (await sent(of)).filter((line) => line.includes('trial_will_end'));
    expect(await notices(long)).toEqual(['2030-01-08 customer.subscription.trial_will_end']);
    expect(await notices(short)).toEqual(['2030-01-01 customer.subscription.trial_will_end']);
    expect((await charges()).map(({ created_at: when }) => when.slice(0, 10))).toEqual(['2030-01-03', '2030-01-11']);
  });

  test('report a failed retry 1, 3, 7 and 14 days after the first failure, and then the end', async () => {
    const subscription = await subscribe({ method: 'pm_sim_ok_1_then_decline' });
    await rig.clock.advance(31 * DAY_MS);
    await rig.clock.advance(14 * DAY_MS - 1);
    expect(await statusOf(subscription)).toBe('past_due');
    await rig.clock.advance(1);
    expect(await statusOf(subscription)).toBe('canceled');
    expect((await sent(subscription)).slice(3)).toEqual([
      '2030-02-01 customer.subscription.updated',
      '2030-02-01 invoice.payment_failed',
      '2030-02-01 customer.subscription.updated',
      '2030-02-02 invoice.payment_failed',
      '2030-02-04 invoice.payment_failed',
      '2030-02-08 invoice.payment_failed',
      '2030-02-15 invoice.payment_failed',
      '2030-02-15 customer.subscription.deleted',
    ]);
    const [, last] = await invoicesOf(subscription);
    expect(last).toMatchObject({ status: 'open', attempt_count: 5, auto_advance: false, next_payment_attempt: null });
    await rig.clock.advance(60 * DAY_MS);
    expect(await charges()).toHaveLength(6);
  });

  test('report a recovery', async () => {
    const subscription = await subscribe({ method: 'pm_sim_ok_1_then_decline' });
    await rig.clock.advance(33 * DAY_MS);
    const { id: method } = await attach(customerOf(subscription), 'pm_card_visa');
    await rig.stripe.subscriptions.update(subscription.id, { default_payment_method: method });
    await rig.clock.advance(DAY_MS);
    expect((await sent(subscription)).slice(-4)).toEqual([
      '2030-02-03 customer.subscription.updated',
      '2030-02-04 invoice.paid',
      '2030-02-04 invoice.payment_succeeded',
      '2030-02-04 customer.subscription.updated',
    ]);
    expect(await statusOf(subscription)).toBe('active');
  });

  test.each(['lost', 'stolen'])('report no retry of a %s card until another card replaces it', async (why) => {
    const subscription = await subscribe({ method: `pm_sim_ok_1_then_${why}` });
    await rig.clock.advance(31 * DAY_MS);
    await rig.clock.advance(3 * DAY_MS);
    expect((await types()).filter((type) => type === 'invoice.payment_failed')).toHaveLength(1);
    const { id: method } = await attach(customerOf(subscription), 'pm_card_visa');
    await rig.stripe.subscriptions.update(subscription.id, { default_payment_method: method });
    await rig.clock.advance(4 * DAY_MS);
    expect(await statusOf(subscription)).toBe('active');
    expect(await charges()).toHaveLength(3);
  });

  test('report the end of the subscription if a lost card is not replaced', async () => {
    const subscription = await subscribe({ method: 'pm_sim_ok_1_then_lost' });
    await rig.clock.advance(45 * DAY_MS);
    expect(await statusOf(subscription)).toBe('canceled');
    expect(await charges()).toHaveLength(2);
  });

  test('report a processing renewal after it is settled', async () => {
    const subscription = await subscribe({ method: 'pm_sim_processing_ok' });
    const { id: method } = await attach(customerOf(subscription), 'pm_sim_processing_fail');
    await rig.stripe.subscriptions.update(subscription.id, { default_payment_method: method });
    await rig.clock.advance(31 * DAY_MS);
    expect(await statusOf(subscription)).toBe('active');
    await rig.clock.advance(MINUTE_MS);
    expect(await statusOf(subscription)).toBe('past_due');
    expect((await sent(subscription)).slice(-3)).toEqual([
      '2030-02-01 customer.subscription.updated',
      '2030-02-01 invoice.payment_failed',
      '2030-02-01 customer.subscription.updated',
    ]);
  });

  test('report its end with the deletion of its customer', async () => {
    const subscription = await subscribe();
    await rig.stripe.customers.del(customerOf(subscription));
    expect((await sent(subscription)).at(-1)).toBe('2030-01-01 customer.subscription.deleted');
    await rig.clock.advance(60 * DAY_MS);
    expect(await charges()).toHaveLength(1);
  });

  test('are delivered in order with the events of its payments', async () => {
    rig.answerWith(503);
    await subscribe();
    await rig.clock.settle(0);
    rig.answerWith(200);
    await rig.clock.advance(MINUTE_MS);
    const { subscriptions } = (await rig.control('GET', '/ledger')).body as { subscriptions: { id: string }[] };
    expect((await sent(subscriptions[0] ?? { id: '' })).slice(-3)).toEqual([
      '2030-01-01 customer.subscription.created',
      '2030-01-01 invoice.paid',
      '2030-01-01 invoice.payment_succeeded',
    ]);
  });
});

describe('a method of a simulated subscription', () => {
  test('can succeed n times and then fail', async () => {
    const subscription = await subscribe({ unit: 'day', method: 'pm_sim_ok_3_then_decline' });
    await rig.clock.advance(2 * DAY_MS);
    expect(await statusOf(subscription)).toBe('active');
    await rig.clock.advance(DAY_MS);
    expect(await statusOf(subscription)).toBe('past_due');
    expect((await charges()).map(({ status }) => status)).toEqual(['succeeded', 'succeeded', 'succeeded', 'failed']);
  });

  test('leaves the subscription past due if it is missing at a renewal, until the customer’s default replaces it', async () => {
    const subscription = await subscribe();
    const customer = customerOf(subscription);
    await rig.stripe.paymentMethods.detach(String(subscription.default_payment_method));
    await rig.clock.advance(31 * DAY_MS);
    expect(await statusOf(subscription)).toBe('past_due');
    const { id: method } = await attach(customer, 'pm_card_visa');
    await rig.stripe.customers.update(customer, { invoice_settings: { default_payment_method: method } });
    await rig.clock.advance(DAY_MS);
    expect(await statusOf(subscription)).toBe('active');
  });

  test('leaves an intent if it is missing at a renewal, and the next method pays the intent', async () => {
    const subscription = await subscribe();
    await rig.stripe.paymentMethods.detach(String(subscription.default_payment_method));
    await rig.clock.advance(31 * DAY_MS);
    const intentOf = async () => {
      const { data } = await rig.stripe.invoices.list({ subscription: subscription.id, expand: ['data.payments'] });
      return String(data[0]?.payments?.data[0]?.payment.payment_intent);
    };
    const intent = await intentOf();
    expect(await rig.stripe.paymentIntents.retrieve(intent)).toMatchObject({ status: 'requires_payment_method' });
    const { id: payment_method } = await attach(customerOf(subscription), 'pm_card_visa');
    const [, open] = await invoicesOf(subscription);
    await rig.stripe.invoices.pay(String(open?.id), { payment_method });
    expect(await intentOf()).toBe(intent);
    expect(await rig.stripe.paymentIntents.retrieve(intent)).toMatchObject({ status: 'succeeded' });
  });

  test('is charged at renewal even if calls with its id time out', async () => {
    const subscription = await subscribe();
    const { id: method } = await attach(customerOf(subscription), 'pm_sim_timeout_before');
    await rig.stripe.subscriptions.update(subscription.id, { default_payment_method: method });
    await rig.clock.advance(31 * DAY_MS);
    expect(await charges()).toHaveLength(2);
  });
});

describe('a request about a simulated subscription', () => {
  test.each<[string, Params, RegExp]>([
    ['a trial that is over', { trial_end: 1 }, /in the future/],
    ['a pending update', { payment_behavior: 'pending_if_incomplete' }, /payment_behavior/],
    ['an unknown parameter', { backdate_start_date: 1 }, /unknown parameter/],
    ['an unknown price', { items: [{ price: 'price_absent' }] }, /No such price/],
    ['two items', { items: [{ price: 'a' }, { price: 'b' }] }, /items/],
    ['no item', { items: [] }, /items/],
  ])('is refused for %s', async (_, params, message) => {
    const error = await errorOf(subscribe({ params }));
    expect([error.statusCode, error.type]).toEqual([400, 'StripeInvalidRequestError']);
    expect(error.message).toMatch(message);
  });

  test('can name a price', async () => {
    const product = await rig.stripe.products.create({ name: 'Gold' });
    const price = await rig.stripe.prices.create({
      product: product.id,
      currency: 'eur',
      unit_amount: 700,
      recurring: { interval: 'year' },
    });
    expect(await rig.stripe.prices.retrieve(price.id)).toMatchObject({ product: product.id, unit_amount: 700 });
    const subscription = await subscribe({ params: { items: [{ price: price.id }], trial_period_days: 30 } });
    expect(subscription).toMatchObject({ status: 'trialing', currency: 'eur' });
    const listed = await rig.stripe.subscriptions.list({ customer: customerOf(subscription) });
    expect(listed.data).toEqual([subscription]);
    await rig.stripe.subscriptions.cancel(subscription.id);
    for (const [status, count] of [
      [undefined, 0],
      ['trialing', 0],
      ['canceled', 1],
      ['all', 1],
    ] as const) {
      expect((await rig.stripe.subscriptions.list(status === undefined ? {} : { status })).data).toHaveLength(count);
    }
  });

  test('is refused if it pays a paid invoice, or cancels or resumes an ended subscription', async () => {
    const subscription = await subscribe();
    const invoice = String(subscription.latest_invoice);
    expect((await errorOf(rig.stripe.invoices.pay(invoice))).message).toBe('Invoice is already paid');
    await rig.stripe.subscriptions.cancel(subscription.id);
    expect(await errorOf(rig.stripe.subscriptions.cancel(subscription.id))).toMatchObject({
      statusCode: 404,
      code: 'resource_missing',
    });
    expect((await errorOf(rig.stripe.subscriptions.resume(subscription.id))).statusCode).toBe(400);
  });

  test('gets an error with the decline code and the charge if its payment is declined', async () => {
    const subscription = await subscribe({ method: 'pm_sim_ok_1_then_nsf' });
    await rig.clock.advance(31 * DAY_MS);
    const [, invoice] = await invoicesOf(subscription);
    const error = await errorOf(rig.stripe.invoices.pay(invoice?.id ?? ''));
    expect(error).toMatchObject({ statusCode: 402, decline_code: 'insufficient_funds' });
    expect(error.payment_intent?.latest_charge).toBe(error.charge);
  });
});
