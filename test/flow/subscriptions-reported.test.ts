/** @module A subscription command with an unknown outcome. Exactly one event reports the outcome. */

import { afterEach, describe, expect, test } from 'vitest';
import { DAY_SECONDS, HOUR_SECONDS, MINUTE_SECONDS } from '../builders/seconds.ts';
import { withStops } from './stops.ts';
import {
  anotherMethod,
  command,
  OWN_BILLING,
  patch,
  readSubscription,
  subscribe,
  subscriber,
  trySubscribe,
} from './subscribers.ts';

const reasonsOf = async (service: ReturnType<ReturnType<typeof withStops>>['service'], id: string): Promise<string[]> =>
  (await service.busEvents())
    .filter((event) => event['detail-type'].startsWith('subscription.'))
    .map((event) => event.detail.payload.data)
    .filter((data) => data.subscription_id === id)
    .map((data) => data.reason);

describe('a command without a response from the billing provider', () => {
  const stoppable = withStops({ PROVIDER_TIMEOUT_MS: '1500' });
  afterEach(() => stoppable().service.clearFaults());

  test.each([
    ['cancel', [], 'cancel_failed'],
    ['cancel now', [], 'cancel_failed'],
    ['reactivate', ['cancel'], 'reactivate_failed'],
    ['resume', ['pause'], 'resume_failed'],
  ] as const)('%s publishes one failure event if the request never arrived', async (asked, before, reason) => {
    const { service } = stoppable();
    const who = await subscriber(service);
    const { id } = await subscribe(service, who);
    await service.advance(HOUR_SECONDS);
    for (const name of before) await command(service, who, { id, name });
    await service.advance(HOUR_SECONDS);
    const known = await reasonsOf(service, id);
    const [name] = asked.split(' ') as ['cancel' | 'reactivate' | 'resume'];
    const body = name === 'cancel' ? { cancel_at_period_end: asked === 'cancel' } : {};
    for (const method of ['POST', 'DELETE'])
      await service.fault({ provider: 'provider_a', path: '/v1/subscriptions/', method, action: 'timeout_before' });
    expect((await command(service, who, { id, name, body })).status).toBe(504);
    await service.clearFaults();
    await service.advance(5 * MINUTE_SECONDS);
    expect((await reasonsOf(service, id)).slice(known.length)).toEqual([reason]);
    await service.advance(DAY_SECONDS);
    expect((await command(service, who, { id, name, body })).status).toBe(200);
    await service.advance(DAY_SECONDS);
    expect((await reasonsOf(service, id)).filter((one) => one === reason)).toHaveLength(1);
  });

  test.each(['normal', 'drop'] as const)(
    'publishes only the event of the cancellation if the provider executed it (webhooks: %s)',
    async (mode) => {
      const { service } = stoppable();
      const who = await subscriber(service);
      const { id } = await subscribe(service, who);
      await service.advance(HOUR_SECONDS);
      await service.webhookMode(mode);
      await service.fault({
        provider: 'provider_a',
        path: '/v1/subscriptions/',
        method: 'POST',
        action: 'timeout_after',
      });
      expect((await command(service, who, { id, name: 'cancel' })).status).toBe(504);
      await service.clearFaults();
      await service.advance(5 * MINUTE_SECONDS);
      await service.webhookMode('normal');
      expect(await readSubscription(service, who, id)).toMatchObject({ cancel_at_period_end: true });
      expect((await reasonsOf(service, id)).filter((one) => /cancel/.test(one))).toEqual(['cancel_scheduled']);
    },
  );
});

describe('a cancellation that succeeded at the billing provider without a response', () => {
  const stoppable = withStops({ PROVIDER_TIMEOUT_MS: '1500' });
  afterEach(() => stoppable().service.clearFaults());

  test.each([
    ['a repeat', 'drop'],
    ['its event', 'normal'],
  ] as const)('publishes no failure after %s and a reactivation', async (after, mode) => {
    const { service } = stoppable();
    const who = await subscriber(service);
    const { id } = await subscribe(service, who);
    await service.advance(HOUR_SECONDS);
    const cancel = () => command(service, who, { id, name: 'cancel', body: { cancel_at_period_end: false } });
    await service.webhookMode(mode);
    await service.fault({
      ...{ provider: 'provider_a', path: '/v1/subscriptions/', method: 'DELETE', action: 'timeout_after' },
    });
    expect((await cancel()).status).toBe(504);
    await service.clearFaults();
    if (after === 'a repeat') expect((await cancel()).status).toBe(200);
    else await service.advance(20);
    expect(await readSubscription(service, who, id)).toMatchObject({ status: 'canceled' });
    expect((await command(service, who, { id, name: 'reactivate' })).status).toBe(200);
    await service.webhookMode('normal');
    await service.advance(HOUR_SECONDS);
    expect(await readSubscription(service, who, id)).toMatchObject({ status: 'active' });
    expect(await reasonsOf(service, id)).not.toContain('cancel_failed');
  });
});

