import { describe, expect, test } from 'vitest';
import { DAY_MS, startOfSecond } from '../../shared/core/time.ts';
import { present } from '../builders/present.ts';
import { DAY_SECONDS, HOUR_SECONDS, MINUTE_SECONDS } from '../builders/seconds.ts';
import { IMPATIENT } from './flow.ts';
import { withHost } from './host.ts';
import {
  anotherMethod,
  command,
  OWN_BILLING,
  patch,
  paymentsOf,
  readMembership,
  readSubscription,
  subscribe,
  subscriber,
  subscribeToGold,
  subscriptionEventsOf,
  trySubscribe,
} from './subscribers.ts';

const CANCEL_NOW = { cancel_at_period_end: false };
const statuses = (list: readonly { readonly status: string }[]): string[] => list.map(({ status }) => status);

describe('a subscription’s trial', () => {
  const service = withHost({ frozen: true, env: { ...OWN_BILLING, ...IMPATIENT } });

  test('charges nothing, is announced three days before its end, and then starts the first period', async () => {
    const who = await subscriber(service);
    const made = await subscribeToGold(service, who, { trial_days: 10 });
    expect(made).toMatchObject({ status: 'trialing', billing_status: 'trialing' });
    expect([made.current_period_end, made.next_billing_date]).toEqual([made.trial_end, made.trial_end]);
    expect(Date.parse(made.trial_end) - startOfSecond(Date.parse(made.created_at))).toBe(10 * DAY_MS);
    await service.advance(7 * DAY_SECONDS - MINUTE_SECONDS);
    expect(await subscriptionEventsOf(service, made.id)).toEqual([
      'subscription.created created',
      'membership.pending pending',
    ]);
    await service.advance(2 * MINUTE_SECONDS);
    expect((await subscriptionEventsOf(service, made.id)).slice(2)).toEqual(['subscription.updated trial_will_end']);
    await service.advance(3 * DAY_SECONDS - 2 * MINUTE_SECONDS);
    expect(await paymentsOf(service, who, made.id)).toEqual([]);
    await service.advance(2 * MINUTE_SECONDS);
    const running = await readSubscription(service, who, made.id);
    expect(running).toMatchObject({ status: 'active', current_period_start: made.trial_end });
    expect(statuses(await paymentsOf(service, who, made.id))).toEqual(['succeeded']);
    expect(await readMembership(service, who, made.id)).toMatchObject({
      status: 'active',
      starts_at: made.trial_end,
      ends_at: running.current_period_end,
    });
    expect((await subscriptionEventsOf(service, made.id)).slice(3)).toEqual([
      'subscription.updated trial_ended',
      'membership.activated active',
    ]);
  });

  test('is announced immediately and only once if it is shorter than three days', async () => {
    const who = await subscriber(service);
    const made = await subscribe(service, who, { trial_days: 2 });
    await service.advance(MINUTE_SECONDS);
    await service.advance(DAY_SECONDS);
    expect(await subscriptionEventsOf(service, made.id)).toEqual([
      'subscription.created created',
      'subscription.updated trial_will_end',
    ]);
  });

  test('leaves the subscription past due if the first charge is declined, with a retry scheduled', async () => {
    const who = await subscriber(service, 'pm_card_chargeCustomerFail');
    const made = await subscribe(service, who, { trial_days: 1 });
    await service.advance(DAY_SECONDS + MINUTE_SECONDS);
    expect(await readSubscription(service, who, made.id)).toMatchObject({
      status: 'past_due',
      billing_status: 'retrying',
    });
  });

  test('ends without a charge if a cancellation is scheduled', async () => {
    const who = await subscriber(service);
    const made = await subscribe(service, who, { trial_days: 1 });
    expect(await command(service, who, { id: made.id, name: 'cancel' })).toMatchObject({
      status: 200,
      body: { status: 'trialing', cancel_at_period_end: true },
    });
    await service.advance(DAY_SECONDS + MINUTE_SECONDS);
    expect(await readSubscription(service, who, made.id)).toMatchObject({ status: 'canceled' });
    expect(await paymentsOf(service, who, made.id)).toEqual([]);
  });

  test('continues after a cancellation and a reactivation', async () => {
    const who = await subscriber(service);
    const made = await subscribe(service, who, { trial_days: 5 });
    await command(service, who, { id: made.id, name: 'cancel', body: CANCEL_NOW });
    const again = await command(service, who, { id: made.id, name: 'reactivate' });
    expect(again).toMatchObject({ status: 200, body: { status: 'trialing', trial_end: made.trial_end } });
  });
});

