import { describe, expect, test } from 'vitest';
import { DAY_SECONDS, HOUR_SECONDS } from '../builders/seconds.ts';
import { signIn } from './flow.ts';
import { type TestHost, withHost } from './host.ts';
import { company, saveReadyMethod } from './payers.ts';
import { changeTo, PLAN_PLACES, type PlanHolder, plan, subscribed } from './plan-changes.ts';
import type { ParsedJson } from './routes.ts';
import { command, patch, payer, paymentsOf, readSubscription, subscriber, trySubscribe } from './subscribers.ts';

/** A tier becomes active only after its payment, for every tier-granting command. */

const FAILING = {
  provider_a: {
    declined: 'pm_sim_ok_0_then_decline',
    'declined for good': 'pm_sim_ok_0_then_lost',
    unclear: 'pm_sim_processing_fail',
    'left to the payer': 'pm_card_authenticationRequired',
  },
  provider_b: {
    declined: 'SIM-OK-0-THEN-DECLINE',
    'declined for good': 'SIM-OK-0-THEN-LOST',
    unclear: 'SIM-PENDING-FAIL',
    'left to the payer': 'SIM-OK-0-THEN-AUTHENTICATION',
  },
  provider_c: {
    declined: 'cnon:sim-ok-0-then-decline',
    'declined for good': 'cnon:sim-ok-0-then-lost',
    unclear: 'cnon:sim-processing-fail',
    'left to the payer': 'cnon:sim-ok-0-then-authentication',
  },
} as const;
const OUTCOMES = ['declined', 'declined for good', 'unclear', 'left to the payer'] as const;

const NO_PRICE = {
  ...{ subtotal_cents: undefined, total_cents: undefined, currency: undefined, billing_interval: undefined },
};

const goldPlan = (service: TestHost, fields: Readonly<Record<string, unknown>> = {}): Promise<string> =>
  plan(service, 4_900, { ...fields, metadata: { membership_type_id: 'gold' } });

const goldOf = async (service: TestHost, { who, id }: PlanHolder): Promise<ParsedJson | undefined> => {
  const query = 'organization' in who ? `?entity_type=organization&entity_id=${who.organization}` : '';
  const { status, body } = await service.get(`/memberships${query}`, who.options);
  expect(status).toBe(200);
  return body.data.find((one) => one.subscription_id === id && one.membership_type_id === 'gold');
};

const activations = async (service: TestHost, id: string) =>
  (await service.busEvents('membership.activated'))
    .map(({ detail }) => detail.payload)
    .filter(({ data }) => data.subscription_id === id && data.membership_type_id === 'gold');

/** Expects that the tier is never active, at several times until after the last retry. */
const expectNeverActive = async (service: TestHost, of: PlanHolder): Promise<void> => {
  for (const seconds of [0, 60, 3 * HOUR_SECONDS, DAY_SECONDS, 3 * DAY_SECONDS, 5 * DAY_SECONDS, 8 * DAY_SECONDS]) {
    await service.advance(seconds);
    await service.settle();
    expect((await goldOf(service, of))?.status).not.toBe('active');
  }
  expect(await activations(service, of.id)).toEqual([]);
  const paid = await paymentsOf(service, of.who, of.id);
  expect(paid.filter(({ status }) => status === 'succeeded')).toEqual([]);
};

