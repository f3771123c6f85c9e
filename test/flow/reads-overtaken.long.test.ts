/**
 * @module A provider response is stale if the record has changed since the request. These tests change the record while
 * a call waits for its response.
 */

import { describe, expect, test } from 'vitest';
import { THREE_D_SECURE } from '../builders/intent.ts';
import { present } from '../builders/present.ts';
import { DAY_SECONDS, HOUR_SECONDS } from '../builders/seconds.ts';
import { changeTable, confirmInBrowser, createIntent, itemsOf, read, signIn, storedPayment } from './flow.ts';
import { company, saveMethod } from './payers.ts';
import { changeTo, PLAN_PLACES, plan, subscribed } from './plan-changes.ts';
import { withStops } from './stops.ts';
import {
  command,
  patch,
  payer,
  paymentsOf,
  readSubscription,
  subscribe,
  subscriber,
  trySubscribe,
} from './subscribers.ts';

const stoppable = withStops();
const [[, STRIPE]] = PLAN_PLACES;
const READ_SUBSCRIPTION = 'GET /v1/subscriptions/:id';
const AT_PERIOD_END = { cancel_at_period_end: true };
const NOW = { cancel_at_period_end: false };
const CHANGE_SUBSCRIPTION = 'POST /v1/subscriptions/:id';

const there = async (id: string) =>
  (await stoppable().service.ledger()).subscriptions.filter((one) => one.subscription_id === id);
/** The provider creates the subscription, but the response and the event are lost. */
const subscribedUnheard = async () => {
  const { service, overtaken, losing } = stoppable();
  const who = await subscriber(service);
  await service.webhookMode('drop');
  await losing({ call: 'POST /v1/subscriptions', executed: true }, () => trySubscribe(service, who));
  const { id } = present((await service.get('/subscriptions', who.options)).body[0]);
  return { service, overtaken, who, id };
};

