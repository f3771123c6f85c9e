/**
 * @module A trial belongs to the product. A payer who changes product during a long trial keeps at most the new
 * product's own trial.
 */

import { describe, expect, test } from 'vitest';
import { DAY_MS, iso, startOfSecond } from '../../shared/core/time.ts';
import { present } from '../builders/present.ts';
import { DAY_SECONDS, HOUR_SECONDS } from '../builders/seconds.ts';
import { withHost } from './host.ts';
import {
  changeTo,
  PLAN_PLACES,
  type PlanHolder,
  plan,
  planEvents,
  preview,
  priceAtStripe,
  subscribed,
} from './plan-changes.ts';
import type { ParsedJson } from './routes.ts';
import { anotherMethod, command, patch, paymentsOf, readSubscription } from './subscribers.ts';

const NOTHING = { subtotal_cents: 500, total_cents: 500, currency: 'USD', billing_interval: 'monthly' };
const GOLD = { metadata: { membership_type_id: 'gold' } };

/** True if both times differ by at most one second, because a billing provider counts whole seconds. */
const near = (one: string, other: string): boolean => Math.abs(Date.parse(one) - Date.parse(other)) <= 1_000;

describe.each(PLAN_PLACES)('a product change in a trial of 730 days at %s', (_, place) => {
  const service = withHost({ frozen: true, env: place.settings });
  const bills = place.slot === 'provider_a' && !('PROVIDER_A_SUBSCRIPTIONS' in place.settings);

  const onTrial = async (fields: Readonly<Record<string, unknown>> = { ...NOTHING, trial_days: 730 }) => {
    const of = await subscribed(service, place, fields);
    await service.advance(10 * DAY_SECONDS);
    await service.settle();
    return of;
  };

  const charges = async ({ who, id }: PlanHolder): Promise<number[]> =>
    (await paymentsOf(service, who, id))
      .filter(({ status }) => status === 'succeeded')
      .map(({ total_cents }) => total_cents);

  const goldOf = async ({ who, id }: PlanHolder): Promise<ParsedJson | undefined> =>
    (await service.get('/memberships', who.options)).body.data.find((one) => one.subscription_id === id);

  const pass = async (days: number): Promise<void> => {
    await service.advance(days * DAY_SECONDS + 3 * HOUR_SECONDS);
    await service.settle();
  };

  test.each([
    [0, 'monthly'],
    [7, 'monthly'],
    [0, 'quarterly'],
  ] as const)(
    'ends the trial and charges a first period if the new product has %i trial days and is billed %s',
    async (trial_days, billing_interval) => {
      const of = await onTrial();
      const product_id = await plan(service, 3_000, { trial_days, billing_interval, ...GOLD });
      const { body: seen } = await preview(service, of, { product_id });
      expect(seen).toMatchObject({
        ...{ kind: 'upgrade', when: 'now', due_now_cents: 3_000, unused_cents: 0, next_total_cents: 3_000 },
        lines: [{ kind: 'full', amount_cents: 3_000, period_start: seen.proration_at }],
        next_billing_date: seen.current_period_end,
      });
      const refused = await changeTo(service, of, { product_id, expected_cents: 0 });
      expect(refused).toMatchObject({
        status: 409,
        body: { code: 'PRICE_CHANGED', details: { due_now_cents: 3_000 } },
      });
      const terms = { product_id, proration_at: seen.proration_at, expected_cents: 3_000 };
      const { status, body } = await changeTo(service, of, terms);
      expect({ status, body }).toMatchObject({
        status: 200,
        body: {
          ...{ status: 'active', product_id, total_cents: 3_000, trial_end: seen.proration_at },
          ...{ current_period_start: seen.proration_at, current_period_end: seen.current_period_end },
        },
      });
      await service.settle();
      expect(await charges(of)).toEqual([3_000]);
      expect(await goldOf(of)).toMatchObject({ status: 'active', starts_at: seen.proration_at });
      expect(await priceAtStripe(service, of)).toBe(bills ? 3_000 : undefined);
      await pass(20);
      expect(await charges(of)).toEqual([3_000]);
      await service.moveTo(seen.current_period_end);
      await pass(0);
      expect(await charges(of)).toEqual([3_000, 3_000]);
      const renewed = await readSubscription(service, of.who, of.id);
      expect(renewed.status).toBe('active');
      expect(near(renewed.current_period_start, seen.current_period_end)).toBe(true);
      expect(await planEvents(service, of.id)).toEqual(['plan_changed']);
    },
  );

  test.each(['monthly', 'quarterly'])('shortens the trial to that of a product billed %s', async (billing_interval) => {
    const of = await onTrial();
    const product_id = await plan(service, 3_000, { trial_days: 30, billing_interval, ...GOLD });
    const trialEnd = iso(startOfSecond(Date.parse(of.first.created_at)) + 30 * DAY_MS);
    const { body: seen } = await preview(service, of, { product_id });
    expect(seen).toMatchObject({
      ...{ when: 'now', due_now_cents: 0, lines: [], next_billing_date: trialEnd, current_period_end: trialEnd },
    });
    const { status, body } = await changeTo(service, of, { product_id, expected_cents: 0 });
    expect({ status, body }).toMatchObject({ status: 200, body: { status: 'trialing', product_id } });
    for (const shown of [body, await readSubscription(service, of.who, of.id)]) {
      expect(near(shown.trial_end, trialEnd)).toBe(true);
      expect(near(shown.current_period_end, trialEnd)).toBe(true);
    }
    await pass(0);
    expect(await goldOf(of)).toMatchObject({ status: 'pending' });
    await pass(10);
    expect(await charges(of)).toEqual([]);
    await pass(10);
    expect(await charges(of)).toEqual([3_000]);
    const active = await readSubscription(service, of.who, of.id);
    expect(active.status).toBe('active');
    expect(near(active.current_period_start, trialEnd)).toBe(true);
    expect(await goldOf(of)).toMatchObject({ status: 'active' });
    const notices = (await service.busEvents('subscription.updated'))
      .map(({ detail }) => detail.payload.data)
      .filter((data) => data.subscription_id === of.id && data.reason === 'trial_will_end');
    expect(notices).toHaveLength(1);
  });

  test('never extends the trial', async () => {
    const of = await onTrial({ product_id: await plan(service, 1_000, { trial_days: 14 }) });
    const product_id = await plan(service, 3_000, { trial_days: 60 });
    const { body } = await changeTo(service, of, { product_id });
    expect(body).toMatchObject({ status: 'trialing', product_id, trial_end: of.first.trial_end });
    await pass(5);
    expect(await charges(of)).toEqual([3_000]);
  });

  test('keeps the trial if only the quantity changes', async () => {
    const of = await onTrial({ product_id: await plan(service, 1_000, { trial_days: 14 }) });
    const { body } = await changeTo(service, of, { quantity: 3 });
    expect(body).toMatchObject({ status: 'trialing', total_cents: 3_000, trial_end: of.first.trial_end });
  });

  test('applies at the trial end if the change is requested for the period end', async () => {
    const of = await onTrial({ product_id: await plan(service, 1_000, { trial_days: 14 }) });
    const product_id = await plan(service, 3_000);
    const { body: seen } = await preview(service, of, { product_id, when: 'period_end' });
    expect(seen).toMatchObject({ when: 'period_end', due_now_cents: 0, lines: [] });
    expect(near(seen.effective_at, of.first.trial_end)).toBe(true);
    const { body } = await changeTo(service, of, { product_id, when: 'period_end' });
    expect(body).toMatchObject({ status: 'trialing', trial_end: of.first.trial_end, total_cents: 1_000 });
    await pass(5);
    expect(await charges(of)).toEqual([3_000]);
  });

  test('ends the trial without a charge if the product is free', async () => {
    const of = await onTrial();
    const product_id = await plan(service, 0, GOLD);
    const { body } = await changeTo(service, of, { product_id, expected_cents: 0 });
    expect(body).toMatchObject({ status: 'active', product_id, total_cents: 0 });
    await service.settle();
    expect(await goldOf(of)).toMatchObject({ status: 'active' });
    await pass(35);
    expect(await charges(of)).toEqual([]);
    expect((await readSubscription(service, of.who, of.id)).status).toBe('active');
  });

  test('changes nothing if the charge is declined', async () => {
    const DECLINES = {
      ...{ provider_a: 'pm_sim_ok_0_then_decline', provider_b: 'SIM-OK-0-THEN-DECLINE' },
      provider_c: 'cnon:sim-ok-0-then-decline',
    };
    const of = await subscribed(service, { ...place, token: DECLINES[place.slot] }, { ...NOTHING, trial_days: 730 });
    await service.advance(10 * DAY_SECONDS);
    await service.settle();
    const before = await readSubscription(service, of.who, of.id);
    const product_id = await plan(service, 3_000, GOLD);
    expect(await changeTo(service, of, { product_id })).toMatchObject({ status: 402 });
    await service.settle();
    expect(await readSubscription(service, of.who, of.id)).toEqual(before);
    expect(await goldOf(of)).toBeUndefined();
    expect(await planEvents(service, of.id)).toEqual([]);
  });
});

