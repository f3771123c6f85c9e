import { describe, expect, test } from 'vitest';
import { DAY_SECONDS, HOUR_SECONDS, MINUTE_SECONDS } from '../builders/seconds.ts';
import { atStripe } from './at-stripe.ts';
import { withHost } from './host.ts';
import {
  changeTo,
  PLAN_PLACES,
  plan,
  planEvents,
  preview,
  priceAtStripe,
  subscribed,
  withdraw,
} from './plan-changes.ts';
import type { PaymentBody } from './routes.ts';
import { anotherMethod, command, patch, paymentsOf, readSubscription } from './subscribers.ts';

/** Tokens that pay the first charge and decline the next. */
const LATER_DECLINE = {
  provider_a: 'pm_sim_ok_1_then_decline',
  provider_b: 'SIM-OK-1-THEN-DECLINE',
  provider_c: 'cnon:sim-ok-1-then-decline',
} as const;

const ofChange = (payments: readonly PaymentBody[]) =>
  payments.filter(({ billing_reason }) => billing_reason === 'subscription_change');

describe.each(PLAN_PLACES)('a plan change with a declined charge at %s', (_, place) => {
  const service = withHost({ frozen: true, env: place.settings });

  test('leaves the subscription and the provider’s price unchanged', async () => {
    const product_id = await plan(service, 1_000);
    const of = await subscribed(service, { ...place, token: LATER_DECLINE[place.slot] }, { product_id });
    await service.advance(10 * DAY_SECONDS);
    const dear = await plan(service, 3_000);
    const before = await readSubscription(service, of.who, of.id);
    await service.clearProviderRequests();
    expect(await changeTo(service, of, { product_id: dear })).toMatchObject({
      status: 402,
      body: { code: 'PAYMENT_DECLINED' },
    });
    await service.settle();
    expect(await readSubscription(service, of.who, of.id)).toEqual(before);
    expect(await planEvents(service, of.id)).toEqual([]);
    const requests = await service.providerRequests();
    const updates = requests.filter(({ method, path }) => method !== 'GET' && /subscriptions/.test(path));
    expect(updates).toEqual([]);
    expect(ofChange(await paymentsOf(service, of.who, of.id))).toMatchObject([{ status: 'canceled' }]);
    expect(await preview(service, of, { product_id: dear })).toMatchObject({ status: 200 });
  });
});