describe('a subscription at its provider', () => {
  test('keeps a cancellation that is scheduled during a read at the provider', async () => {
    const { service, overtaken } = stoppable();
    const who = await subscriber(service);
    const { id, current_period_end } = await subscribe(service, who);
    await service.settle();
    await service.webhookMode('drop');
    await service.moveTo(current_period_end);
    const cancel = async () =>
      expect(await command(service, who, { id, name: 'cancel', body: AT_PERIOD_END })).toMatchObject({ status: 200 });
    await overtaken(READ_SUBSCRIPTION, cancel, () => service.advance(2 * HOUR_SECONDS));
    await service.settle();
    expect(await readSubscription(service, who, id)).toMatchObject({ status: 'active', cancel_at_period_end: true });
    await service.webhookMode('normal');
    await service.advance(32 * DAY_SECONDS);
    await service.settle();
    expect(await readSubscription(service, who, id)).toMatchObject({ status: 'canceled' });
  });

  test('is not charged for an unclear plan change that starts during a pause command', async () => {
    const { service, overtaken } = stoppable();
    const of = await subscribed(service, STRIPE, { product_id: await plan(service, 1_000) });
    await service.advance(10 * DAY_SECONDS);
    const dear = await plan(service, 3_000);
    await service.fault({ provider: 'provider_a', path: '/confirm', method: 'POST', action: 'error_500' });
    const change = async () =>
      expect(await changeTo(service, of, { product_id: dear })).toMatchObject({
        body: { pending_change: { status: 'processing' } },
      });
    const pause = () => command(service, of.who, { id: of.id, name: 'pause' });
    expect(await overtaken('GetItem', change, pause)).toMatchObject({ status: 200, body: { status: 'paused' } });
    await service.clearFaults();
    await service.advance(2 * DAY_SECONDS);
    await service.settle();
    const [difference] = (await paymentsOf(service, of.who, of.id)).filter(
      ({ billing_reason }) => billing_reason === 'subscription_change',
    );
    expect(difference).toMatchObject({ status: 'canceled' });
    expect(await readSubscription(service, of.who, of.id)).toMatchObject({
      ...{ status: 'paused', total_cents: 1_000, pending_change: null },
    });
  });

  test('stays past due if it becomes unpaid while a late event of its paid invoice is handled', async () => {
    const { service, overtaken } = stoppable();
    const who = await subscriber(service);
    await service.webhookMode('delay');
    const { id } = await subscribe(service, who);
    await service.webhookMode('drop');
    const becomeUnpaid = async () => {
      await service.control('POST', `/simulator/subscriptions/${id}`, { status: 'unpaid' });
      await command(service, who, { id, name: 'cancel', body: AT_PERIOD_END });
      expect(await readSubscription(service, who, id)).toMatchObject({ status: 'past_due' });
    };
    await overtaken('GET /v1/invoices/:id', becomeUnpaid, () => service.advance(HOUR_SECONDS));
    await service.settle();
    expect(await readSubscription(service, who, id)).toMatchObject({ status: 'past_due' });
    await service.webhookMode('normal');
  });

  test('drops a plan change that is scheduled during the cancellation command', async () => {
    const { service, overtaken } = stoppable();
    const of = await subscribed(service, STRIPE, { product_id: await plan(service, 3_000) });
    const cheap = await plan(service, 1_000);
    const schedule = async () =>
      expect(await changeTo(service, of, { product_id: cheap, when: 'period_end' })).toMatchObject({ status: 200 });
    const cancel = () => command(service, of.who, { id: of.id, name: 'cancel', body: AT_PERIOD_END });
    expect(await overtaken('GetItem', schedule, cancel)).toMatchObject({
      ...{ status: 200, body: { cancel_at_period_end: true, scheduled_change: null } },
    });
    await service.advance(2 * HOUR_SECONDS);
    expect(await command(service, of.who, { id: of.id, name: 'reactivate' })).toMatchObject({ status: 200 });
    await service.advance(40 * DAY_SECONDS);
    await service.settle();
    expect(await readSubscription(service, of.who, of.id)).toMatchObject({ status: 'active', total_cents: 3_000 });
  });

  test('is created only once more by two concurrent reactivations after a slow charge', async () => {
    const { service, overtaken } = stoppable();
    const who = await subscriber(service, 'pm_sim_processing_ok');
    const { id, trial_end } = await subscribe(service, who, { trial_days: 5 });
    await service.moveTo(trial_end);
    await service.settle();
    await command(service, who, { id, name: 'cancel', body: NOW });
    await service.advance(2 * HOUR_SECONDS);
    const reactivate = () => command(service, who, { id, name: 'reactivate' });
    const second = await overtaken(READ_SUBSCRIPTION, reactivate, reactivate);
    expect(second).toMatchObject({ status: 409, body: { code: 'SUBSCRIPTION_NOT_CANCELED' } });
    expect((await there(id)).map(({ status }) => status)).toEqual(['canceled', 'trialing']);
  });

  test('is canceled even if its lost creation becomes known during the cancellation', async () => {
    const { service, overtaken, who, id } = await subscribedUnheard();
    const pay = () => service.advance(2 * HOUR_SECONDS);
    const cancel = () => command(service, who, { id, name: 'cancel', body: NOW });
    const answer = await overtaken('GetItem', pay, cancel);
    expect(answer).toMatchObject({ status: 200, body: { status: 'canceled' } });
    expect(await there(id)).toMatchObject([{ status: 'canceled' }]);
    await service.webhookMode('normal');
  });

  test('stays active if the payer restarts it while a lost creation is looked up', async () => {
    const { service, overtaken, who, id } = await subscribedUnheard();
    const cancel = () => command(service, who, { id, name: 'cancel', body: NOW });
    const startAgain = async () => {
      expect(await cancel()).toMatchObject({ status: 200 });
      expect(await command(service, who, { id, name: 'reactivate' })).toMatchObject({ status: 200 });
    };
    await overtaken('TransactWriteItems', startAgain, cancel);
    await service.advance(2 * HOUR_SECONDS);
    expect(await readSubscription(service, who, id)).toMatchObject({ status: 'active' });
    expect((await there(id)).map(({ status }) => status)).toEqual(['canceled', 'trialing']);
    await service.webhookMode('normal');
  });

  test('stays active if the payer restarts it while an older invoice is recorded', async () => {
    const { service, overtaken } = stoppable();
    const who = await subscriber(service);
    const { id, current_period_end } = await subscribe(service, who);
    await service.settle();
    const startAgain = async () => {
      expect(await command(service, who, { id, name: 'cancel', body: NOW })).toMatchObject({ status: 200 });
      const lost = { provider: 'provider_a', method: 'POST', path: '/v1/subscriptions', action: 'timeout_after' };
      await service.fault({ ...lost, times: 1 });
      await command(service, who, { id, name: 'reactivate' });
    };
    await overtaken('POST /v1/payment_intents/:id', startAgain, () => service.moveTo(current_period_end));
    await service.clearFaults();
    await service.advance(3 * HOUR_SECONDS);
    expect(await readSubscription(service, who, id)).toMatchObject({ status: 'active' });
    const [former, ...others] = await there(id);
    expect(former).toMatchObject({ status: 'canceled' });
    expect(others).toMatchObject([{ status: expect.stringMatching(/^(?:active|trialing)$/) }]);
  });

  test('keeps the state of a later interface event that arrives while an earlier event reads the provider', async () => {
    const { service, overtaken } = stoppable();
    const who = await subscriber(service);
    const { id, provider_subscription_id } = await subscribe(service, who);
    await service.settle();
    const created = Math.floor(service.now() / 1_000);
    const own = { id: provider_subscription_id, object: 'subscription', status: 'active' };
    const earlier = async () => {
      await service.sendEvent({ type: 'customer.subscription.updated', vocabulary: 'native', created, object: own });
      await service.settle();
    };
    const news = { id: provider_subscription_id, amount: 1_900, currency: 'usd', status: 'paused' };
    const follow = async () => {
      await service.sendEvent({ type: 'subscription.updated', vocabulary: 'contract', created, object: news });
      const isPaused = async () => (await readSubscription(service, who, id)).status === 'paused';
      while (!(await isPaused()));
    };
    await overtaken(READ_SUBSCRIPTION, follow, earlier);
    expect(await readSubscription(service, who, id)).toMatchObject({ status: 'paused' });
  });

  test('is paused and canceled at its end if the cancellation is scheduled during the pause command', async () => {
    const { service, overtaken } = stoppable();
    const who = await subscriber(service);
    const { id } = await subscribe(service, who);
    await service.settle();
    await service.webhookMode('drop');
    const cancel = async () =>
      expect(await command(service, who, { id, name: 'cancel', body: AT_PERIOD_END })).toMatchObject({ status: 200 });
    const answer = await overtaken(CHANGE_SUBSCRIPTION, cancel, () => command(service, who, { id, name: 'pause' }));
    expect(answer).toMatchObject({ status: 200, body: { status: 'paused', cancel_at_period_end: true } });
    expect(await readSubscription(service, who, id)).toMatchObject({ status: 'paused', cancel_at_period_end: true });
    await service.webhookMode('normal');
  });
});

