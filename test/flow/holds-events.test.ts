import { afterEach, describe, expect, test } from 'vitest';
import { epochSeconds } from '../../shared/core/time.ts';
import { atStripe } from './at-stripe.ts';
import { confirmInBrowser, createIntent, eventsOf, read, signIn } from './flow.ts';
import { AT_STRIPE, capture, HOLDING, heldPayment, holdsAtProvider, manualBody, release } from './holders.ts';
import { type ParsedJson, withHost } from './host.ts';
import { signInAdmin } from './refunders.ts';

const service = withHost({ frozen: true });
afterEach(() => service.webhookMode('normal'));

type Told = 'authorized' | 'captured' | 'canceled' | 'failed';
const TYPES: Readonly<Record<Told, string>> = {
  authorized: 'payment_intent.amount_capturable_updated',
  captured: 'payment_intent.succeeded',
  canceled: 'payment_intent.canceled',
  failed: 'payment_intent.payment_failed',
};

/** An event as Stripe sends it. */
const tell = async (payment: ParsedJson, told: Told): Promise<void> => {
  const fields: Readonly<Record<Told, object>> = {
    authorized: { status: 'requires_capture', amount_capturable: 1_000 },
    captured: { status: 'succeeded', amount_received: 600 },
    canceled: { status: 'canceled', canceled_at: epochSeconds(service.now()) },
    failed: { status: 'requires_payment_method', last_payment_error: { code: 'card_declined' } },
  };
  const object = {
    ...{ id: payment.provider_payment_id, object: 'payment_intent', amount: 1_000, currency: 'usd' },
    ...{ amount_capturable: 0, amount_received: 0, capture_method: 'manual', latest_charge: 'ch_told' },
    metadata: { payment_id: payment.id },
    ...fields[told],
  };
  expect(await service.sendEvent({ type: TYPES[told], object, vocabulary: 'native' })).toMatchObject({ status: 200 });
  await service.settle();
};

const ordersOf = (told: readonly Told[]): readonly (readonly Told[])[] =>
  told.length < 2
    ? [told]
    : told.flatMap((first) => ordersOf(told.filter((other) => other !== first)).map((rest) => [first, ...rest]));

/** A payment that its payer confirmed in the browser, of which the service has heard nothing. */
const unheard = async () => {
  const user = await signIn(service);
  const payment = await createIntent(service, user, manualBody(AT_STRIPE, { payment_method_id: undefined }));
  await service.webhookMode('drop');
  await confirmInBrowser(service, payment, AT_STRIPE.method);
  return { user, payment };
};

describe('the events of a hold', () => {
  test.each(ordersOf(['authorized', 'captured', 'canceled']))(
    'of a captured payment lead to the same end: %s, %s, %s',
    async (...order) => {
      const { user, payment } = await unheard();
      await atStripe(service, `POST payment_intents/${payment.provider_payment_id}/capture`, {
        amount_to_capture: '600',
      });
      for (const told of [...order, ...order]) await tell(payment, told);
      expect(await read(service, payment.id, user.options)).toMatchObject({
        status: 'succeeded',
        ...{ authorized_cents: 1_000, captured_cents: 600, total_cents: 600, subtotal_cents: 500, tax_cents: 100 },
        capture_before: expect.any(String),
      });
      expect((await eventsOf(service, payment.id)).filter((name) => name === 'payment.succeeded')).toHaveLength(1);
    },
  );

  test.each(ordersOf(['authorized', 'canceled']))(
    'of a released payment lead to the same end: %s, %s',
    async (...order) => {
      const { user, payment } = await unheard();
      await service.control('POST', `/simulator/payments/${payment.id}/release`);
      for (const told of [...order, ...order]) await tell(payment, told);
      expect(await read(service, payment.id, user.options)).toMatchObject({
        status: 'canceled',
        ...{ authorized_cents: 1_000, captured_cents: 0, total_cents: 1_000, cancellation_reason: 'provider' },
        capture_before: expect.any(String),
      });
      const released = order[0] === 'authorized' ? ['payment.authorized', 'payment.released'] : [];
      expect(await eventsOf(service, payment.id)).toEqual(['payment.created', ...released]);
    },
  );

  test('that says failed causes a read, so the hold stays as the provider holds it', async () => {
    const user = await signIn(service);
    const payment = await heldPayment(service, user);
    await tell(payment, 'failed');
    await service.advance(60);
    await service.settle();
    expect(await read(service, payment.id, user.options)).toMatchObject({
      status: 'requires_capture',
      capturable_cents: 1_000,
    });
  });

  test('of which a part smaller than the tax was captured at the provider leave no tax and no discount', async () => {
    const { user, payment } = await unheard();
    await service.webhookMode('normal');
    await atStripe(service, `POST payment_intents/${payment.provider_payment_id}/capture`, { amount_to_capture: '50' });
    await service.settle();
    expect(await read(service, payment.id, user.options)).toMatchObject({
      status: 'succeeded',
      ...{ total_cents: 50, subtotal_cents: 50, tax_cents: 0, discount_cents: 0 },
    });
  });

  test('do not make a hold of an automatic payment', async () => {
    const user = await signIn(service);
    const payment = await createIntent(service, user, { total_cents: 1_000 });
    await service.webhookMode('drop');
    await tell(payment, 'authorized');
    expect(await read(service, payment.id, user.options)).toMatchObject({
      status: 'processing',
      capture_method: 'automatic',
      authorized_cents: null,
    });
  });
});

describe.each(HOLDING)('the record of a hold at $slot', (holding) => {
  test('shows what moved after a sync, without any event', async () => {
    const [user, admin] = [await signIn(service), await signInAdmin(service)];
    await service.webhookMode('drop');
    const [part, released] = [
      await heldPayment(service, user, { holding }),
      await heldPayment(service, user, { holding }),
    ];
    const sync = async ({ id }: ParsedJson) => {
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
      expect(hold.captured).toBe(captured_cents);
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
    const summed = body.data.map(({ status, count, amount_cents }: ParsedJson) => [status, count, amount_cents]);
    expect(summed.toSorted()).toEqual([
      ['canceled', 1, 1_000],
      ['requires_capture', 1, 1_000],
      ['succeeded', 1, 600],
    ]);
    const list = await service.get('/payments?status=requires_capture', user.options);
    expect(list.body.data.map(({ id }: ParsedJson) => id)).toEqual([three.id]);
  });
});
