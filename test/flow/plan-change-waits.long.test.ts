import { describe, expect, test } from 'vitest';
import { HOUR_MS, iso } from '../../shared/core/time.ts';
import { DAY_SECONDS, HOUR_SECONDS } from '../builders/seconds.ts';
import { withHost } from './host.ts';
import { company } from './payers.ts';
import { changeTo, plan, preview, subscribed } from './plan-changes.ts';
import { command, OWN_BILLING, patch, payer, paymentsOf, readSubscription, subscribe } from './subscribers.ts';

const SQUARE = { slot: 'provider_c', token: 'cnon:card-nonce-ok' } as const;
const VISA = { slot: 'provider_a', token: 'pm_card_visa' } as const;
const CHARGES = { provider: 'provider_a', path: '/v1/payment_intents' } as const;

describe('a renewal during an unclear plan change', () => {
  const service = withHost({ frozen: true, env: OWN_BILLING });

  /** A change two hours before the period end. The outcome of its charge is unknown. */
  const unclear = async () => {
    const of = await subscribed(service, VISA, { product_id: await plan(service, 1_000) });
    await service.moveTo(iso(Date.parse(of.first.current_period_end) - 2 * HOUR_MS));
    const dear = await plan(service, 300_000);
    await service.fault({ ...CHARGES, path: '/confirm', method: 'POST', action: 'malformed', times: 1 });
    await service.fault({ ...CHARGES, method: 'GET', action: 'error_500' });
    await service.webhookMode('drop');
    const answer = await changeTo(service, of, { product_id: dear });
    expect(answer).toMatchObject({ status: 202, body: { pending_change: { status: 'processing' } } });
    return { of, dear };
  };

  const recover = async () => {
    await service.clearFaults();
    await service.webhookMode('normal');
  };

  const totals = async ({ who, id }: Awaited<ReturnType<typeof unclear>>['of']) =>
    (await paymentsOf(service, who, id))
      .filter(({ status }) => status === 'succeeded')
      .map(({ billing_reason, total_cents }) => `${billing_reason} ${total_cents > 100_000 ? 'new' : 'old'}`);

  test('waits for the outcome, and charges the resulting price', async () => {
    const { of } = await unclear();
    await service.advance(4 * HOUR_SECONDS);
    expect(await totals(of)).toEqual(['subscription_create old']);
    await recover();
    await service.advance(20 * HOUR_SECONDS);
    await service.settle();
    const after = await readSubscription(service, of.who, of.id);
    expect(after).toMatchObject({ status: 'active', total_cents: 300_000, pending_change: null });
    expect(after.current_period_start).toBe(of.first.current_period_end);
    expect(await totals(of)).toEqual([
      ...['subscription_create old', 'subscription_change old', 'subscription_cycle new'],
    ]);
  });

  test('waits at most a day, and a change that is found paid later still applies', async () => {
    const { of } = await unclear();
    await service.advance(DAY_SECONDS + 4 * HOUR_SECONDS);
    await recover();
    await service.advance(3 * DAY_SECONDS);
    await service.settle();
    const after = await readSubscription(service, of.who, of.id);
    expect(after).toMatchObject({ total_cents: 300_000, pending_change: null });
    const paid = await totals(of);
    expect(paid.filter((one) => one.startsWith('subscription_change'))).toHaveLength(1);
    expect(paid.filter((one) => one.startsWith('subscription_cycle'))).toHaveLength(1);
  });
});

describe('a plan change of a subscription with a member’s own method', () => {
  const service = withHost({ frozen: true, env: OWN_BILLING });

  test('can be made only by that member, even for a lower price', async () => {
    const { id: organization_id, billing, admin } = await company(service);
    const lender = await payer(service, billing.options);
    const ofOrganization = await payer(service, billing.options, { fields: { organization_id } });
    const names = { ...ofOrganization.names, payment_method_id: lender.names.payment_method_id };
    const first = await subscribe(service, { ...lender, names }, { organization_id });
    await service.advance(HOUR_SECONDS / 4);
    const [dear, cheap] = [await plan(service, 9_900), await plan(service, 900)];
    const byAdmin = { who: { ...lender, options: admin.options }, id: first.id };
    const refusal = { status: 403, body: { code: 'INSUFFICIENT_PERMISSIONS' } };
    for (const route of [preview, changeTo]) {
      expect(await route(service, byAdmin, { product_id: dear })).toMatchObject(refusal);
      expect(await route(service, byAdmin, { product_id: dear, when: 'period_end' })).toMatchObject(refusal);
      expect(await route(service, byAdmin, { product_id: cheap })).toMatchObject(refusal);
    }
    const byLender = { who: lender, id: first.id };
    expect(await changeTo(service, byLender, { product_id: dear })).toMatchObject({ status: 200 });
  });
});

