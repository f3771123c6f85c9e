/**
 * @module A function stops after the provider has created and charged a subscription. The customer is deleted at the
 * provider before the service looks. The provider then lists only the customer's recently canceled subscriptions.
 */

import { describe, expect, test } from 'vitest';
import { present } from '../builders/present.ts';
import { DAY_SECONDS, HOUR_SECONDS } from '../builders/seconds.ts';
import { atStripe } from './at-stripe.ts';
import { PATIENT } from './flow.ts';
import type { TestAnswer } from './host.ts';
import { withStops } from './stops.ts';
import { command, type Subscriber, subscribe, subscriber, trySubscribe } from './subscribers.ts';

const stoppable = withStops(PATIENT);
const NOW = { cancel_at_period_end: false };

const stopThenDeleteCustomer = async (who: Subscriber, act: () => Promise<TestAnswer>, hours = 26): Promise<void> => {
  const { service, stopped } = stoppable();
  const { body: customer } = await service.get(`/customers/${who.names.customer_id}`, who.options);
  const { status } = await stopped({ call: 'POST /v1/subscriptions', executed: true }, act);
  expect(status).toBeGreaterThanOrEqual(500);
  await atStripe(service, `DELETE customers/${customer.provider_customer_id}`);
  await service.advance(hours * HOUR_SECONDS);
};

const stateOf = async ({ options }: Subscriber) => {
  const { service } = stoppable();
  const { body: here } = await service.get('/subscriptions', options);
  const { body: payments } = await service.get('/payments', options);
  return {
    here: here.map(({ status }) => status),
    payments: payments.data.map(({ status }) => status),
  };
};

describe('the charge of a subscription whose customer was deleted', () => {
  test('is recorded after a creation, together with the canceled subscription', async () => {
    const who = await subscriber(stoppable().service);
    await stopThenDeleteCustomer(who, () => trySubscribe(stoppable().service, who));
    expect(await stateOf(who)).toEqual({ here: ['canceled'], payments: ['succeeded'] });
  });

  test('is recorded after a creation if it was pending at first, together with the canceled subscription', async () => {
    const who = await subscriber(stoppable().service, 'pm_sim_processing_ok');
    await stopThenDeleteCustomer(who, () => trySubscribe(stoppable().service, who));
    expect(await stateOf(who)).toEqual({ here: ['canceled'], payments: ['succeeded'] });
  });

  test('is recorded after a reactivation, together with the canceled subscription', async () => {
    const { service } = stoppable();
    const who = await subscriber(service);
    const { id } = await subscribe(service, who, { billing_interval: 'weekly' });
    await command(service, who, { id, name: 'cancel', body: NOW });
    await service.advance(8 * DAY_SECONDS);
    await stopThenDeleteCustomer(who, () => command(service, who, { id, name: 'reactivate' }));
    expect(await stateOf(who)).toEqual({ here: ['canceled'], payments: ['succeeded', 'succeeded'] });
  });

  test('is recorded without any event', async () => {
    const { service } = stoppable();
    const who = await subscriber(service);
    await service.webhookMode('drop');
    await stopThenDeleteCustomer(who, () => trySubscribe(service, who), 2);
    const [seen] = (await service.get('/subscriptions', who.options)).body;
    const { subscriptions } = await service.ledger();
    const made = subscriptions.find(({ subscription_id }) => subscription_id === present(seen).id);
    expect(seen).toMatchObject({ status: 'canceled', provider_subscription_id: present(made).id });
    expect((await stateOf(who)).payments).toEqual(['succeeded']);
    await service.webhookMode('normal');
  });

  test('is not confused with an earlier charge if a reactivation never arrived', async () => {
    const { service } = stoppable();
    const who = await subscriber(service);
    const { id } = await subscribe(service, who, { billing_interval: 'weekly' });
    await command(service, who, { id, name: 'cancel', body: NOW });
    await service.webhookMode('drop');
    await service.advance(8 * DAY_SECONDS);
    const { stopped } = stoppable();
    const { body: customer } = await service.get(`/customers/${who.names.customer_id}`, who.options);
    await stopped({ call: 'POST /v1/subscriptions', executed: false }, () =>
      command(service, who, { id, name: 'reactivate' }),
    );
    await atStripe(service, `DELETE customers/${customer.provider_customer_id}`);
    await service.advance(2 * HOUR_SECONDS);
    expect(await stateOf(who)).toEqual({ here: ['canceled'], payments: ['succeeded'] });
    await service.webhookMode('normal');
  });

  test('leaves no record of a payment or subscription if it was never made', async () => {
    const { service, stopped } = stoppable();
    const who = await subscriber(service);
    const { body: customer } = await service.get(`/customers/${who.names.customer_id}`, who.options);
    await stopped({ call: 'POST /v1/subscriptions', executed: false }, () => trySubscribe(service, who));
    await atStripe(service, `DELETE customers/${customer.provider_customer_id}`);
    await service.advance(2 * HOUR_SECONDS);
    expect(await stateOf(who)).toEqual({ here: [], payments: [] });
  });
});