describe('the first charge', () => {
  const stoppable = withStops(OWN_BILLING);

  test.each([
    ['pm_sim_processing_ok', ['created', 'activated']],
    ['pm_sim_processing_fail', ['created', 'payment_failed', 'canceled']],
  ] as const)('of a create with %s publishes its outcome once the charge has ended', async (token, reasons) => {
    const { service } = stoppable();
    const who = await subscriber(service, token);
    const made = await trySubscribe(service, who);
    expect(made).toMatchObject({ status: 201, body: { status: 'past_due', billing_status: 'pending' } });
    await service.advance(DAY_SECONDS);
    expect(await reasonsOf(service, made.body.id)).toEqual(reasons);
  });

  test.each(['reactivate', 'resume'] as const)('of a request to %s has its current status in retries', async (name) => {
    const { service } = stoppable();
    const who = await subscriber(service);
    const { id } = await subscribe(service, who);
    await service.advance(HOUR_SECONDS);
    const before = name === 'resume' ? 'pause' : 'cancel';
    await command(service, who, { id, name: before, body: before === 'cancel' ? { cancel_at_period_end: false } : {} });
    const payment_method_id = await anotherMethod(service, who, 'pm_sim_processing_ok');
    await patch(service, who, { id, body: { payment_method_id } });
    await service.advance(40 * DAY_SECONDS);
    const keyed = { ...who, options: { ...who.options, idempotencyKey: `again-${name}` } };
    const ask = () => command(service, keyed, { id, name });
    expect(await ask()).toMatchObject({ status: 200, body: { billing_status: 'pending' } });
    expect(await ask()).toMatchObject({ status: 200, body: { billing_status: 'pending' } });
    await service.advance(HOUR_SECONDS);
    const again = await ask();
    expect(again).toMatchObject({ status: 200, body: { status: 'active', billing_status: 'active' } });
    expect(again.headers.get('idempotent-replayed')).toBe('true');
  });

  test.each(['reactivate', 'resume'] as const)('of a request to %s publishes a failure if never made', async (name) => {
    const { service, stopped } = stoppable();
    const who = await subscriber(service);
    const { id } = await subscribe(service, who);
    await service.advance(HOUR_SECONDS);
    const before = name === 'resume' ? 'pause' : 'cancel';
    await command(service, who, { id, name: before, body: before === 'cancel' ? { cancel_at_period_end: false } : {} });
    await service.advance(40 * DAY_SECONDS);
    const known = await reasonsOf(service, id);
    await stopped({ call: 'POST /v1/payment_intents', executed: false }, () => command(service, who, { id, name }));
    await service.advance(3 * HOUR_SECONDS);
    expect((await reasonsOf(service, id)).slice(known.length)).toEqual([`${name}_failed`]);
  });

  test.each(['reactivate', 'resume'] as const)(
    'of a request to %s publishes a failure if the function stops right after the decline',
    async (name) => {
      const { service, stopped } = stoppable();
      const who = await subscriber(service);
      const { id } = await subscribe(service, who);
      await service.advance(HOUR_SECONDS);
      const before = name === 'resume' ? 'pause' : 'cancel';
      await command(service, who, {
        id,
        name: before,
        body: before === 'cancel' ? { cancel_at_period_end: false } : {},
      });
      const payment_method_id = await anotherMethod(service, who, 'pm_card_chargeCustomerFail');
      await patch(service, who, { id, body: { payment_method_id } });
      await service.advance(40 * DAY_SECONDS);
      const known = await reasonsOf(service, id);
      await stopped({ call: 'POST /v1/payment_intents/:id/confirm', executed: true }, () =>
        command(service, who, { id, name }),
      );
      await service.advance(30);
      await service.advance(3 * HOUR_SECONDS);
      expect((await reasonsOf(service, id)).slice(known.length)).toEqual([`${name}_failed`]);
    },
  );
});
