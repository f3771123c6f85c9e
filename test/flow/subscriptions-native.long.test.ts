import { describe, expect, test } from 'vitest';
import { DAY_MS } from '../../shared/core/time.ts';
import { present } from '../builders/present.ts';
import { DAY_SECONDS, HOUR_SECONDS, MINUTE_SECONDS } from '../builders/seconds.ts';
import { IMPATIENT } from './flow.ts';
import { type TestHost, withHost } from './host.ts';
import type { ParsedJson } from './routes.ts';
import {
  anotherMethod,
  command,
  patch,
  paymentsOf,
  readMembership,
  readSubscription,
  type Subscriber,
  subscribe,
  subscriber,
  subscribeToGold,
  subscriptionEventsOf,
  trySubscribe,
} from './subscribers.ts';

const CANCEL_NOW = { cancel_at_period_end: false };
const statuses = (list: readonly { readonly status: string }[]): string[] => list.map(({ status }) => status);

/** The provider's ledger for one subscription, with its invoices and payments. */
const there = async (service: TestHost, id: string) => {
  const ledger = await service.ledger();
  const subscriptions = ledger.subscriptions.filter(({ subscription_id }) => subscription_id === id);
  const ids = subscriptions.map((one) => one.id);
  const invoices = ledger.invoices.filter(({ subscription }) => ids.includes(subscription));
  const intents = invoices.map(({ payment_intent }) => payment_intent);
  const charges = ledger.charges.filter(({ payment_intent }) => intents.includes(payment_intent));
  return { subscriptions, invoices, charges };
};

/** Expects that the record equals the provider's state, and that only the provider has charged. */
const expectAgreement = async (service: TestHost, who: Subscriber, id: string) => {
  const now = await readSubscription(service, who, id);
  const { subscriptions, charges } = await there(service, id);
  const live = subscriptions.at(-1);
  expect({ status: now.status, end: now.current_period_end }).toEqual({
    status: present(live).status,
    end: present(live).current_period_end,
  });
  const payments = await paymentsOf(service, who, id);
  const paid = (list: readonly ParsedJson[]) => list.filter(({ status }) => status === 'succeeded');
  expect(paid(payments).map((payment) => payment.id)).toEqual(paid(charges).map(({ payment_id }) => payment_id));
  const asked = (await service.providerRequests()).filter(
    ({ method, path }) => method === 'POST' && /payment_intents(\/[^/]+\/confirm)?$/.test(path),
  );
  expect(asked).toEqual([]);
  return now;
};

