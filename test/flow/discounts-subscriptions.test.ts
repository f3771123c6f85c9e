import { describe, expect, test } from 'vitest';
import { DAY_SECONDS, MINUTE_SECONDS } from '../builders/seconds.ts';
import { atStripe } from './at-stripe.ts';
import { codeCounts, heldOf, putCode, signInForYears } from './discounts.ts';
import { withHost } from './host.ts';
import { changeTo, plan, preview, priceAtStripe } from './plan-changes.ts';
import type { ParsedJson } from './routes.ts';
import {
  anotherMethod,
  OWN_BILLING,
  patch,
  paymentsOf,
  readSubscription,
  type Subscriber,
  subscribe,
  subscriber,
  subscriptionEventsOf,
  trySubscribe,
} from './subscribers.ts';

const NO_PRICE = {
  subtotal_cents: undefined,
  total_cents: undefined,
  currency: undefined,
  billing_interval: undefined,
};
const MONTH_SECONDS = 31 * DAY_SECONDS + 5 * MINUTE_SECONDS;

const totalsOf = async (service: ReturnType<typeof withHost>, who: Subscriber, id: string) =>
  (await paymentsOf(service, who, id)).map(({ total_cents }: ParsedJson) => total_cents);

describe('a code at a billing provider', () => {
  const service = withHost({ frozen: true });

  test('lets the provider bill the reduced price until the price changes at the provider', async () => {
    await putCode(service, 'ALWAYS', { percent_bp: 5_000, duration: 'forever', max_redemptions: 2 });
    const product = await plan(service, 1_900);
    const who = await subscriber(service);
    const made = await subscribe(service, who, { ...NO_PRICE, product_id: product, discount_code: 'always' });
    expect(made).toMatchObject({
      billing_owner: 'provider',
      status: 'active',
      total_cents: 950,
      discount: { code: 'ALWAYS', percent_bp: 5_000, periods_left: null, full: { total_cents: 1_900 } },
    });
    expect(await priceAtStripe(service, { who, id: made.id })).toBe(950);
    expect(await codeCounts(service, 'ALWAYS')).toEqual({ reserved: 0, redeemed: 1 });
    const [paid] = await paymentsOf(service, who, made.id);
    expect(paid).toMatchObject({ total_cents: 950, discount: { code: 'ALWAYS', cents: 950 } });
    const there = made.provider_subscription_id;
    const { items } = await atStripe(service, `POST subscriptions/${there}`, { 'metadata[seen]': '2' });
    await atStripe(service, `POST subscriptions/${there}`, {
      'items[0][id]': items.data[0].id,
      'items[0][price_data][currency]': 'usd',
      'items[0][price_data][product]': items.data[0].price.product,
      'items[0][price_data][recurring][interval]': 'month',
      'items[0][price_data][unit_amount]': '1200',
      proration_behavior: 'none',
    });
    await service.settle();
    await service.advance(2 * DAY_SECONDS);
    expect(await readSubscription(service, who, made.id)).toMatchObject({ total_cents: 1_200, discount: null });
    expect(await subscriptionEventsOf(service, made.id)).toContain('subscription.updated discount_ended');
  });

  test('leaves the billing to the service if the code reduces only the first period', async () => {
    await putCode(service, 'FIRST-HALF', { percent_bp: 5_000 });
    const who = await subscriber(service);
    const made = await subscribe(service, who, {
      discount_code: 'FIRST-HALF',
      subtotal_cents: 1_900,
      total_cents: 950,
    });
    expect(made).toMatchObject({ billing_owner: 'service', total_cents: 950, discount: { periods_left: 0 } });
    await service.advance(MONTH_SECONDS);
    expect(await totalsOf(service, who, made.id)).toEqual([950, 1_900]);
    expect(await readSubscription(service, who, made.id)).toMatchObject({ total_cents: 1_900, discount: null });
    expect(await subscriptionEventsOf(service, made.id)).toContain('subscription.updated discount_ended');
  });
});

