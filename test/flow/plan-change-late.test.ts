import { describe, expect, test } from 'vitest';
import { HOUR_MS, iso } from '../../shared/core/time.ts';
import { DAY_SECONDS, HOUR_SECONDS } from '../builders/seconds.ts';
import { withHost } from './host.ts';
import { changeTo, plan, preview, subscribed } from './plan-changes.ts';
import { anotherMethod, OWN_BILLING, patch, paymentsOf, readSubscription } from './subscribers.ts';

const CHARGES = { provider: 'provider_a', path: '/v1/payment_intents' } as const;

describe('an interval change with a payment that is confirmed only after the renewal', () => {
  const service = withHost({ frozen: true, env: OWN_BILLING });

  /** The change's charge has an unknown outcome for a day. The renewal is then declined. */
  const declinedMeanwhile = async () => {
    const of = await subscribed(
      service,
      { slot: 'provider_a', token: 'pm_sim_ok_2_then_decline' },
      { product_id: await plan(service, 1_000) },
    );
    await service.moveTo(iso(Date.parse(of.first.current_period_end) - 2 * HOUR_MS));
    await service.fault({ ...CHARGES, path: '/confirm', method: 'POST', action: 'malformed', times: 1 });
    await service.fault({ ...CHARGES, method: 'GET', action: 'error_500' });
    await service.webhookMode('drop');
    const product_id = await plan(service, 300_000, { billing_interval: 'yearly' });
    expect(await changeTo(service, of, { product_id })).toMatchObject({ status: 202 });
    await service.advance(DAY_SECONDS + 4 * HOUR_SECONDS);
    expect(await readSubscription(service, of.who, of.id)).toMatchObject({ status: 'past_due', total_cents: 1_000 });
    await service.clearFaults();
    await service.webhookMode('normal');
    await service.advance(DAY_SECONDS);
    await service.settle();
    return of;
  };

  test('covers the renewed period, so the renewal payment is canceled', async () => {
    const of = await declinedMeanwhile();
    const paid = await readSubscription(service, of.who, of.id);
    expect(paid).toMatchObject({
      status: 'active',
      billing_status: 'active',
      total_cents: 300_000,
      pending_change: null,
    });
    const body = { payment_method_id: await anotherMethod(service, of.who) };
    expect(await patch(service, of.who, { id: of.id, body })).toMatchObject({ status: 200 });
    await service.advance(60 * DAY_SECONDS);
    await service.settle();
    const { status, current_period_start, current_period_end } = await readSubscription(service, of.who, of.id);
    const { current_period_start: start, current_period_end: end } = paid;
    expect({ status, start: current_period_start, end: current_period_end }).toEqual({ status: 'active', start, end });
    const payments = await paymentsOf(service, of.who, of.id);
    expect(payments.map(({ total_cents, status: its }) => `${total_cents > 100_000} ${its}`)).toEqual([
      ...['false succeeded', 'true succeeded', 'false canceled'],
    ]);
  });
});

describe('an immediate plan change while Stripe collects the current period', () => {
  const service = withHost({ frozen: true });

  test('is refused, but can be scheduled for the period end', async () => {
    const of = await subscribed(
      service,
      { slot: 'provider_a', token: 'pm_card_visa' },
      { product_id: await plan(service, 1_000) },
    );
    const slow = await anotherMethod(service, of.who, 'pm_sim_processing_ok');
    await patch(service, of.who, { id: of.id, body: { payment_method_id: slow } });
    await service.moveTo(of.first.current_period_end);
    const renewing = await readSubscription(service, of.who, of.id);
    expect(renewing).toMatchObject({ status: 'active', current_period_start: of.first.current_period_end });
    const product_id = await plan(service, 3_000);
    const busy = { status: 409, body: { code: 'PAYMENT_IN_PROGRESS' } };
    expect(await preview(service, of, { product_id })).toMatchObject(busy);
    expect(await changeTo(service, of, { product_id })).toMatchObject(busy);
    expect(await preview(service, of, { product_id, when: 'period_end' })).toMatchObject({ status: 200 });
    await service.advance(DAY_SECONDS);
    await service.settle();
    expect(await preview(service, of, { product_id })).toMatchObject({ status: 200 });
  });
});