describe('a provider-billed subscription', () => {
  const service = withHost({ frozen: true, env: IMPATIENT });

  test.each([
    ['daily', 1, 1],
    ['weekly', 7, 7],
    ['monthly', 28, 31],
    ['quarterly', 89, 92],
    ['yearly', 365, 366],
  ])('has %s periods of %i to %i days', async (billing_interval, least, most) => {
    const who = await subscriber(service);
    const made = await subscribe(service, who, { billing_interval });
    await command(service, who, { id: made.id, name: 'cancel', body: CANCEL_NOW });
    const days = (Date.parse(made.current_period_end) - Date.parse(made.current_period_start)) / DAY_MS;
    expect(days).toBeGreaterThanOrEqual(least);
    expect(days).toBeLessThanOrEqual(most);
  });

  test('is charged only by the provider, and its record follows each period', async () => {
    const who = await subscriber(service);
    const made = await subscribeToGold(service, who);
    expect(made).toMatchObject({
      status: 'active',
      billing_owner: 'provider',
      provider_subscription_id: expect.stringMatching(/^sub_/),
    });
    await service.settle();
    await expectAgreement(service, who, made.id);
    await service.moveTo(made.current_period_end);
    await service.advance(2 * HOUR_SECONDS);
    const renewed = await expectAgreement(service, who, made.id);
    expect(renewed.current_period_start).toBe(made.current_period_end);
    expect(statuses(await paymentsOf(service, who, made.id))).toEqual(['succeeded', 'succeeded']);
    expect(await readMembership(service, who, made.id)).toMatchObject({
      status: 'active',
      ends_at: renewed.current_period_end,
    });
    await command(service, who, { id: made.id, name: 'cancel', body: CANCEL_NOW });
  });

  test('is not created if its first charge is declined, and a retry gets the same response', async () => {
    const who = await subscriber(service, 'pm_card_chargeCustomerFail');
    const keyed = { ...who, options: { ...who.options, idempotencyKey: 'native' } };
    const first = await trySubscribe(service, keyed);
    expect(first).toMatchObject({ status: 402, body: { code: 'PAYMENT_DECLINED' } });
    expect(await trySubscribe(service, keyed)).toMatchObject({ status: 402, body: { details: first.body.details } });
    expect((await service.get('/subscriptions', who.options)).body).toEqual([]);
  });

  test('publishes one notice before its trial ends, and is then charged', async () => {
    const who = await subscriber(service);
    const made = await subscribeToGold(service, who, { trial_days: 5 });
    expect(made).toMatchObject({ status: 'trialing', billing_status: 'trialing' });
    await service.advance(5 * DAY_SECONDS - HOUR_SECONDS);
    expect(await subscriptionEventsOf(service, made.id)).toEqual([
      'subscription.created created',
      'membership.pending pending',
      'subscription.updated trial_will_end',
    ]);
    expect(await paymentsOf(service, who, made.id)).toEqual([]);
    await service.advance(3 * HOUR_SECONDS);
    await expectAgreement(service, who, made.id);
    expect(statuses(await paymentsOf(service, who, made.id))).toEqual(['succeeded']);
    expect(await subscriptionEventsOf(service, made.id)).toContain('membership.activated active');
    await command(service, who, { id: made.id, name: 'cancel', body: CANCEL_NOW });
  });

  test('gives no membership if the first charge after its trial fails', async () => {
    const who = await subscriber(service, 'pm_card_chargeCustomerFail');
    const made = await subscribeToGold(service, who, { trial_days: 5 });
    await service.advance(5 * DAY_SECONDS + 3 * HOUR_SECONDS);
    expect(await expectAgreement(service, who, made.id)).toMatchObject({ status: 'past_due' });
    expect(await readMembership(service, who, made.id)).toMatchObject({ status: 'pending', starts_at: null });
    expect(await subscriptionEventsOf(service, made.id)).not.toContain('membership.activated active');
    await command(service, who, { id: made.id, name: 'cancel', body: CANCEL_NOW });
  });

  test('becomes past due when a renewal fails, and active again with another method', async () => {
    const who = await subscriber(service);
    const made = await subscribeToGold(service, who);
    const failing = await anotherMethod(service, who, 'pm_card_chargeCustomerFail');
    expect((await patch(service, who, { id: made.id, body: { payment_method_id: failing } })).status).toBe(200);
    await service.moveTo(made.current_period_end);
    await service.advance(2 * HOUR_SECONDS);
    expect(await expectAgreement(service, who, made.id)).toMatchObject({
      status: 'past_due',
      billing_status: 'retrying',
      next_billing_date: new Date(Date.parse(made.current_period_end) + DAY_MS).toISOString(),
    });
    expect(
      (await subscriptionEventsOf(service, made.id)).filter((name) => name.endsWith('payment_failed')),
    ).toHaveLength(1);
    expect(statuses(await paymentsOf(service, who, made.id))).toEqual(['succeeded', 'failed']);
    expect(await readMembership(service, who, made.id)).toMatchObject({ ends_at: made.current_period_end });
    const good = await anotherMethod(service, who);
    expect(await patch(service, who, { id: made.id, body: { payment_method_id: good } })).toMatchObject({
      status: 200,
      body: { status: 'active', payment_method_id: good },
    });
    await service.settle();
    await expectAgreement(service, who, made.id);
    expect(statuses(await paymentsOf(service, who, made.id))).toEqual(['succeeded', 'succeeded']);
    await command(service, who, { id: made.id, name: 'cancel', body: CANCEL_NOW });
  });

  test('ends at both sides when the retries are exhausted', async () => {
    const who = await subscriber(service);
    const made = await subscribeToGold(service, who);
    const failing = await anotherMethod(service, who, 'pm_card_chargeCustomerFail');
    await patch(service, who, { id: made.id, body: { payment_method_id: failing } });
    await service.moveTo(made.current_period_end);
    await service.advance(20 * DAY_SECONDS);
    const [, failed] = await paymentsOf(service, who, made.id);
    const [invoice] = (await there(service, made.id)).invoices.slice(-1);
    const failures = (await service.busEvents('payment.failed')).map(({ detail }) => detail.payload.data);
    expect(invoice?.attempts).toBeGreaterThan(1);
    expect(failures.filter(({ payment_id }) => payment_id === failed?.id)).toHaveLength(present(invoice).attempts);
    expect(await readSubscription(service, who, made.id)).toMatchObject({
      status: 'canceled',
      billing_status: 'ended',
    });
    expect((await there(service, made.id)).subscriptions.at(-1)?.status).toBe('canceled');
    expect(await readMembership(service, who, made.id)).toMatchObject({ status: 'cancelled' });
  });

  test('is canceled at the end of the period, and the cancellation can be withdrawn', async () => {
    const who = await subscriber(service);
    const [kept, ended] = [await subscribe(service, who), await subscribe(service, who)];
    for (const { id } of [kept, ended]) {
      expect(await command(service, who, { id, name: 'cancel' })).toMatchObject({
        status: 200,
        body: { status: 'active', cancel_at_period_end: true },
      });
    }
    expect(await command(service, who, { id: kept.id, name: 'reactivate' })).toMatchObject({
      status: 200,
      body: { status: 'active', cancel_at_period_end: false },
    });
    await service.moveTo(ended.current_period_end);
    await service.advance(2 * HOUR_SECONDS);
    expect(await readSubscription(service, who, ended.id)).toMatchObject({ status: 'canceled' });
    expect(await readSubscription(service, who, kept.id)).toMatchObject({ status: 'active' });
    expect(statuses(await paymentsOf(service, who, ended.id))).toEqual(['succeeded']);
    expect(statuses(await paymentsOf(service, who, kept.id))).toEqual(['succeeded', 'succeeded']);
    await command(service, who, { id: kept.id, name: 'cancel', body: CANCEL_NOW });
  });

  test('is recreated at the provider on reactivation, and charged only after its period', async () => {
    const who = await subscriber(service);
    const made = await subscribeToGold(service, who);
    const canceled = await command(service, who, { id: made.id, name: 'cancel', body: CANCEL_NOW });
    expect(canceled).toMatchObject({ status: 200, body: { status: 'canceled', next_billing_date: null } });
    await service.settle();
    const again = await command(service, who, { id: made.id, name: 'reactivate' });
    expect(again).toMatchObject({
      status: 200,
      body: { status: 'active', current_period_end: made.current_period_end, cancel_at_period_end: false },
    });
    expect(again.body.provider_subscription_id).not.toBe(made.provider_subscription_id);
    expect(await paymentsOf(service, who, made.id)).toHaveLength(1);
    await service.moveTo(made.current_period_end);
    await service.advance(2 * HOUR_SECONDS);
    const renewed = await expectAgreement(service, who, made.id);
    expect(renewed).toMatchObject({ status: 'active', current_period_start: made.current_period_end });
    expect(statuses(await paymentsOf(service, who, made.id))).toEqual(['succeeded', 'succeeded']);

    await command(service, who, { id: made.id, name: 'cancel', body: CANCEL_NOW });
    await service.advance(40 * DAY_SECONDS);
    expect(await command(service, who, { id: made.id, name: 'reactivate' })).toMatchObject({
      status: 200,
      body: { status: 'active' },
    });
    await service.settle();
    await expectAgreement(service, who, made.id);
    expect(statuses(await paymentsOf(service, who, made.id))).toEqual(['succeeded', 'succeeded', 'succeeded']);
    await command(service, who, { id: made.id, name: 'cancel', body: CANCEL_NOW });
  });

  test('is paused and resumed at the provider without a charge in its paid period', async () => {
    const who = await subscriber(service);
    const made = await subscribe(service, who);
    expect(await command(service, who, { id: made.id, name: 'pause' })).toMatchObject({
      status: 200,
      body: { status: 'paused' },
    });
    await service.advance(10 * DAY_SECONDS);
    expect(await command(service, who, { id: made.id, name: 'resume' })).toMatchObject({
      status: 200,
      body: { status: 'active', current_period_end: made.current_period_end },
    });
    await service.settle();
    expect(statuses(await paymentsOf(service, who, made.id))).toEqual(['succeeded']);
    await command(service, who, { id: made.id, name: 'cancel', body: CANCEL_NOW });
  });

  test('starts and charges a new period if it is resumed after the paid period', async () => {
    const who = await subscriber(service);
    const made = await subscribeToGold(service, who);
    await service.settle();
    for (const month of [1, 2]) {
      expect(await command(service, who, { id: made.id, name: 'pause' })).toMatchObject({ status: 200 });
      await service.advance(40 * DAY_SECONDS);
      expect(await readSubscription(service, who, made.id)).toMatchObject({ status: 'paused' });
      expect(await readMembership(service, who, made.id)).toMatchObject({ status: 'expired' });
      const resumed = await command(service, who, { id: made.id, name: 'resume' });
      expect(resumed).toMatchObject({ status: 200, body: { status: 'active' } });
      await service.settle();
      const now = await expectAgreement(service, who, made.id);
      expect(Date.parse(now.current_period_start)).toBe(Math.floor(service.now() / 1_000) * 1_000);
      expect(await paymentsOf(service, who, made.id)).toHaveLength(1 + month);
      const membership = await readMembership(service, who, made.id);
      expect(membership).toMatchObject({ status: 'active', ends_at: now.current_period_end });
    }
    await command(service, who, { id: made.id, name: 'cancel', body: CANCEL_NOW });
  });

  test('stays paused if the charge of a resume is declined, and can be resumed again', async () => {
    const who = await subscriber(service);
    const made = await subscribe(service, who);
    const failing = await anotherMethod(service, who, 'pm_card_chargeCustomerFail');
    await patch(service, who, { id: made.id, body: { payment_method_id: failing } });
    await command(service, who, { id: made.id, name: 'pause' });
    await service.advance(40 * DAY_SECONDS);
    const declined = { status: 402, body: { code: 'PAYMENT_DECLINED', details: { decline_code: 'do_not_honor' } } };
    expect(await command(service, who, { id: made.id, name: 'resume' })).toMatchObject(declined);
    expect(await command(service, who, { id: made.id, name: 'resume' })).toMatchObject(declined);
    expect(await readSubscription(service, who, made.id)).toMatchObject({ status: 'paused' });
    await patch(service, who, { id: made.id, body: { payment_method_id: who.names.payment_method_id } });
    expect(await command(service, who, { id: made.id, name: 'resume' })).toMatchObject({
      status: 200,
      body: { status: 'active' },
    });
    await command(service, who, { id: made.id, name: 'cancel', body: CANCEL_NOW });
  });

  test('is charged once if the response to its resume is lost and the resume is retried', async () => {
    const who = await subscriber(service);
    const made = await subscribe(service, who);
    await command(service, who, { id: made.id, name: 'pause' });
    await service.advance(40 * DAY_SECONDS);
    await service.webhookMode('drop');
    const path = `/v1/subscriptions/${made.provider_subscription_id}`;
    await service.fault({ provider: 'provider_a', method: 'POST', path, action: 'timeout_after', times: 1 });
    expect((await command(service, who, { id: made.id, name: 'resume' })).status).toBe(504);
    expect((await patch(service, who, { id: made.id, body: { metadata: { note: 'in between' } } })).status).toBe(200);
    expect(await command(service, who, { id: made.id, name: 'resume' })).toMatchObject({
      status: 200,
      body: { status: 'active' },
    });
    expect(statuses(await paymentsOf(service, who, made.id))).toEqual(['succeeded', 'succeeded']);
    expect((await there(service, made.id)).charges).toHaveLength(2);
    await service.webhookMode('normal');
    await command(service, who, { id: made.id, name: 'cancel', body: CANCEL_NOW });
  });

  test('ends if its customer is deleted', async () => {
    const who = await subscriber(service);
    const made = await subscribe(service, who);
    const deleted = await service.request('DELETE', `/customers/${who.names.customer_id}`, who.options);
    expect(deleted.status).toBe(204);
    await service.settle();
    expect(await readSubscription(service, who, made.id)).toMatchObject({ status: 'canceled' });
    expect((await there(service, made.id)).subscriptions[0]?.status).toBe('canceled');
  });
});

