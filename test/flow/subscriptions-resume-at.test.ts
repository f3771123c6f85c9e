/** @module A pause with a scheduled end, at three providers and with both billers. */

import { describe, expect, test } from 'vitest';
import { DAY_SECONDS, HOUR_SECONDS, MINUTE_SECONDS } from '../builders/seconds.ts';
import { atStripe } from './at-stripe.ts';
import { IMPATIENT } from './flow.ts';
import type { TestHost } from './host.ts';
import { withHost } from './host.ts';
import {
  BILLERS,
  command,
  OWN_BILLING,
  paymentsOf,
  readSubscription,
  subscribe,
  subscriber,
  subscriptionEventsOf,
} from './subscribers.ts';

const at = (service: TestHost, seconds: number): string => new Date(service.now() + seconds * 1_000).toISOString();

const PLACES = [
  ['Stripe bills', {}, 'provider_a', 'pm_card_visa', 'pm_sim_ok_1_then_pickup'],
  ['the service bills at Stripe', OWN_BILLING, 'provider_a', 'pm_card_visa', 'pm_sim_ok_1_then_pickup'],
  ['the service bills at PayPal', {}, 'provider_b', 'SIM-OK', 'SIM-OK-1-THEN-CLOSED'],
  ['the service bills at Square', {}, 'provider_c', 'cnon:card-nonce-ok', 'cnon:sim-ok-1-then-stopped'],
] as const;

describe.each(PLACES)('a pause with a scheduled end, where %s', (...[_, env, provider_id, good, declining]) => {
  const service = withHost({ frozen: true, env });
  const begin = async (token: string) => {
    const who = await subscriber(service, token, { provider_id });
    const { id } = await subscribe(service, who);
    const resume_at = at(service, 40 * DAY_SECONDS);
    const paused = await command(service, who, { id, name: 'pause', body: { resume_at } });
    expect(paused).toMatchObject({ status: 200, body: { status: 'paused', resume_at } });
    return { who, id, resume_at };
  };

  test('resumes with a charge at its scheduled end', async () => {
    const { who, id, resume_at } = await begin(good);
    await service.advance(40 * DAY_SECONDS - HOUR_SECONDS);
    await service.settle();
    expect(await readSubscription(service, who, id)).toMatchObject({ status: 'paused', resume_at });
    await service.advance(HOUR_SECONDS + 5 * MINUTE_SECONDS);
    await service.settle();
    expect(await readSubscription(service, who, id)).toMatchObject({ status: 'active', resume_at: null });
    const paid = (await paymentsOf(service, who, id)).filter(({ status }) => status === 'succeeded');
    expect(paid).toHaveLength(2);
    await service.advance(DAY_SECONDS);
    await service.settle();
    expect((await paymentsOf(service, who, id)).length).toBe(2);
  });

  test('stays paused without an end after a decline, and publishes the failure once', async () => {
    const { who, id, resume_at } = await begin(declining);
    await service.moveTo(resume_at);
    await service.advance(10 * MINUTE_SECONDS);
    await service.settle();
    await service.advance(10 * DAY_SECONDS);
    await service.settle();
    expect(await readSubscription(service, who, id)).toMatchObject({ status: 'paused', resume_at: null });
    const failures = (await subscriptionEventsOf(service, id)).filter((name) => name.endsWith('resume_failed'));
    expect(failures).toHaveLength(1);
  });

  test.each(['error_500', 'rate_limit'])(
    'keeps its end while the provider is unavailable (%s), and resumes once it responds',
    async (action) => {
      const { who, id } = await begin(good);
      await service.advance(40 * DAY_SECONDS - MINUTE_SECONDS);
      await service.settle();
      await service.fault({ provider: provider_id, action });
      await service.advance(4 * MINUTE_SECONDS);
      await service.settle();
      await service.clearFaults();
      await service.advance(2 * HOUR_SECONDS);
      await service.settle();
      expect(await readSubscription(service, who, id)).toMatchObject({ status: 'active', resume_at: null });
      expect((await paymentsOf(service, who, id)).filter(({ status }) => status === 'succeeded')).toHaveLength(2);
      expect((await subscriptionEventsOf(service, id)).join()).not.toContain('resume_failed');
    },
  );

  test('loses its scheduled end if the payer resumes before that end', async () => {
    const { who, id, resume_at } = await begin(good);
    expect(await command(service, who, { id, name: 'resume' })).toMatchObject({
      body: { status: 'active', resume_at: null },
    });
    await command(service, who, { id, name: 'pause' });
    expect(await readSubscription(service, who, id)).toMatchObject({ status: 'paused', resume_at: null });
    await service.moveTo(resume_at);
    await service.advance(HOUR_SECONDS);
    await service.settle();
    expect(await readSubscription(service, who, id)).toMatchObject({ status: 'paused' });
  });
});

describe.each(BILLERS)('a pause with a scheduled end, billed by %s', (_, env) => {
  const service = withHost({ frozen: true, env });

  test('loses its scheduled end once a cancellation is scheduled', async () => {
    const who = await subscriber(service);
    const { id } = await subscribe(service, who);
    const body = { resume_at: at(service, 10 * DAY_SECONDS) };
    expect((await command(service, who, { id, name: 'pause', body })).body).toMatchObject(body);
    const canceled = await command(service, who, { id, name: 'cancel' });
    expect(canceled.body).toMatchObject({ status: 'paused', cancel_at_period_end: true, resume_at: null });
    await service.advance(12 * DAY_SECONDS);
    await service.settle();
    expect(await readSubscription(service, who, id)).toMatchObject({ status: 'paused' });
    await service.advance(30 * DAY_SECONDS);
    await service.settle();
    expect(await readSubscription(service, who, id)).toMatchObject({ status: 'canceled' });
    expect(await paymentsOf(service, who, id)).toHaveLength(1);
  });
});

