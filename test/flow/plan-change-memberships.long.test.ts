import { describe, expect, test } from 'vitest';
import { DAY_SECONDS, HOUR_SECONDS } from '../builders/seconds.ts';
import { platformAdmin, requestErasure, untilErased } from './erasures.ts';
import { itemsOf, signIn } from './flow.ts';
import { withHost } from './host.ts';
import { changeTo, PLAN_PLACES, type PlanHolder, plan, planEvents, preview, subscribed } from './plan-changes.ts';
import { paymentsOf, readSubscription, subscriptionEventsOf } from './subscribers.ts';

describe.each(PLAN_PLACES)('the membership after a plan change at %s', (_, place) => {
  const service = withHost({ frozen: true, env: place.settings });
  const withTier = (cents: number, tier: string) => plan(service, cents, { metadata: { membership_type_id: tier } });

  const memberships = async ({ who, id }: PlanHolder) => {
    const { body } = await service.get('/memberships', who.options);
    return body.data
      .filter(({ subscription_id }) => subscription_id === id)
      .map(({ membership_type_id, status }) => `${membership_type_id} ${status}`)
      .toSorted();
  };

  test('switches tier once', async () => {
    const of = await subscribed(service, place, { product_id: await withTier(1_000, 'silver') });
    await service.advance(10 * DAY_SECONDS);
    expect(await memberships(of)).toEqual(['silver active']);
    await changeTo(service, of, { product_id: await withTier(3_000, 'gold') });
    expect(await memberships(of)).toEqual(['gold active', 'silver cancelled']);
    const { body } = await service.get('/memberships', of.who.options);
    const spans = body.data.map((one) => [one.membership_type_id, one.starts_at, one.ends_at]).toSorted();
    const changedAt = (await readSubscription(service, of.who, of.id)).updated_at;
    expect(spans).toEqual([
      ['gold', changedAt, of.first.current_period_end],
      ['silver', of.first.current_period_start, changedAt],
    ]);
    const events = await subscriptionEventsOf(service, of.id);
    expect(events.filter((event) => event.startsWith('membership.'))).toEqual([
      ...['membership.activated active', 'membership.cancelled cancelled', 'membership.activated active'],
    ]);
  });

  test('switches tier at the period end, and can switch back', async () => {
    const silver = await withTier(1_000, 'silver');
    const gold = await withTier(3_000, 'gold');
    const of = await subscribed(service, place, { product_id: gold });
    await service.advance(10 * DAY_SECONDS);
    await changeTo(service, of, { product_id: silver });
    expect(await memberships(of)).toEqual(['gold active']);
    await service.moveTo(of.first.current_period_end);
    await service.advance(3 * HOUR_SECONDS);
    await service.settle();
    expect(await memberships(of)).toEqual(['gold cancelled', 'silver active']);
    await changeTo(service, of, { product_id: gold });
    expect(await memberships(of)).toEqual(['gold active', 'silver cancelled']);
  });

  test('ends if the new plan has no tier, and an erasure removes the personal data of the membership', async () => {
    const of = await subscribed(service, place, { product_id: await withTier(1_000, 'silver') });
    await service.advance(10 * DAY_SECONDS);
    await changeTo(service, of, { product_id: await plan(service, 3_000) });
    expect(await memberships(of)).toEqual(['silver cancelled']);
    const ofMemberships = async () => {
      const all = await itemsOf(service);
      return all.filter(({ subscriptionId, tierId }) => subscriptionId === of.id && tierId !== undefined);
    };
    const [{ userEmail: email } = {}] = await ofMemberships();
    expect(email).toMatch(/@example\.com$/);
    const admin = await platformAdmin(service);
    const { id } = await requestErasure(service, admin.options, { user_id: of.first.user_id });
    await untilErased(service, admin.options, { id });
    const left = (await ofMemberships()).filter((item) => JSON.stringify(item).includes(email));
    expect(left).toEqual([]);
  });
});

