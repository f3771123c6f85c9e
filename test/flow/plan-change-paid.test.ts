import { describe, expect, test } from 'vitest';
import { present } from '../builders/present.ts';
import { DAY_SECONDS, HOUR_SECONDS } from '../builders/seconds.ts';
import { atStripe } from './at-stripe.ts';
import { signIn } from './flow.ts';
import { withHost } from './host.ts';
import { dispute, giveBack, newestPayment, upgraded } from './paid-periods.ts';
import { changeTo, type PlanHolder, plan, preview, subscribed } from './plan-changes.ts';
import type { ParsedJson } from './routes.ts';
import { paymentsOf, readMembership, subscriber, subscribeToGold } from './subscribers.ts';

const VISA = { slot: 'provider_a', token: 'pm_card_visa' } as const;

const native = withHost({ frozen: true });
const stage = { service: native, place: VISA };

/** A Stripe-billed month on its eleventh day. */
const atThird = async (cents: number, fields: Readonly<Record<string, unknown>> = {}) => {
  const made = await subscribed(native, VISA, { product_id: await plan(native, cents, fields) });
  await native.settle();
  await native.advance(10 * DAY_SECONDS);
  return made;
};

/** A 60-day period at half its time. */
const atHalf = async (cents: number) => {
  const made = await subscribed(native, VISA, { product_id: await plan(native, cents, SIXTY_DAYS) });
  await native.settle();
  await native.advance(30 * DAY_SECONDS);
  return made;
};
const SIXTY_DAYS = { billing_interval: 'daily', interval_multiplier: 60 };

const atDashboard = async ({ id }: PlanHolder, wish: object): Promise<void> => {
  await native.control('POST', `/simulator/subscriptions/${id}`, { ...wish });
  await native.settle();
};

/** Expects that preview and change are refused with the same response. */
const refused = async (of: PlanHolder, body: object, says: object): Promise<void> => {
  for (const route of [preview, changeTo]) expect(await route(native, of, { ...body })).toMatchObject(says);
};

describe('a plan change', () => {
  test.each([
    ['refunded', (id: string) => giveBack(stage, id)],
    ['lost in a dispute', (id: string) => dispute(stage, id, { ends: 'lost' })],
  ])('to a yearly plan costs the full year if the month was %s', async (_, back) => {
    const of = await atThird(3_000);
    await back((await newestPayment(stage, of)).id);
    const product_id = await plan(native, 30_000, { billing_interval: 'yearly' });
    const { body: seen } = await preview(native, of, { product_id });
    expect(seen).toMatchObject({ unused_cents: 0, due_now_cents: 30_000, lines: [{ kind: 'full' }] });
    const changed = await changeTo(native, of, { product_id, expected_cents: 30_000 });
    expect(changed).toMatchObject({ status: 200, body: { pending_change: null } });
    expect(await newestPayment(stage, of)).toMatchObject({ total_cents: 30_000, status: 'succeeded' });
  });

  test('credits the unused time of the opening payment and of an earlier change', async () => {
    const of = await atHalf(1_000);
    await changeTo(native, of, { product_id: await plan(native, 3_000, SIXTY_DAYS), expected_cents: 1_000 });
    await native.advance(15 * DAY_SECONDS);
    const product_id = await plan(native, 6_000, SIXTY_DAYS);
    expect((await preview(native, of, { product_id })).body).toMatchObject({ unused_cents: 750, due_now_cents: 750 });
  });

  test('is refused if a refund changed the amount due since the preview', async () => {
    const of = await atHalf(3_000);
    const product_id = await plan(native, 6_000, SIXTY_DAYS);
    const { body: seen } = await preview(native, of, { product_id });
    expect(seen.due_now_cents).toBe(1_500);
    await giveBack(stage, (await newestPayment(stage, of)).id, 1_000);
    const terms = { product_id, proration_at: seen.proration_at, expected_cents: seen.due_now_cents };
    expect(await changeTo(native, of, terms)).toMatchObject({
      status: 409,
      body: { code: 'PRICE_CHANGED', details: { due_now_cents: 2_000 } },
    });
  });

  test('does not credit the part of the price that came from a refunded payment of the previous interval', async () => {
    const of = await atHalf(3_000);
    const { id } = await newestPayment(stage, of);
    const longer = { billing_interval: 'daily', interval_multiplier: 90 };
    await changeTo(native, of, { product_id: await plan(native, 12_000, longer), expected_cents: 10_500 });
    await giveBack(stage, id);
    await native.advance(45 * DAY_SECONDS);
    const product_id = await plan(native, 30_000, longer);
    // 1500 of the 12000 were paid by the payment that is refunded later.
    expect((await preview(native, of, { product_id })).body).toMatchObject({ unused_cents: 5_250 });
  });

  test('does not credit a difference waived by the merchant', async () => {
    const of = await atHalf(1_000);
    const admin = await signIn(native, { is_admin: true });
    const merchant = { ...of, who: { ...of.who, options: admin.options } };
    const free = { total_cents: 4_000, when: 'now', proration: 'none' };
    expect(await changeTo(native, merchant, free)).toMatchObject({ status: 200, body: { total_cents: 4_000 } });
    const product_id = await plan(native, 6_000, SIXTY_DAYS);
    expect((await preview(native, of, { product_id })).body).toMatchObject({ unused_cents: 500, due_now_cents: 2_500 });
  });

  test('sends the new price to Stripe once', async () => {
    const of = await atThird(1_000);
    await native.clearProviderRequests();
    await upgraded(stage, of);
    const sent: ParsedJson[] = (await native.providerRequests()).filter(
      ({ method, path }) => method === 'POST' && path.startsWith('/v1/subscriptions/'),
    );
    expect(sent).toHaveLength(1);
  });
});

