/** @module Changes at Stripe by the account owner or by a payer in the portal. The record must follow. */

import { describe, expect, test } from 'vitest';
import { DAY_MS } from '../../shared/core/time.ts';
import { present } from '../builders/present.ts';
import { DAY_SECONDS, HOUR_SECONDS, MINUTE_SECONDS } from '../builders/seconds.ts';
import { atStripe } from './at-stripe.ts';
import { IMPATIENT, signIn } from './flow.ts';
import { type TestHost, withHost } from './host.ts';
import { outcomesOf } from './payers.ts';
import type { ParsedJson } from './routes.ts';
import {
  anotherMethod,
  BILLERS,
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
} from './subscribers.ts';

const FAILING = 'pm_card_chargeCustomerFail';
const NOW = { cancel_at_period_end: false };

const atDashboard = async (service: TestHost, id: string, wish: ParsedJson): Promise<void> => {
  await service.control('POST', `/simulator/subscriptions/${id}`, wish);
  await service.settle();
};

const newestInvoice = async (service: TestHost, providerId: string) =>
  present((await service.ledger()).invoices.filter(({ subscription }) => subscription === providerId).at(-1));

/** Makes a change with a lost event, after the earlier events have arrived. */
const unheard = async (service: TestHost, change: () => Promise<unknown>): Promise<void> => {
  await service.settle();
  await service.advance(HOUR_SECONDS);
  await service.control('POST', '/simulator/webhooks', { mode: 'drop' });
  await change();
  await service.settle();
  await service.control('POST', '/simulator/webhooks', { mode: 'normal' });
};

const inDays = (service: TestHost, days: number): string =>
  new Date(Math.floor(service.now() / 1_000) * 1_000 + days * DAY_MS).toISOString();

const stop = (service: TestHost, who: Subscriber, id: string) =>
  command(service, who, { id, name: 'cancel', body: NOW });

