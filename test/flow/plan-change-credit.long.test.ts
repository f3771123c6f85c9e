/** @module Compares the credit of a plan change with exact arithmetic on the period's payments and refunds. */

import { describe, expect, test } from 'vitest';
import { DAY_SECONDS } from '../builders/seconds.ts';
import { withHost } from './host.ts';
import { WAYS_AT_STRIPE } from './paid-at-stripe.ts';
import { creditAt, type Held, opened, WAYS_EVERYWHERE, type Way } from './paid-periods.ts';
import { changeTo, PLAN_PLACES, plan, preview } from './plan-changes.ts';
import type { ParsedJson } from './routes.ts';
import { paymentsOf, readSubscription } from './subscribers.ts';

describe.each(PLAN_PLACES)('the credit for an unused period at %s', (where, place) => {
  const service = withHost({ frozen: true, env: place.settings });
  const stage = { service, place };

  const periodOf = async ({ who, id }: Held) => {
    const now = await readSubscription(service, who, id);
    return { start: Date.parse(now.current_period_start), end: Date.parse(now.current_period_end) };
  };

  /** The sum of the subscription's payments, minus refunds and lost disputes. */
  const keptOf = async ({ who, id }: Held): Promise<number> =>
    (await paymentsOf(service, who, id))
      .filter(({ status }) => status === 'succeeded')
      .reduce((sum, one: ParsedJson) => sum + one.total_cents - one.refunded_cents - one.lost_cents, 0);

  const expectCredit = async (way: Way) => {
    const of = await opened(stage, way.fields);
    const paid = await way.pay(stage, of);
    await service.advance(2 * DAY_SECONDS + 12_345);
    const product_id = await plan(service, 30_000);
    const kept = await keptOf(of);
    const { status, body: seen } = await preview(service, of, { product_id, when: 'now' });
    expect({ status, seen }).toMatchObject({ status: 200 });
    const credit = creditAt(paid, await periodOf(of), Date.parse(seen.proration_at));
    expect(seen.unused_cents).toBe(credit);
    expect(credit).toBeLessThanOrEqual(kept + (paid.elsewhere ?? 0));
    const terms = { product_id, when: 'now', proration_at: seen.proration_at, expected_cents: seen.due_now_cents };
    const changed = await changeTo(service, of, terms);
    expect(changed).toMatchObject({ status: 200, body: { product_id, pending_change: null } });
    if (seen.due_now_cents === 0) return;
    const charged = (await paymentsOf(service, of.who, of.id)).at(-1);
    expect(charged).toMatchObject({ billing_reason: 'subscription_change', total_cents: seen.due_now_cents });
  };

  test.each(WAYS_EVERYWHERE)('is exact if the period was $name', expectCredit);

  if (where !== 'Stripe, which bills') return;

  test.each(WAYS_AT_STRIPE)('matches Stripe’s own invoices if the period was $name', expectCredit);
});
