/** @module If responses of a billing provider are lost, every charge still has a subscription record. */

import { beforeEach, describe, expect, test } from 'vitest';
import { present } from '../builders/present.ts';
import { DAY_SECONDS, HOUR_SECONDS } from '../builders/seconds.ts';
import { atStripe } from './at-stripe.ts';
import { changeTable, IMPATIENT, itemsOf } from './flow.ts';
import { withHost } from './host.ts';
import {
  command,
  paymentsOf,
  readSubscription,
  type Subscriber,
  subscribe,
  subscriber,
  trySubscribe,
} from './subscribers.ts';

const service = withHost({ frozen: true, env: IMPATIENT });
beforeEach(async () => {
  await service.webhookMode('normal');
  await service.clearFaults();
});

const NOW = { cancel_at_period_end: false };
const lose = () =>
  service.fault({
    provider: 'provider_a',
    method: 'POST',
    path: '/v1/subscriptions',
    action: 'timeout_after',
    times: 1,
  });
const there = async (id: string) => (await service.ledger()).subscriptions.filter((one) => one.subscription_id === id);
/** The provider creates the subscription, but the response and the event are lost. */
const subscribedUnheard = async () => {
  const who = await subscriber(service);
  await service.webhookMode('drop');
  await lose();
  await trySubscribe(service, who);
  const { id } = present((await service.get('/subscriptions', who.options)).body[0]);
  return { who, id };
};

describe('a creation without a response, with its method then deleted', () => {
  test('is found at the provider, and its collection is paused there', async () => {
    const { who, id } = await subscribedUnheard();
    const pk = `PM#${who.names.payment_method_id}`;
    await changeTable(service, { remove: { pk, sk: 'PM' } });
    await service.webhookMode('normal');
    await service.advance(2 * HOUR_SECONDS);
    expect(await readSubscription(service, who, id)).toMatchObject({ status: 'active', payment_method_id: null });
    expect(await there(id)).toMatchObject([{ status: 'active', pause_collection: 'void' }]);
  });
});

describe('a charge', () => {
  test('is no longer pending two hours after a cancel, even if the provider was unavailable during the cancel', async () => {
    const who = await subscriber(service, 'pm_sim_processing_ok');
    await service.webhookMode('drop');
    const { id } = await subscribe(service, who);
    await service.fault({
      provider: 'provider_a',
      method: 'GET',
      path: '/v1/subscriptions',
      action: 'error_500',
    });
    expect(await command(service, who, { id, name: 'cancel', body: NOW })).toMatchObject({ status: 200 });
    await service.clearFaults();
    await service.advance(2 * HOUR_SECONDS);
    expect(await readSubscription(service, who, id)).toMatchObject({ status: 'canceled' });
    const [item] = (await itemsOf(service, `SUB#${id}`)).filter(({ sk }) => sk === 'SUB');
    expect([item?.['charge'], item?.['due_at']]).toEqual([undefined, undefined]);
    expect((await command(service, who, { id, name: 'reactivate' })).body).not.toMatchObject({
      code: 'PAYMENT_IN_PROGRESS',
    });
  });

  test('of a renewal is recorded as canceled if its failure is reported after the subscription’s end', async () => {
    const who = await subscriber(service, 'pm_sim_ok_1_then_decline');
    const made = await subscribe(service, who);
    await service.webhookMode('drop');
    await service.fault({ provider: 'provider_a', method: 'GET', path: '/v1/', action: 'error_500' });
    await service.moveTo(made.current_period_end);
    await service.advance(2 * HOUR_SECONDS);
    expect(await paymentsOf(service, who, made.id)).toHaveLength(1);
    const failedAt = Math.floor(service.now() / 1_000);
    await service.clearFaults();
    expect(await command(service, who, { id: made.id, name: 'cancel', body: NOW })).toMatchObject({ status: 200 });
    const { invoices } = await service.ledger();
    const open = invoices.filter((one) => one.subscription === made.provider_subscription_id).at(-1);
    expect(open).toMatchObject({ status: 'void' });
    const details = { subscription: made.provider_subscription_id, metadata: { subscription_id: made.id } };
    const start = Date.parse(made.current_period_end) / 1_000;
    const period = { start, end: start + 31 * DAY_SECONDS };
    await service.sendEvent({
      type: 'invoice.payment_failed',
      created: failedAt,
      object: {
        ...{
          id: present(open).id,
          object: 'invoice',
          status: 'open',
          attempt_count: 1,
          amount_due: present(open).amount,
          currency: 'usd',
        },
        ...{ parent: { subscription_details: details }, lines: { data: [{ period }] } },
        payments: { data: [{ payment: { payment_intent: present(open).payment_intent } }] },
      },
    });
    await service.settle();
    expect((await paymentsOf(service, who, made.id)).map(({ status }) => status).toSorted()).toEqual([
      'canceled',
      'succeeded',
    ]);
    await service.webhookMode('normal');
  });
});

