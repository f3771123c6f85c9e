/** @module If a provider refuses subscription charges unprocessed (429), no attempt counts and no charge is lost. */

import { afterEach, describe, expect, test } from 'vitest';
import { present } from '../builders/present.ts';
import { HOUR_SECONDS, MINUTE_SECONDS } from '../builders/seconds.ts';
import { eventsOf, IMPATIENT } from './flow.ts';
import { withHost } from './host.ts';
import {
  OWN_BILLING,
  paymentsOf,
  readSubscription,
  subscribe,
  subscriber,
  subscriptionEventsOf,
  trySubscribe,
} from './subscribers.ts';

const service = withHost({ frozen: true, env: { ...OWN_BILLING, ...IMPATIENT } });
afterEach(() => service.clearFaults());

describe.each([
  ['the intent', '/v1/payment_intents'],
  ['the charge', '/confirm'],
])('a renewal with an unexecuted request for %s', (_, path) => {
  test('is charged as soon as the provider accepts the request, without a failed attempt', async () => {
    const who = await subscriber(service);
    const { id, current_period_end } = await subscribe(service, who);
    await service.fault({ provider: 'provider_a', path, action: 'rate_limit' });
    await service.moveTo(current_period_end);
    await service.advance(20 * MINUTE_SECONDS);
    expect(await readSubscription(service, who, id)).toMatchObject({ status: 'active' });
    expect((await subscriptionEventsOf(service, id)).join()).not.toContain('payment_failed');
    await service.clearFaults();
    await service.advance(10 * MINUTE_SECONDS);
    const payments = await paymentsOf(service, who, id);
    expect(payments).toMatchObject([{ status: 'succeeded' }, { status: 'succeeded' }]);
    expect(await eventsOf(service, present(payments[1]).id)).toEqual(['payment.created', 'payment.succeeded']);
    expect((await subscriptionEventsOf(service, id)).at(-1)).toContain('renewed');
  });
});

test('a subscription with an unexecuted first charge gets 503, and the next attempt charges once', async () => {
  const who = await subscriber(service);
  await service.fault({ provider: 'provider_a', path: '/confirm', action: 'rate_limit' });
  const refused = await trySubscribe(service, who);
  expect(refused).toMatchObject({ status: 503, body: { code: 'PROVIDER_UNAVAILABLE' } });
  expect((await service.get('/subscriptions', who.options)).body).toEqual([]);
  await service.clearFaults();
  await service.advance(HOUR_SECONDS);
  expect((await service.get('/subscriptions', who.options)).body).toEqual([]);
  const { id } = await subscribe(service, who);
  expect(await paymentsOf(service, who, id)).toMatchObject([{ status: 'succeeded' }]);
});
