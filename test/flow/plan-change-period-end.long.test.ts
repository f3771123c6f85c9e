import { describe, expect, test } from 'vitest';
import { epochSeconds } from '../../shared/core/time.ts';
import { DAY_SECONDS, HOUR_SECONDS } from '../builders/seconds.ts';
import { type TestHost, withHost } from './host.ts';
import {
  changeTo,
  PLAN_PLACES,
  type PlanHolder,
  plan,
  planEvents,
  preview,
  priceAtStripe,
  subscribed,
  withdraw,
} from './plan-changes.ts';
import { command, paymentsOf, readSubscription } from './subscribers.ts';

const totals = async (service: TestHost, { who, id }: PlanHolder): Promise<number[]> =>
  (await paymentsOf(service, who, id)).map(({ total_cents }) => total_cents);

const renew = async (service: TestHost, { who, id }: PlanHolder) => {
  const { current_period_end } = await readSubscription(service, who, id);
  await service.moveTo(current_period_end);
  await service.advance(3 * HOUR_SECONDS);
  await service.settle();
  return readSubscription(service, who, id);
};

describe.each(PLAN_PLACES)('a plan change at the period end at %s', (_, place) => {
  const service = withHost({ frozen: true, env: place.settings });
  const bills = place.slot === 'provider_a' && !('PROVIDER_A_SUBSCRIPTIONS' in place.settings);

  const scheduled = async (fields: Readonly<Record<string, unknown>> = {}) => {
    const of = await subscribed(service, place, { product_id: await plan(service, 4_900) });
    await service.advance(10 * DAY_SECONDS);
    const cheap = await plan(service, 1_900, fields);
    const { status, body } = await changeTo(service, of, { product_id: cheap });
    expect({ status, body }).toMatchObject({
      status: 200,
      body: {
        ...{ product_id: of.first.product_id, total_cents: 4_900 },
        scheduled_change: { product_id: cheap, total_cents: 1_900, effective_at: of.first.current_period_end },
      },
    });
    return { of, cheap };
  };

  test('applies from the next period, and never before', async () => {
    const { of, cheap } = await scheduled();
    expect(await priceAtStripe(service, of)).toBe(bills ? 1_900 : undefined);
    await service.advance(5 * DAY_SECONDS);
    await service.settle();
    expect(await readSubscription(service, of.who, of.id)).toMatchObject({ total_cents: 4_900 });
    const renewed = await renew(service, of);
    expect(renewed).toMatchObject({ product_id: cheap, total_cents: 1_900, scheduled_change: null, status: 'active' });
    expect(renewed.current_period_start).toBe(of.first.current_period_end);
    expect(await totals(service, of)).toEqual([4_900, 1_900]);
    expect(await planEvents(service, of.id)).toEqual(['plan_change_scheduled', 'plan_changed']);
  });

  test('starts the new interval with the next period', async () => {
    const { of } = await scheduled({ billing_interval: 'quarterly' });
    const renewed = await renew(service, of);
    expect(renewed).toMatchObject({ billing_interval: 'quarterly', total_cents: 1_900, status: 'active' });
    expect(renewed.current_period_start).toBe(of.first.current_period_end);
    expect(Date.parse(renewed.current_period_end) - Date.parse(renewed.current_period_start)).toBeGreaterThan(
      85 * DAY_SECONDS * 1_000,
    );
    expect(await totals(service, of)).toEqual([4_900, 1_900]);
    await renew(service, of);
    expect(await totals(service, of)).toEqual([4_900, 1_900, 1_900]);
  });

  test('is replaced by another change, and withdrawn by DELETE', async () => {
    const { of } = await scheduled({ billing_interval: 'quarterly' });
    const other = await plan(service, 900);
    const { body } = await changeTo(service, of, { product_id: other, quantity: 2 });
    expect(body.scheduled_change).toMatchObject({ product_id: other, quantity: 2, total_cents: 1_800 });
    expect(await priceAtStripe(service, of)).toBe(bills ? 1_800 : undefined);
    expect(await withdraw(service, of)).toMatchObject({ status: 200, body: { scheduled_change: null } });
    expect(await priceAtStripe(service, of)).toBe(bills ? 4_900 : undefined);
    expect(await withdraw(service, of)).toMatchObject({ status: 409, body: { code: 'INVALID_STATE' } });
    const renewed = await renew(service, of);
    expect(renewed).toMatchObject({ total_cents: 4_900, current_period_start: of.first.current_period_end });
    expect(await totals(service, of)).toEqual([4_900, 4_900]);
  });

  test('is withdrawn by a scheduled cancellation, and by an immediate change', async () => {
    const { of } = await scheduled();
    const dear = await plan(service, 9_900);
    const { body: seen } = await preview(service, of, { product_id: dear });
    const { body } = await changeTo(service, of, { product_id: dear, proration_at: seen.proration_at });
    expect(body).toMatchObject({ product_id: dear, scheduled_change: null });
    expect(await priceAtStripe(service, of)).toBe(bills ? 9_900 : undefined);
    const other = await scheduled();
    const canceled = await command(service, other.of.who, { id: other.of.id, name: 'cancel' });
    expect(canceled).toMatchObject({ status: 200, body: { scheduled_change: null, cancel_at_period_end: true } });
    expect(await priceAtStripe(service, other.of)).toBe(bills ? 4_900 : undefined);
    await command(service, other.of.who, { id: other.of.id, name: 'reactivate' });
    expect((await renew(service, other.of)).total_cents).toBe(4_900);
  });
});

describe.each(PLAN_PLACES)('a plan change in a trial to a product with the same trial at %s', (_, place) => {
  const service = withHost({ frozen: true, env: place.settings });

  const onTrial = async () => {
    const of = await subscribed(service, place, { product_id: await plan(service, 1_000, { trial_days: 14 }) });
    await service.advance(5 * DAY_SECONDS);
    return of;
  };

  test.each([
    ['now', { billing_interval: 'quarterly' }],
    ['now', {}],
    ['period_end', {}],
  ] as const)('applied %s is charged only at the trial end: %j', async (when, fields) => {
    const of = await onTrial();
    const product_id = await plan(service, 3_000, { trial_days: 14, ...fields });
    const { body: seen } = await preview(service, of, { product_id, when });
    expect(seen).toMatchObject({ kind: 'upgrade', due_now_cents: 0, lines: [], next_total_cents: 3_000 });
    const { status, body } = await changeTo(service, of, { product_id, when });
    const total_cents = when === 'now' ? 3_000 : 1_000;
    expect({ status, body }).toMatchObject({
      ...{ status: 200, body: { status: 'trialing', total_cents, trial_end: of.first.trial_end } },
    });
    const renewed = await renew(service, of);
    expect(renewed).toMatchObject({ status: 'active', product_id });
    expect(epochSeconds(Date.parse(renewed.current_period_start))).toBe(epochSeconds(Date.parse(of.first.trial_end)));
    expect(await totals(service, of)).toEqual([3_000]);
  });
});
