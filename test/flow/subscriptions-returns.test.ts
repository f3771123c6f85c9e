/** @module Reactivation and resumption, with requests during an open charge, and with deleted records. */

import { beforeEach, describe, expect, test } from 'vitest';
import { present } from '../builders/present.ts';
import { DAY_SECONDS, HOUR_SECONDS, MINUTE_SECONDS } from '../builders/seconds.ts';
import { IMPATIENT, itemsOf } from './flow.ts';
import { withHost } from './host.ts';
import { company } from './payers.ts';
import {
  anotherMethod,
  command,
  payer,
  paymentsOf,
  readMembership,
  readSubscription,
  subscribe,
  subscriber,
  subscribeToGold,
  subscriptionEventsOf,
} from './subscribers.ts';

const service = withHost({ frozen: true, env: IMPATIENT });
beforeEach(async () => {
  await service.clearFaults();
});

const NOW = { cancel_at_period_end: false };
const PENDING = { provider_id: 'provider_b' };
const statuses = (list: readonly { readonly status: string }[]): string[] => list.map(({ status }) => status);

describe('a pending charge that starts a period', () => {
  test('keeps a scheduled cancellation at the end of that period', async () => {
    const who = await subscriber(service, 'SIM-PENDING-OK', PENDING);
    const made = await subscribe(service, who);
    expect(made).toMatchObject({ status: 'past_due', billing_status: 'pending' });
    expect(await command(service, who, { id: made.id, name: 'cancel' })).toMatchObject({
      body: { cancel_at_period_end: true },
    });
    await service.advance(HOUR_SECONDS);
    expect(await readSubscription(service, who, made.id)).toMatchObject({
      status: 'active',
      cancel_at_period_end: true,
    });
    await service.advance(40 * DAY_SECONDS);
    expect(await readSubscription(service, who, made.id)).toMatchObject({ status: 'canceled' });
    expect(statuses(await paymentsOf(service, who, made.id))).toEqual(['succeeded']);
  });

  test.each([
    ['canceled', 'cancel', 'reactivate', 'cancelled'],
    ['paused', 'pause', 'resume', 'expired'],
  ] as const)(
    'gives no membership before the charge is paid if the subscription was %s',
    async (...[_, leave, comeBack, before]) => {
      const who = await subscriber(service, 'SIM-OK', PENDING);
      const made = await subscribeToGold(service, who);
      await command(service, who, { id: made.id, name: leave, body: leave === 'cancel' ? NOW : {} });
      await service.advance(40 * DAY_SECONDS);
      const ended = await readMembership(service, who, made.id);
      expect(ended).toMatchObject({ status: before });
      const failing = await anotherMethodOf(who, 'SIM-PENDING-FAIL');
      await service.request('PATCH', `/subscriptions/${made.id}`, {
        ...who.options,
        body: { payment_method_id: failing },
      });
      expect(await command(service, who, { id: made.id, name: comeBack })).toMatchObject({
        status: 200,
        body: { status: 'past_due', billing_status: 'pending', canceled_at: null },
      });
      expect(await readMembership(service, who, made.id)).toMatchObject({
        status: before,
        ends_at: present(ended).ends_at,
      });
      await service.advance(DAY_SECONDS);
      expect(await readSubscription(service, who, made.id)).toMatchObject({ status: 'canceled' });
      expect(
        (await subscriptionEventsOf(service, made.id)).filter((name) => name === 'membership.activated active'),
      ).toHaveLength(1);
    },
  );

  const anotherMethodOf = async (who: Awaited<ReturnType<typeof subscriber>>, token: string): Promise<string> => {
    const body = { provider_payment_method_token: token, ...PENDING };
    const { status, body: made } = await service.post('/payment-methods', body, who.options);
    expect(status).toBe(201);
    return made.id;
  };
});

describe('a subscription without a payer', () => {
  test('cannot be reactivated if its customer is deleted', async () => {
    for (const fields of [{}, PENDING]) {
      const who = await subscriber(service, fields === PENDING ? 'SIM-OK' : 'pm_card_visa', fields);
      const made = await subscribe(service, who);
      const deleted = await service.request('DELETE', `/customers/${who.names.customer_id}`, who.options);
      expect(deleted.status).toBe(204);
      expect(await command(service, who, { id: made.id, name: 'reactivate' })).toMatchObject({
        status: 409,
        body: { code: 'INVALID_STATE' },
      });
      expect(await readSubscription(service, who, made.id)).toMatchObject({ status: 'canceled' });
    }
  });

  test('requires another method if its own method is deleted', async () => {
    const who = await subscriber(service);
    const made = await subscribe(service, who);
    await command(service, who, { id: made.id, name: 'cancel', body: NOW });
    const removed = await service.request('DELETE', `/payment-methods/${who.names.payment_method_id}`, who.options);
    expect(removed.status).toBe(204);
    await service.advance(40 * DAY_SECONDS);
    expect(await command(service, who, { id: made.id, name: 'reactivate' })).toMatchObject({
      status: 400,
      body: { code: 'PAYMENT_METHOD_REQUIRED' },
    });
    const body = { payment_method_id: await anotherMethod(service, who) };
    await service.request('PATCH', `/subscriptions/${made.id}`, { ...who.options, body });
    expect(await command(service, who, { id: made.id, name: 'reactivate' })).toMatchObject({
      body: { status: 'active' },
    });
  });
});

describe('an organization with a subscription of unknown outcome', () => {
  test('is not deleted until that subscription has also ended at its provider', async () => {
    const { id: organization_id, owner } = await company(service);
    const who = await payer(service, owner.options);
    await service.fault({
      provider: 'provider_a',
      method: 'POST',
      path: '/v1/subscriptions',
      action: 'timeout_after',
      times: 1,
    });
    await service.webhookMode('drop');
    const made = await subscribe(service, who, { organization_id });
    expect(made).toMatchObject({ status: 'past_due', billing_status: 'pending' });
    await service.fault({ provider: 'provider_a', method: 'GET', path: '/v1/subscriptions', action: 'error_500' });
    const remove = () => service.request('DELETE', `/organizations/${organization_id}`, owner.options);
    expect(await remove()).toMatchObject({ status: 502, body: { code: 'PROVIDER_ERROR' } });
    expect(await remove()).toMatchObject({ status: 502, body: { code: 'PROVIDER_ERROR' } });
    await service.clearFaults();
    expect(await remove()).toMatchObject({ status: 200 });
    await service.webhookMode('normal');
    await service.advance(10 * MINUTE_SECONDS);
    const left = await itemsOf(service);
    expect(left.filter(({ pk, sk }) => pk === `SUB#${made.id}` && sk === 'SUB')).toEqual([]);
    const { subscriptions } = await service.ledger();
    const there = subscriptions.filter(({ subscription_id }) => subscription_id === made.id);
    expect(statuses(there)).toEqual(['canceled']);
  });
});