describe('a change at Stripe', () => {
  const service = withHost({ frozen: true, env: IMPATIENT });

  test('in the portal schedules a cancellation, and a reactivation clears the cancellation', async () => {
    const who = await subscriber(service);
    const made = await subscribe(service, who);
    await atDashboard(service, made.id, { cancel_at: made.current_period_end });
    expect(await readSubscription(service, who, made.id)).toMatchObject({
      status: 'active',
      cancel_at_period_end: true,
      next_billing_date: null,
    });
    const kept = await command(service, who, { id: made.id, name: 'reactivate' });
    expect(kept).toMatchObject({ status: 200, body: { cancel_at_period_end: false } });
    await service.moveTo(made.current_period_end);
    await service.advance(2 * HOUR_SECONDS);
    expect(await readSubscription(service, who, made.id)).toMatchObject({ status: 'active' });
    await stop(service, who, made.id);
  });

  test('of the end to a later date keeps the next charge', async () => {
    const who = await subscriber(service);
    const made = await subscribe(service, who);
    await atDashboard(service, made.id, { cancel_at: inDays(service, 45) });
    expect(await readSubscription(service, who, made.id)).toMatchObject({
      cancel_at_period_end: true,
      next_billing_date: made.current_period_end,
    });
    await stop(service, who, made.id);
  });

  test('of the end to a later date does not delay a cancellation at the period end', async () => {
    const who = await subscriber(service);
    const made = await subscribe(service, who);
    await atDashboard(service, made.id, { cancel_at: inDays(service, 45) });
    const canceled = await command(service, who, { id: made.id, name: 'cancel', body: { cancel_at_period_end: true } });
    expect(canceled).toMatchObject({ status: 200, body: { cancel_at_period_end: true, next_billing_date: null } });
    await service.moveTo(made.current_period_end);
    await service.advance(2 * HOUR_SECONDS);
    expect(await readSubscription(service, who, made.id)).toMatchObject({ status: 'canceled' });
    expect(await paymentsOf(service, who, made.id)).toHaveLength(1);
  });

  test('of the period end to an earlier date stays if the first invoice’s event arrives late', async () => {
    const who = await subscriber(service);
    await service.webhookMode('delay');
    const made = await subscribe(service, who);
    await service.webhookMode('drop');
    await service.advance(10 * MINUTE_SECONDS);
    const end = inDays(service, 20);
    await atDashboard(service, made.id, { trial_end: end });
    const paused = { status: 'paused', current_period_end: end };
    expect(await command(service, who, { id: made.id, name: 'pause' })).toMatchObject({ status: 200, body: paused });
    await service.webhookMode('normal');
    await service.advance(2 * HOUR_SECONDS);
    await service.settle();
    expect(await readSubscription(service, who, made.id)).toMatchObject(paused);
    await stop(service, who, made.id);
  });

  test('that ends a trial now is refused without effect if the charge never reaches Stripe', async () => {
    const who = await subscriber(service, 'pm_sim_timeout_before');
    const made = await subscribe(service, who, { trial_days: 14 });
    const ended = await service.request('POST', `/_local/simulator/subscriptions/${made.id}`, {
      body: { trial_end: 'now' },
    });
    expect(ended).toMatchObject({ status: 409 });
    expect(await readSubscription(service, who, made.id)).toMatchObject({ status: 'trialing' });
    await stop(service, who, made.id);
  });

  test('of the trial end applies to the record, both later and earlier', async () => {
    const who = await subscriber(service);
    const made = await subscribe(service, who, { trial_days: 14 });
    const later = inDays(service, 30);
    await atDashboard(service, made.id, { trial_end: later });
    expect(await readSubscription(service, who, made.id)).toMatchObject({
      status: 'trialing',
      trial_end: later,
      current_period_end: later,
    });
    await service.advance(16 * DAY_SECONDS);
    expect(await readSubscription(service, who, made.id)).toMatchObject({ status: 'trialing', trial_end: later });
    await atDashboard(service, made.id, { trial_end: 'now' });
    const now = await readSubscription(service, who, made.id);
    expect(now).toMatchObject({ status: 'active' });
    expect(Date.parse(now.trial_end)).toBeLessThanOrEqual(service.now());
    expect(await paymentsOf(service, who, made.id)).toHaveLength(1);
    await stop(service, who, made.id);
  });

  test.each([
    [14, 1, 2],
    [14, 13, 3],
    [14, 15, 4],
    [21, 20, 4],
  ])(
    'that ends a trial of %i days early is recorded even without events for %i days, with %i charges',
    async (trial, deaf, charges) => {
      const who = await subscriber(service);
      const made = await subscribe(service, who, { trial_days: trial, billing_interval: 'weekly' });
      await unheard(service, async () => {
        await atDashboard(service, made.id, { trial_end: 'now' });
        await service.advance(deaf * DAY_SECONDS);
      });
      await service.advance(7 * DAY_SECONDS);
      expect(await readSubscription(service, who, made.id)).toMatchObject({ status: 'active' });
      const paid: ParsedJson[] = (await service.ledger()).invoices.filter(
        ({ subscription, status }) => subscription === made.provider_subscription_id && status === 'paid',
      );
      const payments = await paymentsOf(service, who, made.id);
      expect(payments.map(({ provider_intent_id: id }) => id).sort()).toEqual(
        paid.flatMap(({ payment_intent: id }) => id ?? []).sort(),
      );
      expect(payments).toHaveLength(charges);
      await stop(service, who, made.id);
    },
  );

  test('that adds free time keeps the membership active', async () => {
    const who = await subscriber(service);
    const made = await subscribeToGold(service, who);
    await service.settle();
    const free = inDays(service, 60);
    await atDashboard(service, made.id, { trial_end: free });
    expect(await readSubscription(service, who, made.id)).toMatchObject({
      status: 'trialing',
      next_billing_date: free,
    });
    expect(await readMembership(service, who, made.id)).toMatchObject({ status: 'active', ends_at: free });
    await stop(service, who, made.id);
  });

  test('of the quantity sets the price of the next renewal', async () => {
    const who = await subscriber(service);
    const made = await subscribeToGold(service, who);
    await atDashboard(service, made.id, { quantity: 3 });
    expect(await readSubscription(service, who, made.id)).toMatchObject({ total_cents: 5_700, subtotal_cents: 5_700 });
    await service.moveTo(made.current_period_end);
    await service.advance(2 * HOUR_SECONDS);
    const [, renewal] = await paymentsOf(service, who, made.id);
    expect(renewal).toMatchObject({ status: 'succeeded', total_cents: 5_700 });
    await stop(service, who, made.id);
  });

  test.each([
    ['a coupon', { coupon: { percent_off: 50 } }, { subtotal_cents: 1_900, discount_cents: 950, total_cents: 950 }],
    ['a tax', { tax: { percentage: 10 } }, { subtotal_cents: 1_900, tax_cents: 190, total_cents: 2_090 }],
  ])('by %s changes the renewal’s payment like Stripe’s invoice', async (_, wish, prices) => {
    const who = await subscriber(service);
    const made = await subscribeToGold(service, who);
    await atDashboard(service, made.id, wish);
    await service.moveTo(made.current_period_end);
    await service.advance(2 * HOUR_SECONDS);
    const [, renewal] = await paymentsOf(service, who, made.id);
    expect(renewal).toMatchObject({ status: 'succeeded', billing_reason: 'subscription_cycle', ...prices });
    const now = await readSubscription(service, who, made.id);
    expect(now).toMatchObject({ status: 'active', total_cents: 1_900 });
    expect(await readMembership(service, who, made.id)).toMatchObject({
      status: 'active',
      ends_at: now.current_period_end,
    });
    const admin = await signIn(service, { is_admin: true });
    const timeline = await service.get(`/payments/${renewal?.id}/timeline`, admin.options);
    expect(JSON.stringify(timeline.body)).toContain('amount_changed_at_provider');
    await stop(service, who, made.id);
  });

  test.each([
    ['a coupon of 100 %', { coupon: { percent_off: 100 } }],
    ['a credit', undefined],
  ])('extends the membership without a payment if %s pays the period', async (_, wish) => {
    const who = await subscriber(service);
    const made = await subscribeToGold(service, who);
    const { subscriptions } = await service.ledger();
    const there = subscriptions.find((one) => one.subscription_id === made.id);
    if (wish) await atDashboard(service, made.id, wish);
    else await service.control('POST', `/simulator/customers/${present(there).customer}/balance`, { balance: -1_900 });
    await service.moveTo(made.current_period_end);
    await service.advance(2 * HOUR_SECONDS);
    expect(await paymentsOf(service, who, made.id)).toHaveLength(1);
    const now = await readSubscription(service, who, made.id);
    expect(now).toMatchObject({ status: 'active', current_period_start: made.current_period_end });
    expect(await readMembership(service, who, made.id)).toMatchObject({ ends_at: now.current_period_end });
    expect(await subscriptionEventsOf(service, made.id)).toContain('subscription.updated renewed');
    await stop(service, who, made.id);
  });

  test('counts a partial balance payment of a renewal as a discount', async () => {
    const who = await subscriber(service);
    const made = await subscribeToGold(service, who);
    const { subscriptions } = await service.ledger();
    const there = subscriptions.find((one) => one.subscription_id === made.id);
    await service.control('POST', `/simulator/customers/${present(there).customer}/balance`, { balance: -500 });
    await service.moveTo(made.current_period_end);
    await service.advance(2 * HOUR_SECONDS);
    const [, renewal] = await paymentsOf(service, who, made.id);
    expect(renewal).toMatchObject({ status: 'succeeded', discount_cents: 500, total_cents: 1_400 });
    await stop(service, who, made.id);
  });
});

