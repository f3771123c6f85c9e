import { beforeAll, describe, expect, inject, test, vi } from 'vitest';
import { DAY_SECONDS, HOUR_SECONDS, YEAR_SECONDS } from '../builders/seconds.ts';
import { PATIENT, signIn } from './flow.ts';
import type { ParsedJson, TestAnswer } from './host.ts';
import { company, saveMethod } from './payers.ts';
import { withStops } from './stops.ts';
import { command, patch, payer, type Subscriber, subscribe, subscriber, trySubscribe } from './subscribers.ts';
import { waysToStop } from './ways.ts';

/**
 * A command on a provider-billed subscription may stop at any call, and no event follows. A day later the record
 * equals the provider's state, with at most one subscription there, and nothing is paid twice.
 */
const scale = inject('scale');
const stoppable = withStops(PATIENT);
vi.setConfig({ testTimeout: 240_000 * scale });

beforeAll(async () => {
  await stoppable().service.webhookMode('drop');
});

/** A subscriber and the fields of the request. */
interface Case {
  readonly who: Subscriber;
  readonly act: () => Promise<TestAnswer>;
}

/** More than the number of calls that any of these commands makes. */
const ENOUGH = scale > 1 ? 32 : 17;

/**
 * Stops one case after another at every call, and looks at each of them a day later. @param later when they act, in s
 */
const stopEverywhere = async (
  make: () => Promise<Case>,
  check: (who: Subscriber, way: string) => Promise<void>,
  later = 0,
): Promise<void> => {
  const { service, watch, stopped } = stoppable();
  const [observed, ...cases] = await Promise.all(Array.from({ length: ENOUGH }, make));
  await service.advance(later);
  const ways = waysToStop(await watch(() => observed?.act() ?? Promise.reject(new Error('no case'))));
  expect(ways.length).toBeGreaterThan(3);
  expect(ways.length).toBeLessThan(ENOUGH);
  for (const [index, way] of ways.entries()) {
    const { status } = await stopped(way, () => cases[index]?.act() ?? Promise.reject(new Error('too few cases')));
    if (status >= 300) expect(status).toBeGreaterThanOrEqual(500);
  }
  await service.advance(26 * HOUR_SECONDS);
  for (const [index, way] of ways.entries()) {
    const one = cases[index];
    if (one) await check(one.who, way.name);
  }
};

/** A subscriber's only subscription: here, at the provider (if not ended), and its payments. */
const stateOf = async ({ options, names }: Subscriber) => {
  const { service } = stoppable();
  const { body: here } = await service.get('/subscriptions', options);
  const { body: payments } = await service.get('/payments', options);
  const ledger = await service.ledger();
  const ids = new Set(here.map(({ id }: ParsedJson) => id));
  const known = ledger.subscriptions.filter(({ subscription_id }: ParsedJson) => ids.has(subscription_id));
  const { body: customer } = await service.get(`/customers/${names.customer_id}`, options);
  const theirs = ledger.subscriptions.filter((one: ParsedJson) => one.customer === customer.provider_customer_id);
  const of = new Set([...known, ...theirs].map(({ id }) => id));
  const intents = ledger.invoices
    .filter(({ subscription }: ParsedJson) => of.has(subscription))
    .map(({ payment_intent }: ParsedJson) => payment_intent);
  return {
    here: here.map(({ status }: ParsedJson) => status),
    there: ledger.subscriptions
      .filter((one: ParsedJson) => of.has(one.id) && one.status !== 'canceled')
      .map(({ status }: ParsedJson) => status),
    paid: ledger.charges.filter(
      ({ payment_intent, status }: ParsedJson) => intents.includes(payment_intent) && status === 'succeeded',
    ).length,
    payments: payments.data.filter(({ status }: ParsedJson) => status === 'succeeded').length,
  };
};

const NOW = { cancel_at_period_end: false };

const weekly = async (): Promise<{ readonly who: Subscriber; readonly made: ParsedJson }> => {
  const { service } = stoppable();
  const who = await subscriber(service);
  return { who, made: await subscribe(service, who, { billing_interval: 'weekly' }) };
};