describe('a Stripe-billed interval change with a payment that is confirmed late', () => {
  const service = withHost({ frozen: true });

  test('stops the collection of the renewal at Stripe', async () => {
    const card = { slot: 'provider_a', token: 'pm_sim_ok_2_then_decline' };
    const of = await subscribed(service, card, { product_id: await plan(service, 1_000) });
    await service.moveTo(iso(Date.parse(of.first.current_period_end) - 2 * HOUR_MS));
    await service.fault({ ...CHARGES, path: '/confirm', method: 'POST', action: 'malformed', times: 1 });
    await service.fault({ ...CHARGES, method: 'GET', action: 'error_500' });
    await service.webhookMode('drop');
    const product_id = await plan(service, 300_000, { billing_interval: 'yearly' });
    expect(await changeTo(service, of, { product_id })).toMatchObject({ status: 202 });
    await service.advance(DAY_SECONDS);
    await service.clearFaults();
    await service.webhookMode('normal');
    await service.advance(41 * DAY_SECONDS);
    await service.settle();
    expect(await readSubscription(service, of.who, of.id)).toMatchObject({ status: 'active', total_cents: 300_000 });
    const paid = (await paymentsOf(service, of.who, of.id)).filter(({ status }) => status === 'succeeded');
    expect(paid.map(({ billing_reason }) => billing_reason)).toEqual([
      ...['subscription_create', 'subscription_change'],
    ]);
  });
});

describe('a scheduled interval change that reaches Stripe only after the renewal at the old price', () => {
  const service = withHost({ frozen: true });
  const PRICE = { provider: 'provider_a', path: '/v1/subscriptions', method: 'POST', action: 'error_500' } as const;

  /** Stripe accepts the new price again after a number of seconds in the renewed week. */
  const lateBy = async (seconds: number, { token = 'pm_card_visa', draftMinutes = 0 } = {}) => {
    await service.control('POST', '/simulator/drafts', { minutes: draftMinutes });
    const weekly = await plan(service, 500, { billing_interval: 'weekly' });
    const of = await subscribed(service, { slot: 'provider_a', token }, { product_id: weekly });
    await service.moveTo(iso(Date.parse(of.first.current_period_end) - HOUR_MS / 12));
    await service.fault(PRICE);
    const product_id = await plan(service, 3_600);
    expect(await changeTo(service, of, { product_id, when: 'period_end' })).toMatchObject({ status: 200 });
    await service.webhookMode('drop');
    await service.moveTo(of.first.current_period_end);
    await service.advance(seconds);
    await service.clearFaults();
    await service.advance(DAY_SECONDS / 2);
    await service.webhookMode('normal');
    await service.advance(9 * DAY_SECONDS);
    await service.settle();
    return of;
  };

  test.each([
    ['is still a draft', { draftMinutes: 60 }, ['500 paid', '500 draft', '3600 paid']],
    ['was declined', { token: 'pm_sim_ok_1_then_decline' }, ['500 paid', '500 void', '3600 open']],
  ])('drops the renewal if its invoice %s', async (_, settings, expected) => {
    const of = await lateBy(60, settings);
    const invoices = (await service.ledger()).invoices.filter(
      ({ subscription }) => subscription === of.first.provider_subscription_id,
    );
    expect(invoices.map(({ amount, status }) => `${amount} ${status}`)).toEqual(expected);
  });

  test('charges the new price only after the paid renewal', async () => {
    const of = await lateBy(3 * HOUR_SECONDS);
    const payments = await paymentsOf(service, of.who, of.id);
    expect(payments.map(({ total_cents }) => total_cents)).toEqual([500, 500, 3_600]);
    const { status, current_period_start } = await readSubscription(service, of.who, of.id);
    const week = 7 * DAY_SECONDS * 1_000;
    expect({ status, at: Date.parse(current_period_start) }).toEqual({
      ...{ status: 'active', at: Date.parse(of.first.current_period_end) + week },
    });
  });
});

describe('a Stripe-billed three-year interval', () => {
  const service = withHost({ frozen: true });

  test('can start or end only if the next charge is within two years', async () => {
    const monthly = await plan(service, 1_000);
    const of = await subscribed(service, { slot: 'provider_a', token: 'pm_card_visa' }, { product_id: monthly });
    await service.advance(DAY_SECONDS);
    const product_id = await plan(service, 20_000, { billing_interval: 'yearly', interval_multiplier: 3 });
    const refusal = { status: 400, body: { code: 'UNSUPPORTED_PROVIDER' } };
    expect(await changeTo(service, of, { product_id })).toMatchObject(refusal);
    expect(await changeTo(service, of, { product_id, when: 'period_end' })).toMatchObject({ status: 200 });
    await service.moveTo(of.first.current_period_end);
    await service.advance(3 * HOUR_SECONDS);
    await service.settle();
    const renewed = await readSubscription(service, of.who, of.id);
    expect(renewed).toMatchObject({ product_id, interval_multiplier: 3, total_cents: 20_000, status: 'active' });
    for (const route of [preview, changeTo]) {
      expect(await route(service, of, { product_id: monthly, when: 'period_end' })).toMatchObject(refusal);
    }
    expect(await readSubscription(service, of.who, of.id)).toMatchObject({ scheduled_change: null });
  });
});