describe('a past-due Stripe-billed subscription', () => {
  const service = withHost({ frozen: true, env: IMPATIENT });

  const owing = async () => {
    const who = await subscriber(service);
    const made = await subscribeToGold(service, who);
    const failing = await anotherMethod(service, who, FAILING);
    await patch(service, who, { id: made.id, body: { payment_method_id: failing } });
    await service.moveTo(made.current_period_end);
    await service.advance(2 * HOUR_SECONDS);
    expect(await readSubscription(service, who, made.id)).toMatchObject({ status: 'past_due' });
    return { who, id: made.id, there: made.provider_subscription_id };
  };
  const recoveries = async (id: string): Promise<string[]> =>
    (await subscriptionEventsOf(service, id)).filter((name) => /renewed|recovered/.test(name));

  test('publishes one recovery event, and its payment names the card that paid', async () => {
    const { who, id, there } = await owing();
    const good = await anotherMethod(service, who);
    const { provider_payment_method_id: ref } = (await service.get(`/payment-methods/${good}`, who.options)).body;
    const invoice = await newestInvoice(service, there);
    await atStripe(service, `POST invoices/${present(invoice).id}/pay`, { payment_method: ref });
    await service.settle();
    expect(await readSubscription(service, who, id)).toMatchObject({ status: 'active' });
    expect(await recoveries(id)).toEqual(['subscription.updated renewed']);
    const [, payment] = await paymentsOf(service, who, id);
    expect(payment).toMatchObject({ status: 'succeeded', payment_method_id: good });
    await stop(service, who, id);
  });

  test('reports an unpaid recovery after a write-off', async () => {
    const { who, id, there } = await owing();
    const invoice = await newestInvoice(service, there);
    await service.control('POST', `/simulator/invoices/${present(invoice).id}`, { action: 'mark_uncollectible' });
    await service.settle();
    expect(await readSubscription(service, who, id)).toMatchObject({ status: 'active' });
    expect(await recoveries(id)).toEqual(['subscription.updated recovered_unpaid']);
    await stop(service, who, id);
  });

  test('is renewed with a canceled payment if the invoice is paid outside Stripe', async () => {
    const { who, id, there } = await owing();
    const invoice = await newestInvoice(service, there);
    await service.control('POST', `/simulator/invoices/${present(invoice).id}`, { action: 'pay_out_of_band' });
    await service.settle();
    expect(await readSubscription(service, who, id)).toMatchObject({ status: 'active' });
    expect((await paymentsOf(service, who, id)).map(({ status }) => status)).toEqual(['succeeded', 'canceled']);
    expect(await recoveries(id)).toEqual(['subscription.updated renewed']);
    await stop(service, who, id);
  });

  test('is renewed with a canceled payment even if the events of a payment outside Stripe are lost', async () => {
    const { who, id, there } = await owing();
    const invoice = await newestInvoice(service, there);
    await unheard(service, () =>
      service.control('POST', `/simulator/invoices/${present(invoice).id}`, { action: 'pay_out_of_band' }),
    );
    expect(await readSubscription(service, who, id)).toMatchObject({ status: 'past_due' });
    await service.advance(2 * DAY_SECONDS);
    expect(await readSubscription(service, who, id)).toMatchObject({ status: 'active' });
    expect((await paymentsOf(service, who, id)).map(({ status }) => status)).toEqual(['succeeded', 'canceled']);
    await stop(service, who, id);
  });

  test('is unpaid and without a membership after Stripe gives up, until a new card pays', async () => {
    const { who, id } = await owing();
    await atDashboard(service, id, { status: 'unpaid' });
    expect(await readSubscription(service, who, id)).toMatchObject({
      status: 'past_due',
      billing_status: 'unpaid',
      next_billing_date: null,
    });
    expect(await readMembership(service, who, id)).toMatchObject({ status: 'cancelled' });
    const good = await anotherMethod(service, who);
    const changed = await patch(service, who, { id, body: { payment_method_id: good } });
    expect(changed).toMatchObject({ status: 200, body: { status: 'active', billing_status: 'active' } });
    await service.settle();
    expect(await readMembership(service, who, id)).toMatchObject({ status: 'active' });
    await stop(service, who, id);
  });

  test('ends immediately if it is canceled at the end of its period', async () => {
    const { who, id } = await owing();
    const canceled = await command(service, who, { id, name: 'cancel', body: { cancel_at_period_end: true } });
    expect(canceled).toMatchObject({ status: 200, body: { status: 'canceled' } });
  });

  test.each(['lost', 'pickup', 'closed', 'never', 'canceled'])('is unpaid after the hard decline %s', async (end) => {
    const who = await subscriber(service);
    const made = await subscribe(service, who);
    const lost = await anotherMethod(service, who, `pm_sim_ok_0_then_${end}`);
    await patch(service, who, { id: made.id, body: { payment_method_id: lost } });
    await service.moveTo(made.current_period_end);
    await service.advance(2 * HOUR_SECONDS);
    expect(await readSubscription(service, who, made.id)).toMatchObject({
      status: 'past_due',
      billing_status: 'unpaid',
      next_billing_date: null,
    });
    await stop(service, who, made.id);
  });
});

