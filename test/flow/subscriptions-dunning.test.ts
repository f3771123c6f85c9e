import { describe, expect, test } from 'vitest';
import { DAY_MS } from '../../shared/core/time.ts';
import { present } from '../builders/present.ts';
import { DAY_SECONDS, MINUTE_SECONDS } from '../builders/seconds.ts';
import { withHost } from './host.ts';
import { saveReadyMethod } from './payers.ts';
import {
  anotherMethod,
  command,
  OWN_BILLING,
  patch,
  paymentsOf,
  readMembership,
  readSubscription,
  type Subscriber,
  subscriber,
  subscribeToGold,
  subscriptionEventsOf,
} from './subscribers.ts';

const service = withHost({ frozen: true, env: OWN_BILLING });

const at = (iso: string, days: number): string => new Date(Date.parse(iso) + days * DAY_MS).toISOString();

/** A subscriber just after a failed renewal. */
const pastDue = async (): Promise<{
  who: Subscriber;
  id: string;
  failedAt: string;
  attempts: () => Promise<string[]>;
}> => {
  const who = await subscriber(service);
  const made = await subscribeToGold(service, who);
  const failing = await anotherMethod(service, who, 'pm_card_chargeCustomerFail');
  expect((await patch(service, who, { id: made.id, body: { payment_method_id: failing } })).status).toBe(200);
  await service.moveTo(made.current_period_end);
  await service.advance(MINUTE_SECONDS);
  const [, renewal] = await paymentsOf(service, who, made.id);
  const attempts = async () => {
    const { charges } = await service.ledger();
    return charges
      .filter(({ payment_id }) => payment_id === present(renewal).id)
      .map(({ status, created_at }) => `${status} ${created_at}`);
  };
  return { who, id: made.id, failedAt: present(renewal).updated_at, attempts };
};