describe.each(PLAN_PLACES)('an unpaid tier at %s', (_, place) => {
  const service = withHost({ frozen: true, env: place.settings });

  const failing = async ({ who, id }: PlanHolder, outcome: (typeof OUTCOMES)[number]): Promise<void> => {
    const fields = place.slot === 'provider_a' ? {} : { provider_id: place.slot };
    const token = FAILING[place.slot][outcome];
    const method = await saveReadyMethod(service, who.options, { provider_payment_method_token: token, ...fields });
    const answer = await patch(service, who, { id, body: { payment_method_id: method.id } });
    expect({ status: answer.status, body: answer.body }).toMatchObject({ status: 200 });
  };

  /** A free subscription without a product. Its method fails from now on. */
  const free = async (outcome: (typeof OUTCOMES)[number]): Promise<PlanHolder> => {
    const price = { subtotal_cents: 0, total_cents: 0, currency: 'USD', billing_interval: 'monthly' };
    const of = await subscribed(service, place, price);
    await failing(of, outcome);
    return of;
  };

  const scheduled = async (outcome: (typeof OUTCOMES)[number]): Promise<PlanHolder> => {
    const of = await free(outcome);
    const answer = await changeTo(service, of, { product_id: await goldPlan(service), when: 'period_end' });
    expect(answer).toMatchObject({ status: 200, body: { scheduled_change: { total_cents: 4_900 } } });
    return of;
  };

  const untilPeriodEnds = async ({ who, id }: PlanHolder): Promise<void> => {
    const { current_period_end } = await readSubscription(service, who, id);
    await service.moveTo(current_period_end);
    await service.settle();
  };

  test.each(OUTCOMES)('is not active after a creation whose charge is %s', async (outcome) => {
    const fields = place.slot === 'provider_a' ? {} : { provider_id: place.slot };
    const who = await subscriber(service, FAILING[place.slot][outcome], fields);
    const answer = await trySubscribe(service, who, { ...NO_PRICE, product_id: await goldPlan(service) });
    expect([201, 402]).toContain(answer.status);
    if (answer.status === 201) await expectNeverActive(service, { who, id: answer.body.id });
    else expect((await service.get('/memberships', who.options)).body.data).toEqual([]);
  });

  test.each(OUTCOMES)('is not active after an immediate change whose charge is %s', async (outcome) => {
    const of = await free(outcome);
    await service.advance(5 * DAY_SECONDS);
    const answer = await changeTo(service, of, { product_id: await goldPlan(service), when: 'now' });
    expect([200, 202, 402]).toContain(answer.status);
    expect(answer.body.product_id ?? null).toBeNull();
    await expectNeverActive(service, of);
  });

  test.each(OUTCOMES)('is pending after a scheduled change whose charge is %s', async (outcome) => {
    const of = await scheduled(outcome);
    await untilPeriodEnds(of);
    await service.advance(3 * HOUR_SECONDS);
    await service.settle();
    expect(await goldOf(service, of)).toMatchObject({ status: 'pending', starts_at: null, ends_at: null });
    expect(await readSubscription(service, of.who, of.id)).toMatchObject({ status: 'past_due' });
    await expectNeverActive(service, of);
  });

  test.each(OUTCOMES)('is not active after a reactivation whose charge is %s', async (outcome) => {
    const of = await scheduled(outcome);
    await untilPeriodEnds(of);
    await service.advance(3 * HOUR_SECONDS);
    await service.settle();
    const body = { cancel_at_period_end: false };
    expect(await command(service, of.who, { id: of.id, name: 'cancel', body })).toMatchObject({ status: 200 });
    await service.advance(DAY_SECONDS);
    const answer = await command(service, of.who, { id: of.id, name: 'reactivate' });
    expect([200, 402, 409]).toContain(answer.status);
    await expectNeverActive(service, of);
  });

  test.each(OUTCOMES)('is not active after a resumption whose charge is %s', async (outcome) => {
    const of = await scheduled(outcome);
    expect(await command(service, of.who, { id: of.id, name: 'pause' })).toMatchObject({ status: 200 });
    await untilPeriodEnds(of);
    await service.advance(DAY_SECONDS);
    await service.settle();
    const answer = await command(service, of.who, { id: of.id, name: 'resume' });
    expect([200, 402, 409]).toContain(answer.status);
    await expectNeverActive(service, of);
  });

  test.each(OUTCOMES)('is not active after the end of a trial if the charge is %s', async (outcome) => {
    const of = await subscribed(service, place, { product_id: await goldPlan(service, { trial_days: 7 }) });
    await failing(of, outcome);
    await untilPeriodEnds(of);
    await expectNeverActive(service, of);
  });

  test('is active once a scheduled change is paid, and publishes its event after the payment', async () => {
    const of = await scheduled('declined');
    await untilPeriodEnds(of);
    await service.advance(3 * HOUR_SECONDS);
    await service.settle();
    const fields = place.slot === 'provider_a' ? {} : { provider_id: place.slot };
    const { id } = await saveReadyMethod(service, of.who.options, {
      ...{ provider_payment_method_token: place.token, ...fields },
    });
    expect(await patch(service, of.who, { id: of.id, body: { payment_method_id: id } })).toMatchObject({ status: 200 });
    await service.settle();
    const renewed = await readSubscription(service, of.who, of.id);
    expect(renewed.status).toBe('active');
    expect(await goldOf(service, of)).toMatchObject({ status: 'active', ends_at: renewed.current_period_end });
    expect(await activations(service, of.id)).toHaveLength(1);
    // The tier is now paid, so it keeps its grace period while the next renewal is retried.
    await failing(of, 'declined');
    await untilPeriodEnds(of);
    await service.advance(3 * HOUR_SECONDS);
    await service.settle();
    expect((await readSubscription(service, of.who, of.id)).status).toBe('past_due');
    expect((await goldOf(service, of))?.status).toBe('active');
    expect(await activations(service, of.id)).toHaveLength(1);
  });

  test.each(OUTCOMES)('is pending after a scheduled change from a paid tier, if its charge is %s', async (outcome) => {
    const silver = await plan(service, 1_000, { metadata: { membership_type_id: 'silver' } });
    const of = await subscribed(service, place, { product_id: silver });
    await changeTo(service, of, { product_id: await goldPlan(service), when: 'period_end' });
    await failing(of, outcome);
    await untilPeriodEnds(of);
    await service.advance(3 * HOUR_SECONDS);
    await service.settle();
    expect(await goldOf(service, of)).toMatchObject({ status: 'pending', starts_at: null });
    expect(await activations(service, of.id)).toEqual([]);
    const { data } = (await service.get('/memberships', of.who.options)).body;
    expect(data.find((one) => one.membership_type_id === 'silver')?.status).toBe('cancelled');
  });

  test('is active immediately if it is free, and pending once it has an unpaid price', async () => {
    const product_id = await plan(service, 0, { metadata: { membership_type_id: 'gold' } });
    const of = await subscribed(service, place, { product_id });
    expect((await goldOf(service, of))?.status).toBe('active');
    const admin = await signIn(service, { is_admin: true });
    const priced = { name: 'Gold', total_cents: 4_900, currency: 'USD', billing_interval: 'monthly' };
    const metadata = { membership_type_id: 'gold' };
    await service.put(`/admin/products/${product_id}`, { ...priced, metadata }, admin.options);
    await changeTo(service, of, { product_id, when: 'period_end' });
    await failing(of, 'declined');
    await untilPeriodEnds(of);
    await service.advance(3 * HOUR_SECONDS);
    await service.settle();
    expect((await readSubscription(service, of.who, of.id)).status).toBe('past_due');
    expect((await goldOf(service, of))?.status).toBe('pending');
  });
});

