import { describe, expect, test } from 'vitest';
import { present } from '../builders/present.ts';
import { DAY_SECONDS, MINUTE_SECONDS } from '../builders/seconds.ts';
import { atStripe } from './at-stripe.ts';
import { itemsOf } from './flow.ts';
import { withHost } from './host.ts';
import { company, saveMethod } from './payers.ts';
import { refund, signInAdmin } from './refunders.ts';
import {
  anotherMethod,
  command,
  OWN_BILLING,
  patch,
  payer,
  paymentsOf,
  readMembership,
  readSubscription,
  type Subscriber,
  subscribe,
  subscriber,
  subscribeToGold,
  subscriptionEventsOf,
} from './subscribers.ts';

const remove = (service: ReturnType<typeof withHost>, path: string, options: object) =>
  service.request('DELETE', path, options);

describe('a method used by a live subscription', () => {
  const service = withHost({ frozen: true, env: OWN_BILLING });

  test('cannot be deleted while no other method is the default', async () => {
    const who = await subscriber(service);
    const made = await subscribe(service, who);
    const path = `/payment-methods/${who.names.payment_method_id}`;
    expect(await remove(service, path, who.options)).toMatchObject({
      status: 409,
      body: { code: 'PAYMENT_METHOD_IN_USE', details: { subscription_ids: [made.id] } },
    });
    // Another method exists, but it is not the default.
    await anotherMethod(service, who);
    expect((await remove(service, path, who.options)).status).toBe(409);
    await command(service, who, { id: made.id, name: 'cancel', body: { cancel_at_period_end: false } });
    expect((await remove(service, path, who.options)).status).toBe(204);
  });

  test('is replaced on deletion by the default method, which pays the next period', async () => {
    const who = await subscriber(service);
    const made = await subscribe(service, who, { billing_interval: 'daily' });
    const replacement = await saveMethod(service, who.options, { is_default: true });
    expect((await remove(service, `/payment-methods/${who.names.payment_method_id}`, who.options)).status).toBe(204);
    expect(await readSubscription(service, who, made.id)).toMatchObject({ payment_method_id: replacement.id });
    await service.advance(DAY_SECONDS + MINUTE_SECONDS);
    expect(await paymentsOf(service, who, made.id)).toMatchObject([
      { status: 'succeeded' },
      { status: 'succeeded', payment_method_id: replacement.id },
    ]);
    expect((await remove(service, `/payment-methods/${replacement.id}`, who.options)).status).toBe(409);
    await command(service, who, { id: made.id, name: 'cancel', body: { cancel_at_period_end: false } });
  });

  test('leaves an ended trial paused and a renewal past due once it is detached at the provider', async () => {
    const [trial, running] = [await subscriber(service), await subscriber(service)];
    const onTrial = await subscribe(service, trial, { trial_days: 1 });
    const paid = await subscribe(service, running, { billing_interval: 'daily' });
    for (const who of [trial, running]) {
      const { body } = await service.get(`/payment-methods/${who.names.payment_method_id}`, who.options);
      const object = { id: body.provider_payment_method_id };
      await service.sendEvent({
        type: 'payment_method.detached',
        object,
        created: Math.floor(service.now() / 1_000) + 1,
      });
    }
    await service.settle();
    expect(await readSubscription(service, trial, onTrial.id)).toMatchObject({ payment_method_id: null });
    await service.advance(DAY_SECONDS + MINUTE_SECONDS);
    expect(await readSubscription(service, trial, onTrial.id)).toMatchObject({ status: 'paused' });
    expect(await readSubscription(service, running, paid.id)).toMatchObject({
      status: 'past_due',
      billing_status: 'unpaid',
      next_billing_date: null,
    });
    const method = await anotherMethod(service, running);
    const body = { payment_method_id: method };
    const changed = await service.request('PATCH', `/subscriptions/${paid.id}`, { ...running.options, body });
    expect(changed).toMatchObject({ status: 200, body: { status: 'active' } });
    expect(await command(service, trial, { id: onTrial.id, name: 'resume' })).toMatchObject({
      status: 400,
      body: { code: 'PAYMENT_METHOD_REQUIRED' },
    });
  });
});