describe('a discount at Stripe', () => {
  test.each([
    ['of half the price', { percent_off: 50 }, { due: 500, next: 1_500 }],
    ['of a third of the price', { percent_off: 33.33 }, { due: 667, next: 2_000 }],
    ['of an amount', { amount_off: 600 }, { due: 1_000, next: 2_400 }],
  ])('%s applies to the amount due and to the next price', async (_, value, { due, next }) => {
    const of = await atHalf(1_000);
    await atDashboard(of, { coupon: { ...value, duration: 'forever' } });
    await native.moveTo(of.first.current_period_end);
    await native.advance(2 * HOUR_SECONDS);
    await native.settle();
    await native.advance(30 * DAY_SECONDS - 2 * HOUR_SECONDS);
    const product_id = await plan(native, 3_000, SIXTY_DAYS);
    const { body: seen } = await preview(native, of, { product_id });
    expect(seen).toMatchObject({ next_total_cents: next });
    expect(Math.abs(seen.due_now_cents - due)).toBeLessThanOrEqual(1);
    const terms = { product_id, proration_at: seen.proration_at, expected_cents: seen.due_now_cents };
    expect(await changeTo(native, of, terms)).toMatchObject({ status: 200, body: { total_cents: 3_000 } });
    await native.moveTo(seen.next_billing_date);
    await native.advance(2 * HOUR_SECONDS);
    await native.settle();
    expect(await newestPayment(stage, of)).toMatchObject({ billing_reason: 'subscription_cycle', total_cents: next });
  });

  test('lowers only the new price if the discount starts within a paid period', async () => {
    const of = await atHalf(1_000);
    await atDashboard(of, { coupon: { percent_off: 50, duration: 'forever' } });
    const product_id = await plan(native, 3_000, SIXTY_DAYS);
    expect((await preview(native, of, { product_id })).body).toMatchObject({
      ...{ unused_cents: 500, due_now_cents: 250, next_total_cents: 1_500 },
    });
  });

  const PRICED_THERE = { status: 409, body: { code: 'INVALID_STATE', details: { reason: 'priced_at_provider' } } };
  const coupon = (fields: object) => ({ coupon: fields });
  test.each([
    ['a discount of one invoice', coupon({ percent_off: 50 })],
    ['a discount of some months', coupon({ percent_off: 50, duration: 'repeating', duration_in_months: 3 })],
    ['a tax', { tax: { percentage: 19 } }],
    ['a tax within the price', { tax: { percentage: 19, inclusive: true } }],
  ])('together with %s allows a change only at the period end', async (_, wish) => {
    const of = await atHalf(1_000);
    await atDashboard(of, wish);
    const product_id = await plan(native, 3_000, SIXTY_DAYS);
    await refused(of, { product_id }, PRICED_THERE);
    const later = { product_id, when: 'period_end' };
    const seen = await preview(native, of, later);
    expect(seen).toMatchObject({ status: 200, body: { due_now_cents: 0, next_total_cents: null } });
    expect(await changeTo(native, of, later)).toMatchObject({
      status: 200,
      body: { scheduled_change: { product_id } },
    });
  });

  test('together with a second discount allows a change only at the period end', async () => {
    const of = await atHalf(1_000);
    const { provider_subscription_id: there } = of.first;
    for (const id of ['ten', 'five'])
      await atStripe(native, 'POST coupons', { id, percent_off: '5', duration: 'forever' });
    await atStripe(native, `POST subscriptions/${there}`, {
      'discounts[0][coupon]': 'ten',
      'discounts[1][coupon]': 'five',
    });
    const product_id = await plan(native, 3_000, SIXTY_DAYS);
    await refused(of, { product_id }, PRICED_THERE);
  });

  test.each([
    ['a coupon of 100 %', (of: PlanHolder) => atDashboard(of, { coupon: { percent_off: 100 } })],
    [
      'the balance of the payer',
      async ({ id }: PlanHolder) => {
        const { subscriptions } = await native.ledger();
        const { customer } = present(subscriptions.find((one) => one.subscription_id === id));
        await native.control('POST', `/simulator/customers/${customer}/balance`, { balance: -1_900 });
      },
    ],
  ])('extends a membership if the period is paid by %s', async (_, pay) => {
    const who = await subscriber(native);
    const made = await subscribeToGold(native, who);
    await native.settle();
    await pay({ who, id: made.id });
    await native.moveTo(made.current_period_end);
    await native.settle();
    const { ends_at, status } = await readMembership(native, who, made.id);
    expect({ status, isLater: Date.parse(ends_at) > native.now() }).toEqual({ status: 'active', isLater: true });
    expect(await paymentsOf(native, who, made.id)).toHaveLength(1);
  });
});