describe('a subscription recreated at its provider', () => {
  test('is active if the response of its creation is lost and its event arrives first', async () => {
    const who = await subscriber(service);
    const { id } = await subscribe(service, who);
    await command(service, who, { id, name: 'cancel', body: NOW });
    await service.advance(32 * DAY_SECONDS);
    await lose();
    await command(service, who, { id, name: 'reactivate' });
    await service.advance(HOUR_SECONDS);
    expect(await readSubscription(service, who, id)).toMatchObject({ status: 'active' });
    expect((await there(id)).map(({ status }) => status)).toEqual(['canceled', 'active']);
  });

  test('is not charged again for a renewal whose event was lost', async () => {
    const who = await subscriber(service);
    const made = await subscribe(service, who);
    await service.webhookMode('drop');
    await service.fault({ provider: 'provider_a', path: '/v1/subscriptions', action: 'error_500' });
    await service.moveTo(made.current_period_end);
    await service.advance(2 * HOUR_SECONDS);
    await service.clearFaults();
    expect(await paymentsOf(service, who, made.id)).toHaveLength(1);
    await command(service, who, { id: made.id, name: 'cancel', body: NOW });
    const again = await command(service, who, { id: made.id, name: 'reactivate' });
    expect(again.body).toMatchObject({ status: 'active', current_period_start: made.current_period_end });
    expect(await paymentsOf(service, who, made.id)).toHaveLength(2);
    await service.advance(HOUR_SECONDS);
    expect((await paymentsOf(service, who, made.id)).map(({ status }) => status)).toEqual(['succeeded', 'succeeded']);
    expect((await there(made.id)).map(({ status }) => status)).toEqual(['canceled', 'trialing']);
  });

  test('is not ended by a late event of the former provider subscription', async () => {
    const who = await subscriber(service);
    const { id, provider_subscription_id: former } = await subscribe(service, who);
    await service.webhookMode('drop');
    await command(service, who, { id, name: 'cancel', body: NOW });
    await service.advance(60);
    await lose();
    await command(service, who, { id, name: 'reactivate' });
    await service.webhookMode('normal');
    const object = (await there(id)).find((one) => one.id === former);
    await service.sendEvent({
      provider: 'provider_a',
      type: 'subscription.deleted',
      object: { ...object, id: former },
    });
    await service.advance(HOUR_SECONDS);
    const now = await readSubscription(service, who, id);
    expect(now).toMatchObject({ status: 'active' });
    expect(now.provider_subscription_id).not.toBe(former);
    expect((await there(id)).map(({ status }) => status)).toContain(now.status === 'active' ? 'trialing' : 'never');
  });

  test('stays, while a duplicate at the provider is canceled and the charge of the duplicate is recorded', async () => {
    const who = await subscriber(service);
    const { id, total_cents, provider_subscription_id: own } = await subscribe(service, who);
    const { body: customer } = await service.get(`/customers/${who.names.customer_id}`, who.options);
    const second = await atStripe(service, 'POST subscriptions', {
      customer: customer.provider_customer_id,
      'items[0][price_data][currency]': 'usd',
      'items[0][price_data][product]': (await atStripe(service, 'POST products', { name: 'The same' })).id,
      'items[0][price_data][unit_amount]': String(total_cents),
      'items[0][price_data][recurring][interval]': 'month',
      'metadata[subscription_id]': id,
      default_payment_method: (await service.get(`/payment-methods/${who.names.payment_method_id}`, who.options)).body
        .provider_payment_method_id,
    });
    await service.advance(HOUR_SECONDS);
    const states = (await there(id)).map((one) => [one.id, one.status]);
    expect(Object.fromEntries(states)).toEqual({ [own]: 'active', [second.id]: 'canceled' });
    expect(await readSubscription(service, who, id)).toMatchObject({ status: 'active', provider_subscription_id: own });
    expect(await paymentsOf(service, who, id)).toMatchObject([{ status: 'succeeded' }, { status: 'succeeded' }]);
  });

  test('is not charged again for the paid time after two creations with lost responses', async () => {
    const who = await subscriber(service);
    const { id } = await subscribe(service, who, { billing_interval: 'weekly' });
    await command(service, who, { id, name: 'cancel', body: NOW });
    await service.advance(8 * DAY_SECONDS);
    await service.webhookMode('drop');
    for (const isLast of [false, true]) {
      await lose();
      await command(service, who, { id, name: 'reactivate' });
      if (isLast) continue;
      await command(service, who, { id, name: 'cancel', body: NOW });
      await service.advance(1);
    }
    const [, canceled, current] = await there(id);
    const { invoices } = await service.ledger();
    const invoice = invoices.find(({ subscription }) => subscription === canceled?.id);
    await service.sendEvent({
      type: 'invoice.payment_succeeded',
      object: {
        ...{ id: present(invoice).id, object: 'invoice', subscription: canceled?.id, status: 'paid' },
        subscription_details: { metadata: { subscription_id: id } },
      },
    });
    await service.advance(HOUR_SECONDS);
    expect(await readSubscription(service, who, id)).toMatchObject({
      status: 'active',
      provider_subscription_id: current?.id,
    });
    expect((await there(id)).map(({ status }) => status)).toEqual(['canceled', 'canceled', 'trialing']);
    expect(await paymentsOf(service, who, id)).toHaveLength(2);
  });
});

