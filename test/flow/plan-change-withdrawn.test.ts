import { describe, expect, test } from 'vitest';
import { DAY_SECONDS } from '../builders/seconds.ts';
import { withHost } from './host.ts';
import { changeTo, PLAN_PLACES, plan, planEvents, priceAtStripe, subscribed, withdraw } from './plan-changes.ts';
import { anotherMethod, command, patch, readSubscription } from './subscribers.ts';

describe.each([
  ['Stripe, which bills', {}],
  ['Stripe, billed here', { PROVIDER_A_SUBSCRIPTIONS: 'service' }],
] as const)('an unpaid change next to a scheduled change at %s', (_, env) => {
  const service = withHost({ frozen: true, env });

  const asking = async () => {
    const visa = { slot: 'provider_a', token: 'pm_card_visa' };
    const of = await subscribed(service, visa, { product_id: await plan(service, 2_000) });
    await service.advance(10 * DAY_SECONDS);
    expect(await changeTo(service, of, { product_id: await plan(service, 1_000) })).toMatchObject({ status: 200 });
    const payment_method_id = await anotherMethod(service, of.who, 'pm_card_authenticationRequired');
    await patch(service, of.who, { id: of.id, body: { payment_method_id } });
    const { body } = await changeTo(service, of, { product_id: await plan(service, 5_000) });
    expect(body).toMatchObject({
      scheduled_change: { total_cents: 1_000 },
      pending_change: { status: 'awaiting_payment' },
    });
    return { of, pending: body.pending_change };
  };

  test('allows a scheduled cancellation, which withdraws only the scheduled change', async () => {
    const { of, pending } = await asking();
    const canceled = await command(service, of.who, { id: of.id, name: 'cancel' });
    expect(canceled).toMatchObject({
      status: 200,
      body: { cancel_at_period_end: true, scheduled_change: null, pending_change: { id: pending.id } },
    });
    expect([undefined, 2_000]).toContain(await priceAtStripe(service, of));
    await service.authenticate(pending.payment.id);
    await service.settle();
    expect(await readSubscription(service, of.who, of.id)).toMatchObject({
      ...{ total_cents: 5_000, pending_change: null, cancel_at_period_end: true },
    });
    expect([undefined, 5_000]).toContain(await priceAtStripe(service, of));
  });

  test('can no longer be withdrawn after the payment, and the error says so', async () => {
    const { of, pending } = await asking();
    await service.webhookMode('drop');
    await service.authenticate(pending.payment.id);
    const answer = await withdraw(service, of);
    await service.webhookMode('normal');
    expect(answer).toMatchObject({ status: 409, body: { code: 'INVALID_STATE' } });
    expect(await readSubscription(service, of.who, of.id)).toMatchObject({ total_cents: 5_000, pending_change: null });
  });
});

describe.each(PLAN_PLACES)('a scheduled change at %s', (_, place) => {
  const service = withHost({ frozen: true, env: place.settings });

  const scheduled = async () => {
    const of = await subscribed(service, place, { product_id: await plan(service, 4_900) });
    await service.advance(10 * DAY_SECONDS);
    const cheap = await plan(service, 1_900);
    const { body } = await changeTo(service, of, { product_id: cheap });
    return { of, cheap, id: body.scheduled_change.id };
  };

  test('is unchanged by a repeated request', async () => {
    const { of, cheap, id } = await scheduled();
    await service.clearProviderRequests();
    expect(await changeTo(service, of, { product_id: cheap })).toMatchObject({
      ...{ status: 200, body: { scheduled_change: { id } } },
    });
    expect((await service.providerRequests()).filter(({ method }) => method !== 'GET')).toEqual([]);
    await service.settle();
    expect(await planEvents(service, of.id)).toEqual(['plan_change_scheduled']);
  });

  test('is withdrawn with an event by an immediate cancellation', async () => {
    const { of } = await scheduled();
    const body = { cancel_at_period_end: false };
    expect(await command(service, of.who, { id: of.id, name: 'cancel', body })).toMatchObject({
      ...{ status: 200, body: { status: 'canceled', scheduled_change: null } },
    });
    await service.settle();
    expect(await planEvents(service, of.id)).toEqual(['plan_change_scheduled', 'plan_change_withdrawn']);
  });
});