describe('a method detached in Stripe’s dashboard without a replacement', () => {
  const service = withHost({ frozen: true });

  const invoicesOf = async (who: Subscriber, id: string): Promise<string[]> => {
    const { provider_subscription_id: own } = await readSubscription(service, who, id);
    const { invoices } = await service.ledger();
    return invoices.filter(({ subscription }) => subscription === own).map(({ status }) => status);
  };
  const detach = async (who: Subscriber): Promise<void> => {
    const { body } = await service.get(`/payment-methods/${who.names.payment_method_id}`, who.options);
    await atStripe(service, `POST payment_methods/${body.provider_payment_method_id}/detach`);
    await service.settle();
  };

  test('pauses the collection at Stripe until a new card pays one period', async () => {
    const who = await subscriber(service);
    const made = await subscribe(service, who, { billing_interval: 'daily' });
    await detach(who);
    expect(await readSubscription(service, who, made.id)).toMatchObject({ status: 'active', payment_method_id: null });
    for (let day = 0; day < 10; day += 1) await service.advance(DAY_SECONDS);
    expect(await readSubscription(service, who, made.id)).toMatchObject({ status: 'past_due' });
    expect(await invoicesOf(who, made.id)).not.toContain('open');
    const body = { payment_method_id: await anotherMethod(service, who) };
    expect(await patch(service, who, { id: made.id, body })).toMatchObject({ body: { status: 'active' } });
    await service.settle();
    expect((await invoicesOf(who, made.id)).filter((status) => status === 'paid')).toHaveLength(2);
    const paid = (await paymentsOf(service, who, made.id)).filter(({ status }) => status === 'succeeded');
    expect(paid).toHaveLength(2);
  });

  test.each([
    ['trialing', 'trialing', 20 * DAY_SECONDS],
    ['trialing', 'paused', 0],
    ['active', 'trialing', 40 * DAY_SECONDS],
  ])('changes the status from %s to %s if the trial ends in %i seconds', async (before, after, seconds) => {
    const who = await subscriber(service);
    const made = await subscribe(service, who, before === 'trialing' ? { trial_days: 10 } : {});
    await detach(who);
    await service.advance(MINUTE_SECONDS);
    const trial_end = seconds === 0 ? 'now' : new Date(service.now() + seconds * 1_000).toISOString();
    await service.control('POST', `/simulator/subscriptions/${made.id}`, { trial_end });
    await service.settle();
    expect(await readSubscription(service, who, made.id)).toMatchObject({ status: after });
  });

  test('voids the already open invoices', async () => {
    const who = await subscriber(service, 'pm_sim_ok_1_then_decline');
    const made = await subscribe(service, who, { billing_interval: 'daily' });
    await service.advance(2 * DAY_SECONDS);
    expect(await invoicesOf(who, made.id)).toContain('open');
    await detach(who);
    expect(await invoicesOf(who, made.id)).not.toContain('open');
    expect(await readSubscription(service, who, made.id)).toMatchObject({
      status: 'past_due',
      payment_method_id: null,
    });
  });
});

describe('a deleted customer', () => {
  const service = withHost({ frozen: true, env: OWN_BILLING });

  test('leaves its subscriptions canceled, with their payments', async () => {
    const who = await subscriber(service);
    const made = await subscribeToGold(service, who);
    expect((await remove(service, `/customers/${who.names.customer_id}`, who.options)).status).toBe(204);
    expect(await readSubscription(service, who, made.id)).toMatchObject({ status: 'canceled' });
    expect(await readMembership(service, who, made.id)).toMatchObject({ status: 'cancelled' });
    await service.advance(40 * DAY_SECONDS);
    expect(await paymentsOf(service, who, made.id)).toHaveLength(1);
  });
});

