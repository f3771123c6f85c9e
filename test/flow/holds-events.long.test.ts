import { afterEach, describe, expect, test } from 'vitest';
import { present } from '../builders/present.ts';
import { atStripe } from './at-stripe.ts';
import { createIntent, eventsOf, read, signIn } from './flow.ts';
import { AT_PAYPAL, AT_STRIPE, capture, HOLDING, heldPayment, holdsAtProvider, release } from './holders.ts';
import { withHost } from './host.ts';
import { signInAdmin } from './refunders.ts';
import type { PaymentBody } from './routes.ts';
import { type HoldEvent, UNSEEN_HOLDS, unseenAtStripe } from './unseen-holds.ts';

const service = withHost({ frozen: true });
afterEach(async () => {
  await service.clearFaults();
  await service.webhookMode('normal');
});

const send = async (provider: string, event: { readonly type: string; readonly object: object }): Promise<void> => {
  expect(await service.sendEvent({ provider, vocabulary: 'native', ...event })).toMatchObject({ status: 200 });
  await service.settle();
};

const ordersOf = (events: readonly HoldEvent[]): readonly (readonly HoldEvent[])[] =>
  events.length < 2
    ? [events]
    : events.flatMap((first) => ordersOf(events.filter((other) => other !== first)).map((rest) => [first, ...rest]));

const ORDERS_OF_A_CAPTURE = ordersOf(['authorized', 'captured', 'canceled']);
const ORDERS_OF_A_RELEASE = ordersOf(['authorized', 'canceled']);

describe.each(UNSEEN_HOLDS)('the events of a hold at $slot', ({ slot, hold, takePart, eventOf }) => {
  const sendTwice = async (payment: PaymentBody, order: readonly HoldEvent[]): Promise<void> => {
    for (const event of [...order, ...order]) await send(slot, await eventOf(service, payment, event));
  };
  const guaranteed = slot === AT_PAYPAL.slot ? expect.any(String) : null;

  test.each(ORDERS_OF_A_CAPTURE)('give a captured payment the same final state: %s, %s, %s', async (...order) => {
    const user = await signIn(service);
    const payment = await hold(service, user);
    await takePart(service, payment);
    await sendTwice(payment, order);
    const [taken] = await holdsAtProvider(service, payment.id);
    expect(taken).toMatchObject({ authorized: 1_000, captured: 600, released: 400 });
    expect(await read(service, payment.id, user.options)).toMatchObject({
      ...{ status: 'succeeded', capture_pending: false, capturable_cents: 0, cancellation_reason: null },
      ...{ authorized_cents: 1_000, captured_cents: 600, total_cents: 600, subtotal_cents: 500, tax_cents: 100 },
      ...{ capture_before: expect.any(String), guaranteed_until: guaranteed },
      ...(slot === AT_STRIPE.slot ? {} : { provider_payment_id: present(taken).id }),
    });
    expect((await eventsOf(service, payment.id)).filter((name) => name === 'payment.succeeded')).toHaveLength(1);
  });

  test.each(ORDERS_OF_A_RELEASE)('give a released payment the same final state: %s, %s', async (...order) => {
    const user = await signIn(service);
    const payment = await hold(service, user);
    await service.control('POST', `/simulator/payments/${payment.id}/release`);
    await sendTwice(payment, order);
    expect(await holdsAtProvider(service, payment.id)).toMatchObject([{ captured: 0, released: 1_000 }]);
    expect(await read(service, payment.id, user.options)).toMatchObject({
      ...{ status: 'canceled', capture_pending: false, capturable_cents: 0, cancellation_reason: 'provider' },
      ...{ authorized_cents: 1_000, captured_cents: 0, total_cents: 1_000, subtotal_cents: 900, tax_cents: 100 },
      ...{ capture_before: expect.any(String), guaranteed_until: guaranteed },
    });
    const released = order[0] === 'authorized' ? ['payment.authorized', 'payment.released'] : [];
    const others = (await eventsOf(service, payment.id)).filter((name) => name !== 'payment.updated');
    expect(others).toEqual(['payment.created', ...released]);
  });
});