describe('a subscription with a price of zero', () => {
  const service = withHost({ frozen: true, env: { ...OWN_BILLING, ...IMPATIENT } });

  test('is active without a charge, period after period', async () => {
    const who = await subscriber(service);
    const made = await subscribe(service, who, { total_cents: 0, billing_interval: 'daily' });
    expect(made).toMatchObject({ status: 'active', total_cents: 0 });
    await service.advance(3 * DAY_SECONDS + MINUTE_SECONDS);
    const later = await readSubscription(service, who, made.id);
    expect(later.current_period_start).toBe(new Date(Date.parse(made.created_at) + 3 * DAY_MS).toISOString());
    expect(await paymentsOf(service, who, made.id)).toEqual([]);
    await command(service, who, { id: made.id, name: 'cancel', body: CANCEL_NOW });
  });
});

describe('the first charge of a subscription', () => {
  const service = withHost({ frozen: true, env: { ...OWN_BILLING, ...IMPATIENT } });

  test('leaves no subscription if declined, and its key returns the same response', async () => {
    const who = await subscriber(service, 'pm_card_chargeCustomerFail');
    const keyed = { ...who, options: { ...who.options, idempotencyKey: 'first' } };
    const answer = await trySubscribe(service, keyed);
    expect(answer).toMatchObject({ status: 402, body: { code: 'PAYMENT_DECLINED' } });
    expect(answer.body.details.decline_code).toBe('do_not_honor');
    await service.advance(HOUR_SECONDS);
    const again = await trySubscribe(service, keyed);
    expect(again).toMatchObject({ status: 402, body: { details: answer.body.details } });
    expect((await service.get('/subscriptions', who.options)).body).toEqual([]);
    const { body } = await service.get('/payments', who.options);
    expect(body.data).toEqual([]);
    await service.advance(DAY_SECONDS);
    expect((await trySubscribe(service, keyed)).status).toBe(402);
    // A day later the key has expired, so this was a new attempt.
    const { body: customer } = await service.get(`/customers/${who.names.customer_id}`, who.options);
    const { payment_intents: intents } = await service.ledger();
    const asked = intents.filter((intent) => intent.customer === customer.provider_customer_id);
    expect(asked).toHaveLength(2);
    expect((await service.get('/payments', who.options)).body.data).toEqual([]);
  });

  test('leaves the subscription past due while pending, and active once paid', async () => {
    const who = await subscriber(service, 'pm_sim_processing_ok');
    const made = await subscribeToGold(service, who);
    expect(made).toMatchObject({ status: 'past_due', billing_status: 'pending' });
    expect(await readMembership(service, who, made.id)).toMatchObject({ status: 'pending' });
    await service.advance(2 * MINUTE_SECONDS);
    expect(await readSubscription(service, who, made.id)).toMatchObject({ status: 'active', billing_status: 'active' });
    expect(await subscriptionEventsOf(service, made.id)).toEqual([
      'subscription.created created',
      'membership.pending pending',
      'subscription.updated activated',
      'membership.activated active',
    ]);
  });

  test('activates the subscription after the payer authenticates', async () => {
    const who = await subscriber(service, 'pm_card_authenticationRequired');
    const made = await subscribe(service, who);
    expect(made).toMatchObject({ status: 'past_due', billing_status: 'pending' });
    const [payment] = await paymentsOf(service, who, made.id);
    expect(payment).toMatchObject({ status: 'pending', id: made.latest_payment_id });
    await service.authenticate(present(payment).id);
    await service.settle();
    expect(await readSubscription(service, who, made.id)).toMatchObject({ status: 'active' });
  });

  test('ends the subscription if not paid within 23 hours', async () => {
    const who = await subscriber(service, 'pm_card_authenticationRequired');
    const made = await subscribe(service, who);
    await service.advance(23 * HOUR_SECONDS - MINUTE_SECONDS);
    expect(await readSubscription(service, who, made.id)).toMatchObject({ status: 'past_due' });
    await service.advance(2 * MINUTE_SECONDS);
    expect(await readSubscription(service, who, made.id)).toMatchObject({
      status: 'canceled',
      billing_status: 'ended',
    });
    expect(statuses(await paymentsOf(service, who, made.id))).toEqual(['canceled']);
  });

  test('is retried immediately with another method if it fails after pending', async () => {
    const who = await subscriber(service, 'pm_sim_processing_fail');
    const made = await subscribe(service, who);
    await service.advance(2 * MINUTE_SECONDS);
    expect(await readSubscription(service, who, made.id)).toMatchObject({
      status: 'past_due',
      billing_status: 'pending',
    });
    const good = await anotherMethod(service, who);
    expect(await patch(service, who, { id: made.id, body: { payment_method_id: good } })).toMatchObject({
      status: 200,
      body: { status: 'active' },
    });
    expect(statuses(await paymentsOf(service, who, made.id))).toEqual(['succeeded']);
  });

  test.each(['pm_sim_timeout_before', 'pm_sim_timeout_after'])(
    'is looked up and charged once if the request or its response is lost (%s)',
    async (token) => {
      const who = await subscriber(service, token);
      // The charge's event may arrive before the call's deadline.
      const made = await subscribe(service, who);
      expect(['past_due', 'active']).toContain(made.status);
      await service.advance(10 * MINUTE_SECONDS);
      expect(await readSubscription(service, who, made.id)).toMatchObject({ status: 'active' });
      const { charges } = await service.ledger();
      const theirs = charges.filter(({ payment_id }) => payment_id === made.latest_payment_id);
      expect(statuses(theirs)).toEqual(['succeeded']);
    },
  );
});

