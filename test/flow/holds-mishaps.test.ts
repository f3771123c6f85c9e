import { afterEach, describe, expect, test } from 'vitest';
import { DAY_SECONDS, HOUR_SECONDS, MINUTE_SECONDS, YEAR_SECONDS } from '../builders/seconds.ts';
import { confirm, confirmInBrowser, createIntent, read, signIn, storedPayment } from './flow.ts';
import {
  AT_PAYPAL,
  AT_SQUARE,
  AT_STRIPE,
  capture,
  heldPayment,
  holdsAtProvider,
  manualBody,
  release,
} from './holders.ts';
import { withHost } from './host.ts';
import { signInAdmin } from './refunders.ts';

/** Mishaps of a hold, such as failing reads, calls without a response, and late cancellations. */
const service = withHost({ frozen: true });
afterEach(async () => {
  await service.clearFaults();
  await service.webhookMode('normal');
});

const people = async () => ({
  user: await signIn(service, { expires_in: YEAR_SECONDS }),
  admin: await signInAdmin(service),
});

describe('a capture without a response', () => {
  test('is looked up until its outcome is known, even after a lookup stores other facts', async () => {
    const { user, admin } = await people();
    const payment = await createIntent(service, user, manualBody(AT_STRIPE, { payment_method_id: undefined }));
    const { id, provider_payment_id } = payment;
    await service.webhookMode('drop');
    await confirmInBrowser(service, payment, AT_STRIPE.method);
    await service.fault({ provider: 'provider_a', path: '/payment_intents/', method: 'GET', action: 'error_500' });
    await service.sendEvent({
      ...{ type: 'payment_intent.amount_capturable_updated', vocabulary: 'native' },
      object: {
        ...{ id: provider_payment_id, object: 'payment_intent', status: 'requires_capture', currency: 'usd' },
        ...{ amount: 1_000, amount_capturable: 1_000, amount_received: 0, capture_method: 'manual' },
        metadata: { payment_id: id },
      },
    });
    await service.settle();
    expect((await storedPayment(service, id)).details).toBeUndefined();
    await service.clearFaults();
    await service.fault({ provider: 'provider_a', path: '/capture', method: 'POST', action: 'error_500' });
    expect(await capture(service, id, admin.options)).toMatchObject({ status: 202, body: { capture_pending: true } });
    await service.advance(2 * MINUTE_SECONDS);
    expect((await storedPayment(service, id)).details).toBeDefined();
    await service.clearFaults();
    await service.advance(5 * MINUTE_SECONDS);
    expect(await read(service, id, user.options)).toMatchObject({
      ...{ status: 'succeeded', capture_pending: false, captured_cents: 1_000 },
    });
    expect(await holdsAtProvider(service, id)).toMatchObject([{ captured: 1_000 }]);
  });

  test('is still looked up after a sync stores other facts', async () => {
    const { user, admin } = await people();
    const { id, provider_payment_id } = await heldPayment(service, user);
    const { details: _, ...withoutDetails } = await storedPayment(service, id);
    await service.host().connection.putItem(withoutDetails, []);
    await service.webhookMode('drop');
    await service.fault({ provider: 'provider_a', path: '/capture', method: 'POST', action: 'error_500' });
    expect(await capture(service, id, admin.options)).toMatchObject({ status: 202 });
    expect(await service.post(`/payments/sync/${provider_payment_id}`, {}, admin.options)).toMatchObject({
      status: 200,
    });
    expect((await storedPayment(service, id)).details).toBeDefined();
    await service.clearFaults();
    await service.advance(2 * MINUTE_SECONDS);
    expect(await read(service, id, user.options)).toMatchObject({ status: 'succeeded', capture_pending: false });
  });
});

describe('a refused release with failing reads afterwards', () => {
  const READS_FAIL = { method: 'GET', action: 'error_500' } as const;

  test('is looked up if PayPal refused it because the hold was captured on PayPal’s site', async () => {
    const { user, admin } = await people();
    const { id } = await heldPayment(service, user, { holding: AT_PAYPAL });
    await service.webhookMode('drop');
    await service.control('POST', `/simulator/payments/${id}/captures`, {});
    await service.fault({ provider: AT_PAYPAL.slot, ...READS_FAIL });
    expect(await release(service, id, admin.options)).toMatchObject({ status: 202, body: { release_pending: true } });
    expect(await capture(service, id, admin.options)).toMatchObject({ body: { code: 'PAYMENT_IN_PROGRESS' } });
    await service.clearFaults();
    await service.advance(20 * MINUTE_SECONDS);
    expect(await read(service, id, user.options)).toMatchObject({
      ...{ status: 'succeeded', release_pending: false, captured_cents: 1_000 },
    });
  });
});

describe('a capture without an amount', () => {
  test('is not sent if nothing is left to capture', async () => {
    const { user, admin } = await people();
    const { id } = await heldPayment(service, user, { holding: AT_PAYPAL });
    const stored = await storedPayment(service, id);
    await service.host().connection.putItem({ ...stored, capturableCents: 0 }, []);
    await service.clearProviderRequests();
    expect(await capture(service, id, admin.options)).toMatchObject({
      status: 409,
      body: { code: 'PAYMENT_IN_PROGRESS' },
    });
    expect(await service.providerRequests()).toEqual([]);
  });
});