describe('a failed renewal', () => {
  test('is retried 1, 3, 7 and 14 days later, and then ends the subscription', async () => {
    const { who, id, failedAt, attempts } = await pastDue();
    const expected = [`failed ${failedAt}`];
    for (const [done, next] of [
      [0, 1],
      [1, 3],
      [3, 7],
      [7, 14],
    ] as const) {
      const due = await readSubscription(service, who, id);
      expect(due).toMatchObject({
        status: 'past_due',
        billing_status: 'retrying',
        next_billing_date: at(failedAt, next),
      });
      expect(await readMembership(service, who, id)).toMatchObject({
        status: 'active',
        ends_at: due.current_period_end,
      });
      await service.advance((next - done) * DAY_SECONDS - MINUTE_SECONDS);
      expect(await attempts()).toEqual(expected);
      await service.moveTo(at(failedAt, next));
      expected.push(`failed ${at(failedAt, next)}`);
      expect(await attempts()).toEqual(expected);
    }
    expect(await readSubscription(service, who, id)).toMatchObject({
      status: 'canceled',
      billing_status: 'ended',
      next_billing_date: null,
      canceled_at: at(failedAt, 14),
    });
    expect(await readMembership(service, who, id)).toMatchObject({ status: 'cancelled' });
    expect(await subscriptionEventsOf(service, id)).toEqual([
      'subscription.created created',
      'membership.activated active',
      'subscription.updated method_changed',
      ...Array<string>(4).fill('subscription.updated payment_failed'),
      'subscription.cancelled payment_failed',
      'membership.cancelled cancelled',
    ]);
    // All attempts of the period share one payment, and there is no charge after the end.
    expect(await paymentsOf(service, who, id)).toHaveLength(2);
    await service.advance(40 * DAY_SECONDS);
    expect(await attempts()).toEqual(expected);
  });

  test('is retried immediately with a new method, and pays its own period', async () => {
    const { who, id, failedAt, attempts } = await pastDue();
    const before = await readSubscription(service, who, id);
    await service.advance(2 * DAY_SECONDS);
    const good = await anotherMethod(service, who);
    const answer = await patch(service, who, { id, body: { payment_method_id: good } });
    expect(answer).toMatchObject({
      status: 200,
      body: { status: 'active', current_period_start: before.current_period_end },
    });
    expect(await attempts()).toEqual([
      `failed ${failedAt}`,
      `failed ${at(failedAt, 1)}`,
      expect.stringMatching(/^succeeded/),
    ]);
    expect(await paymentsOf(service, who, id)).toMatchObject([{ status: 'succeeded' }, { status: 'succeeded' }]);
    await service.settle();
    expect(await readMembership(service, who, id)).toMatchObject({
      status: 'active',
      ends_at: answer.body.current_period_end,
    });
    expect((await subscriptionEventsOf(service, id)).slice(-2)).toEqual([
      'subscription.updated renewed',
      'membership.extended active',
    ]);
    await service.advance(20 * DAY_SECONDS);
    expect(await attempts()).toHaveLength(3);
  });

  test.each([
    ['provider_a', 'pm_sim_ok_1_then_pickup'],
    ['provider_a', 'pm_sim_ok_1_then_never'],
    ['provider_a', 'pm_sim_ok_1_then_revoked'],
    ['provider_b', 'SIM-OK-1-THEN-CLOSED'],
    ['provider_b', 'SIM-OK-1-THEN-CANCELED'],
    ['provider_c', 'cnon:sim-ok-1-then-stopped'],
    ['provider_c', 'cnon:sim-ok-1-then-invalid'],
  ] as const)(
    'at %s is not retried after the hard decline %s, except with another method',
    async (provider_id, card) => {
      const who = await subscriber(service, card, { provider_id });
      const made = await subscribeToGold(service, who);
      await service.moveTo(made.current_period_end);
      await service.advance(MINUTE_SECONDS);
      expect(await readSubscription(service, who, made.id)).toMatchObject({
        status: 'past_due',
        next_billing_date: null,
      });
      await service.advance(8 * DAY_SECONDS);
      const [, renewal] = await paymentsOf(service, who, made.id);
      expect(renewal).toMatchObject({ status: 'failed', decline: { advice: 'another_method', hard: true } });
      const { charges } = await service.ledger();
      expect(charges.filter(({ payment_id }) => payment_id === present(renewal).id)).toHaveLength(1);
      const token = { provider_a: 'pm_card_visa', provider_b: 'SIM-OK', provider_c: 'cnon:card-nonce-ok' }[provider_id];
      const good = await saveReadyMethod(service, who.options, { provider_payment_method_token: token, provider_id });
      expect(await patch(service, who, { id: made.id, body: { payment_method_id: good.id } })).toMatchObject({
        body: { status: 'active' },
      });
    },
  );

  test('is retried after a decline with the advice to correct the data', async () => {
    const who = await subscriber(service, 'pm_sim_ok_1_then_data');
    const made = await subscribeToGold(service, who);
    await service.moveTo(made.current_period_end);
    await service.advance(MINUTE_SECONDS);
    expect(await readSubscription(service, who, made.id)).toMatchObject({ billing_status: 'retrying' });
  });

  test('keeps its retry days if the new method fails too', async () => {
    const { who, id, failedAt, attempts } = await pastDue();
    await service.advance(DAY_SECONDS / 2);
    const worse = await anotherMethod(service, who, 'pm_card_chargeCustomerFail');
    const answer = await patch(service, who, { id, body: { payment_method_id: worse } });
    expect(answer).toMatchObject({ status: 200, body: { status: 'past_due', next_billing_date: at(failedAt, 1) } });
    expect(await attempts()).toHaveLength(2);
  });

  test('is not retried while the subscription is paused', async () => {
    const { who, id, attempts } = await pastDue();
    expect(await command(service, who, { id, name: 'pause' })).toMatchObject({ body: { status: 'paused' } });
    await service.advance(20 * DAY_SECONDS);
    expect(await attempts()).toHaveLength(1);
    expect(await readMembership(service, who, id)).toMatchObject({ status: 'expired' });
  });

  test('is not retried once the subscription is canceled', async () => {
    const { who, id, attempts } = await pastDue();
    const canceled = await command(service, who, { id, name: 'cancel', body: { cancel_at_period_end: false } });
    expect(canceled).toMatchObject({ body: { status: 'canceled', next_billing_date: null } });
    await service.advance(20 * DAY_SECONDS);
    expect(await attempts()).toHaveLength(1);
  });
});