describe('an unpaid tier, on a method of another customer', () => {
  const service = withHost({ frozen: true });

  test.each(OUTCOMES.flatMap((outcome) => [[outcome, 'before'] as const, [outcome, 'after'] as const]))(
    'is not active after a transfer whose charge is %s, %s the tier begins',
    async (outcome, when) => {
      const token = FAILING.provider_a[outcome];
      const { id: organization, owner } = await company(service);
      const { options } = await signIn(service, { user_id: owner.userId, expires_in: 366 * DAY_SECONDS });
      const fields = { organization_id: organization };
      const who = { ...(await payer(service, options, { token, fields })), organization };
      const { body: made } = await trySubscribe(service, who, { ...fields, subtotal_cents: 0, total_cents: 0 });
      const of = { who, id: made.id };
      const gold = await goldPlan(service);
      expect(await changeTo(service, of, { product_id: gold, when: 'period_end' })).toMatchObject({ status: 200 });
      const own = await saveReadyMethod(service, options, { provider_payment_method_token: token });
      const transfer = () => patch(service, who, { id: of.id, body: { payment_method_id: own.id } });
      if (when === 'before') expect(await transfer()).toMatchObject({ status: 200 });
      await service.moveTo(made.current_period_end);
      await service.advance(3 * HOUR_SECONDS);
      await service.settle();
      expect(await goldOf(service, of)).toMatchObject({ status: 'pending' });
      if (when === 'after') expect([200, 402, 409]).toContain((await transfer()).status);
      for (const days of [0, 1, 7, 14]) {
        await service.advance(days * DAY_SECONDS);
        await service.settle();
        expect((await goldOf(service, of))?.status).not.toBe('active');
      }
      expect(await activations(service, of.id)).toEqual([]);
    },
  );
});