describe('the end of an earlier authorization at PayPal', () => {
  test('does not end the hold of the newer authorization', async () => {
    const { user, admin } = await people();
    const { id, provider_intent_id: order_id } = await heldPayment(service, user, { holding: AT_PAYPAL });
    const at = new Date(service.now()).toISOString();
    const object = {
      ...{ id: 'EARLIER', status: 'VOIDED', custom_id: id, amount: { currency_code: 'USD', value: '10.00' } },
      ...{ create_time: at, update_time: at, expiration_time: at, supplementary_data: { related_ids: { order_id } } },
    };
    const type = 'PAYMENT.AUTHORIZATION.VOIDED';
    const sent = await service.sendEvent({ provider: 'provider_b', vocabulary: 'native', type, object });
    expect(sent).toMatchObject({ status: 200 });
    await service.advance(2 * MINUTE_SECONDS);
    expect(await read(service, id, user.options)).toMatchObject({ status: 'requires_capture' });
    expect(await capture(service, id, admin.options)).toMatchObject({ status: 200, body: { status: 'succeeded' } });
  });
});

describe('a partial capture at Square that captures nothing', () => {
  test('leaves only its part capturable, because it first lowers the amount of the hold', async () => {
    const { user, admin } = await people();
    const { id } = await heldPayment(service, user, { holding: { ...AT_SQUARE, method: AT_SQUARE.captureDeclined } });
    await service.webhookMode('drop');
    const take = (amount: number) => capture(service, id, { ...admin.options, body: { amount_cents: amount } });
    expect(await take(600)).toMatchObject({ status: 402 });
    expect(await read(service, id, user.options)).toMatchObject({ capturable_cents: 600, authorized_cents: 1_000 });
    expect(await take(700)).toMatchObject({ status: 400, body: { details: { capturable_cents: 600 } } });
    expect(await release(service, id, admin.options)).toMatchObject({ status: 200 });
  });

  test('leaves only its part capturable even after an unknown outcome', async () => {
    const { user, admin } = await people();
    const { id } = await heldPayment(service, user, { holding: AT_SQUARE });
    await service.webhookMode('drop');
    await service.fault({ provider: 'provider_c', path: '/complete', action: 'error_500' });
    const body = { amount_cents: 600 };
    expect(await capture(service, id, { ...admin.options, body })).toMatchObject({ status: 202 });
    await service.advance(3 * HOUR_SECONDS);
    expect(await read(service, id, user.options)).toMatchObject({ capture_pending: false, capturable_cents: 600 });
    await service.clearFaults();
    expect(await capture(service, id, admin.options)).toMatchObject({ status: 200, body: { captured_cents: 600 } });
    expect(await holdsAtProvider(service, id)).toMatchObject([{ captured: 600, released: 400 }]);
  });
});

describe('the cancellation of a payment’s order at Square, during or after its confirmation', () => {
  const cancelOrder = async (id: string): Promise<void> => {
    const { providerIntentId: order_id } = await storedPayment(service, id);
    const event = { provider: 'provider_c', vocabulary: 'native', type: 'order.updated' } as const;
    const sent = await service.sendEvent({ ...event, object: { order_id, state: 'CANCELED' } });
    expect(sent).toMatchObject({ status: 200 });
    const { env } = service.host();
    const cancelation = { location_id: env['PROVIDER_C_LOCATION_ID'], version: 1, state: 'CANCELED' };
    const answer = await service.request('PUT', `/_local/providers/square/v2/orders/${order_id}`, {
      bearer: env['PROVIDER_C_ACCESS_TOKEN'] ?? '',
      headers: { 'square-version': '2026-09-16' },
      body: { order: cancelation },
    });
    expect(answer).toMatchObject({ status: 200, body: { order: { state: 'CANCELED' } } });
    await service.settle();
  };

  test('ends no hold, and the hold can be captured', async () => {
    const { user, admin } = await people();
    const { id } = await heldPayment(service, user, { holding: AT_SQUARE });
    await cancelOrder(id);
    await service.advance(5 * MINUTE_SECONDS);
    expect(await read(service, id, user.options)).toMatchObject({ status: 'requires_capture' });
    expect(await capture(service, id, admin.options)).toMatchObject({ status: 200, body: { status: 'succeeded' } });
  });

  test('does not end a confirmation with an unknown outcome, so no hold is missed', async () => {
    const { user, admin } = await people();
    const { id } = await createIntent(service, user, manualBody(AT_SQUARE));
    await service.fault({
      provider: 'provider_c',
      path: '/v2/payments',
      method: 'POST',
      action: 'error_500',
      times: 1,
    });
    expect(await confirm(service, id, user.options)).toMatchObject({ status: 202, body: { status: 'processing' } });
    await cancelOrder(id);
    await service.advance(2 * MINUTE_SECONDS);
    await service.settle();
    expect(await read(service, id, user.options)).toMatchObject({ status: 'requires_capture' });
    expect(await release(service, id, admin.options)).toMatchObject({ status: 200 });
    await service.advance(DAY_SECONDS);
    expect(await holdsAtProvider(service, id)).toMatchObject([{ authorized: 1_000, captured: 0, released: 1_000 }]);
  });
});