describe.each([
  ['Stripe, which bills', {}],
  ['Stripe, billed here', { PROVIDER_A_SUBSCRIPTIONS: 'service' }],
] as const)('a plan change that requires authentication at %s', (_, env) => {
  const service = withHost({ frozen: true, env });

  const withAskingCard = async () => {
    const of = await subscribed(
      service,
      { slot: 'provider_a', token: 'pm_card_visa' },
      { product_id: await plan(service, 1_000) },
    );
    await service.advance(10 * DAY_SECONDS);
    return { of, payment_method_id: await anotherMethod(service, of.who, 'pm_card_authenticationRequired') };
  };

  const asking = async () => {
    const { of, payment_method_id } = await withAskingCard();
    await patch(service, of.who, { id: of.id, body: { payment_method_id } });
    const dear = await plan(service, 3_000);
    const { status, body } = await changeTo(service, of, { product_id: dear });
    expect({ status, body }).toMatchObject({
      status: 200,
      body: {
        ...{ product_id: of.first.product_id, total_cents: 1_000, status: 'active' },
        pending_change: { status: 'awaiting_payment', payment: { next_action: { type: 'use_provider_sdk' } } },
      },
    });
    expect(body.pending_change.payment.client_secret).toMatch(/^pi_/);
    return { of, dear, pending: body.pending_change };
  };

  test('returns the pending change without its secret to a retry under the same key', async () => {
    const { of, payment_method_id } = await withAskingCard();
    await patch(service, of.who, { id: of.id, body: { payment_method_id } });
    const who = { ...of.who, options: { ...of.who.options, idempotencyKey: 'change-once' } };
    const body = { product_id: await plan(service, 3_000) };
    const first = await changeTo(service, { ...of, who }, body);
    expect(first.body.pending_change.payment.client_secret).toMatch(/^pi_/);
    const again = await changeTo(service, { ...of, who }, body);
    expect(again).toMatchObject({ status: 200, body: { pending_change: { id: first.body.pending_change.id } } });
    expect(again.body.pending_change.payment.client_secret).toBeNull();
  });

  test('applies once the payer has authenticated the payment', async () => {
    const { of, dear, pending } = await asking();
    const shown = await readSubscription(service, of.who, of.id);
    expect(shown.pending_change).toEqual(pending);
    const listed = await service.get('/subscriptions', of.who.options);
    const [one] = listed.body.filter(({ id }) => id === of.id);
    expect(one?.pending_change).toMatchObject({ id: pending.id, payment: { next_action: null, client_secret: null } });
    await service.authenticate(pending.payment.id);
    await service.settle();
    expect(await readSubscription(service, of.who, of.id)).toMatchObject({
      ...{ product_id: dear, total_cents: 3_000, pending_change: null },
    });
    expect(await planEvents(service, of.id)).toEqual(['plan_changed']);
  });

  test('is dropped immediately if the authentication fails', async () => {
    const { of, pending } = await asking();
    await service.authenticate(pending.payment.id, 'failure');
    await service.settle();
    expect(await readSubscription(service, of.who, of.id)).toMatchObject({ total_cents: 1_000, pending_change: null });
    expect(await planEvents(service, of.id)).toEqual(['plan_change_failed']);
  });

  test('expires unpaid after 23 hours, and its payment is canceled', async () => {
    const { of, pending } = await asking();
    await service.advance(23 * HOUR_SECONDS + 2 * MINUTE_SECONDS);
    await service.settle();
    expect(await readSubscription(service, of.who, of.id)).toMatchObject({ total_cents: 1_000, pending_change: null });
    expect(await planEvents(service, of.id)).toEqual(['plan_change_failed']);
    const payments = ofChange(await paymentsOf(service, of.who, of.id));
    expect(payments).toMatchObject([{ id: pending.payment.id, status: 'canceled' }]);
  });

  test('blocks another change, and can be withdrawn', async () => {
    const { of, dear } = await asking();
    const busy = { status: 409, body: { code: 'PAYMENT_IN_PROGRESS' } };
    expect(await changeTo(service, of, { product_id: dear, quantity: 2 })).toMatchObject(busy);
    expect(await preview(service, of, { product_id: dear, quantity: 2 })).toMatchObject(busy);
    expect(await withdraw(service, of)).toMatchObject({ status: 200, body: { pending_change: null } });
    expect(await withdraw(service, of)).toMatchObject({ status: 409, body: { code: 'INVALID_STATE' } });
    expect(await planEvents(service, of.id)).toEqual(['plan_change_withdrawn']);
    expect(ofChange(await paymentsOf(service, of.who, of.id))).toMatchObject([{ status: 'canceled' }]);
  });

  test('is dropped before a cancellation or a pause', async () => {
    for (const name of ['cancel', 'pause'] as const) {
      const { of } = await asking();
      const body = name === 'cancel' ? { cancel_at_period_end: false } : {};
      const answer = await command(service, of.who, { id: of.id, name, body });
      expect(answer).toMatchObject({ status: 200, body: { pending_change: null, total_cents: 1_000 } });
      expect(ofChange(await paymentsOf(service, of.who, of.id))).toMatchObject([{ status: 'canceled' }]);
    }
  });
});

describe.each(PLAN_PLACES)('a plan change with an unknown payment outcome at %s', (_, place) => {
  const service = withHost({ frozen: true, env: place.settings });
  /** The path of the provider call that charges the payment. */
  const CHARGE = {
    provider_a: '/v1/payment_intents',
    provider_b: '/capture',
    provider_c: '/v2/payments',
  } as const;

  const atHalf = async () => {
    const of = await subscribed(service, place, { product_id: await plan(service, 1_000) });
    await service.advance(10 * DAY_SECONDS);
    return { of, dear: await plan(service, 3_000) };
  };

  test('is processing, and applies once the charge is confirmed', async () => {
    const { of, dear } = await atHalf();
    const path = place.slot === 'provider_a' ? '/confirm' : CHARGE[place.slot];
    await service.webhookMode('drop');
    await service.fault({ provider: place.slot, path, method: 'POST', times: 1, action: 'malformed' });
    const { status, body } = await changeTo(service, of, { product_id: dear });
    await service.clearFaults();
    if (status === 202) {
      expect(body).toMatchObject({ total_cents: 1_000, pending_change: { status: 'processing' } });
      expect(await withdraw(service, of)).toMatchObject({ status: 409, body: { code: 'PAYMENT_IN_PROGRESS' } });
      const cancel = { id: of.id, name: 'cancel', body: { cancel_at_period_end: false } } as const;
      expect(await command(service, of.who, cancel)).toMatchObject({ status: 409 });
    } else expect(status).toBe(200);
    await service.webhookMode('normal');
    await service.advance(2 * HOUR_SECONDS);
    await service.settle();
    const after = await readSubscription(service, of.who, of.id);
    expect(after).toMatchObject({ product_id: dear, total_cents: 3_000, pending_change: null });
    expect(ofChange(await paymentsOf(service, of.who, of.id))).toMatchObject([{ status: 'succeeded' }]);
    expect(await planEvents(service, of.id)).toEqual(['plan_changed']);
  });

  test('is dropped if the provider does not respond to the call before the charge', async () => {
    const created = { provider_a: '/v1/payment_intents', provider_b: '/v2/checkout/orders', provider_c: '/v2/orders' };
    const { of, dear } = await atHalf();
    const before = await readSubscription(service, of.who, of.id);
    const path = created[place.slot];
    await service.fault({ provider: place.slot, path, method: 'POST', times: 1, action: 'timeout_after' });
    const answer = await changeTo(service, of, { product_id: dear });
    await service.clearFaults();
    expect(answer).toMatchObject({ status: 503, body: { code: 'PROVIDER_UNAVAILABLE' } });
    await service.advance(2 * HOUR_SECONDS);
    expect(await readSubscription(service, of.who, of.id)).toEqual(before);
    expect(ofChange(await paymentsOf(service, of.who, of.id))).not.toContainEqual(
      expect.objectContaining({ status: 'succeeded' }),
    );
  });

  test('is dropped if the charge was certainly not executed', async () => {
    const { of, dear } = await atHalf();
    const before = await readSubscription(service, of.who, of.id);
    await service.fault({ provider: place.slot, path: CHARGE[place.slot], method: 'POST', action: 'rate_limit' });
    const { status } = await changeTo(service, of, { product_id: dear });
    await service.clearFaults();
    expect(status).toBe(503);
    await service.advance(2 * HOUR_SECONDS);
    expect(await readSubscription(service, of.who, of.id)).toEqual(before);
    expect(await changeTo(service, of, { product_id: dear })).toMatchObject({ status: 200 });
  });
});

