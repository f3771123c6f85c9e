import { beforeAll, describe, expect, inject, test, vi } from 'vitest';
import { DAY, MINUTE } from '../../shared/core/time.ts';
import { DAY_SECONDS, HOUR_SECONDS, MINUTE_SECONDS } from '../builders/seconds.ts';
import { eventsOf, PATIENT } from './flow.ts';
import type { ParsedJson } from './host.ts';
import { withStops } from './stops.ts';
import {
  anotherMethod,
  command,
  historyOf,
  OWN_BILLING,
  patch,
  paymentsOf,
  readMembership,
  readSubscription,
  type Subscriber,
  subscribe,
  subscriber,
  subscribeToGold,
  subscriptionEventsOf,
  trySubscribe,
} from './subscribers.ts';
import { type Way, waysToStop } from './ways.ts';

/** Billing may stop at any call: the tests stop it at every call, before and after the call takes effect. */
const stoppable = withStops({ ...PATIENT, ...OWN_BILLING });
vi.setConfig({ testTimeout: 240_000 * inject('scale') });

beforeAll(async () => {
  // No provider events arrive: only due work learns the outcome.
  await stoppable().service.webhookMode('drop');
});

interface Subscribed {
  readonly who: Subscriber;
  readonly made: ParsedJson;
}

type Case = Subscribed & { readonly way: Way };

/** Longer than a recovery takes, and not a divisor of the day after which secrets are removed. */
const APART = 61 * MINUTE_SECONDS;
const WINDOW = 2 * MINUTE_SECONDS;

/**
 * Runs the due work of one subscription after another. It records the calls of the first, stops each other one at
 * another call, and checks each an hour later.
 */
const runStopped = async (
  make: () => Promise<Subscribed>,
  dueAt: (subscribed: Subscribed) => number,
  check: (one: Case) => Promise<void>,
): Promise<void> => {
  const { service, watch, stopped } = stoppable();
  const beforeDue = (one: Subscribed) => service.moveTo(new Date(dueAt(one) - MINUTE).toISOString());
  const end = ({ who, made }: Subscribed) =>
    command(service, who, { id: made.id, name: 'cancel', body: { cancel_at_period_end: false } });
  const observed = await make();
  await beforeDue(observed);
  const ways = waysToStop(await watch(() => service.advance(WINDOW)));
  expect(ways.length).toBeGreaterThan(5);
  await end(observed);
  const cases: Case[] = [];
  for (const way of ways) {
    cases.push({ ...(await make()), way });
    await service.advance(APART);
  }
  for (const one of cases) {
    await beforeDue(one);
    await stopped(one.way, () => service.advance(WINDOW)).catch(() => undefined);
    await service.advance(APART - 2 * WINDOW);
    await check(one);
    await end(one);
  }
};

const chargesOf = async (payments: readonly ParsedJson[]): Promise<string[]> => {
  const { charges } = await stoppable().service.ledger();
  const ids = payments.map(({ id }) => id);
  return charges
    .filter(({ payment_id }: ParsedJson) => ids.includes(payment_id))
    .map(({ status }: ParsedJson) => status);
};

const weekly = async (): Promise<Subscribed> => {
  const { service } = stoppable();
  const who = await subscriber(service);
  return { who, made: await subscribeToGold(service, who, { billing_interval: 'weekly' }) };
};

const periodEnd = ({ made }: Subscribed): number => Date.parse(made.current_period_end);

const failing = async (one: Subscribed): Promise<Subscribed> => {
  const { service } = stoppable();
  const method = await anotherMethod(service, one.who, 'pm_card_chargeCustomerFail');
  expect((await patch(service, one.who, { id: one.made.id, body: { payment_method_id: method } })).status).toBe(200);
  return one;
};

/** The result here, at the provider and on the bus. */
const stateOf = async ({ who, made }: Subscribed) => {
  const { service } = stoppable();
  const now = await readSubscription(service, who, made.id);
  const payments = await paymentsOf(service, who, made.id);
  return {
    now,
    found: {
      status: now.status,
      payments: payments.map(({ status }) => status),
      charges: await chargesOf(payments),
      story: await subscriptionEventsOf(service, made.id),
      history: await historyOf(service, who, made.id),
    },
  };
};

describe('an interrupted renewal', () => {
  test('ends with one charge, one renewal and one event', () =>
    runStopped(weekly, periodEnd, async (one) => {
      const { now, found } = await stateOf(one);
      expect({ way: one.way.name, ...found }).toEqual({
        way: one.way.name,
        status: 'active',
        payments: ['succeeded', 'succeeded'],
        charges: ['succeeded', 'succeeded'],
        story: [
          'subscription.created created',
          'membership.activated active',
          'subscription.updated renewed',
          'membership.extended active',
        ],
        history: ['1 created by user', '2 renewed by system'],
      });
      expect(now.current_period_start).toBe(one.made.current_period_end);
      const membership = await readMembership(stoppable().service, one.who, one.made.id);
      expect(membership).toMatchObject({ status: 'active', ends_at: now.current_period_end });
    }));

  test('ends past due with a retry a day later if declined', () =>
    runStopped(
      async () => failing(await weekly()),
      periodEnd,
      async (one) => {
        const { now, found } = await stateOf(one);
        expect({ way: one.way.name, ...found }).toEqual({
          way: one.way.name,
          status: 'past_due',
          payments: ['succeeded', 'failed'],
          charges: ['succeeded', 'failed'],
          story: [
            'subscription.created created',
            'membership.activated active',
            'subscription.updated method_changed',
            'subscription.updated payment_failed',
          ],
          history: ['1 created by user', '2 method_changed by user', '3 payment_failed by system'],
        });
        const retryInMs = Date.parse(now.next_billing_date) - periodEnd(one);
        expect(retryInMs).toBeGreaterThanOrEqual(DAY);
        expect(retryInMs).toBeLessThan((DAY_SECONDS + HOUR_SECONDS) * 1_000);
      },
    ));
});