/** Changes only the version of the record, as a provider report without news does. */
const reportOn = async (id: string): Promise<void> => {
  const { service } = stoppable();
  const [stored] = (await itemsOf(service, `SUB#${id}`)).filter(({ sk }) => sk === 'SUB');
  await changeTable(service, { put: { ...stored, lock: stored.lock + 1, version: stored.version + 1 } });
};

describe('a subscription with a provider report during a command', () => {
  test('is reactivated if the report arrives during a reactivation', async () => {
    const { service, overtaken } = stoppable();
    const who = await subscriber(service);
    const { id } = await subscribe(service, who);
    expect(await command(service, who, { id, name: 'cancel', body: NOW })).toMatchObject({ status: 200 });
    const reactivate = () => command(service, who, { id, name: 'reactivate' });
    const answer = await overtaken(READ_SUBSCRIPTION, () => reportOn(id), reactivate);
    expect(answer).toMatchObject({ status: 200, body: { status: 'active' } });
    expect((await there(id)).map(({ status }) => status).toSorted()).toEqual(['canceled', 'trialing']);
  });

  test('moves to another customer’s method if the report arrives during the move', async () => {
    const { service, overtaken } = stoppable();
    const { id: organization_id, owner } = await company(service);
    const { options } = await signIn(service, { user_id: owner.userId });
    const who = await payer(service, options, { fields: { organization_id } });
    const { id } = await subscribe(service, who, { organization_id });
    const own = await saveMethod(service, options);
    const change = () => patch(service, who, { id, body: { payment_method_id: own.id } });
    const answer = await overtaken(READ_SUBSCRIPTION, () => reportOn(id), change);
    expect(answer).toMatchObject({ status: 200, body: { payment_method_id: own.id } });
  });
});

describe('a payment', () => {
  test('stays paid if the payer pays during a read of the older state', async () => {
    const { service, overtaken } = stoppable();
    const user = await signIn(service);
    const intent = await createIntent(service, user);
    await service.settle();
    await service.webhookMode('drop');
    await confirmInBrowser(service, intent, THREE_D_SECURE);
    const sync = () => service.post(`/payments/sync/${intent.provider_payment_id}`, {}, user.options);
    const pay = async () => {
      await service.authenticate(intent.id);
      expect(await sync()).toMatchObject({ body: { status: 'succeeded' } });
    };
    const answer = await overtaken('GET /v1/payment_intents/:id', pay, sync);
    expect(answer).toMatchObject({ status: 200, body: { status: 'succeeded' } });
    expect(await read(service, intent.id, user.options)).toMatchObject({ status: 'succeeded' });
    expect(await storedPayment(service, intent.id)).not.toHaveProperty('anomaly');
    await service.webhookMode('normal');
  });

  test.each([
    ['the amount', { total_cents: 3_000 }],
    ['a field of ours alone', { concept: 'Books' }],
  ])('is updated even if a provider report changes the record during an update of %s', async (_, fields) => {
    const { service, overtaken } = stoppable();
    const user = await signIn(service);
    const intent = await createIntent(service, user);
    const put = () => service.put(`/payments/intents/${intent.id}`, fields, user.options);
    const report = async () => {
      const stored = await storedPayment(service, intent.id);
      await changeTable(service, { put: { ...stored, version: stored.version + 1 } });
    };
    expect(await overtaken('GetItem', report, put)).toMatchObject({ status: 200, body: fields });
    expect(await read(service, intent.id, user.options)).toMatchObject(fields);
  });

  test('is not updated (409) if another request changes the payment during the update', async () => {
    const { service, overtaken } = stoppable();
    const user = await signIn(service);
    const { id } = await createIntent(service, user);
    const put = (fields: object) => service.put(`/payments/intents/${id}`, fields, user.options);
    const answer = await overtaken(
      'GetItem',
      () => put({ total_cents: 4_000 }),
      () => put({ total_cents: 3_000 }),
    );
    expect(answer).toMatchObject({ status: 409, body: { code: 'VERSION_CONFLICT' } });
    expect(await read(service, id, user.options)).toMatchObject({ total_cents: 4_000 });
  });
});
