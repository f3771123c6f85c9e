/**
 * @module The function that changes a plan stops before or after each of its calls, or loses the response of a call.
 * Afterwards the change must be made and paid once or not at all, and the provider's price must equal ours.
 */

import { beforeAll, describe, expect, test, vi } from 'vitest';
import { HOUR_SECONDS } from '../builders/seconds.ts';
import { PATIENT } from './flow.ts';
import type { TestAnswer } from './host.ts';
import { changeTo, type PlanHolder, plan, priceAtStripe, subscribed, withdraw } from './plan-changes.ts';
import type { ParsedJson } from './routes.ts';
import { withStops } from './stops.ts';
import { OWN_BILLING, paymentsOf, readSubscription } from './subscribers.ts';

const VISA = { slot: 'provider_a', token: 'pm_card_visa' } as const;
const OLD = 1_000;
const NEW = 3_000;

vi.setConfig({ testTimeout: 2_400_000 });

const WAYS = [
  ['now', { when: 'now' }],
  ['with another interval', { when: 'now', interval: 'quarterly' }],
  ['at the end of the period', { when: 'period_end' }],
  ['withdrawn', { when: 'period_end', isWithdrawn: true }],
] as const;

describe.each([
  ['Stripe, which bills', {}],
  ['Stripe, billed here', OWN_BILLING],
] as const)('an interrupted plan change at %s', (_, env) => {
  const stoppable = withStops({ ...PATIENT, ...env });
  const products = new Map<string, string>();

  beforeAll(async () => {
    const { service } = stoppable();
    products.set('old', await plan(service, OLD));
    products.set('monthly', await plan(service, NEW));
    products.set('quarterly', await plan(service, NEW, { billing_interval: 'quarterly' }));
  });

  type Way = (typeof WAYS)[number][1];

  const begin = async (way: Way) => {
    const { service } = stoppable();
    const of = await subscribed(service, VISA, { product_id: products.get('old') });
    await service.advance(HOUR_SECONDS);
    const product_id = products.get('interval' in way ? way.interval : 'monthly');
    const ask = () => changeTo(service, of, { product_id, when: way.when });
    if (!('isWithdrawn' in way)) return { of, product_id, act: ask };
    expect((await ask()).status).toBe(200);
    await service.advance(HOUR_SECONDS);
    return { of, product_id, act: () => withdraw(service, of) };
  };

  const check = async (way: Way, { of, product_id }: { of: PlanHolder; product_id: string | undefined }) => {
    const { service } = stoppable();
    await service.advance(3 * HOUR_SECONDS);
    await service.settle();
    const after = await readSubscription(service, of.who, of.id);
    const paid = (await paymentsOf(service, of.who, of.id)).filter(
      ({ billing_reason, status }) => billing_reason === 'subscription_change' && status === 'succeeded',
    );
    const isMade = way.when === 'now' ? paid.length === 1 : after.scheduled_change?.product_id === product_id;
    const holds = way.when === 'now' && isMade;
    expect(after).toMatchObject({ status: 'active', pending_change: null, total_cents: holds ? NEW : OLD });
    if (way.when === 'now') expect(paid.length).toBeLessThanOrEqual(1);
    const next = isMade ? NEW : OLD;
    expect(await priceAtStripe(service, of)).toBe(after.billing_owner === 'provider' ? next : undefined);
    const { charges } = await service.ledger();
    const taken = charges.filter(({ payment_id, status }) => payment_id && status === 'succeeded');
    const ours = await paymentsOf(service, of.who, of.id);
    const ids = new Set(ours.map(({ id }) => id));
    const sum = (list: readonly ParsedJson[], field: string) => list.reduce((all, one) => all + one[field], 0);
    expect(
      sum(
        taken.filter(({ payment_id }) => ids.has(payment_id)),
        'amount',
      ),
    ).toBe(
      sum(
        ours.filter(({ status }) => status === 'succeeded'),
        'total_cents',
      ),
    );
  };

  /** For each call: the function stops before or after it, or loses the response of the call, executed or not. */
  const endsOf = (calls: readonly string[]) => {
    const { stopped, losing } = stoppable();
    const at = calls.map((name, index) => ({ name, call: index + 1 }));
    return at.flatMap(({ name, call }) =>
      [true, false].flatMap((executed) => [
        { how: `stopped ${executed ? 'after' : 'before'} ${name}`, stop: { call, executed }, end: stopped },
        { how: `lost ${executed ? 'after' : 'before'} ${name}`, stop: { call, executed }, end: losing },
      ]),
    );
  };

  test.each(WAYS)('(%s) is made once or not at all', async (_name, way) => {
    const observed = await begin(way);
    const calls = await stoppable().watch(observed.act);
    await check(way, observed);
    for (const { how, stop, end } of endsOf(calls)) {
      const started = await begin(way);
      const answer = await end<TestAnswer | undefined>(stop, started.act).catch(() => undefined);
      try {
        await check(way, started);
      } catch (cause) {
        throw new Error(`${how}, ${answer?.status}: ${JSON.stringify(answer?.body)}`, { cause });
      }
    }
  });
});
