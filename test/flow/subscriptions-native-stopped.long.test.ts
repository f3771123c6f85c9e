/**
 * @module An interrupted creation and a day of downtime of the provider. Only `npm run test:long` has the time for this
 * test, because the service retries 300 times during that day.
 */

import { beforeAll, expect, inject, test, vi } from 'vitest';
import { HOUR_SECONDS } from '../builders/seconds.ts';
import { PATIENT } from './flow.ts';
import { withStops } from './stops.ts';
import { type Subscriber, subscriber, trySubscribe } from './subscribers.ts';

const scale = inject('scale');
const stoppable = withStops(PATIENT);
vi.setConfig({ testTimeout: 240_000 * scale });

beforeAll(async () => {
  await stoppable().service.webhookMode('drop');
});

/** The subscriber's only subscription in the record and, until it ends, at the provider, with its payments. */
const stateOf = async ({ options, names }: Subscriber) => {
  const { service } = stoppable();
  const { body: here } = await service.get('/subscriptions', options);
  const { body: payments } = await service.get('/payments', options);
  const ledger = await service.ledger();
  const ids = new Set(here.map(({ id }) => id));
  const known = ledger.subscriptions.filter(({ subscription_id }) => ids.has(subscription_id));
  const { body: customer } = await service.get(`/customers/${names.customer_id}`, options);
  const theirs = ledger.subscriptions.filter((one) => one.customer === customer.provider_customer_id);
  const of = new Set([...known, ...theirs].map(({ id }) => id));
  const intents = ledger.invoices
    .filter(({ subscription }) => of.has(subscription))
    .map(({ payment_intent }) => payment_intent);
  return {
    here: here.map(({ status }) => status),
    there: ledger.subscriptions
      .filter((one) => of.has(one.id) && one.status !== 'canceled')
      .map(({ status }) => status),
    paid: ledger.charges.filter(
      ({ payment_intent, status }) => intents.includes(payment_intent) && status === 'succeeded',
    ).length,
    payments: payments.data.filter(({ status }) => status === 'succeeded').length,
  };
};

test.runIf(scale > 1)(
  'an interrupted creation is not repeated a day later, after the provider’s idempotency key expired',
  async () => {
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
  },
);