describe('a change that ends or shortens a trial at a billing provider', () => {
  const service = withHost({ frozen: true });
  const VISA = { slot: 'provider_a', token: 'pm_card_visa' } as const;
  const UPDATE = { provider: 'provider_a', path: '/v1/subscriptions/', method: 'POST' } as const;

  const onTrial = async (trial_days: number, fields: Readonly<Record<string, unknown>> = {}) => {
    const of = await subscribed(service, VISA, { ...NOTHING, trial_days: 730 });
    await service.advance(10 * DAY_SECONDS);
    await service.settle();
    return { of, product_id: await plan(service, 3_000, { trial_days, ...GOLD, ...fields }) };
  };

  const there = async (id: string) =>
    present((await service.ledger()).subscriptions.find(({ subscription_id }) => subscription_id === id));

  test.each(['malformed', 'reset', 'rate_limit', 'error_500'])(
    'is processing while the price update is unclear (%s), and later applies here and at Stripe',
    async (action) => {
      for (const trial_days of [0, 30]) {
        const { of, product_id } = await onTrial(trial_days);
        await service.fault({ ...UPDATE, action });
        const answer = await changeTo(service, of, { product_id });
        await service.clearFaults();
        expect(answer).toMatchObject({ status: 202, body: { status: 'trialing', total_cents: 500 } });
        await service.advance(2 * HOUR_SECONDS);
        await service.settle();
        const after = await readSubscription(service, of.who, of.id);
        expect(after).toMatchObject({ status: trial_days === 0 ? 'active' : 'trialing', total_cents: 3_000 });
        expect(near((await there(of.id)).trial_end, after.current_period_end)).toBe(true);
        const payments = await paymentsOf(service, of.who, of.id);
        expect(payments.filter(({ status }) => status === 'succeeded')).toHaveLength(trial_days === 0 ? 1 : 0);
      }
    },
  );

  test.each([
    [11, { billing_interval: 'monthly' }],
    [0, { billing_interval: 'daily' }],
  ] as const)(
    'starts a new period if the price update succeeds after the paid or free time has ended (%i trial days)',
    async (days, fields) => {
      const { of, product_id } = await onTrial(days, fields);
      await service.fault({ ...UPDATE, action: 'error_500' });
      await changeTo(service, of, { product_id });
      await service.advance(2 * DAY_SECONDS);
      await service.clearFaults();
      await service.advance(DAY_SECONDS / 2);
      await service.settle();
      const after = await readSubscription(service, of.who, of.id);
      expect(after).toMatchObject({ status: 'active', total_cents: 3_000, product_id });
      expect((await there(of.id)).status).toBe('active');
    },
  );

  test('activates no tier for the previous price if the trial ends before the price update', async () => {
    const of = await subscribed(service, VISA, { ...NOTHING, trial_days: 11 });
    await service.advance(10 * DAY_SECONDS);
    await service.settle();
    const product_id = await plan(service, 3_000, { trial_days: 30, ...GOLD });
    await service.fault({ ...UPDATE, action: 'error_500' });
    await changeTo(service, of, { product_id });
    await service.advance(2 * DAY_SECONDS);
    await service.clearFaults();
    await service.advance(DAY_SECONDS / 2);
    await service.settle();
    const charged = async (): Promise<number[]> =>
      (await paymentsOf(service, of.who, of.id)).map(({ total_cents }) => total_cents);
    const gold = async () =>
      present(
        (await service.get('/memberships', of.who.options)).body.data.find((one) => one.membership_type_id === 'gold'),
      );
    expect(await readSubscription(service, of.who, of.id)).toMatchObject({ status: 'active', product_id });
    expect([await charged(), (await gold()).status]).toEqual([[500], 'pending']);
    await service.advance(31 * DAY_SECONDS);
    await service.settle();
    expect([await charged(), (await gold()).status]).toEqual([[500, 3_000], 'active']);
  });

  test('keeps the trial until the payer has paid the change', async () => {
    const { of, product_id } = await onTrial(0);
    const asking = await anotherMethod(service, of.who, 'pm_card_authenticationRequired');
    await patch(service, of.who, { id: of.id, body: { payment_method_id: asking } });
    const { body } = await changeTo(service, of, { product_id });
    expect(body).toMatchObject({ status: 'trialing', pending_change: { due_now_cents: 3_000 } });
    await service.authenticate(body.pending_change.payment.id);
    await service.settle();
    expect(await readSubscription(service, of.who, of.id)).toMatchObject({ status: 'active', total_cents: 3_000 });
    // This command reads the subscription from its provider.
    expect(await command(service, of.who, { id: of.id, name: 'resume' })).toMatchObject({ body: { status: 'active' } });
  });
});
