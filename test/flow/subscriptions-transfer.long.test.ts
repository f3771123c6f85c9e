/** @module A member takes over the payment of an organization's provider-billed subscription. */

import { beforeEach, describe, expect, test } from 'vitest';
import { DAY_SECONDS, HOUR_SECONDS } from '../builders/seconds.ts';
import { atStripe } from './at-stripe.ts';
import { IMPATIENT, signIn } from './flow.ts';
import { withHost } from './host.ts';
import { company, saveMethod } from './payers.ts';
import type { ParsedJson } from './routes.ts';
import {
  command,
  patch,
  payer,
  readSubscription,
  type Subscriber,
  subscribe,
  subscriptionEventsOf,
} from './subscribers.ts';

const service = withHost({ frozen: true, env: IMPATIENT });
beforeEach(async () => {
  await service.webhookMode('normal');
  await service.clearFaults();
});

interface Changing {
  readonly who: Subscriber;
  readonly made: ParsedJson;
  /** The caller's method. */
  readonly method: string;
}

interface Methods {
  /** The organization's method. */
  readonly theirs?: string;
  readonly own?: string;
}

const changing = async (
  { theirs = 'pm_card_visa', own = 'pm_card_visa' }: Methods = {},
  fields: Readonly<Record<string, unknown>> = {},
): Promise<Changing> => {
  const { id: organization_id, owner } = await company(service);
  const { options } = await signIn(service, { user_id: owner.userId, expires_in: 366 * DAY_SECONDS });
  const who = await payer(service, options, { token: theirs, fields: { organization_id } });
  const made = await subscribe(service, who, { organization_id, ...fields });
  const method = await saveMethod(service, options, { provider_payment_method_token: own });
  await service.settle();
  return { who, made, method: method.id };
};

const there = async ({ made }: Changing) => {
  const ledger = await service.ledger();
  const subscriptions = ledger.subscriptions.filter(({ subscription_id }) => subscription_id === made.id);
  const ids = subscriptions.map(({ id }) => id);
  const intents = ledger.invoices
    .filter(({ subscription }) => ids.includes(subscription))
    .map(({ payment_intent }) => payment_intent);
  const paid = ledger.charges.filter(
    ({ payment_intent, status }) => intents.includes(payment_intent) && status === 'succeeded',
  );
  return { statuses: subscriptions.map(({ status }) => status), paid: paid.length };
};

/** The number of the subscription's succeeded payments, as the organization sees them. */
const paidHere = async ({ who, made }: Changing): Promise<number> => {
  const query = new URLSearchParams({ organization_id: made.organization_id, status: 'succeeded' });
  const { body } = await service.get(`/payments?${query}`, who.options);
  return body.data.filter(({ subscription_id }) => subscription_id === made.id).length;
};

/** Interrupts the change after the former subscription has ended, before the record shows the end. */
const leftHalfWay = async ({ who, made, method }: Changing): Promise<void> => {
  const path = `/v1/subscriptions/${made.provider_subscription_id}`;
  await service.fault({ provider: 'provider_a', method: 'DELETE', path, action: 'timeout_after', times: 1 });
  expect((await patch(service, who, { id: made.id, body: { payment_method_id: method } })).status).toBe(504);
};

/** Ends the subscription as the merchant does in the provider's dashboard. */
const endThere = async (id: string): Promise<void> => {
  const { baseUrl, env } = service.host();
  const headers = { authorization: `Bearer ${env['PROVIDER_A_API_KEY']}` };
  const { ok } = await fetch(`${baseUrl}/_local/providers/stripe/v1/subscriptions/${id}`, {
    method: 'DELETE',
    headers,
  });
  expect(ok).toBe(true);
};

/** A subscription whose method (the organization's) paid once and now declines. */
const pastDue = async (methods?: Methods): Promise<Changing> => {
  const test = await changing({ theirs: 'pm_sim_ok_1_then_decline', ...methods });
  await service.moveTo(test.made.current_period_end);
  await service.advance(2 * HOUR_SECONDS);
  expect(await readSubscription(service, test.who, test.made.id)).toMatchObject({ status: 'past_due' });
  return test;
};

