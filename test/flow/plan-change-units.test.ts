import { describe, expect, test } from 'vitest';
import { present } from '../builders/present.ts';
import { DAY_SECONDS, HOUR_SECONDS } from '../builders/seconds.ts';
import { withHost } from './host.ts';
import { changeTo, PLAN_PLACES, plan, preview, subscribed } from './plan-changes.ts';
import type { ParsedJson } from './routes.ts';
import { OWN_BILLING, paymentsOf } from './subscribers.ts';

/** Currencies charged by a provider in units above one minor unit, with chargeable prices. */
const UNITS = [
  ['KWD', 10, 0],
  ['KWD at Stripe, billed here', 10, 1],
  ['HUF', 100, 2],
  ['TWD', 100, 2],
] as const;

describe.each(UNITS)('a plan change in %s', (name, unit, index) => {
  const [, place] = PLAN_PLACES[index];
  const service = withHost({ frozen: true, env: place.settings });
  const [currency = ''] = name.split(' ');

  const held = async () => {
    const product_id = await plan(service, 1_000 * unit, { currency });
    const made = await subscribed(service, place, { product_id });
    await service.settle();
    return made;
  };

  test('charges a multiple of the provider’s unit, with half a unit rounded up', async () => {
    const of = await held();
    const product_id = await plan(service, 3_000 * unit, { currency, tax_cents: 479 * unit });
    const [start, end] = [of.first.current_period_start, of.first.current_period_end].map((time) => Date.parse(time));
    const shareOf = (cents: number, at: number) => {
      const [top, bottom] = [BigInt(cents) * BigInt((end ?? 0) - at), BigInt((end ?? 0) - (start ?? 0))];
      return Number((2n * top + bottom) / (2n * bottom));
    };
    for (let moment = 0; moment < 10; moment += 1) {
      await service.advance(DAY_SECONDS + 1_234 * moment);
      const { status, body } = await preview(service, of, { product_id });
      expect({ status, body }).toMatchObject({ status: 200 });
      const at = Date.parse(body.proration_at);
      const exact = shareOf(3_000 * unit, at) - shareOf(1_000 * unit, at);
      expect(body.due_now_cents).toBe(Math.floor(exact / unit + 0.5) * unit);
      const sum = body.lines.reduce((all: number, line: ParsedJson) => all + line.amount_cents, 0);
      expect(sum).toBe(body.due_now_cents);
      const rounding = body.lines.filter(({ kind }) => kind === 'rounding');
      expect(rounding.map(({ amount_cents }) => amount_cents)).toEqual(
        exact === body.due_now_cents ? [] : [body.due_now_cents - exact],
      );
    }
    const { body: seen } = await preview(service, of, { product_id });
    const terms = { product_id, proration_at: seen.proration_at, expected_cents: seen.due_now_cents };
    expect(await changeTo(service, of, terms)).toMatchObject({ status: 200, body: { pending_change: null } });
    await service.settle();
    const paid = present((await paymentsOf(service, of.who, of.id)).at(-1));
    expect(paid).toMatchObject({ billing_reason: 'subscription_change', total_cents: seen.due_now_cents });
    expect(paid.subtotal_cents + paid.tax_cents - paid.discount_cents).toBe(paid.total_cents);
    const { charges } = await service.ledger();
    const charge = charges.find(({ payment_id }) => payment_id === paid.id);
    expect(present(charge).amount).toBe(seen.due_now_cents);
  });

  test('is refused if the amount due rounds to zero', async () => {
    const of = await held();
    await service.moveTo(of.first.current_period_end);
    await service.advance(2 * HOUR_SECONDS);
    await service.settle();
    await service.advance(15 * DAY_SECONDS);
    const seen = await preview(service, of, { product_id: await plan(service, 1_000 * unit + unit, { currency }) });
    expect(seen).toMatchObject({ status: seen.body.due_now_cents === undefined ? 400 : 200 });
    await service.advance(9 * DAY_SECONDS);
    const product_id = await plan(service, 1_001 * unit, { currency });
    for (const route of [preview, changeTo]) {
      const { status, body } = await route(service, of, { product_id });
      expect({ status, body }).toMatchObject({ status: 400, body: { code: 'AMOUNT_TOO_SMALL' } });
      expect(body.details.minimum_cents).toBeGreaterThanOrEqual(unit);
    }
  });
});

describe('the quantity of a plan change', () => {
  const service = withHost({ frozen: true, env: OWN_BILLING });
  const VISA = { slot: 'provider_a', token: 'pm_card_visa' } as const;

  const seats = async (quantity: number) => {
    const made = await subscribed(service, VISA, { product_id: await plan(service, 1_000), quantity });
    await service.advance(10 * DAY_SECONDS);
    return made;
  };

  test.each([
    ['raised to the least', { had: 1, bounds: { min_quantity: 3 }, to: 3, min: 3, max: null }],
    ['lowered to the most', { had: 5, bounds: { max_quantity: 2 }, to: 2, min: 1, max: 2 }],
  ])(
    'if omitted is %s quantity of the new product, once the caller has seen that quantity in a preview',
    async (_, { had, bounds, to, min, max }) => {
      const of = await seats(had);
      const product_id = await plan(service, 9_000, bounds);
      const { status, body: seen } = await preview(service, of, { product_id });
      expect({ status, seen }).toMatchObject({ status: 200, seen: { next_total_cents: 9_000 * to } });
      expect(seen.lines).toMatchObject([{ quantity: had }, { quantity: to }]);
      const unsent = await changeTo(service, of, { product_id });
      expect(unsent).toMatchObject({
        status: 400,
        body: { code: 'QUANTITY_INVALID', details: { min_quantity: min, max_quantity: max } },
      });
      const terms = { product_id, proration_at: seen.proration_at, expected_cents: seen.due_now_cents };
      expect(await changeTo(service, of, terms)).toMatchObject({ status: 200, body: { quantity: to } });
    },
  );

  test('if omitted stays the same within the new product’s limits', async () => {
    const of = await seats(3);
    const product_id = await plan(service, 9_000, { min_quantity: 2, max_quantity: 4 });
    expect(await changeTo(service, of, { product_id })).toMatchObject({ status: 200, body: { quantity: 3 } });
  });

  test('is refused outside the new product’s limits', async () => {
    const of = await seats(3);
    const product_id = await plan(service, 9_000, { max_quantity: 4 });
    for (const route of [preview, changeTo]) {
      const answer = await route(service, of, { product_id, quantity: 5 });
      expect(answer).toMatchObject({ status: 400, body: { code: 'QUANTITY_INVALID' } });
    }
  });
});