describe('a cancellation of a subscription', () => {
  const service = withHost({ frozen: true, env: { ...OWN_BILLING, ...IMPATIENT } });

  test('keeps the subscription active until the end of the period, and nothing is charged afterwards', async () => {
    const who = await subscriber(service);
    const made = await subscribeToGold(service, who);
    const scheduled = await command(service, who, { id: made.id, name: 'cancel' });
    expect(scheduled).toMatchObject({ status: 200, body: { status: 'active', cancel_at_period_end: true } });
    expect(await command(service, who, { id: made.id, name: 'cancel' })).toEqual(
      expect.objectContaining({ body: scheduled.body }),
    );
    await service.moveTo(made.current_period_end);
    await service.advance(MINUTE_SECONDS);
    expect(await readSubscription(service, who, made.id)).toMatchObject({
      status: 'canceled',
      billing_status: 'ended',
      next_billing_date: null,
    });
    await service.advance(40 * DAY_SECONDS);
    expect(statuses(await paymentsOf(service, who, made.id))).toEqual(['succeeded']);
    expect(await subscriptionEventsOf(service, made.id)).toEqual([
      'subscription.created created',
      'membership.activated active',
      'subscription.updated cancel_scheduled',
      'subscription.cancelled canceled',
      'membership.cancelled cancelled',
    ]);
  });

  test('can be withdrawn while scheduled', async () => {
    const who = await subscriber(service);
    const made = await subscribe(service, who);
    await command(service, who, { id: made.id, name: 'cancel' });
    expect(await command(service, who, { id: made.id, name: 'reactivate' })).toMatchObject({
      status: 200,
      body: { status: 'active', cancel_at_period_end: false },
    });
    await service.moveTo(made.current_period_end);
    await service.advance(MINUTE_SECONDS);
    expect(await readSubscription(service, who, made.id)).toMatchObject({ status: 'active' });
  });

  test('takes effect immediately if requested, and can be repeated', async () => {
    const who = await subscriber(service);
    const made = await subscribeToGold(service, who);
    const canceled = await command(service, who, { id: made.id, name: 'cancel', body: CANCEL_NOW });
    expect(canceled).toMatchObject({ status: 200, body: { status: 'canceled', next_billing_date: null } });
    const again = await command(service, who, { id: made.id, name: 'cancel', body: CANCEL_NOW });
    expect(again).toMatchObject({ status: 200, body: canceled.body });
    expect(await readMembership(service, who, made.id)).toMatchObject({ status: 'cancelled' });
  });

  test('cancels a first charge that waits for authentication', async () => {
    const who = await subscriber(service, 'pm_card_authenticationRequired');
    const made = await subscribe(service, who);
    expect(await command(service, who, { id: made.id, name: 'cancel', body: CANCEL_NOW })).toMatchObject({
      body: { status: 'canceled' },
    });
    expect(statuses(await paymentsOf(service, who, made.id))).toEqual(['canceled']);
    await service.advance(25 * HOUR_SECONDS);
    expect(await readSubscription(service, who, made.id)).toMatchObject({ status: 'canceled' });
  });

  test('lets a running charge complete', async () => {
    const who = await subscriber(service, 'pm_sim_processing_ok');
    const made = await subscribe(service, who);
    await command(service, who, { id: made.id, name: 'cancel', body: CANCEL_NOW });
    await service.advance(10 * MINUTE_SECONDS);
    expect(await readSubscription(service, who, made.id)).toMatchObject({ status: 'canceled' });
    expect(statuses(await paymentsOf(service, who, made.id))).toEqual(['succeeded']);
    // A paid period is not charged again.
    expect(await command(service, who, { id: made.id, name: 'reactivate' })).toMatchObject({
      status: 200,
      body: { status: 'active' },
    });
    expect(await paymentsOf(service, who, made.id)).toHaveLength(1);
  });
});