describe('a code on a subscription billed by the service', () => {
  const service = withHost({ frozen: true, env: OWN_BILLING });

  test('reduces three periods from 31 January, although the second is declined at first', async () => {
    await service.moveTo('2030-01-31T12:00:00.000Z');
    await putCode(service, 'HALF-3', { percent_bp: 5_000, duration: 'repeating', duration_periods: 3 });
    const who = await subscriber(service);
    const made = await subscribe(service, who, { discount_code: 'HALF-3', subtotal_cents: 1_900, total_cents: 950 });
    const { id } = made;
    expect(made).toMatchObject({ total_cents: 950, discount: { periods_left: 2 } });
    const failing = await anotherMethod(service, who, 'pm_card_chargeCustomerFail');
    await patch(service, who, { id, body: { payment_method_id: failing } });
    await service.moveTo('2030-02-28T12:05:00.000Z');
    expect(await readSubscription(service, who, id)).toMatchObject({
      status: 'past_due',
      discount: { periods_left: 1 },
    });
    await service.advance(DAY_SECONDS + 5 * MINUTE_SECONDS);
    await patch(service, who, { id, body: { payment_method_id: who.names.payment_method_id } });
    await service.settle();
    expect(await readSubscription(service, who, id)).toMatchObject({ status: 'active', discount: { periods_left: 1 } });
    await service.moveTo('2030-03-31T12:05:00.000Z');
    expect(await readSubscription(service, who, id)).toMatchObject({ discount: { periods_left: 0 } });
    await service.moveTo('2030-04-30T12:05:00.000Z');
    const paid = (await paymentsOf(service, who, id)).filter(({ status }: ParsedJson) => status === 'succeeded');
    expect(paid.map(({ total_cents }: ParsedJson) => total_cents)).toEqual([950, 950, 950, 1_900]);
    expect(paid.map(({ discount }: ParsedJson) => discount?.cents ?? null)).toEqual([950, 950, 950, null]);
    const { charges } = await service.ledger(paid[3]?.id);
    expect(charges).toMatchObject([{ status: 'succeeded' }]);
  });

  test('keeps all its periods during a trial, and may reduce the price to zero', async () => {
    await putCode(service, 'GIFT', {
      percent_bp: null,
      amounts: { USD: 700 },
      duration: 'repeating',
      duration_periods: 2,
    });
    const who = await subscriber(service);
    const body = { discount_code: 'GIFT', subtotal_cents: 500, total_cents: 0 };
    const trial = await subscribe(service, who, { ...body, trial_days: 7 });
    expect(trial).toMatchObject({
      status: 'trialing',
      total_cents: 0,
      discount: { amount_cents: 700, periods_left: 2 },
    });
    await service.advance(8 * DAY_SECONDS);
    expect(await readSubscription(service, who, trial.id)).toMatchObject({
      status: 'active',
      discount: { periods_left: 1 },
    });
    const { payment_method_id: _, ...unpaid } = who.names;
    const withoutMethod = await trySubscribe(service, { ...who, names: unpaid as typeof who.names }, body);
    expect(withoutMethod.status).toBe(400);
    await service.advance(2 * MONTH_SECONDS);
    expect(await totalsOf(service, who, trial.id)).toEqual([500]);
  });

  test('is released by a declined first charge, and stays used after a cancellation', async () => {
    await putCode(service, 'TWO', { max_redemptions: 2, max_per_payer: 1 });
    const body = { discount_code: 'TWO', subtotal_cents: 2_000, total_cents: 1_500 };
    const broke = await subscriber(service, 'pm_card_chargeCustomerFail');
    expect(await trySubscribe(service, broke, body)).toMatchObject({ status: 402 });
    expect(await codeCounts(service, 'TWO')).toEqual({ reserved: 0, redeemed: 0 });
    const who = await subscriber(service);
    const made = await subscribe(service, who, body);
    await service.post(`/subscriptions/${made.id}/cancel`, { cancel_at_period_end: false }, who.options);
    expect(await codeCounts(service, 'TWO')).toEqual({ reserved: 0, redeemed: 1 });
    expect(await trySubscribe(service, who, body)).toMatchObject({
      status: 400,
      body: { details: { reason: 'used' } },
    });
    const other = await subscriber(service);
    await subscribe(service, other, { ...body, trial_days: 3 });
    expect(await codeCounts(service, 'TWO')).toEqual({ reserved: 0, redeemed: 2 });
    expect(await heldOf(service, 'TWO')).toEqual({ reserved: 0, redeemed: 1 });
  });
});