describe('an interrupted retry', () => {
  const onTrial = async (): Promise<Subscribed> => {
    const { service } = stoppable();
    const who = await subscriber(service, 'pm_card_chargeCustomerFail');
    return { who, made: await subscribe(service, who, { trial_days: 1 }) };
  };
  const firstRetry = ({ made }: Subscribed): number => Math.ceil(Date.parse(made.trial_end) / MINUTE) * MINUTE + DAY;

  test('ends with one more attempt at the same payment', () =>
    runStopped(onTrial, firstRetry, async (one) => {
      const { found } = await stateOf(one);
      expect({ way: one.way.name, ...found }).toEqual({
        way: one.way.name,
        status: 'past_due',
        payments: ['failed'],
        charges: ['failed', 'failed'],
        story: [
          'subscription.created created',
          'subscription.updated trial_will_end',
          'subscription.updated payment_failed',
          'subscription.updated payment_failed',
        ],
        history: [
          '1 created by user',
          '2 trial_will_end by system',
          '3 payment_failed by system',
          '4 payment_failed by system',
        ],
      });
    }));
});

describe('an interrupted creation', () => {
  const create = (who: Subscriber, idempotencyKey?: string) =>
    trySubscribe(stoppable().service, idempotencyKey ? { ...who, options: { ...who.options, idempotencyKey } } : who);

  const stopEverywhere = async (key?: string): Promise<readonly { readonly who: Subscriber; readonly way: Way }[]> => {
    const { service, watch, stopped } = stoppable();
    const observer = await subscriber(service);
    const ways = waysToStop(await watch(() => create(observer)));
    expect(ways.length).toBeGreaterThan(5);
    const cases: { who: Subscriber; way: Way }[] = [];
    for (const way of ways) {
      const who = await subscriber(service);
      // The last calls may belong to consumers of the payment's event, after the answer.
      const { status } = await stopped(way, () => create(who, key));
      if (status !== 201) expect(status).toBeGreaterThanOrEqual(500);
      cases.push({ who, way });
    }
    return cases;
  };

  test('leaves either a subscription charged once, or no subscription and no charge', async () => {
    const { service } = stoppable();
    const cases = await stopEverywhere();
    await service.advance(2 * HOUR_SECONDS);
    for (const { who, way } of cases) {
      const { body: subscriptions } = await service.get('/subscriptions', who.options);
      const { body: payments } = await service.get('/payments', who.options);
      const paid = (await chargesOf(payments.data)).length;
      const found = { subscriptions: subscriptions.map(({ status }: ParsedJson) => status), paid };
      expect({ way: way.name, found }).toEqual({
        way: way.name,
        found: paid === 1 ? { subscriptions: ['active'], paid } : { subscriptions: [], paid: 0 },
      });
      const shown = payments.data.map(({ status, subscription_id }: ParsedJson) => ({ status, subscription_id }));
      expect({ way: way.name, shown }).toEqual({
        way: way.name,
        shown: subscriptions.map(({ id }: ParsedJson) => ({ status: 'succeeded', subscription_id: id })),
      });
    }
  });

  test('is finished by the same key, and charged once', async () => {
    const { service } = stoppable();
    const cases = await stopEverywhere('mine');
    await service.advance(35);
    for (const { who, way } of cases) {
      const answer = await create(who, 'mine');
      expect({ way: way.name, status: answer.status }).toEqual({ way: way.name, status: 201 });
    }
    await service.advance(2 * HOUR_SECONDS);
    for (const { who, way } of cases) {
      const { body: subscriptions } = await service.get('/subscriptions', who.options);
      const { body: payments } = await service.get('/payments', who.options);
      const found = {
        subscriptions: subscriptions.map(({ status }: ParsedJson) => status),
        charges: await chargesOf(payments.data),
      };
      expect({ way: way.name, found }).toEqual({
        way: way.name,
        found: { subscriptions: ['active'], charges: ['succeeded'] },
      });
    }
  });
});

test('a first charge whose function stopped and that is immediately disputed is published with its dispute', async () => {
  const { service, watch, stopped } = stoppable();
  const [observer, who] = [await subscriber(service), await subscriber(service)];
  const calls = await watch(() => trySubscribe(service, observer));
  const call = calls.findIndex((name) => name.startsWith('POST') && name.endsWith('/confirm')) + 1;
  await stopped({ call, executed: true }, () => trySubscribe(service, who));
  const { charges } = await service.ledger();
  const { payment_id: paymentId } = charges.at(-1);
  await service.webhookMode('normal');
  await service.control('POST', `/simulator/payments/${paymentId}/disputes`, {});
  await service.advance(HOUR_SECONDS);
  await service.webhookMode('drop');
  expect(await eventsOf(service, paymentId)).toEqual([
    'payment.created',
    'payment.succeeded',
    'payment.dispute_opened',
  ]);
});