describe('the events of a provider-billed subscription', () => {
  const service = withHost({ frozen: true, env: IMPATIENT });

  test.each(['duplicate', 'reorder', 'delay', 'drop'] as const)(
    'result in the provider’s state with webhooks in the mode %s',
    async (mode) => {
      await service.webhookMode(mode, 7);
      const who = await subscriber(service);
      const good = await subscribeToGold(service, who);
      const bad = await subscribe(service, who);
      const failing = await anotherMethod(service, who, 'pm_card_chargeCustomerFail');
      await patch(service, who, { id: bad.id, body: { payment_method_id: failing } });
      await service.moveTo(good.current_period_end);
      // Longer than an event's maximum delay and than the sync interval.
      await service.advance(6 * HOUR_SECONDS);
      await expectAgreement(service, who, good.id);
      expect(await expectAgreement(service, who, bad.id)).toMatchObject({ status: 'past_due' });
      expect(statuses(await paymentsOf(service, who, bad.id)).toSorted()).toEqual(['failed', 'succeeded']);
      for (const { id } of [good, bad]) await command(service, who, { id, name: 'cancel', body: CANCEL_NOW });
      await service.webhookMode('normal');
      await service.advance(2 * HOUR_SECONDS);
    },
  );

  test('lead to a single subscription if the call that creates it times out', async () => {
    for (const action of ['timeout_before', 'timeout_after']) {
      const who = await subscriber(service);
      await service.fault({ provider: 'provider_a', path: '/v1/subscriptions', times: 1, action });
      const made = await subscribe(service, who);
      expect(['active', 'past_due']).toContain(made.status);
      await service.advance(10 * MINUTE_SECONDS);
      await expectAgreement(service, who, made.id);
      expect(await readSubscription(service, who, made.id)).toMatchObject({ status: 'active' });
      const { subscriptions, charges } = await there(service, made.id);
      expect([subscriptions.length, statuses(charges)]).toEqual([1, ['succeeded']]);
      await command(service, who, { id: made.id, name: 'cancel', body: CANCEL_NOW });
    }
  });

  test('are applied in the contract’s vocabulary, but an older event changes nothing', async () => {
    const who = await subscriber(service);
    const made = await subscribeToGold(service, who);
    await service.settle();
    const at = Math.floor(service.now() / 1_000);
    const sendEvent = async (type: string, minutes: number, object: object = {}) => {
      await service.sendEvent({
        type,
        created: at + minutes * MINUTE_SECONDS,
        object: { id: made.provider_subscription_id, ...object },
      });
      await service.settle();
      return (await readSubscription(service, who, made.id)).status;
    };
    const invoice = { id: 'in_reported', subscription: made.provider_subscription_id, amount: 1_900, currency: 'usd' };
    expect(await sendEvent('invoice.payment_failed', 10, { ...invoice, status: 'failed' })).toBe('past_due');
    expect(await sendEvent('invoice.payment_succeeded', 20, { ...invoice, status: 'succeeded' })).toBe('active');
    expect(await sendEvent('subscription.updated', 30, { status: 'paused' })).toBe('paused');
    expect(await sendEvent('subscription.updated', 25, { status: 'active' })).toBe('paused');
    expect(await sendEvent('subscription.updated', 40, { status: 'active' })).toBe('active');
    expect(await sendEvent('subscription.deleted', 50, { status: 'canceled' })).toBe('canceled');
    expect(await sendEvent('subscription.updated', 60, { status: 'active' })).toBe('canceled');
    expect(await paymentsOf(service, who, made.id)).toHaveLength(1);
  });
});