describe('an interrupted change at the provider', () => {
  test('leaves a creation at the provider and here, paid once, or at neither, unpaid', () =>
    stopEverywhere(
      async () => {
        const { service } = stoppable();
        const who = await subscriber(service);
        return { who, act: () => trySubscribe(service, who) };
      },
      async (who, way) => {
        const found = await stateOf(who);
        const made = { here: ['active'], there: ['active'], paid: 1, payments: 1 };
        expect({ way, ...found }).toEqual({ way, ...(found.paid === 1 ? made : NOTHING) });
      },
    ));

  // The service retries 300 times while the provider is down for a day.
  if (scale > 1) {
    test('does not repeat a creation a day later, after the provider’s idempotency key expired', async () => {
      const { service, watch, stopped } = stoppable();
      const observer = await subscriber(service);
      const calls = await watch(() => trySubscribe(service, observer));
      const call = calls.findIndex((name) => name.startsWith('POST /v1/subscriptions')) + 1;
      expect(call).toBeGreaterThan(0);
      const who = await subscriber(service);
      expect((await stopped({ call, executed: true }, () => trySubscribe(service, who))).status).toBeGreaterThanOrEqual(
        500,
      );
      await service.fault({ provider: 'provider_a', path: '/v1/', action: 'error_500' });
      await service.advance(25 * HOUR_SECONDS);
      await service.clearFaults();
      await service.advance(HOUR_SECONDS);
      expect(await stateOf(who)).toEqual({ here: ['active'], there: ['active'], paid: 1, payments: 1 });
    });
  }

  test('charges a reactivation once or not at all', () =>
    stopEverywhere(
      async () => {
        const { service } = stoppable();
        const { who, made } = await weekly();
        await command(service, who, { id: made.id, name: 'cancel', body: NOW });
        return { who, act: () => command(service, who, { id: made.id, name: 'reactivate' }) };
      },
      async (who, way) => {
        const found = await stateOf(who);
        const back = { here: ['active'], there: ['active'], paid: 2, payments: 2 };
        const gone = { here: ['canceled'], there: [], paid: 1, payments: 1 };
        expect({ way, ...found }).toEqual({ way, ...(found.paid === 2 ? back : gone) });
      },
      8 * DAY_SECONDS,
    ));

  test('charges a resumption once or not at all', () =>
    stopEverywhere(
      async () => {
        const { service } = stoppable();
        const { who, made } = await weekly();
        await command(service, who, { id: made.id, name: 'pause' });
        return { who, act: () => command(service, who, { id: made.id, name: 'resume' }) };
      },
      async (who, way) => {
        const found = await stateOf(who);
        const back = { here: ['active'], paid: 2, payments: 2 };
        const still = { here: ['paused'], paid: 1, payments: 1 };
        expect({ way, ...found }).toEqual({ way, there: ['active'], ...(found.paid === 2 ? back : still) });
      },
      8 * DAY_SECONDS,
    ));

  test('leaves one chargeable subscription after a change to another customer’s method, and keeps the paid period', () =>
    stopEverywhere(
      async () => {
        const { service } = stoppable();
        const { id: organization_id, owner } = await company(service);
        const { options } = await signIn(service, { user_id: owner.userId, expires_in: YEAR_SECONDS });
        const paying = await payer(service, options, { token: 'pm_card_visa', fields: { organization_id } });
        const made = await subscribe(service, paying, { organization_id });
        const method = await saveMethod(service, options);
        const inside = await signIn(service, { user_id: owner.userId, organization_id, expires_in: YEAR_SECONDS });
        return {
          who: { ...paying, options: inside.options },
          act: () => patch(service, paying, { id: made.id, body: { payment_method_id: method.id } }),
        };
      },
      async (who, way) => {
        const found = await stateOf(who);
        expect({ way, ...found }).toEqual({
          ...{ way, here: ['active'], paid: 1, payments: 1 },
          there: [expect.stringMatching(/^(active|trialing)$/)],
        });
      },
    ));
});

const NOTHING = { here: [], there: [], paid: 0, payments: 0 };
