/**
 * @module A reactivation or resumption stops before its charge. The payer withdraws the command before due work
 * continues it.
 */

import { describe, expect, test } from 'vitest';
import { DAY_SECONDS, HOUR_SECONDS } from '../builders/seconds.ts';
import { itemsOf, PATIENT } from './flow.ts';
import type { TestHost } from './host.ts';
import type { ParsedJson } from './routes.ts';
import { withStops } from './stops.ts';
import { BILLERS, command, OWN_BILLING, readSubscription, subscribe, subscriber } from './subscribers.ts';

const NOW = { cancel_at_period_end: false };

/** Stops the function after it has stored the restart. */
const CLAIMED = { call: 'PutItem', executed: true };

const chargesOf = async (service: TestHost, subscriptionId: string) => {
  const { charges } = await service.control('GET', '/simulator/ledger');
  const items = await itemsOf(service, 'PAY#');
  const own = new Set(items.filter((item) => item.subscriptionId === subscriptionId).map(({ pk }) => pk));
  return charges.filter(({ payment_id }: ParsedJson) => own.has(`PAY#${payment_id}`)).map(({ id }: ParsedJson) => id);
};

describe.each(BILLERS)('an interrupted reactivation of a subscription billed by %s', (_, env) => {
  const stoppable = withStops({ ...PATIENT, ...env });

  test.each([{}, NOW])('charges nothing after a cancellation with %j', async (body) => {
    const { service, stopped } = stoppable();
    const who = await subscriber(service);
    const made = await subscribe(service, who);
    await command(service, who, { id: made.id, name: 'cancel', body: NOW });
    await service.advance(40 * DAY_SECONDS);
    const paid = await chargesOf(service, made.id);
    const back = await stopped(CLAIMED, () => command(service, who, { id: made.id, name: 'reactivate' }));
    expect(back.status).toBeGreaterThanOrEqual(500);
    const canceled = await command(service, who, { id: made.id, name: 'cancel', body });
    expect(canceled).toMatchObject({ status: 200, body: { status: 'canceled' } });
    await service.advance(HOUR_SECONDS);
    expect(await readSubscription(service, who, made.id)).toMatchObject({ status: 'canceled' });
    expect(await chargesOf(service, made.id)).toEqual(paid);
    const again = await command(service, who, { id: made.id, name: 'reactivate' });
    expect(again).toMatchObject({ status: 200, body: { status: 'active' } });
  });
});

describe('an interrupted resumption', () => {
  const stoppable = withStops({ ...PATIENT, ...OWN_BILLING });

  test('charges nothing after a pause', async () => {
    const { service, stopped } = stoppable();
    const who = await subscriber(service);
    const made = await subscribe(service, who);
    await command(service, who, { id: made.id, name: 'pause' });
    await service.advance(40 * DAY_SECONDS);
    const paid = await chargesOf(service, made.id);
    const back = await stopped(CLAIMED, () => command(service, who, { id: made.id, name: 'resume' }));
    expect(back.status).toBeGreaterThanOrEqual(500);
    expect(await command(service, who, { id: made.id, name: 'pause' })).toMatchObject({ body: { status: 'paused' } });
    await service.advance(HOUR_SECONDS);
    expect(await readSubscription(service, who, made.id)).toMatchObject({ status: 'paused' });
    expect(await chargesOf(service, made.id)).toEqual(paid);
  });
});

describe('a provider-billed reactivation that is canceled before its provider call', () => {
  const stoppable = withStops(PATIENT);

  test.each(['drop', 'normal'] as const)('leaves nothing collectible at the provider (webhooks: %s)', async (mode) => {
    const { service, overtaken } = stoppable();
    await service.webhookMode('normal');
    const who = await subscriber(service);
    const made = await subscribe(service, who);
    await command(service, who, { id: made.id, name: 'cancel', body: NOW });
    await service.advance(40 * DAY_SECONDS);
    await service.webhookMode(mode);
    // The function stops after the provider has created the subscription.
    const at = { name: 'PutItem', stop: { call: 'POST /v1/subscriptions', executed: true } };
    const cancel = async () =>
      expect(await command(service, who, { id: made.id, name: 'cancel', body: NOW })).toMatchObject({
        body: { status: 'canceled' },
      });
    await overtaken(at, cancel, () => command(service, who, { id: made.id, name: 'reactivate' }));
    await service.advance(72 * DAY_SECONDS);
    const { subscriptions } = await service.ledger();
    const own = subscriptions.filter((one) => one.subscription_id === made.id);
    expect(own.map(({ status }) => status)).toEqual(['canceled', 'canceled']);
    expect(await readSubscription(service, who, made.id)).toMatchObject({ status: 'canceled' });
  });
});