describe('a pause with a scheduled end and no response from Stripe', () => {
  const service = withHost({ frozen: true });

  test.each(['error_500', 'rate_limit', 'timeout_before'])('passes no end to a later pause (%s)', async (action) => {
    const who = await subscriber(service);
    const { id, provider_subscription_id: there } = await subscribe(service, who);
    await service.fault({ provider: 'provider_a', method: 'POST', path: '/v1/subscriptions/', times: 20, action });
    const body = { resume_at: at(service, 20 * DAY_SECONDS) };
    expect((await command(service, who, { id, name: 'pause', body })).status).toBeGreaterThanOrEqual(500);
    await service.clearFaults();
    await service.advance(10 * MINUTE_SECONDS);
    await service.settle();
    expect(await readSubscription(service, who, id)).toMatchObject({ status: 'active', resume_at: null });
    await atStripe(service, `POST subscriptions/${there}`, { 'pause_collection[behavior]': 'void' });
    await service.settle();
    expect(await readSubscription(service, who, id)).toMatchObject({ status: 'paused', resume_at: null });
    await service.advance(60 * DAY_SECONDS);
    await service.settle();
    expect(await readSubscription(service, who, id)).toMatchObject({ status: 'paused' });
    expect(await paymentsOf(service, who, id)).toHaveLength(1);
  });

  test('keeps its end if Stripe executed the pause', async () => {
    const who = await subscriber(service);
    const { id } = await subscribe(service, who);
    await service.fault({
      ...{ provider: 'provider_a', method: 'POST', path: '/v1/subscriptions/' },
      ...{ times: 1, action: 'timeout_after' },
    });
    const body = { resume_at: at(service, 40 * DAY_SECONDS) };
    await command(service, who, { id, name: 'pause', body });
    await service.clearFaults();
    await service.advance(10 * MINUTE_SECONDS);
    await service.settle();
    expect(await readSubscription(service, who, id)).toMatchObject({ status: 'paused', ...body });
    await service.advance(40 * DAY_SECONDS + HOUR_SECONDS);
    await service.settle();
    expect(await readSubscription(service, who, id)).toMatchObject({ status: 'active', resume_at: null });
  });
});

describe.each([
  ['Stripe', {}],
  ['the service', OWN_BILLING],
])('a pause with a scheduled end and a slow provider, billed by %s', (_, env) => {
  const service = withHost({ frozen: true, env: { ...IMPATIENT, ...env } });

  test('still resumes if the provider first times out', async () => {
    const who = await subscriber(service);
    const { id } = await subscribe(service, who);
    await command(service, who, { id, name: 'pause', body: { resume_at: at(service, 40 * DAY_SECONDS) } });
    await service.advance(40 * DAY_SECONDS - MINUTE_SECONDS);
    await service.settle();
    await service.fault({ provider: 'provider_a', action: 'timeout_before', times: 1 });
    await service.advance(HOUR_SECONDS);
    await service.settle();
    expect(await readSubscription(service, who, id)).toMatchObject({ status: 'active', resume_at: null });
    expect((await paymentsOf(service, who, id)).filter(({ status }) => status === 'succeeded')).toHaveLength(2);
    expect((await subscriptionEventsOf(service, id)).join()).not.toContain('resume_failed');
  });
});

describe('the scheduled end of a pause', () => {
  const own = withHost({ frozen: true, env: OWN_BILLING });
  test('moves with a second pause, and is removed by a cancellation', async () => {
    const who = await subscriber(own);
    const { id } = await subscribe(own, who);
    const pause = (body: object) => command(own, who, { id, name: 'pause', body: { ...body } });
    const [first, second] = [at(own, 10 * DAY_SECONDS), at(own, 20 * DAY_SECONDS)];
    expect((await pause({ resume_at: '' })).body).toMatchObject({ status: 'paused', resume_at: null });
    expect((await pause({ resume_at: first })).body.resume_at).toBe(first);
    expect((await pause({})).body.resume_at).toBe(first);
    expect((await pause({ resume_at: second })).body.resume_at).toBe(second);
    expect((await pause({ resume_at: null })).body.resume_at).toBe(second);
    await command(own, who, { id, name: 'cancel', body: { cancel_at_period_end: false } });
    await own.advance(30 * DAY_SECONDS);
    await own.settle();
    expect(await readSubscription(own, who, id)).toMatchObject({ status: 'canceled', resume_at: null });
  });

  test.each([
    ['an hour', HOUR_SECONDS],
    ['400 days', 400 * DAY_SECONDS],
  ])('can be exactly %s ahead', async (_, seconds) => {
    const who = await subscriber(own);
    const { id } = await subscribe(own, who);
    const resume_at = at(own, seconds);
    const answer = await command(own, who, { id, name: 'pause', body: { resume_at } });
    expect(answer).toMatchObject({ status: 200, body: { status: 'paused', resume_at } });
  });

  test.each([
    ['too soon', HOUR_SECONDS - 0.001],
    ['too late', 400 * DAY_SECONDS + 0.001],
  ])('is refused if it is %s', async (_, seconds) => {
    const who = await subscriber(own);
    const { id } = await subscribe(own, who);
    const answer = await command(own, who, { id, name: 'pause', body: { resume_at: at(own, seconds) } });
    expect(answer).toMatchObject({ status: 400, body: { code: 'VALIDATION_ERROR' } });
    expect(await readSubscription(own, who, id)).toMatchObject({ status: 'active' });
  });
});
