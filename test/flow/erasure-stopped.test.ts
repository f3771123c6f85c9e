import { beforeAll, describe, expect, test } from 'vitest';
import { present } from '../builders/present.ts';
import { DAY_SECONDS, MINUTE_SECONDS } from '../builders/seconds.ts';
import {
  findPlanted,
  guestLife,
  plantedTexts,
  planter,
  platformAdmin,
  readErasure,
  requestErasure,
  untilErased,
} from './erasures.ts';
import { confirm, createPaidIntent, PATIENT, partitionOf, read, signIn, storedPayment } from './flow.ts';
import { withStops } from './stops.ts';
import { command, readSubscription, subscribe, subscriber, trySubscribe } from './subscribers.ts';

const stoppable = withStops(PATIENT);

beforeAll(async () => {
  await stoppable().service.webhookMode('drop');
});

const STOPPED_MINUTES = 120;

describe('a waiting erasure', () => {
  test('has a due time until it is done', async () => {
    const { service } = stoppable();
    const { options } = await platformAdmin(service);
    const { id } = await requestErasure(service, options, { email: planter('due').email() });
    const dueAt = async () => (await partitionOf(service, `ERA#${id}`)).find(({ sk }) => sk === 'ERA')?.due_at;
    expect(await dueAt()).toEqual(expect.any(String));
    await untilErased(service, options, { id, maxMinutes: STOPPED_MINUTES });
    expect(await dueAt()).toBeUndefined();
  });

  test('waits for a provider that does not respond', async () => {
    const { service } = stoppable();
    const { options } = await platformAdmin(service);
    const plant = planter('slow');
    const life = await guestLife(service, plant);
    await service.fault({ provider: 'provider_a', action: 'error_500' });
    const { id } = await requestErasure(service, options, { email: life.email });
    await service.advance(10 * MINUTE_SECONDS);
    expect(await readErasure(service, options, id)).toMatchObject({ status: 'running' });
    await service.clearFaults();
    await untilErased(service, options, { id, maxMinutes: STOPPED_MINUTES });
    expect(await findPlanted(service, plant.values)).toEqual([]);
  });

  test('waits for the outcome of a running charge, and the outcome is recorded', async () => {
    const { service } = stoppable();
    const { options } = await platformAdmin(service);
    const plant = planter('busy');
    const user = await signIn(service, { email: plant.email(), expires_in: DAY_SECONDS });
    const payment = await createPaidIntent(service, user, plantedTexts(plant));
    await service.fault({ provider: 'provider_a', action: 'reset', times: 50 });
    await confirm(service, payment.id, user.options);
    expect(await storedPayment(service, payment.id)).toMatchObject({ status: 'processing' });
    const { id } = await requestErasure(service, options, { user_id: user.userId });
    await service.advance(MINUTE_SECONDS);
    expect(await readErasure(service, options, id)).toMatchObject({ status: 'running', counts: { payments: 0 } });
    expect(await storedPayment(service, payment.id)).toMatchObject({ status: 'processing', userId: user.userId });
    await service.clearFaults();
    await untilErased(service, options, { id, maxMinutes: STOPPED_MINUTES });
    expect(await read(service, payment.id, user.options)).toMatchObject({ status: 'succeeded', description: null });
    expect(await findPlanted(service, plant.values)).toEqual([]);
  });

  test('waits for a subscription whose creation was interrupted, and cancels it once its outcome is known', async () => {
    const { service, stopped } = stoppable();
    const { options } = await platformAdmin(service);
    const who = await subscriber(service);
    const create = () => trySubscribe(service, who);
    expect((await stopped({ call: 'POST /v1/subscriptions', executed: true }, create)).status).toBeGreaterThanOrEqual(
      500,
    );
    const { id } = await requestErasure(service, options, { user_id: who.user.userId });
    const { job } = await untilErased(service, options, { id, maxMinutes: STOPPED_MINUTES });
    expect(job).toMatchObject({ counts: { subscriptions: 1, payment_methods: 1 } });
    const [subscription] = (await service.get('/subscriptions', who.options)).body;
    expect(subscription).toMatchObject({ status: 'canceled' });
    const { subscriptions } = await service.ledger();
    const there = subscriptions.filter((one) => one.subscription_id === present(subscription).id);
    expect(there).toMatchObject([{ status: 'canceled' }]);
  });

  test('waits for a subscription that the user reactivates in the meantime, and cancels it again', async () => {
    const { service } = stoppable();
    const { options } = await platformAdmin(service);
    const who = await subscriber(service);
    const made = await subscribe(service, who);
    await service.fault({ provider: 'provider_a', path: '/v1/payment_methods', action: 'error_500' });
    const { id } = await requestErasure(service, options, { user_id: who.user.userId });
    await service.advance(MINUTE_SECONDS);
    expect(await readSubscription(service, who, made.id)).toMatchObject({ status: 'canceled' });
    expect(await command(service, who, { id: made.id, name: 'reactivate' })).toMatchObject({ status: 200 });
    await service.clearFaults();
    await untilErased(service, options, { id, maxMinutes: STOPPED_MINUTES });
    expect(await readSubscription(service, who, made.id)).toMatchObject({ status: 'canceled' });
    const { subscriptions } = await service.ledger();
    const there = subscriptions.filter((one) => one.subscription_id === made.id);
    expect(there.map(({ status }) => status)).not.toContain('active');
  });

  test('waits for a subscription whose reactivation was interrupted, and cancels it once its outcome is known', async () => {
    const { service, stopped } = stoppable();
    const { options } = await platformAdmin(service);
    const who = await subscriber(service);
    const made = await subscribe(service, who, { billing_interval: 'weekly' });
    await command(service, who, { id: made.id, name: 'cancel', body: { cancel_at_period_end: false } });
    await service.advance(8 * DAY_SECONDS);
    await service.fault({ provider: 'provider_a', path: '/v1/payment_methods', action: 'error_500' });
    const { id } = await requestErasure(service, options, { user_id: who.user.userId });
    await service.advance(MINUTE_SECONDS);
    const comeBack = () => command(service, who, { id: made.id, name: 'reactivate' });
    const { status } = await stopped({ call: 'POST /v1/subscriptions', executed: true }, comeBack);
    expect(status).toBeGreaterThanOrEqual(500);
    await service.clearFaults();
    await service.fault({ provider: 'provider_a', path: '/v1/subscriptions', action: 'error_500' });
    await service.advance(20 * MINUTE_SECONDS);
    expect(await readErasure(service, options, id)).toMatchObject({ status: 'running' });
    await service.clearFaults();
    await untilErased(service, options, { id, maxMinutes: STOPPED_MINUTES });
    expect(await readSubscription(service, who, made.id)).toMatchObject({ status: 'canceled' });
    const { subscriptions } = await service.ledger();
    const there = subscriptions.filter((one) => one.subscription_id === made.id);
    expect(there.map(({ status: state }) => state)).toEqual(['canceled', 'canceled']);
  });
});
