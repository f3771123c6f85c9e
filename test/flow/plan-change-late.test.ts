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
  const CARD = 'pm_card_visa';

  const weekly = async (token: string, draftMinutes = 0) => {
    await service.control('POST', '/simulator/drafts', { minutes: draftMinutes });
    const product_id = await plan(service, 500, { billing_interval: 'weekly' });
    return subscribed(service, { slot: 'provider_a', token }, { product_id });
  };
  type Weekly = Awaited<ReturnType<typeof weekly>>;

  const scheduleMonthly = async (of: Weekly) => {
    const product_id = await plan(service, 3_600);
    expect(await changeTo(service, of, { product_id, when: 'period_end' })).toMatchObject({ status: 200 });
  };
  /** Stripe refuses the new price until a minute after the renewal. */
  const lateByAMinute = async (of: Weekly) => {
    await service.moveTo(iso(Date.parse(of.first.current_period_end) - HOUR_MS / 12));
    await service.fault(PRICE);
    await scheduleMonthly(of);
    await service.moveTo(of.first.current_period_end);
    await service.advance(60);
    await service.clearFaults();
  };
  const invoicesOf = async ({ first }: Weekly): Promise<readonly string[]> => {
    const all = (await service.ledger()).invoices.filter((one) => one.subscription === first.provider_subscription_id);
    return all.filter(({ amount }) => amount > 0).map(({ amount, status }) => `${amount} ${status}`);
  };
  const expectMonthlyAfterTheWeek = async (of: Weekly) => {
    await service.advance(8 * DAY_SECONDS);
    await service.settle();
    expect(await invoicesOf(of)).toEqual(['500 paid', '500 paid', '3600 paid']);
    const { current_period_start, total_cents } = await readSubscription(service, of.who, of.id);
    const weekLater = Date.parse(of.first.current_period_end) + 7 * DAY_SECONDS * 1_000;
    expect([Date.parse(current_period_start), total_cents]).toEqual([weekLater, 3_600]);
  };

  test.each([
    ['is a draft', CARD, 60],
    ['is paid', CARD, 0],
    ['is being charged', 'pm_sim_processing_ok', 0],
  ])('begins after the renewed week if the invoice %s', async (_, token, draftMinutes) => {
    const of = await weekly(CARD, draftMinutes);
    await patch(service, of.who, {
      id: of.id,
      body: { payment_method_id: await anotherMethod(service, of.who, token) },
    });
    await lateByAMinute(of);
    await expectMonthlyAfterTheWeek(of);
  });

  test('waits for a declined renewal, until another card pays it', async () => {
    const of = await weekly('pm_sim_ok_1_then_decline');
    await lateByAMinute(of);
    await service.advance(DAY_SECONDS);
    await service.settle();
    expect(await invoicesOf(of)).toEqual(['500 paid', '500 open']);
    expect(await readSubscription(service, of.who, of.id)).toMatchObject({ status: 'past_due' });
    const body = { payment_method_id: await anotherMethod(service, of.who) };
    expect(await patch(service, of.who, { id: of.id, body })).toMatchObject({ status: 200 });
    await expectMonthlyAfterTheWeek(of);
  });

  test('begins after the renewed week if it is scheduled before the renewal is known', async () => {
    const of = await weekly(CARD);
    await service.webhookMode('drop');
    await service.moveTo(of.first.current_period_end);
    await service.advance(60);
    await scheduleMonthly(of);
    await service.webhookMode('normal');
    await expectMonthlyAfterTheWeek(of);
  });

  test('keeps the invoice of the first period if a shortened trial reaches Stripe after its end', async () => {
    await service.control('POST', '/simulator/drafts', { minutes: 60 });
    const product_id = await plan(service, 500, { trial_days: 7 });
    const of = await subscribed(service, { slot: 'provider_a', token: CARD }, { product_id });
    await service.advance(DAY_SECONDS);
    await service.fault(PRICE);
    const other = await plan(service, 900, { trial_days: 6 });
    expect(await changeTo(service, of, { product_id: other, when: 'now' })).toMatchObject({ status: 202 });
    await service.moveTo(of.first.trial_end);
    await service.advance(60);
    await service.clearFaults();
    await service.advance(35 * DAY_SECONDS);
    await service.settle();
    expect(await invoicesOf(of)).toEqual(['500 paid', '900 paid']);
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