describe('a change to a method of another customer', () => {
  test('charges the new method from the next period, and keeps the paid period', async () => {
    const test = await changing();
    const { who, made, method } = test;
    const changed = await patch(service, who, {
      id: made.id,
      body: { payment_method_id: method, metadata: { by: 'owner' } },
    });
    expect(changed).toMatchObject({
      status: 200,
      body: {
        status: 'active',
        payment_method_id: method,
        current_period_end: made.current_period_end,
        metadata: { by: 'owner' },
      },
    });
    await service.settle();
    expect(await there(test)).toEqual({ statuses: ['canceled', 'trialing'], paid: 1 });
    expect(await readSubscription(service, who, made.id)).toMatchObject({ status: 'active' });
    await service.moveTo(made.current_period_end);
    await service.advance(2 * HOUR_SECONDS);
    expect(await there(test)).toEqual({ statuses: ['canceled', 'active'], paid: 2 });
    expect(await readSubscription(service, who, made.id)).toMatchObject({
      status: 'active',
      current_period_start: made.current_period_end,
    });
    expect((await subscriptionEventsOf(service, made.id)).filter((name) => name.includes('cancelled'))).toEqual([]);
  });

  test('keeps a trial and a scheduled cancellation', async () => {
    const test = await changing({}, { trial_days: 10 });
    const { who, made, method } = test;
    await command(service, who, { id: made.id, name: 'cancel' });
    expect(await patch(service, who, { id: made.id, body: { payment_method_id: method } })).toMatchObject({
      status: 200,
      body: { status: 'trialing', cancel_at_period_end: true, trial_end: made.trial_end },
    });
    await service.advance(11 * DAY_SECONDS);
    expect(await readSubscription(service, who, made.id)).toMatchObject({ status: 'canceled' });
    expect(await there(test)).toEqual({ statuses: ['canceled', 'canceled'], paid: 0 });
  });

  test('charges a past-due amount immediately, and the former subscription never collects it', async () => {
    const test = await pastDue();
    const changed = await patch(service, test.who, { id: test.made.id, body: { payment_method_id: test.method } });
    expect(changed).toMatchObject({ status: 200, body: { status: 'active', payment_method_id: test.method } });
    await service.advance(20 * DAY_SECONDS);
    expect(await there(test)).toEqual({ statuses: ['canceled', 'active'], paid: 2 });
  });

  test('changes nothing if the charge is declined, and the retries continue', async () => {
    const test = await pastDue({ own: 'pm_card_chargeCustomerFail' });
    const before = await readSubscription(service, test.who, test.made.id);
    const changed = await patch(service, test.who, {
      id: test.made.id,
      body: { payment_method_id: test.method, metadata: { no: 'no' } },
    });
    expect(changed).toMatchObject({ status: 402, body: { code: 'PAYMENT_DECLINED' } });
    await service.settle();
    expect(await readSubscription(service, test.who, test.made.id)).toMatchObject({
      status: 'past_due',
      payment_method_id: before.payment_method_id,
      metadata: before.metadata,
    });
    expect(await there(test)).toEqual({ statuses: ['past_due'], paid: 1 });
    await service.advance(20 * DAY_SECONDS);
    expect(await readSubscription(service, test.who, test.made.id)).toMatchObject({ status: 'canceled' });
  });

  test.each(['timeout_before', 'timeout_after'] as const)(
    'happens once, even if any response is lost (%s)',
    async (action) => {
      const test = await changing();
      const { who, made, method } = test;
      const steps = [
        ['POST', `/v1/subscriptions/${made.provider_subscription_id}`],
        ['POST', '/v1/subscriptions'],
        ['DELETE', `/v1/subscriptions/${made.provider_subscription_id}`],
      ] as const;
      for (const [verb, path] of steps) {
        await service.fault({ provider: 'provider_a', method: verb, path, action, times: 1 });
      }
      const answers: number[] = [];
      for (let tries = 0; tries < 2; tries += 1) {
        answers.push((await patch(service, who, { id: made.id, body: { payment_method_id: method } })).status);
      }
      expect(answers).toEqual([504, 409]);
      expect(
        await command(service, who, { id: made.id, name: 'cancel', body: { cancel_at_period_end: false } }),
      ).toMatchObject({
        status: 409,
        body: { code: 'PAYMENT_IN_PROGRESS' },
      });
      await service.advance(HOUR_SECONDS);
      expect(await readSubscription(service, who, made.id)).toMatchObject({
        status: 'active',
        payment_method_id: method,
      });
      expect(await there(test)).toEqual({ statuses: ['canceled', 'trialing'], paid: 1 });
    },
  );

  test('does nothing if the subscription ended at the provider without an event', async () => {
    const test = await changing();
    const { who, made, method } = test;
    await service.webhookMode('drop');
    await endThere(made.provider_subscription_id);
    expect(await patch(service, who, { id: made.id, body: { payment_method_id: method } })).toMatchObject({
      status: 409,
      body: { code: 'INVALID_STATE' },
    });
    expect(await there(test)).toEqual({ statuses: ['canceled'], paid: 1 });
    expect(await readSubscription(service, who, made.id)).toMatchObject({ status: 'canceled' });
  });

  test('does not charge again for a renewal whose event has not arrived', async () => {
    const test = await changing();
    const { who, made, method } = test;
    await service.webhookMode('drop');
    await service.moveTo(made.current_period_end);
    await service.advance(60);
    expect(await there(test)).toEqual({ statuses: ['active'], paid: 2 });
    expect(await patch(service, who, { id: made.id, body: { payment_method_id: method } })).toMatchObject({
      status: 200,
      body: { status: 'active', current_period_start: made.current_period_end, payment_method_id: method },
    });
    await service.advance(2 * HOUR_SECONDS);
    expect(await there(test)).toEqual({ statuses: ['canceled', 'trialing'], paid: 2 });
  });

  test.each(['normal', 'drop'] as const)(
    'does not charge again for a renewal between the claim and its retry, and records the renewal (webhooks: %s)',
    async (webhooks) => {
      const test = await changing();
      const { who, made, method } = test;
      const { provider_subscription_id: former, current_period_end: renewal } = made;
      await service.webhookMode(webhooks);
      await service.moveTo(new Date(Date.parse(renewal) - 30_000).toISOString());
      const path = `/v1/subscriptions/${former}`;
      await service.fault({ provider: 'provider_a', method: 'POST', path, action: 'timeout_before', times: 1 });
      expect((await patch(service, who, { id: made.id, body: { payment_method_id: method } })).status).toBe(504);
      await service.fault({ provider: 'provider_a', path: '/v1/subscriptions', action: 'error_500' });
      await service.advance(2 * HOUR_SECONDS);
      expect(await there(test)).toEqual({ statuses: ['active'], paid: 2 });
      await service.clearFaults();
      await service.advance(HOUR_SECONDS);
      expect(await there(test)).toEqual({ statuses: ['canceled', 'trialing'], paid: 2 });
      const moved = await readSubscription(service, who, made.id);
      expect(moved).toMatchObject({ status: 'active', payment_method_id: method, current_period_start: renewal });
      expect(await paidHere(test)).toBe(2);
      await service.webhookMode('normal');
      await service.moveTo(moved.current_period_end);
      await service.advance(2 * HOUR_SECONDS);
      expect(await there(test)).toEqual({ statuses: ['canceled', 'active'], paid: 3 });
      expect(await paidHere(test)).toBe(3);
    },
  );

  test('blocks the deletion of the new method before and after the change is complete', async () => {
    const test = await changing();
    const { who, made, method } = test;
    await leftHalfWay(test);
    const remove = () => service.request('DELETE', `/payment-methods/${method}`, who.options);
    expect(await remove()).toMatchObject({ status: 409 });
    await service.advance(HOUR_SECONDS);
    expect(await readSubscription(service, who, made.id)).toMatchObject({ payment_method_id: method });
    expect(await remove()).toMatchObject({ status: 409, body: { code: 'PAYMENT_METHOD_IN_USE' } });
  });

  test.each([
    { state: 'charged', before: 120, away: DAY_SECONDS + 2 * HOUR_SECONDS, left: ['canceled', 'canceled'], paid: 2 },
    { state: 'in its trial', before: DAY_SECONDS, away: HOUR_SECONDS, left: ['active', 'canceled'], paid: 3 },
  ])(
    'is completed or reverted if the customer is deleted at the provider while the new subscription is $state',
    async ({ before, away, left, paid }) => {
      const test = await changing();
      const { who, made, method } = test;
      const { body: card } = await service.get(`/payment-methods/${method}`, who.options);
      const { body: customer } = await service.get(`/customers/${card.customer_id}`, who.options);
      await service.webhookMode('drop');
      await service.moveTo(new Date(Date.parse(made.current_period_end) - before * 1_000).toISOString());
      const end = { method: 'DELETE', path: `/v1/subscriptions/${made.provider_subscription_id}` };
      await service.fault({ provider: 'provider_a', ...end, action: 'timeout_before', times: 1 });
      expect((await patch(service, who, { id: made.id, body: { payment_method_id: method } })).status).toBe(504);
      await service.fault({ provider: 'provider_a', path: '/v1/subscriptions', action: 'error_500' });
      await service.advance(away);
      await atStripe(service, `DELETE customers/${customer.provider_customer_id}`);
      await service.clearFaults();
      await service.advance(40 * DAY_SECONDS);
      expect(await there(test)).toEqual({ statuses: left, paid });
    },
  );

  // This test takes long, because a provider that is down for a day gets 300 retries.
  test('is completed a day later, after the provider’s idempotency keys have expired', async () => {
    const test = await changing();
    const { who, made, method } = test;
    await leftHalfWay(test);
    await service.fault({ provider: 'provider_a', path: '/v1/subscriptions', action: 'error_500' });
    await service.advance(DAY_SECONDS + HOUR_SECONDS);
    await service.clearFaults();
    await service.advance(HOUR_SECONDS);
    expect(await readSubscription(service, who, made.id)).toMatchObject({
      status: 'active',
      payment_method_id: method,
      current_period_end: made.current_period_end,
    });
    expect(await there(test)).toEqual({ statuses: ['canceled', 'trialing'], paid: 1 });
  }, 240_000);
});