describe('a customer deleted with history', () => {
  const service = withHost({ frozen: true, env: { ...OWN_BILLING, CUSTOMER_DELETE_HISTORY: 'true' } });

  test('leaves no data of its subscriptions', async () => {
    const who = await subscriber(service);
    const made = await subscribeToGold(service, who);
    await service.settle();
    expect((await remove(service, `/customers/${who.names.customer_id}`, who.options)).status).toBe(204);
    expect((await service.get(`/subscriptions/${made.id}`, who.options)).status).toBe(404);
    expect((await service.get('/memberships', who.options)).body.data).toEqual([]);
    const left = await itemsOf(service);
    expect(left.filter(({ pk, sk }) => pk === `SUB#${made.id}` && sk === 'SUB')).toEqual([]);
    expect(left.filter(({ sk }) => sk === `SUB#${made.id}`)).toEqual([]);
  });

  test('leaves no data of its payments’ refunds', async () => {
    const who = await subscriber(service);
    const admin = await signInAdmin(service);
    const made = await subscribeToGold(service, who);
    await service.settle();
    const [paid] = await paymentsOf(service, who, made.id);
    const refunded = await refund(service, present(paid).id, {
      ...admin.options,
      body: { amount_cents: 100, description: 'for Ada' },
    });
    expect(refunded.status).toBe(201);
    await service.settle();
    expect((await remove(service, `/customers/${who.names.customer_id}`, who.options)).status).toBe(204);
    await service.settle();
    const left = (await itemsOf(service)).filter(({ sk }) => ['PAY', 'RFD', 'REF'].includes(sk));
    const ids = [present(paid).id, refunded.body.id, refunded.body.provider_refund_id];
    expect(left.filter((item) => ids.some((id) => JSON.stringify(item).includes(id)))).toEqual([]);
  });

  test('keeps a payment with a pending refund until the refund ends', async () => {
    const who = await subscriber(service);
    const admin = await signInAdmin(service);
    const made = await subscribeToGold(service, who);
    await service.settle();
    const [paid] = await paymentsOf(service, who, made.id);
    await service.fault({ provider: 'provider_a', method: 'POST', path: '/v1/refunds', action: 'error_500', times: 1 });
    const open = await refund(service, present(paid).id, { ...admin.options, body: { amount_cents: 100 } });
    expect(open.status).toBe(202);
    expect((await remove(service, `/customers/${who.names.customer_id}`, who.options)).status).toBe(204);
    await service.advance(10 * MINUTE_SECONDS);
    expect(await service.get(`/refunds/${open.body.id}`, admin.options)).toMatchObject({
      status: 200,
      body: { status: 'succeeded' },
    });
  });
});

describe('a deleted organization', () => {
  const service = withHost({ frozen: true, env: OWN_BILLING });

  test('leaves its subscriptions canceled and then removed, but keeps their payments', async () => {
    const { id: organization_id, owner } = await company(service);
    const names = await payer(service, owner.options, { token: 'pm_card_visa', fields: { organization_id } });
    const made = await subscribe(service, names, { organization_id });
    expect((await remove(service, `/organizations/${organization_id}`, owner.options)).status).toBe(200);
    await service.settle();
    expect(await subscriptionEventsOf(service, made.id)).toEqual([
      'subscription.created created',
      'subscription.cancelled canceled',
    ]);
    await service.advance(10 * MINUTE_SECONDS);
    const left = await itemsOf(service);
    expect(left.filter(({ pk, sk }) => pk === `SUB#${made.id}` && sk === 'SUB')).toEqual([]);
    expect(left.filter(({ sk, subscriptionId }) => sk === 'PAY' && subscriptionId === made.id)).toHaveLength(1);
    await service.advance(40 * DAY_SECONDS);
    const { charges } = await service.ledger();
    expect(charges).toHaveLength(1);
  });

  test('is deleted without waiting for a processing payment', async () => {
    const { id: organization_id, owner } = await company(service);
    const fields = { organization_id, provider_id: 'provider_b' };
    const names = await payer(service, owner.options, { token: 'SIM-PENDING-OK', fields });
    expect(await subscribe(service, names, { organization_id })).toMatchObject({ billing_status: 'pending' });
    expect((await remove(service, `/organizations/${organization_id}`, owner.options)).status).toBe(200);
  });
});