describe('a first charge', () => {
  test('is recorded from its invoice event after a lost response, with the provider’s subscription id', async () => {
    const who = await subscriber(service);
    await service.webhookMode('drop');
    await lose();
    const { id } = await subscribe(service, who);
    expect(await readSubscription(service, who, id)).toMatchObject({
      status: 'past_due',
      provider_subscription_id: null,
    });
    const [made] = await there(id);
    const { invoices } = await service.ledger();
    const invoice = invoices.find(({ subscription }) => subscription === made?.id);
    await service.sendEvent({
      type: 'invoice.payment_succeeded',
      object: {
        ...{ id: present(invoice).id, object: 'invoice', subscription: made?.id, status: 'paid' },
        subscription_details: { metadata: { subscription_id: id } },
      },
    });
    await service.settle();
    expect(await readSubscription(service, who, id)).toMatchObject({
      status: 'active',
      provider_subscription_id: made?.id,
    });
    expect((await paymentsOf(service, who, id)).map(({ status }) => status)).toEqual(['succeeded']);
  });

  test('leaves nothing collectible at the provider after a lost response and a cancel', async () => {
    const { who, id } = await subscribedUnheard();
    expect(await command(service, who, { id, name: 'cancel', body: NOW })).toMatchObject({
      status: 200,
      body: { status: 'canceled' },
    });
    await service.advance(2 * HOUR_SECONDS);
    expect((await there(id)).map(({ status }) => status)).toEqual(['canceled']);
  });

  test('counts for its period if the payer returns after a lost response and a cancel', async () => {
    const who = await subscriber(service);
    await service.webhookMode('drop');
    await lose();
    const { id } = await subscribe(service, who);
    await command(service, who, { id, name: 'cancel', body: NOW });
    expect(await command(service, who, { id, name: 'reactivate' })).toMatchObject({
      status: 200,
      body: { status: 'active' },
    });
    expect((await there(id)).map(({ status }) => status)).toEqual(['canceled', 'trialing']);
    expect((await paymentsOf(service, who, id)).map(({ status }) => status)).toEqual(['succeeded']);
  });

  test('is recorded as paid if it settles late after a lost response and a cancel', async () => {
    const who = await subscriber(service, 'pm_sim_processing_ok');
    await lose();
    const { id } = await subscribe(service, who);
    await command(service, who, { id, name: 'cancel', body: NOW });
    await service.advance(2 * HOUR_SECONDS);
    expect((await paymentsOf(service, who, id)).map(({ status }) => status)).toEqual(['succeeded']);
  });

  test('leaves nothing collectible without events if its response is lost and the cancel first fails', async () => {
    const { who, id } = await subscribedUnheard();
    const refuse = { provider: 'provider_a', method: 'DELETE', path: '/v1/subscriptions', action: 'rate_limit' };
    await service.fault({ ...refuse, times: 10 });
    expect(await command(service, who, { id, name: 'cancel', body: NOW })).toMatchObject({ status: 200 });
    expect((await there(id)).map(({ status }) => status)).toEqual(['active']);
    await service.clearFaults();
    await service.advance(2 * HOUR_SECONDS);
    expect((await there(id)).map(({ status }) => status)).toEqual(['canceled']);
  });

  test('leaves the subscription past due while it is processing, and active once it is paid', async () => {
    const who = await subscriber(service, 'pm_sim_processing_ok');
    const made = await subscribe(service, who);
    expect(made).toMatchObject({ status: 'past_due', billing_status: 'pending' });
    await service.advance(HOUR_SECONDS);
    expect(await readSubscription(service, who, made.id)).toMatchObject({ status: 'active', billing_status: 'active' });
  });
});