describe.each(BILLERS)('a subscription billed by %s', (_, env) => {
  const service = withHost({ frozen: true, env: { ...IMPATIENT, ...env } });

  const WITHDRAWN = {
    name: 'Gold',
    total_cents: 1_900,
    currency: 'USD',
    billing_interval: 'monthly',
    is_active: false,
  };

  test.each([
    { how: 'withdrawn', method: 'PUT', sent: { body: WITHDRAWN }, status: 200 },
    { how: 'deleted', method: 'DELETE', sent: {}, status: 204 },
  ])('cannot be reactivated for a new period after its product is $how', async ({ method, sent, status }) => {
    const who = await subscriber(service);
    const made = await subscribeToGold(service, who);
    await stop(service, who, made.id);
    const { options } = await signIn(service, { is_admin: true });
    const changed = await service.request(method, `/admin/products/${made.product_id}`, { ...options, ...sent });
    expect(changed).toMatchObject({ status });
    const within = await command(service, who, { id: made.id, name: 'reactivate' });
    expect(within).toMatchObject({ status: 200, body: { status: 'active' } });
    await stop(service, who, made.id);
    await service.advance(40 * DAY_SECONDS);
    const after = await command(service, who, { id: made.id, name: 'reactivate' });
    expect(after).toMatchObject({ status: 400, body: { code: 'PRODUCT_INACTIVE' } });
    expect(await paymentsOf(service, who, made.id)).toHaveLength(1);
  });
});

