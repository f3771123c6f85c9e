/**
 * @module A billing provider has executed a command, but the response was lost. The payer then requests the opposite.
 * The record already shows the opposite, but the provider must still get the new command.
 */

import { describe, expect, test } from 'vitest';
import { DAY_SECONDS, HOUR_SECONDS } from '../builders/seconds.ts';
import { atStripe } from './at-stripe.ts';
import { PATIENT } from './flow.ts';
import type { ParsedJson } from './routes.ts';
import { withStops } from './stops.ts';
import { anotherMethod, command, patch, paymentsOf, readSubscription, subscribe, subscriber } from './subscribers.ts';

const stoppable = withStops(PATIENT);
const CARRIED_OUT = { call: 'POST /v1/subscriptions/:id', executed: true };

const subscribed = async () => {
  const { service } = stoppable();
  const who = await subscriber(service);
  const { id } = await subscribe(service, who);
  const ask = (name: Parameters<typeof command>[2]['name']) => command(service, who, { id, name });
  const lose = async (act: () => Promise<ParsedJson>) =>
    expect((await stoppable().stopped(CARRIED_OUT, act)).status).toBeGreaterThanOrEqual(500);
  const paid = async () =>
    (await paymentsOf(service, who, id)).filter(({ status }) => status === 'succeeded').map((payment) => payment.id);
  return { service, who, id, ask, lose, paid, read: () => readSubscription(service, who, id) };
};

describe('a provider-billed subscription', () => {
  test('stays paused if a resumption loses its response and a pause follows', async () => {
    const { service, ask, lose, paid, read } = await subscribed();
    await ask('pause');
    await service.advance(HOUR_SECONDS);
    const before = await paid();
    await lose(() => ask('resume'));
    expect(await ask('pause')).toMatchObject({ status: 200, body: { status: 'paused' } });
    await service.advance(40 * DAY_SECONDS);
    expect(await read()).toMatchObject({ status: 'paused' });
    expect(await paid()).toEqual(before);
  });

  test('runs if a pause loses its response and a resumption follows', async () => {
    const { service, ask, lose, read } = await subscribed();
    await service.advance(HOUR_SECONDS);
    await lose(() => ask('pause'));
    expect(await ask('resume')).toMatchObject({ status: 200, body: { status: 'active' } });
    await service.advance(HOUR_SECONDS);
    expect(await read()).toMatchObject({ status: 'active' });
  });

  test('ends with its period if a reactivation loses its response and a cancellation follows', async () => {
    const { service, ask, lose, paid, read } = await subscribed();
    await ask('cancel');
    await service.advance(HOUR_SECONDS);
    const before = await paid();
    await lose(() => ask('reactivate'));
    expect(await ask('cancel')).toMatchObject({ status: 200, body: { cancel_at_period_end: true } });
    await service.advance(40 * DAY_SECONDS);
    expect(await read()).toMatchObject({ status: 'canceled' });
    expect(await paid()).toEqual(before);
  });

  test.each([
    ['its event', 'normal'],
    ['due work', 'drop'],
  ] as const)(
    'learns from %s which method its provider charges after a change with a lost response',
    async (_, mode) => {
      const { service, who, id, lose, read } = await subscribed();
      const other = await anotherMethod(service, who);
      await service.advance(HOUR_SECONDS);
      await service.webhookMode(mode);
      await lose(() => patch(service, who, { id, body: { payment_method_id: other } }));
      expect((await read()).payment_method_id).not.toBe(other);
      await service.advance(mode === 'drop' ? 32 * DAY_SECONDS : HOUR_SECONDS);
      await service.webhookMode('normal');
      expect(await read()).toMatchObject({ status: 'active', payment_method_id: other });
    },
  );

  // The removal paused the collection at Stripe, and a failed change of method must not resume it.
  test('without a method charges nothing after a lost change of method until the payer repeats it', async () => {
    const { service, who, id, lose, paid, read } = await subscribed();
    const { payment_method_id } = who.names;
    const own = (await service.get(`/payment-methods/${payment_method_id}`, who.options)).body;
    const other = await anotherMethod(service, who);
    const change = () => patch(service, who, { id, body: { payment_method_id: other } });
    await service.advance(HOUR_SECONDS);
    await atStripe(service, `POST payment_methods/${own.provider_payment_method_id}/detach`);
    await service.advance(HOUR_SECONDS);
    expect((await read()).payment_method_id).toBeNull();
    const before = await paid();
    await lose(change);
    await service.advance(HOUR_SECONDS);
    expect(await read()).toMatchObject({ status: 'active', payment_method_id: null });
    await service.advance(32 * DAY_SECONDS);
    expect([(await read()).status, await paid()]).toEqual(['past_due', before]);
    expect(await change()).toMatchObject({ status: 200, body: { status: 'active', payment_method_id: other } });
    await service.advance(HOUR_SECONDS);
    expect(await paid()).toHaveLength(before.length + 1);
    await service.advance(32 * DAY_SECONDS);
    expect(await read()).toMatchObject({ status: 'active', payment_method_id: other });
    expect(await paid()).toHaveLength(before.length + 2);
  });

  test('uses the method of a third change after two changes with lost responses', async () => {
    const { service, who, id, lose, read } = await subscribed();
    const other = await anotherMethod(service, who);
    const { payment_method_id } = who.names;
    const change = (to: unknown) => patch(service, who, { id, body: { payment_method_id: to } });
    await service.advance(HOUR_SECONDS);
    await service.webhookMode('drop');
    await lose(() => change(other));
    await lose(() => change(payment_method_id));
    expect(await change(other)).toMatchObject({ status: 200, body: { payment_method_id: other } });
    await service.advance(32 * DAY_SECONDS);
    await service.webhookMode('normal');
    expect(await read()).toMatchObject({ status: 'active', payment_method_id: other });
  });

  test('charges the first method if a change loses its response and is then reverted', async () => {
    const { service, who, id, lose, read } = await subscribed();
    const other = await anotherMethod(service, who, 'pm_card_chargeCustomerFail');
    await service.advance(HOUR_SECONDS);
    await lose(() => patch(service, who, { id, body: { payment_method_id: other } }));
    const { payment_method_id } = who.names;
    const back = await patch(service, who, { id, body: { payment_method_id } });
    expect(back).toMatchObject({ status: 200, body: { payment_method_id } });
    await service.advance(32 * DAY_SECONDS);
    expect(await read()).toMatchObject({ status: 'active', payment_method_id });
  });
});
