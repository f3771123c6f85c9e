import { describe, expect, test } from 'vitest';
import { HOUR_MS, iso, MINUTE_MS } from '../../shared/core/time.ts';
import { DAY_SECONDS, MINUTE_SECONDS } from '../builders/seconds.ts';
import { itemsOf, signIn } from './flow.ts';
import { type TestHost, withHost } from './host.ts';
import { changeTo, type PlanHolder, plan, preview, subscribed } from './plan-changes.ts';
import { OWN_BILLING, readSubscription, subscribe, subscriber } from './subscribers.ts';

const VISA = { slot: 'provider_a', token: 'pm_card_visa' } as const;

const service = withHost({ frozen: true, env: OWN_BILLING });

const atHalf = async (host: TestHost, cents: number, fields: Readonly<Record<string, unknown>> = {}) => {
  const made = await subscribed(host, VISA, { product_id: await plan(host, cents, fields) });
  await host.advance(10 * DAY_SECONDS);
  return made;
};

describe('a preview', () => {
  test('stores and charges nothing', async () => {
    const { who, id } = await atHalf(service, 1_000);
    const product_id = await plan(service, 3_000);
    const [items, { charges }] = [await itemsOf(service), await service.ledger()];
    await preview(service, { who, id }, { product_id });
    expect(await itemsOf(service)).toEqual(items);
    expect((await service.ledger()).charges).toEqual(charges);
  });

  test('shows the parts of the amount due', async () => {
    const { who, id, first } = await atHalf(service, 1_000);
    const product_id = await plan(service, 3_000);
    const { body } = await preview(service, { who, id }, { product_id });
    const at = iso(service.now());
    expect(body).toMatchObject({ subscription_id: id, effective_at: at, currency: 'USD', forfeited_cents: 0 });
    expect(body.lines).toMatchObject([
      { kind: 'unused', description: 'Plan 1000', quantity: 1, period_start: at, amount_cents: -body.unused_cents },
      { kind: 'remaining', description: 'Plan 3000', product_id, period_end: first.current_period_end },
    ]);
  });

  test('returns the amounts of an earlier preview if it names that preview’s time within ten minutes', async () => {
    const { who, id } = await atHalf(service, 1_000);
    const product_id = await plan(service, 300_000);
    const { body: early } = await preview(service, { who, id }, { product_id });
    await service.advance(10 * MINUTE_SECONDS);
    const again = { product_id, proration_at: early.proration_at };
    expect((await preview(service, { who, id }, again)).body).toEqual(early);
    expect((await preview(service, { who, id }, { product_id })).body.due_now_cents).toBeLessThan(early.due_now_cents);
    await service.advance(1);
    const late = await preview(service, { who, id }, again);
    expect(late).toMatchObject({ status: 400, body: { code: 'VALIDATION_ERROR' } });
    const future = { product_id, proration_at: iso(service.now() + MINUTE_MS) };
    expect(await preview(service, { who, id }, future)).toMatchObject({
      status: 400,
      body: { code: 'VALIDATION_ERROR' },
    });
  });
});