describe('a change of the plan with a code', () => {
  const service = withHost({ frozen: true, env: OWN_BILLING });
  const [small, large, other] = [1_000, 3_000, 4_000];

  test('keeps the code, and charges the amount of its preview', async () => {
    const [from, to] = [await plan(service, small), await plan(service, large)];
    await putCode(service, 'PLAN', { percent_bp: 5_000, duration: 'repeating', duration_periods: 3 });
    const who = await subscriber(service);
    const { id } = await subscribe(service, who, { ...NO_PRICE, product_id: from, discount_code: 'PLAN' });
    await service.advance(1);
    const shown = await preview(service, { who, id }, { product_id: to, when: 'now' });
    expect(shown).toMatchObject({
      status: 200,
      body: {
        due_now_cents: 1_000,
        next_total_cents: 1_500,
        discount: { code: 'PLAN', cents: 1_500, periods_left: 2 },
      },
    });
    const changed = await changeTo(service, { who, id }, { product_id: to, when: 'now', expected_cents: 1_000 });
    expect(changed).toMatchObject({ status: 200, body: { total_cents: 1_500, discount: { periods_left: 2 } } });
    await service.advance(3 * MONTH_SECONDS);
    expect(await totalsOf(service, who, id)).toEqual([500, 1_000, 1_500, 1_500, 3_000]);
  });

  test('reduces only the rest of the code’s last period, and a scheduled plan starts at full price', async () => {
    const [from, to, last] = [await plan(service, small), await plan(service, large), await plan(service, other)];
    await putCode(service, 'LAST', { percent_bp: 5_000 });
    const who = await subscriber(service);
    const { id } = await subscribe(service, who, { ...NO_PRICE, product_id: from, discount_code: 'LAST' });
    const now = await preview(service, { who, id }, { product_id: to, when: 'now' });
    expect(now.body).toMatchObject({ due_now_cents: 1_000, next_total_cents: 3_000, discount: { periods_left: 0 } });
    const later = await preview(service, { who, id }, { product_id: last, when: 'period_end' });
    expect(later.body).toMatchObject({ due_now_cents: 0, next_total_cents: 4_000, discount: null });
    await changeTo(service, { who, id }, { product_id: last, when: 'period_end' });
    await service.advance(MONTH_SECONDS);
    expect(await totalsOf(service, who, id)).toEqual([500, 4_000]);
    expect(await readSubscription(service, who, id)).toMatchObject({ discount: null });
  });

  test.each([
    ['once', 'period_end', [500, 1_000]],
    ['once', 'now', [500, 1_000]],
    ['repeating', 'period_end', [500, 500, 1_000]],
    ['repeating', 'now', [500, 1_000]],
  ])('keeps counting the periods of a code (%s) if only the interval changes (%s)', async (duration, when, totals) => {
    const code = `INTERVAL-${duration}-${when}`.toUpperCase();
    const periods = duration === 'repeating' ? { duration_periods: 2 } : {};
    await putCode(service, code, { percent_bp: 5_000, duration, ...periods });
    const who = await subscriber(service);
    const fields = { ...NO_PRICE, product_id: await plan(service, small), discount_code: code };
    const { id } = await subscribe(service, who, fields);
    await service.advance(DAY_SECONDS);
    const { options } = await signInForYears(service, { is_admin: true });
    const asMerchant = { who: { ...who, options }, id };
    const change = { billing_interval: 'weekly', when, ...(when === 'now' && { proration: 'none' }) };
    const seen = await preview(service, asMerchant, change);
    expect((await changeTo(service, asMerchant, change)).status).toBe(200);
    const periodsMoved = when === 'now' ? 8 : 38 + 7 * (totals.length - 2);
    await service.advance(periodsMoved * DAY_SECONDS);
    const paid = (await totalsOf(service, who, id)).slice(0, totals.length);
    expect(paid).toEqual(totals);
    if (when === 'period_end') expect(seen.body.next_total_cents).toBe(paid[1]);
  });

  test('ends the code if the code excludes the new product', async () => {
    const [from, to] = [await plan(service, small), await plan(service, large)];
    await putCode(service, 'ONLY', { percent_bp: 5_000, duration: 'forever', product_ids: [from] });
    const who = await subscriber(service);
    const { id } = await subscribe(service, who, { ...NO_PRICE, product_id: from, discount_code: 'ONLY' });
    expect((await preview(service, { who, id }, { product_id: to, when: 'now' })).body).toMatchObject({
      ...{ due_now_cents: 2_500, next_total_cents: 3_000, discount: null },
    });
    const changed = await changeTo(service, { who, id }, { product_id: to, when: 'now' });
    expect(changed.body).toMatchObject({ total_cents: 3_000, discount: null });
  });
});
