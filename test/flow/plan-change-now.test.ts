import { describe, expect, test } from 'vitest';
import { DAY_SECONDS } from '../builders/seconds.ts';
import { withHost } from './host.ts';
import { changeTo, PLAN_PLACES, plan, preview, subscribed } from './plan-changes.ts';
import { command, paymentsOf, readSubscription, subscriptionEventsOf } from './subscribers.ts';

describe.each(PLAN_PLACES)('an immediate plan change at %s', (_, place) => {
  const service = withHost({ frozen: true, env: place.settings });

  const atHalf = async (cents: number, fields: Readonly<Record<string, unknown>> = {}) => {
    const made = await subscribed(service, place, { product_id: await plan(service, cents, fields) });
    await service.advance(10 * DAY_SECONDS);
    return made;
  };

  test('charges exactly the previewed amount and switches the plan', async () => {
    const of = await atHalf(1_000);
    const product_id = await plan(service, 3_000);
    const { body: seen } = await preview(service, of, { product_id });
    const terms = { product_id, proration_at: seen.proration_at, expected_cents: seen.due_now_cents };
    const { status, body } = await changeTo(service, of, terms);
    expect({ status, body }).toMatchObject({
      status: 200,
      body: { product_id, total_cents: 3_000, pending_change: null, current_period_end: of.first.current_period_end },
    });
    const payments = await paymentsOf(service, of.who, of.id);
    expect(payments.map((one) => [one.billing_reason, one.status, one.total_cents])).toEqual([
      ['subscription_create', 'succeeded', 1_000],
      ['subscription_change', 'succeeded', seen.due_now_cents],
    ]);
    expect(body.latest_payment_id).toBe(payments[1]?.id);
    // This command reads the subscription from its billing provider.
    const read = await command(service, of.who, { id: of.id, name: 'resume' });
    expect(read).toMatchObject({ status: 200, body: { latest_payment_id: payments[1]?.id } });
  });

  test('applies the new price to the next renewal', async () => {
    const of = await atHalf(1_000);
    await changeTo(service, of, { product_id: await plan(service, 3_000) });
    await service.moveTo(of.first.current_period_end);
    await service.advance(DAY_SECONDS / 4);
    await service.settle();
    const payments = await paymentsOf(service, of.who, of.id);
    expect(payments.map(({ total_cents }) => total_cents)).toHaveLength(3);
    expect(payments.at(-1)).toMatchObject({
      status: 'succeeded',
      total_cents: 3_000,
      billing_reason: 'subscription_cycle',
    });
    expect(await readSubscription(service, of.who, of.id)).toMatchObject({ status: 'active', total_cents: 3_000 });
  });

  test('starts a new period if the interval changes', async () => {
    const of = await atHalf(1_000);
    const product_id = await plan(service, 10_000, { billing_interval: 'quarterly' });
    const { body: seen } = await preview(service, of, { product_id });
    const { status, body } = await changeTo(service, of, { product_id, proration_at: seen.proration_at });
    const { current_period_end, due_now_cents } = seen;
    expect({ status, body }).toMatchObject({
      status: 200,
      body: { billing_interval: 'quarterly', current_period_start: seen.proration_at, current_period_end },
    });
    await service.moveTo(current_period_end);
    await service.advance(DAY_SECONDS / 4);
    await service.settle();
    const payments = await paymentsOf(service, of.who, of.id);
    expect(payments.map(({ total_cents }) => total_cents)).toEqual([1_000, due_now_cents, 10_000]);
    expect(await readSubscription(service, of.who, of.id)).toMatchObject({ current_period_start: current_period_end });
  });

  test.each(['another body', 'the same body'])('runs again under a two-day-old key, with %s', async (name) => {
    const of = await atHalf(1_000);
    const keyed = { ...of, who: { ...of.who, options: { ...of.who.options, idempotencyKey: 'change-again' } } };
    const first = await plan(service, 3_000);
    await changeTo(service, keyed, { product_id: first });
    const other = await changeTo(service, of, { product_id: await plan(service, 3_000), when: 'now' });
    expect(other).toMatchObject({ status: 200, body: { scheduled_change: null } });
    await service.advance(2 * DAY_SECONDS);
    const product_id = name === 'another body' ? await plan(service, 9_000) : first;
    const known = await paymentsOf(service, of.who, of.id);
    const { body: seen } = await preview(service, of, { product_id });
    expect(await changeTo(service, keyed, { product_id })).toMatchObject({ status: 200, body: { product_id } });
    const payments = await paymentsOf(service, of.who, of.id);
    const due = seen.due_now_cents > 0 ? [seen.due_now_cents] : [];
    expect(payments.slice(known.length).map(({ total_cents }) => total_cents)).toEqual(due);
  });

  test('publishes the previous plan in its event', async () => {
    const of = await atHalf(1_000);
    await changeTo(service, of, { product_id: await plan(service, 3_000), quantity: 2 });
    const events = await service.busEvents('subscription.updated');
    const said = events.map(({ detail }) => detail.payload.data).filter((data) => data.subscription_id === of.id);
    expect(said.filter(({ reason }) => reason === 'plan_changed')).toMatchObject([
      { quantity: 2, amount: 6_000, previous: { product_id: of.first.product_id, quantity: 1, amount: 1_000 } },
    ]);
    expect(await subscriptionEventsOf(service, of.id)).toContain('subscription.updated plan_changed');
  });
});