describe('a plan change and its preview', () => {
  const refused = async (of: PlanHolder, body: object, says: object) => {
    const before = await readSubscription(service, of.who, of.id);
    for (const route of [preview, changeTo]) expect(await route(service, of, { ...body })).toMatchObject(says);
    expect(await readSubscription(service, of.who, of.id)).toEqual(before);
  };

  test('are refused if an earlier preview belongs to the previous period', async () => {
    const { who, id } = await atHalf(service, 1_000);
    const product_id = await plan(service, 3_000);
    const { proration_at } = (await preview(service, { who, id }, { product_id })).body;
    expect(proration_at).toBe(iso(service.now()));
    await service.advance(MINUTE_SECONDS);
    const yearly = await plan(service, 9_000, { billing_interval: 'yearly' });
    expect(await changeTo(service, { who, id }, { product_id: yearly, when: 'now' })).toMatchObject({ status: 200 });
    await service.settle();
    const says = { status: 400, body: { code: 'VALIDATION_ERROR', details: [{ path: 'proration_at' }] } };
    await refused({ who, id }, { product_id, proration_at }, says);
  });

  test('are refused if the plan stays the same', async () => {
    const { who, id, first } = await atHalf(service, 1_000);
    await refused({ who, id }, { product_id: first.product_id }, { status: 400, body: { code: 'VALIDATION_ERROR' } });
  });

  test.each([
    ['is withdrawn', { is_active: false }, 'PRODUCT_INACTIVE'],
    ['has no billing interval', { billing_interval: undefined }, 'PRODUCT_INACTIVE'],
    ['has another currency', { currency: 'EUR' }, 'PRICING_MISMATCH'],
    ['costs less than the provider charges', { total_cents: 20 }, 'AMOUNT_TOO_SMALL'],
  ])('are refused if the product %s', async (_, fields, code) => {
    const { who, id } = await atHalf(service, 1_000);
    const product_id = await plan(service, 3_000, fields);
    await refused({ who, id }, { product_id }, { status: 400, body: { code } });
  });

  test('are refused if the amount due is below the provider’s minimum or is not the expected amount', async () => {
    const { who, id } = await atHalf(service, 1_000);
    const little = await plan(service, 1_030);
    const says = {
      status: 400,
      body: {
        code: 'AMOUNT_TOO_SMALL',
        error: expect.stringMatching(/^\d+ in USD is due now/),
        details: { minimum_cents: 50 },
      },
    };
    await refused({ who, id }, { product_id: little }, says);
    const body = { product_id: await plan(service, 3_000), expected_cents: 5 };
    await refused({ who, id }, body, { status: 409, body: { code: 'PRICE_CHANGED' } });
  });

  test.each([
    ['more', (due: number) => due - 1],
    ['less', (due: number) => due + 1],
  ])('are refused if the amount due is %s than expected, even by one cent', async (_, expectedOf) => {
    const of = await atHalf(service, 1_000);
    const product_id = await plan(service, 3_000);
    const { body: seen } = await preview(service, of, { product_id });
    const { due_now_cents, proration_at } = seen;
    const says = { status: 409, body: { code: 'PRICE_CHANGED', details: { due_now_cents } } };
    await refused(of, { product_id, proration_at, expected_cents: expectedOf(due_now_cents) }, says);
  });

  test.each([
    ['a price', { total_cents: 1 }],
    ['an interval', { billing_interval: 'yearly' }],
    ['no proration', { proration: 'none', when: 'now' }],
    ['a downgrade now', { when: 'now' }],
  ])('are refused if a payer requests %s', async (_, fields) => {
    const { who, id } = await atHalf(service, 4_900);
    const cheap = await plan(service, 1_900);
    const isFree = 'total_cents' in fields || 'billing_interval' in fields;
    const body = isFree ? fields : { product_id: cheap, ...fields };
    await refused({ who, id }, body, { status: 403, body: { code: 'INSUFFICIENT_PERMISSIONS' } });
  });

  test('are refused if a platform admin changes a payer’s product or would charge the payer', async () => {
    const { who, id } = await atHalf(service, 1_000);
    const admin = await signIn(service, { is_admin: true });
    const merchant = { ...who, options: admin.options };
    const says = { status: 403, body: { code: 'INSUFFICIENT_PERMISSIONS' } };
    await refused({ who: merchant, id }, { product_id: await plan(service, 3_000) }, says);
    await refused({ who: merchant, id }, { total_cents: 3_000, when: 'now' }, says);
  });

  test('are refused if the amount due rounds to zero, because the upgrade would be free', async () => {
    const first = await plan(service, 100, { billing_interval: 'yearly' });
    const { who, id, first: made } = await subscribed(service, VISA, { product_id: first });
    await service.moveTo(iso(Date.parse(made.current_period_end) - HOUR_MS));
    const product_id = await plan(service, 3_000, { billing_interval: 'yearly' });
    const says = { status: 400, body: { code: 'AMOUNT_TOO_SMALL', details: { minimum_cents: 50 } } };
    await refused({ who, id }, { product_id }, says);
    expect(await preview(service, { who, id }, { product_id, when: 'period_end' })).toMatchObject({ status: 200 });
  });

  test('are refused in the last hour of the period', async () => {
    const { who, id, first } = await atHalf(service, 1_000);
    const product_id = await plan(service, 300_000);
    await service.moveTo(iso(Date.parse(first.current_period_end) - HOUR_MS + 1));
    await refused({ who, id }, { product_id }, { status: 409, body: { code: 'INVALID_STATE' } });
    expect(await preview(service, { who, id }, { product_id, when: 'period_end' })).toMatchObject({ status: 200 });
  });

  test('are refused for the period end if the subscription ends then', async () => {
    const { who, id } = await atHalf(service, 1_000);
    await service.post(`/subscriptions/${id}/cancel`, {}, who.options);
    const product_id = await plan(service, 3_000);
    const later = { product_id, when: 'period_end' };
    await refused({ who, id }, later, { status: 409, body: { code: 'INVALID_STATE' } });
    expect(await preview(service, { who, id }, { product_id })).toMatchObject({
      ...{ status: 200, body: { when: 'now', next_billing_date: null } },
    });
  });
});