describe('the events of a hold', () => {
  test('cause a read if they report a failure, so the hold stays', async () => {
    const user = await signIn(service);
    const payment = await heldPayment(service, user);
    const { object } = await unseenAtStripe.eventOf(service, payment, 'authorized');
    const failed = { status: 'requires_payment_method', last_payment_error: { code: 'card_declined' } };
    await send(AT_STRIPE.slot, {
      type: 'payment_intent.payment_failed',
      object: { ...object, ...failed, amount_capturable: 0 },
    });
    await service.advance(60);
    await service.settle();
    expect(await read(service, payment.id, user.options)).toMatchObject({
      status: 'requires_capture',
      capturable_cents: 1_000,
    });
  });

  test('remove tax and discount if the provider captured less than the tax', async () => {
    const user = await signIn(service);
    const payment = await unseenAtStripe.hold(service, user);
    await service.webhookMode('normal');
    await atStripe(service, `POST payment_intents/${payment.provider_payment_id}/capture`, { amount_to_capture: '50' });
    await service.settle();
    expect(await read(service, payment.id, user.options)).toMatchObject({
      status: 'succeeded',
      ...{ total_cents: 50, subtotal_cents: 50, tax_cents: 0, discount_cents: 0 },
    });
  });

  test('do not create a hold for an automatic payment', async () => {
    const user = await signIn(service);
    const payment = await createIntent(service, user, { total_cents: 1_000 });
    await service.webhookMode('drop');
    await send(AT_STRIPE.slot, await unseenAtStripe.eventOf(service, payment, 'authorized'));
    expect(await read(service, payment.id, user.options)).toMatchObject({
      status: 'processing',
      capture_method: 'automatic',
      authorized_cents: null,
    });
  });
});

describe.each(HOLDING)('the record of a hold at $slot', (holding) => {
  test('shows the provider’s state after a sync, without any event', async () => {
    const [user, admin] = [await signIn(service), await signInAdmin(service)];
    await service.webhookMode('drop');
    const [part, released] = [
      await heldPayment(service, user, { holding }),
      await heldPayment(service, user, { holding }),
    ];
    const sync = async ({ id }: { readonly id: string }) => {
      const { provider_payment_id } = await read(service, id, user.options);
      return service.post(`/payments/sync/${provider_payment_id}`, {}, user.options);
    };
    expect(await sync(part)).toMatchObject({ status: 200, body: { status: 'requires_capture' } });
    expect(await capture(service, part.id, { ...admin.options, body: { amount_cents: 600 } })).toMatchObject({
      status: 200,
    });
    await service.control('POST', `/simulator/payments/${released.id}/release`);
    expect(await sync(part)).toMatchObject({ status: 200, body: { status: 'succeeded', total_cents: 600 } });
    expect(await sync(released)).toMatchObject({ body: { status: 'canceled', cancellation_reason: 'provider' } });
    for (const { id } of [part, released]) {
      const { captured_cents, status, total_cents } = await read(service, id, user.options);
      const [hold] = await holdsAtProvider(service, id);
      expect(present(hold).captured).toBe(captured_cents);
      if (status === 'succeeded') expect(total_cents).toBe(captured_cents);
    }
  });

  test('counts as requires_capture in the summary, and with its captured amount once it has succeeded', async () => {
    const [user, admin] = [await signIn(service), await signInAdmin(service)];
    const [one, two, three] = [
      await heldPayment(service, user, { holding }),
      await heldPayment(service, user, { holding }),
      await heldPayment(service, user, { holding }),
    ];
    await capture(service, one.id, { ...admin.options, body: { amount_cents: 600 } });
    await release(service, two.id, admin.options);
    await service.settle();
    const { body } = await service.get('/payments/summary?group_by=status', user.options);
    const summed = body.data.map(({ status, count, amount_cents }) => [status, count, amount_cents]);
    expect(summed.toSorted()).toEqual([
      ['canceled', 1, 1_000],
      ['requires_capture', 1, 1_000],
      ['succeeded', 1, 600],
    ]);
    const list = await service.get('/payments?status=requires_capture', user.options);
    expect(list.body.data.map(({ id }) => id)).toEqual([three.id]);
  });
});