describe('a plan change', () => {
  const service = withHost({ frozen: true, env: { PROVIDER_A_SUBSCRIPTIONS: 'service' } });
  const VISA = { slot: 'provider_a', token: 'pm_card_visa' } as const;

  test('appears in the timeline with the amount due', async () => {
    const of = await subscribed(service, VISA, { product_id: await plan(service, 1_000) });
    await service.advance(10 * DAY_SECONDS);
    const product_id = await plan(service, 3_000);
    const { body: seen } = await preview(service, of, { product_id });
    await changeTo(service, of, { product_id, proration_at: seen.proration_at });
    await service.settle();
    const { body } = await service.get(`/subscriptions/${of.id}/timeline`, of.who.options);
    const [entry] = body.data.filter(({ cause }) => cause === 'plan_changed');
    const payments = await paymentsOf(service, of.who, of.id);
    expect(entry).toMatchObject({
      payment_id: payments.at(-1)?.id,
      plan_change: {
        from: { product_id: of.first.product_id, quantity: 1, total_cents: 1_000 },
        to: { product_id, quantity: 1, total_cents: 3_000 },
        due_cents: seen.due_now_cents,
        lines: seen.lines,
      },
    });
  });

  test('keeps the billing day of the month', async () => {
    await service.moveTo('2027-01-31T10:00:00.000Z');
    const of = await subscribed(service, VISA, { product_id: await plan(service, 700), quantity: 3 });
    await service.moveTo('2027-02-03T10:00:00.000Z');
    const { body } = await changeTo(service, of, { quantity: 5 });
    expect(body).toMatchObject({ quantity: 5, total_cents: 3_500, current_period_end: '2027-02-28T10:00:00.000Z' });
    await service.moveTo('2027-02-28T10:05:00.000Z');
    expect(await readSubscription(service, of.who, of.id)).toMatchObject({
      current_period_end: '2027-03-31T10:00:00.000Z',
    });
    const payments = await paymentsOf(service, of.who, of.id);
    expect(payments.map(({ total_cents }) => total_cents)).toEqual([2_100, 1_250, 3_500]);
  });

  test('keeps its scheduled price even if the first renewal fails', async () => {
    const token = 'pm_sim_ok_1_then_decline';
    const of = await subscribed(service, { ...VISA, token }, { product_id: await plan(service, 4_900) });
    await service.advance(10 * DAY_SECONDS);
    await changeTo(service, of, { product_id: await plan(service, 1_900) });
    await service.moveTo(of.first.current_period_end);
    await service.advance(HOUR_SECONDS);
    const late = await readSubscription(service, of.who, of.id);
    expect(late).toMatchObject({ status: 'past_due', total_cents: 1_900, scheduled_change: null });
    const answer = await changeTo(service, of, { quantity: 2 });
    expect(answer).toMatchObject({ status: 409, body: { code: 'INVALID_STATE' } });
  });

  test('by an admin lowers the price now, raises it now without a charge, or raises it from the next period', async () => {
    const of = await subscribed(service, VISA, { product_id: await plan(service, 4_900) });
    await service.advance(10 * DAY_SECONDS);
    const admin = { ...of, who: { ...of.who, options: (await signIn(service, { is_admin: true })).options } };
    const lower = await changeTo(service, admin, { total_cents: 900, when: 'now' });
    expect(lower).toMatchObject({ status: 200, body: { total_cents: 900, product_id: of.first.product_id } });
    const raise = { total_cents: 9_900, when: 'now', proration: 'none', billing_interval: 'quarterly' };
    const { body } = await changeTo(service, admin, raise);
    expect(body).toMatchObject({ total_cents: 9_900, billing_interval: 'quarterly' });
    expect(await paymentsOf(service, of.who, of.id)).toHaveLength(1);
    expect(await changeTo(service, admin, { total_cents: 19_900, when: 'period_end' })).toMatchObject({ status: 200 });
    expect(await planEvents(service, of.id)).toEqual(['plan_changed', 'plan_changed', 'plan_change_scheduled']);
  });
});