describe('a quantity', () => {
  test('multiplies the prices of the product', async () => {
    const product_id = await plan(service, 1_190, { tax_cents: 190, min_quantity: 2, max_quantity: 5 });
    const { first } = await subscribed(service, VISA, { product_id, quantity: 3 });
    expect(first).toMatchObject({ quantity: 3, subtotal_cents: 3_000, tax_cents: 570, total_cents: 3_570 });
  });

  test.each([
    ['is outside the bounds of the product', { quantity: 6 }, 'QUANTITY_INVALID'],
    ['is missing although the product needs more than one', {}, 'QUANTITY_INVALID'],
    ['is not an integer', { quantity: 2.5 }, 'VALIDATION_ERROR'],
    ['is too large', { quantity: 10_001 }, 'VALIDATION_ERROR'],
  ])('is refused if it %s', async (_, fields, code) => {
    const who = await subscriber(service);
    const product_id = await plan(service, 1_000, { min_quantity: 2, max_quantity: 5 });
    const body = { ...who.names, product_id, ...fields };
    const answer = await service.post('/subscriptions', body, who.options);
    expect(answer).toMatchObject({ status: 400, body: { code } });
    const intent = { product_id, provider_id: 'provider_a', ...fields };
    expect(await service.post('/payments/intents', intent, who.options)).toMatchObject({ status: 400, body: { code } });
  });

  test('requires a product, and a total within the provider’s limits', async () => {
    const who = await subscriber(service);
    const own = { total_cents: 1_000, currency: 'USD', provider_id: 'provider_a', quantity: 2 };
    const refusal = { status: 400, body: { code: 'QUANTITY_INVALID' } };
    expect(await service.post('/payments/intents', own, who.options)).toMatchObject(refusal);
    expect(await subscribeWith(who, { quantity: 2 })).toMatchObject(refusal);
    const product_id = await plan(service, 20_000);
    const tooMuch = { product_id, provider_id: 'provider_a', quantity: 5_000 };
    expect(await service.post('/payments/intents', tooMuch, who.options)).toMatchObject({ status: 400 });
  });

  const subscribeWith = (who: Awaited<ReturnType<typeof subscriber>>, fields: object) =>
    service.post(
      '/subscriptions',
      { ...who.names, subtotal_cents: 1, total_cents: 1, currency: 'USD', billing_interval: 'monthly', ...fields },
      who.options,
    );

  test('is 1 by default, and appears in the order of a payment', async () => {
    const who = await subscriber(service);
    expect(await subscribe(service, who)).toMatchObject({ quantity: 1, pending_change: null, scheduled_change: null });
    const product_id = await plan(service, 1_000);
    const { body } = await service.post(
      '/payments/intents',
      { product_id, provider_id: 'provider_a', quantity: 3 },
      who.options,
    );
    expect(body).toMatchObject({ product_id, quantity: 3, total_cents: 3_000 });
    const read = await service.get(`/payments/${body.id}?include=order`, who.options);
    expect(read.body.data.order).toMatchObject({ product_id, quantity: 3 });
  });

  test('of an unconfirmed payment can change only together with its product', async () => {
    const { who } = await atHalf(service, 1_000);
    const product_id = await plan(service, 700);
    const { body: paying } = await service.post('/payments/intents', { product_id, quantity: 3 }, who.options);
    const put = (body: object) => service.put(`/payments/intents/${paying.id}`, body, who.options);
    expect(await put({ quantity: 1 })).toMatchObject({ status: 400, body: { code: 'QUANTITY_INVALID' } });
    expect(await put({ quantity: 3 })).toMatchObject({ status: 200, body: { total_cents: 2_100 } });
    expect(await put({ product_id, quantity: 1 })).toMatchObject({ status: 200, body: { total_cents: 700 } });
  });
});