describe('a Stripe-billed subscription', () => {
  const service = withHost({ frozen: true, env: IMPATIENT });

  test('is ignored if it was created at Stripe by hand', async () => {
    const who = await subscriber(service);
    const made = await subscribe(service, who);
    const { subscriptions } = await service.ledger();
    const there = subscriptions.find((one) => one.subscription_id === made.id);
    const product = await atStripe(service, 'POST products', { name: 'By hand' });
    const byHand = await atStripe(service, 'POST subscriptions', {
      customer: present(there).customer,
      default_payment_method: present(there).payment_method,
      'items[0][price_data][currency]': 'usd',
      'items[0][price_data][product]': product.id,
      'items[0][price_data][unit_amount]': '700',
      'items[0][price_data][recurring][interval]': 'month',
    });
    await service.settle();
    const outcomes = await outcomesOf(service, byHand.id);
    expect(outcomes).not.toHaveLength(0);
    for (const { response } of outcomes) expect(response).toMatchObject({ outcome: 'ignored', reason: 'not ours' });
    // The invoice's intent names no subscription, so its event counts as unrelated after one retry.
    const { payment_intent: intent } = await newestInvoice(service, byHand.id);
    await service.advance(2 * MINUTE_SECONDS);
    expect(await outcomesOf(service, intent)).toMatchObject([
      { eventType: 'payment_intent.succeeded', response: { outcome: 'ignored', reason: 'not ours' } },
    ]);
    await stop(service, who, made.id);
  });

  test('ends its membership and publishes an event when it is paused', async () => {
    const who = await subscriber(service);
    const made = await subscribeToGold(service, who);
    await command(service, who, { id: made.id, name: 'pause' });
    await service.settle();
    expect(await subscriptionEventsOf(service, made.id)).toContain('membership.cancelled paused');
    await stop(service, who, made.id);
  });
});