describe('a plan of a subscription', () => {
  const service = withHost({ frozen: true });

  test('cannot change while the subscription is paused or canceled', async () => {
    for (const name of ['pause', 'cancel'] as const) {
      const of = await subscribed(service, VISA, { product_id: await plan(service, 1_000) });
      await command(service, of.who, {
        id: of.id,
        name,
        body: name === 'cancel' ? { cancel_at_period_end: false } : {},
      });
      const body = { product_id: await plan(service, 3_000) };
      for (const route of [preview, changeTo]) {
        expect(await route(service, of, body)).toMatchObject({ status: 409, body: { code: 'INVALID_STATE' } });
      }
    }
  });

  test('keeps a scheduled change through a pause, and applies it in the next period', async () => {
    const of = await subscribed(service, VISA, { product_id: await plan(service, 4_900) });
    await service.advance(10 * DAY_SECONDS);
    await changeTo(service, of, { product_id: await plan(service, 1_900) });
    await command(service, of.who, { id: of.id, name: 'pause' });
    await service.moveTo(of.first.current_period_end);
    await service.advance(5 * DAY_SECONDS);
    await service.settle();
    const resumed = await command(service, of.who, { id: of.id, name: 'resume' });
    expect(resumed).toMatchObject({ status: 200, body: { status: 'active' } });
    await service.settle();
    expect(await readSubscription(service, of.who, of.id)).toMatchObject({
      total_cents: 1_900,
      scheduled_change: null,
    });
    const payments = await paymentsOf(service, of.who, of.id);
    expect(payments.map(({ total_cents }) => total_cents)).toEqual([4_900, 1_900]);
  });

  test('appears in the timeline if a resumption starts the scheduled free plan', async () => {
    const of = await subscribed(service, SQUARE, { product_id: await plan(service, 4_900) });
    const free = await plan(service, 0);
    await changeTo(service, of, { product_id: free, when: 'period_end' });
    await service.moveTo(of.first.current_period_end);
    expect(await command(service, of.who, { id: of.id, name: 'pause' })).toMatchObject({ status: 200 });
    const resumed = await command(service, of.who, { id: of.id, name: 'resume' });
    expect(resumed).toMatchObject({ status: 200, body: { status: 'active', total_cents: 0 } });
    await service.settle();
    const timeline = await service.get(`/subscriptions/${of.id}/timeline`, of.who.options);
    const changes = timeline.body.data.filter(({ plan_change }) => plan_change);
    expect(changes).toMatchObject([
      { cause: 'resumed', plan_change: { from: { total_cents: 4_900 }, to: { product_id: free, total_cents: 0 } } },
    ]);
  });

  test('keeps its scheduled price if the subscription moves to another customer’s method', async () => {
    const of = await subscribed(service, VISA, { product_id: await plan(service, 4_900) });
    await service.advance(10 * DAY_SECONDS);
    await changeTo(service, of, { product_id: await plan(service, 1_900) });
    const other = await payer(service, of.who.options);
    const moved = await patch(service, of.who, {
      id: of.id,
      body: { payment_method_id: other.names.payment_method_id },
    });
    expect(moved).toMatchObject({
      status: 200,
      body: { total_cents: 4_900, scheduled_change: { total_cents: 1_900 } },
    });
    await service.moveTo(of.first.current_period_end);
    await service.advance(3 * HOUR_SECONDS);
    await service.settle();
    const payments = await paymentsOf(service, of.who, of.id);
    expect(payments.map(({ total_cents }) => total_cents)).toEqual([4_900, 1_900]);
    expect(await readSubscription(service, of.who, of.id)).toMatchObject({ total_cents: 1_900, status: 'active' });
  });
});
