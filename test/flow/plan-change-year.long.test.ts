import { describe, expect, test } from 'vitest';
import { DAY_SECONDS, HOUR_SECONDS, YEAR_SECONDS } from '../builders/seconds.ts';
import { signIn } from './flow.ts';
import { startTestHost, type TestHost } from './host.ts';
import { changeTo, PLAN_PLACES, type PlanHolder, type PlanPlace, plan, preview } from './plan-changes.ts';
import { payer, readSubscription } from './subscribers.ts';

/** The length of each test in days. Each host has one subscriber, and the test moves the clock. */
const DAYS = 400;

/**
 * The weekly changes, repeated in this order. `to` is the index of a product. Without `when`, the service decides the
 * time.
 */
const CHANGES = [
  { to: 1, quantity: 1 },
  { to: 1, quantity: 2 },
  { to: 1, quantity: 3 },
  { to: 2, quantity: 2 },
  { to: 0, quantity: 1, when: 'period_end' },
  { to: 0, quantity: 1 },
  { to: 0, quantity: 2 },
  { to: 0, quantity: 3 },
  { to: 1, quantity: 2 },
  { to: 2, quantity: 2 },
  { to: 1, quantity: 1, when: 'period_end' },
  { to: 1, quantity: 1 },
  { to: 1, quantity: 2 },
  { to: 1, quantity: 4 },
  { to: 3, quantity: 1 },
  { to: 0, quantity: 4, when: 'period_end' },
  { to: 2, quantity: 4 },
  { to: 0, quantity: 1, when: 'period_end' },
] as const;

/** Makes the change of this day, if one is due and allowed. @returns the amount due now */
const changeOn = async (service: TestHost, of: PlanHolder, { day, products }: Day): Promise<number> => {
  if (day % 7 !== 0) return 0;
  const { to, ...terms } = CHANGES[Math.floor(day / 7) % CHANGES.length] ?? CHANGES[0];
  const body = { ...terms, product_id: products[to] };
  const seen = await preview(service, of, body);
  if (seen.status !== 200) return 0;
  const made = await changeTo(service, of, { ...body, proration_at: seen.body.proration_at });
  expect({ day, status: made.status, body: made.body }).toMatchObject({ status: 200 });
  return seen.body.due_now_cents;
};

interface Day {
  readonly day: number;
  readonly products: readonly string[];
}

/** Moves in two steps, so a renewal is settled before a change of the same day. @returns the new subscription */
const oneDayLater = async (service: TestHost, { who, id }: PlanHolder) => {
  await service.advance(12 * HOUR_SECONDS);
  await service.advance(DAY_SECONDS - 12 * HOUR_SECONDS);
  const now = await readSubscription(service, who, id);
  expect(now).toMatchObject({ status: 'active', pending_change: null });
  return now;
};

interface Days {
  readonly from: number;
  readonly to: number;
  readonly products: readonly string[];
}

/** @returns the expected amounts of the payments, in order */
const runDays = async (service: TestHost, of: PlanHolder, { from, to, products }: Days): Promise<number[]> => {
  let known = await readSubscription(service, of.who, of.id);
  const expected: number[] = [];
  for (let day = from; day <= to; day += 1) {
    const now = await oneDayLater(service, of);
    if (now.current_period_start !== known.current_period_start) expected.push(now.total_cents);
    const due = await changeOn(service, of, { day, products });
    if (due > 0) expected.push(due);
    known = await readSubscription(service, of.who, of.id);
  }
  return expected;
};

const begin = async (service: TestHost, { slot, token }: PlanPlace) => {
  const products = [
    await plan(service, 1_900),
    await plan(service, 4_900, { tax_cents: 900 }),
    await plan(service, 9_900, { discount_cents: 500 }),
    await plan(service, 24_900, { billing_interval: 'quarterly' }),
  ];
  const user = await signIn(service, { expires_in: YEAR_SECONDS });
  const who = await payer(service, user.options, { token, fields: slot === 'provider_a' ? {} : { provider_id: slot } });
  const { status, body } = await service.post('/subscriptions', { ...who.names, product_id: products[0] }, who.options);
  expect({ status, body }).toMatchObject({ status: 201 });
  return { of: { who, id: body.id }, products, userId: user.userId };
};

describe.each(PLAN_PLACES)('400 days with a weekly plan change at %s', (_, place) => {
  test('charge exactly the previewed amounts and the period prices', async () => {
    const service = await startTestHost({ frozen: true, env: place.settings });
    try {
      const { of, products, userId } = await begin(service, place);
      const early = await runDays(service, of, { from: 1, to: 200, products });
      // A session lasts only a year.
      const { options } = await signIn(service, { user_id: userId, expires_in: YEAR_SECONDS });
      const later = { ...of, who: { ...of.who, options } };
      const late = await runDays(service, later, { from: 201, to: DAYS, products });
      const expected = [1_900, ...early, ...late];
      expect(expected.length).toBeGreaterThan(30);
      const pages = await Promise.all(
        [1, 2].map((page) => service.get(`/payments?limit=50&page=${page}&orderDir=asc`, options)),
      );
      const paid = pages.flatMap(({ body }) => body.data).map(({ status, total_cents }) => [status, total_cents]);
      expect(paid).toEqual(expected.map((amount) => ['succeeded', amount]));
      const { charges } = await service.ledger();
      const taken = charges.filter(({ status }) => status === 'succeeded');
      expect(taken.map(({ amount }) => amount).toSorted()).toEqual(expected.toSorted());
    } finally {
      await service.stop();
    }
  });
});