describe('a returning payer', () => {
  const succeeded = async (who: Subscriber, id: string): Promise<number> =>
    (await paymentsOf(service, who, id)).filter(({ status }) => status === 'succeeded').length;
  const reactivate = (who: Subscriber, id: string) => command(service, who, { id, name: 'reactivate' });
  const IN_PROGRESS = { status: 409, body: { code: 'PAYMENT_IN_PROGRESS' } };

  /** A trial has ended, and its first charge is in progress. */
  const renewing = async () => {
    const who = await subscriber(service, 'pm_sim_processing_ok');
    const { id, trial_end } = await subscribe(service, who, { trial_days: 5 });
    await service.moveTo(trial_end);
    await service.settle();
    return { who, id };
  };

  test('is not charged again while the first charge is processing', async () => {
    const who = await subscriber(service, 'pm_sim_processing_ok');
    const { id } = await subscribe(service, who);
    await command(service, who, { id, name: 'cancel', body: NOW });
    expect(await reactivate(who, id)).toMatchObject(IN_PROGRESS);
    await service.advance(2 * HOUR_SECONDS);
    expect(await reactivate(who, id)).toMatchObject({ status: 200, body: { status: 'active' } });
    expect(await succeeded(who, id)).toBe(1);
  });

  test('is not charged again while the first charge is processing after a lost response', async () => {
    const who = await subscriber(service, 'pm_sim_processing_ok');
    await lose();
    const { id } = await subscribe(service, who);
    await command(service, who, { id, name: 'cancel', body: NOW });
    expect(await reactivate(who, id)).toMatchObject(IN_PROGRESS);
    await service.webhookMode('drop');
    await service.advance(2 * HOUR_SECONDS);
    expect(await reactivate(who, id)).toMatchObject({ status: 200, body: { status: 'active' } });
    expect(await succeeded(who, id)).toBe(1);
  });

  test('is not charged again while a renewal is processing', async () => {
    const { who, id } = await renewing();
    await command(service, who, { id, name: 'cancel', body: NOW });
    expect(await reactivate(who, id)).toMatchObject(IN_PROGRESS);
    await service.advance(2 * HOUR_SECONDS);
    expect(await reactivate(who, id)).toMatchObject({ status: 200, body: { status: 'active' } });
    expect(await succeeded(who, id)).toBe(1);
  });

  test('is not charged again after a pause while a renewal is processing', async () => {
    const { who, id } = await renewing();
    await command(service, who, { id, name: 'pause' });
    expect(await command(service, who, { id, name: 'resume' })).toMatchObject(IN_PROGRESS);
    await service.advance(2 * HOUR_SECONDS);
    expect(await command(service, who, { id, name: 'resume' })).toMatchObject({
      status: 200,
      body: { status: 'active' },
    });
    expect(await succeeded(who, id)).toBe(1);
  });

  test('has a processing charge recorded even if the payer cancels', async () => {
    const { who, id } = await renewing();
    await command(service, who, { id, name: 'cancel', body: NOW });
    await service.advance(2 * HOUR_SECONDS);
    expect(await succeeded(who, id)).toBe(1);
  });
});
