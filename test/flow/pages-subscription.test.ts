import { describe, expect, test } from 'vitest';
import { present } from '../builders/present.ts';
import { MINUTE_SECONDS } from '../builders/seconds.ts';
import { withHost } from './host.ts';
import { pageOf, pageToken, withToken } from './pages.ts';
import { storedRecord } from './payers.ts';
import type { ParsedJson } from './routes.ts';
import {
  anotherMethod,
  BILLERS,
  OWN_BILLING,
  patch,
  paymentsOf,
  readSubscription,
  type Subscriber,
  subscriber,
  subscribeToGold,
  subscriptionEventsOf,
} from './subscribers.ts';

describe.each(BILLERS)('the page of a subscription billed by %s', (_, env) => {
  const service = withHost({ frozen: true, env });

  const active = async () => {
    const who = await subscriber(service);
    const made = await subscribeToGold(service, who);
    return { who, id: made.id, token: await pageToken(service, made.id), end: made.current_period_end };
  };

  /** A subscriber just after a failed renewal. */
  const pastDue = async () => {
    const { who, id, end } = await active();
    const failing = await anotherMethod(service, who, 'pm_card_chargeCustomerFail');
    expect((await patch(service, who, { id, body: { payment_method_id: failing } })).status).toBe(200);
    await service.moveTo(end);
    await service.advance(10 * MINUTE_SECONDS);
    expect(await readSubscription(service, who, id)).toMatchObject({ status: 'past_due' });
    const renewal = present((await paymentsOf(service, who, id)).at(-1));
    return { who, id, failing, renewal, token: await pageToken(service, id) };
  };

  const setMethod = (token: string, method: string, headers: Record<string, string> = {}): Promise<ParsedJson> =>
    service.post(
      '/pay/method',
      { provider_payment_method_token: method },
      { headers: { ...withToken(token).headers, ...headers } },
    );

  const methodOf = async (who: Subscriber, id: string) => (await readSubscription(service, who, id)).payment_method_id;

  test('shows price, interval and card, and nothing about the payer', async () => {
    const { who, token, end } = await active();
    const state = await pageOf(service, token);
    expect(state).toMatchObject({
      kind: 'subscription',
      status: 'active',
      amount_cents: 1_900,
      product: { name: 'Gold' },
      interval: { billing_interval: 'monthly', interval_multiplier: 1 },
      method: { brand: 'visa', last_four: '4242' },
      next_billing_date: end,
      cancel_at_period_end: false,
      open_payment: null,
    });
    expect(JSON.stringify(state)).not.toMatch(/@|user_|cust_/);
    expect(who.names.customer_id).toMatch(/^cust_/);
  });

  test('cancels at the period end with a reason, and can withdraw the cancellation', async () => {
    const { who, id, token } = await active();
    const canceled: ParsedJson = await service.post(
      '/pay/cancel',
      { reason: 'too_expensive', comment: 'Too dear for me' },
      withToken(token),
    );
    expect(canceled).toMatchObject({ status: 200, body: { status: 'active', cancel_at_period_end: true } });
    expect(await readSubscription(service, who, id)).toMatchObject({
      cancel_at_period_end: true,
      cancel_reason: 'too_expensive',
      cancel_comment: 'Too dear for me',
    });
    await service.settle();
    const scheduled = (await service.busEvents()).find(
      (event) =>
        event['detail-type'] === 'subscription.updated' &&
        event.detail.payload.data.subscription_id === id &&
        event.detail.payload.data.reason === 'cancel_scheduled',
    );
    expect(present(scheduled).detail.payload.data).toMatchObject({
      cancel_reason: 'too_expensive',
      cancel_comment: 'Too dear for me',
    });
    for (let at = 0; at < 2; at += 1) {
      const kept: ParsedJson = await service.post('/pay/keep', {}, withToken(token));
      expect(kept).toMatchObject({ status: 200, body: { cancel_at_period_end: false } });
    }
    expect(await readSubscription(service, who, id)).toMatchObject({ cancel_reason: null, cancel_comment: null });
  });

  test('deletes the reason of a failed cancellation once the payer keeps the subscription', async () => {
    const { who, id, token } = await active();
    // Only provider billing can fail here, because service billing needs no provider call.
    await service.fault({ provider: 'provider_a', action: 'timeout_before', times: 9 });
    const failed = await service.post('/pay/cancel', { reason: 'unused', comment: 'Never used' }, withToken(token));
    await service.clearFaults();
    expect(failed.status).toBe(env === OWN_BILLING ? 200 : 504);
    expect((await service.post('/pay/keep', {}, withToken(token))).status).toBe(200);
    const canceled = await service.post(`/subscriptions/${id}/cancel`, {}, who.options);
    expect(canceled.status).toBe(200);
    expect(await readSubscription(service, who, id)).toMatchObject({ cancel_reason: null, cancel_comment: null });
  });

  test('cancels a past-due subscription immediately, and cannot be opened afterwards', async () => {
    const { who, id, token } = await pastDue();
    const canceled: ParsedJson = await service.post('/pay/cancel', {}, withToken(token));
    expect(canceled).toMatchObject({ status: 200, body: { status: 'canceled' } });
    expect(await readSubscription(service, who, id)).toMatchObject({ status: 'canceled', cancel_reason: null });
    expect((await service.get('/pay/state', withToken(token))).status).toBe(404);
  });

  test('sets another card, and the next renewal charges it', async () => {
    const { who, id, token, end } = await active();
    const before = await methodOf(who, id);
    expect(await setMethod(token, 'pm_card_mastercard')).toMatchObject({
      status: 200,
      body: { method: { brand: 'mastercard' } },
    });
    expect(await methodOf(who, id)).not.toBe(before);
    await service.moveTo(end);
    await service.advance(10 * MINUTE_SECONDS);
    const renewal = present((await paymentsOf(service, who, id)).at(-1));
    expect(renewal).toMatchObject({ status: 'succeeded', payment_method_details: { card_brand: 'mastercard' } });
  });

  test('charges the open payment of a past-due subscription once to the new card, and keeps that card', async () => {
    const { who, id, token, renewal } = await pastDue();
    expect(await pageOf(service, token)).toMatchObject({
      status: 'past_due',
      open_payment: { payment_id: renewal.id, status: 'failed' },
      decline: { advice: expect.any(String) },
    });
    const key = { 'idempotency-key': 'one and the same key' };
    const set = await setMethod(token, 'pm_card_mastercard', key);
    expect(set).toMatchObject({ status: 200, body: { open_payment: null, method: { brand: 'mastercard' } } });
    expect(await setMethod(token, 'pm_card_mastercard', key)).toMatchObject({ status: 200 });
    await service.settle();
    expect(await readSubscription(service, who, id)).toMatchObject({ status: 'active' });
    const paid = (await paymentsOf(service, who, id)).filter(({ status }) => status === 'succeeded');
    expect(paid.map(({ total_cents }) => total_cents)).toEqual([1_900, 1_900]);
    const { charges } = await service.ledger();
    expect(
      charges.filter(({ payment_id, status }) => payment_id === renewal.id && status === 'succeeded'),
    ).toHaveLength(1);
  });

  test('keeps the current card of a past-due subscription if the new card is declined', async () => {
    const { who, id, token, failing } = await pastDue();
    const declined = await setMethod(token, 'pm_card_chargeCustomerFail');
    expect(declined).toMatchObject({ status: 402, body: { code: 'PAYMENT_DECLINED' } });
    expect(Object.keys(declined.body.details).toSorted()).toEqual(['advice', 'decline_code']);
    expect(await readSubscription(service, who, id)).toMatchObject({ status: 'past_due', payment_method_id: failing });
    expect(await setMethod(token, 'pm_card_visa')).toMatchObject({ status: 200, body: { open_payment: null } });
    await service.settle();
    expect(await readSubscription(service, who, id)).toMatchObject({ status: 'active' });
  });

  test('sets a card only after the payer authenticates', async () => {
    const { who, id, token } = await active();
    const before = await methodOf(who, id);
    const set = await setMethod(token, 'pm_card_authenticationRequired');
    expect(set).toMatchObject({ status: 202, body: { next_action: { type: 'use_provider_sdk' } } });
    const { client_secret: secret } = set.body;
    expect(await pageOf(service, token)).toMatchObject({ client_secret: secret });
    expect(await methodOf(who, id)).toBe(before);
    expect(await subscriptionEventsOf(service, id)).not.toContain('subscription.updated method_changed');
    const { wantedMethodId } = present(await storedRecord(service, 'SUB', id));
    await service.authenticateMethod(wantedMethodId);
    await service.settle();
    expect(await methodOf(who, id)).toBe(wantedMethodId);
    expect(await pageOf(service, token)).toMatchObject({ next_action: null, client_secret: null });
  });
});