describe('a paid change of a provider-billed plan', () => {
  const service = withHost({ frozen: true });
  const VISA = { slot: 'provider_a', token: 'pm_card_visa' } as const;
  const UPDATE = { provider: 'provider_a', path: '/v1/subscriptions/', method: 'POST' } as const;

  const atHalf = async () => {
    const of = await subscribed(service, VISA, { product_id: await plan(service, 1_000) });
    await service.advance(10 * DAY_SECONDS);
    return { of, dear: await plan(service, 3_000) };
  };

  test('fails if the subscription ended at the provider, and the payment of the change stays succeeded', async () => {
    const { of, dear } = await atHalf();
    await service.webhookMode('drop');
    await atStripe(service, `DELETE subscriptions/${of.first.provider_subscription_id}`);
    const answer = await changeTo(service, of, { product_id: dear });
    await service.webhookMode('normal');
    expect(answer).toMatchObject({ status: 409, body: { code: 'INVALID_STATE' } });
    const after = await readSubscription(service, of.who, of.id);
    expect(after).toMatchObject({ status: 'canceled', total_cents: 1_000, pending_change: null });
    expect(await planEvents(service, of.id)).toEqual(['plan_change_failed']);
    expect(ofChange(await paymentsOf(service, of.who, of.id))).toMatchObject([{ status: 'succeeded' }]);
  });

  test.each(['malformed', 'reset', 'rate_limit', 'error_500'])(
    'is processing while the price update is unclear (%s), and applies later',
    async (action) => {
      const { of, dear } = await atHalf();
      await service.fault({ ...UPDATE, action });
      const answer = await changeTo(service, of, { product_id: dear });
      await service.clearFaults();
      expect(answer).toMatchObject({
        status: 202,
        body: { total_cents: 1_000, pending_change: { status: 'processing', expires_at: null } },
      });
      const pause = { id: of.id, name: 'pause' } as const;
      await service.advance(HOUR_SECONDS);
      await service.settle();
      expect(await readSubscription(service, of.who, of.id)).toMatchObject({
        total_cents: 3_000,
        pending_change: null,
      });
      expect(await priceAtStripe(service, of)).toBe(3_000);
      expect(await command(service, of.who, pause)).toMatchObject({ status: 200 });
      expect(ofChange(await paymentsOf(service, of.who, of.id))).toMatchObject([{ status: 'succeeded' }]);
    },
  );

  test('waits without a second charge while the provider cannot store the new price', async () => {
    const { of, dear } = await atHalf();
    await service.fault({ ...UPDATE, action: 'error_500' });
    await changeTo(service, of, { product_id: dear });
    await service.advance(2 * DAY_SECONDS);
    await service.settle();
    expect(await readSubscription(service, of.who, of.id)).toMatchObject({ pending_change: { status: 'processing' } });
    await service.clearFaults();
    await service.advance(DAY_SECONDS);
    await service.settle();
    expect(await readSubscription(service, of.who, of.id)).toMatchObject({ total_cents: 3_000, pending_change: null });
    expect(ofChange(await paymentsOf(service, of.who, of.id))).toHaveLength(1);
  });
});