describe('a reactivation of a subscription', () => {
  const service = withHost({ frozen: true, env: { ...OWN_BILLING, ...IMPATIENT } });

  test('charges nothing within the paid period', async () => {
    const who = await subscriber(service);
    const made = await subscribeToGold(service, who);
    await command(service, who, { id: made.id, name: 'cancel', body: CANCEL_NOW });
    const again = await command(service, who, { id: made.id, name: 'reactivate' });
    expect(again).toMatchObject({
      status: 200,
      body: { status: 'active', current_period_end: made.current_period_end, canceled_at: null },
    });
    expect(await paymentsOf(service, who, made.id)).toHaveLength(1);
    expect(await readMembership(service, who, made.id)).toMatchObject({
      status: 'active',
      ends_at: made.current_period_end,
    });
    expect(await command(service, who, { id: made.id, name: 'reactivate' })).toMatchObject({
      status: 409,
      body: { code: 'SUBSCRIPTION_NOT_CANCELED' },
    });
  });

  test('starts and charges a new period immediately if the former period is over', async () => {
    const who = await subscriber(service);
    const made = await subscribe(service, who);
    await command(service, who, { id: made.id, name: 'cancel', body: CANCEL_NOW });
    await service.advance(45 * DAY_SECONDS);
    const again = await command(service, who, { id: made.id, name: 'reactivate' });
    const now = new Date(service.now()).toISOString();
    expect(again).toMatchObject({ status: 200, body: { status: 'active', current_period_start: now } });
    expect(statuses(await paymentsOf(service, who, made.id))).toEqual(['succeeded', 'succeeded']);
  });

  test('leaves the subscription canceled after each decline, for any number of attempts', async () => {
    const who = await subscriber(service);
    const made = await subscribe(service, who);
    await command(service, who, { id: made.id, name: 'cancel', body: CANCEL_NOW });
    await service.advance(45 * DAY_SECONDS);
    const failing = await anotherMethod(service, who, 'pm_card_chargeCustomerFail');
    await patch(service, who, { id: made.id, body: { payment_method_id: failing } });
    for (const _ of [1, 2]) {
      expect(await command(service, who, { id: made.id, name: 'reactivate' })).toMatchObject({
        status: 402,
        body: { code: 'PAYMENT_DECLINED' },
      });
      expect(await readSubscription(service, who, made.id)).toMatchObject({ status: 'canceled' });
    }
    const good = await anotherMethod(service, who);
    await patch(service, who, { id: made.id, body: { payment_method_id: good } });
    expect(await command(service, who, { id: made.id, name: 'reactivate' })).toMatchObject({ status: 200 });
    const payments = statuses(await paymentsOf(service, who, made.id));
    expect(payments.toSorted()).toEqual(['failed', 'failed', 'succeeded', 'succeeded']);
  });
});

describe('a pause of a subscription', () => {
  const service = withHost({ frozen: true, env: { ...OWN_BILLING, ...IMPATIENT } });

  test('charges nothing, and a resume within the paid period is free', async () => {
    const who = await subscriber(service);
    const made = await subscribeToGold(service, who);
    expect(await command(service, who, { id: made.id, name: 'pause' })).toMatchObject({
      status: 200,
      body: { status: 'paused', billing_status: 'paused', next_billing_date: null },
    });
    expect(await command(service, who, { id: made.id, name: 'pause' })).toMatchObject({
      status: 200,
      body: { status: 'paused' },
    });
    expect(await readMembership(service, who, made.id)).toMatchObject({ status: 'expired' });
    expect(await command(service, who, { id: made.id, name: 'resume' })).toMatchObject({
      status: 200,
      body: { status: 'active', current_period_end: made.current_period_end },
    });
    expect(await paymentsOf(service, who, made.id)).toHaveLength(1);
  });

  test('starts a new period if resumed after the end of the paid period', async () => {
    const who = await subscriber(service);
    const made = await subscribe(service, who);
    await command(service, who, { id: made.id, name: 'pause' });
    await service.advance(70 * DAY_SECONDS);
    expect(await paymentsOf(service, who, made.id)).toHaveLength(1);
    const resumed = await command(service, who, { id: made.id, name: 'resume' });
    expect(resumed).toMatchObject({
      status: 200,
      body: { status: 'active', current_period_start: new Date(service.now()).toISOString() },
    });
    expect(statuses(await paymentsOf(service, who, made.id))).toEqual(['succeeded', 'succeeded']);
  });

  test.each([
    ['a trial', { trial_days: 5 }, 'pause'],
    ['a trial', { trial_days: 5 }, 'resume'],
  ] as const)('is refused during %s, and so is a resume', async (_, fields, name) => {
    const who = await subscriber(service);
    const made = await subscribe(service, who, fields);
    expect(await command(service, who, { id: made.id, name })).toMatchObject({
      status: 409,
      body: { code: 'INVALID_STATE' },
    });
  });
});
