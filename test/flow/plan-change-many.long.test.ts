import { describe, expect, test } from 'vitest';
import { DAY_SECONDS, HOUR_SECONDS } from '../builders/seconds.ts';
import { IMPATIENT, timesCharged } from './flow.ts';
import { type ParsedJson, type TestAnswer, withHost } from './host.ts';
import { changeTo, PLAN_PLACES, type PlanHolder, plan, planEvents, subscribed } from './plan-changes.ts';
import { paymentsOf, readSubscription } from './subscribers.ts';

/** One charge per change, whatever fails and however often it is asked for. */
const ACTIONS = ['timeout_before', 'timeout_after', 'error_500', 'rate_limit', 'reset', 'malformed'] as const;

/** The calls that create and charge the payment of a change. */
const CALLS = {
  provider_a: ['/v1/payment_intents', '/confirm'],
  provider_b: ['/v2/checkout/orders', '/capture'],
  provider_c: ['/v2/orders', '/v2/payments'],
} as const;

const FAULTS = PLAN_PLACES.filter(([name]) => name !== 'Stripe, billed here').flatMap(([name, place]) =>
  ACTIONS.map((action) => [name, action, place] as const),
);

describe.each(FAULTS)('a change at %s with %s', (_, action, place) => {
  const service = withHost({ frozen: true, env: { ...place.settings, ...IMPATIENT } });

  const ofChange = async ({ who, id }: PlanHolder): Promise<ParsedJson[]> =>
    (await paymentsOf(service, who, id)).filter(
      ({ billing_reason }: ParsedJson) => billing_reason === 'subscription_change',
    );

  test.each(CALLS[place.slot])('on %s is charged and applied once, or not at all', async (path) => {
    const of = await subscribed(service, place, { product_id: await plan(service, 1_000) });
    await service.advance(10 * DAY_SECONDS);
    const dear = await plan(service, 3_000);
    await service.fault({ provider: place.slot, path, method: 'POST', times: 1, action });
    const answer = await changeTo(service, of, { product_id: dear });
    await service.clearFaults();
    await service.advance(26 * HOUR_SECONDS);
    await service.settle();
    const payments = await ofChange(of);
    expect(payments.length).toBeLessThanOrEqual(1);
    const charged = payments[0] ? await timesCharged(service, payments[0].id) : 0;
    const after = await readSubscription(service, of.who, of.id);
    expect({ status: answer.status, after }).toMatchObject({
      after: { product_id: charged === 1 ? dear : of.first.product_id, pending_change: null, status: 'active' },
    });
    expect(charged).toBeLessThanOrEqual(1);
    if (answer.status === 200) expect(charged).toBe(1);
  });
});

describe.each(PLAN_PLACES)('50 changes at once at %s', (_, place) => {
  const service = withHost({ frozen: true, env: place.settings });

  test.each([
    ['the same', () => 2],
    ['different', (at: number) => 2 + (at % 10)],
  ] as const)('that ask for %s are charged once for each that holds', async (_name, quantityOf) => {
    const of = await subscribed(service, place, { product_id: await plan(service, 1_000) });
    await service.advance(10 * DAY_SECONDS);
    const all = await Promise.all(
      Array.from({ length: 50 }, (_unused, at) => changeTo(service, of, { quantity: quantityOf(at) })),
    );
    const made = all.filter(({ status }: TestAnswer) => status === 200);
    expect(made.length).toBeGreaterThanOrEqual(1);
    for (const { status } of all) expect([200, 400, 403, 409]).toContain(status);
    await service.settle();
    const payments = (await paymentsOf(service, of.who, of.id)).filter(
      ({ billing_reason }: ParsedJson) => billing_reason === 'subscription_change',
    );
    const { quantity } = await readSubscription(service, of.who, of.id);
    const changed = (await planEvents(service, of.id)).filter((reason) => reason === 'plan_changed');
    expect(payments).toHaveLength(changed.length);
    expect(payments.map((one: ParsedJson) => one.quantity)).toContain(quantity);
    for (const { id } of payments) expect(await timesCharged(service, id)).toBe(1);
  });
});
