/** @module Approvals, delays and denials of holds that occur only at PayPal. */

import { beforeEach, describe, expect, test } from 'vitest';
import { DAY_SECONDS, HOUR_SECONDS, MINUTE_SECONDS } from '../builders/seconds.ts';
import { confirm, createIntent, eventsOf, read, signIn, type User } from './flow.ts';
import { AT_PAYPAL, capture, heldPayment, holdsAtProvider, manualBody, release } from './holders.ts';
import { withHost } from './host.ts';
import { signInAdmin } from './refunders.ts';

const service = withHost({ frozen: true });
beforeEach(async () => {
  await service.clearProviderRequests();
  await service.webhookMode('normal');
  await service.clearFaults();
});

const LONG = { expires_in: 30 * DAY_SECONDS };
const RETURN_URL = 'https://shop.example/back';
const createWaiting = (user: User) =>
  createIntent(service, user, { ...manualBody(AT_PAYPAL), payment_method_id: undefined, return_url: RETURN_URL });
const approve = (id: string) =>
  service.control('POST', `/simulator/payments/${id}/authenticate`, { outcome: 'success' });

const capturesAsked = async (): Promise<number> =>
  (await service.providerRequests()).filter(({ path }) => path.endsWith('/capture')).length;

const HELD = { status: 'requires_capture', captured_cents: 0, capturable_cents: 1_000, capture_pending: false };

describe('the approval of a manual payment at PayPal', () => {
  test.each(['normal', 'reorder', 'duplicate', 'drop'] as const)(
    'authorizes once without a capture, with webhooks in the mode %s',
    async (mode) => {
      await service.webhookMode(mode, 3);
      const user = await signIn(service);
      const admin = await signInAdmin(service);
      const { id } = await createWaiting(user);
      expect(await confirm(service, id, user.options)).toMatchObject({ body: { status: 'pending' } });
      await approve(id);
      await service.settle();
      await service.advance(5 * MINUTE_SECONDS);
      const held = await read(service, id, user.options);
      expect(held).toMatchObject(HELD);
      expect(await holdsAtProvider(service, id)).toMatchObject([{ authorized: 1_000, captured: 0, released: 0 }]);
      const captured = await capture(service, id, { ...admin.options, body: { amount_cents: 600 } });
      expect(captured).toMatchObject({ status: 200, body: { status: 'succeeded', total_cents: 600 } });
      const [taken] = await holdsAtProvider(service, id);
      expect(taken).toMatchObject({ captured: 600, released: 400, id: captured.body.provider_payment_id });
      await service.settle();
      expect((await eventsOf(service, id)).filter((name) => name !== 'payment.updated')).toEqual(
        expect.arrayContaining(['payment.authorized', 'payment.succeeded']),
      );
    },
  );

  test('does not authorize a canceled payment', async () => {
    const user = await signIn(service, LONG);
    const { id } = await createWaiting(user);
    expect(await release(service, id, user.options)).toMatchObject({ status: 200, body: { status: 'canceled' } });
    await approve(id);
    await service.settle();
    await service.advance(2 * DAY_SECONDS);
    expect(await read(service, id, user.options)).toMatchObject({ status: 'canceled', authorized_cents: null });
    expect(await holdsAtProvider(service, id)).toEqual([]);
  });
});

describe('an authorization under review at PayPal', () => {
  test.each([
    ['SIM-PENDING-OK', HELD],
    ['SIM-PENDING-FAIL', { status: 'failed', capturable_cents: 0 }],
  ])('on %s is processing until PayPal decides', async (payment_method_id, decided) => {
    const user = await signIn(service);
    const { id } = await createIntent(service, user, manualBody(AT_PAYPAL, { payment_method_id }));
    expect(await confirm(service, id, user.options)).toMatchObject({ body: { status: 'processing' } });
    await service.settle();
    expect(await read(service, id, user.options)).toMatchObject({ status: 'processing', capturable_cents: 0 });
    await service.advance(10 * MINUTE_SECONDS);
    expect(await read(service, id, user.options)).toMatchObject(decided);
  });
});

describe('a delayed capture at PayPal', () => {
  test.each(['normal', 'drop'] as const)('is pending until PayPal completes it, with webhooks %s', async (mode) => {
    const user = await signIn(service, LONG);
    const admin = await signInAdmin(service);
    const { id } = await heldPayment(service, user, { holding: { ...AT_PAYPAL, method: 'SIM-CAPTURE-PENDING' } });
    await service.webhookMode(mode);
    const part = { ...admin.options, body: { subtotal_cents: 600, tax_cents: 50 } };
    const pending = { status: 'requires_capture', capture_pending: true, captured_cents: 0 };
    expect(await capture(service, id, part)).toMatchObject({ status: 202, body: pending });
    await service.settle();
    expect(await read(service, id, user.options)).toMatchObject(pending);
    for (const again of [
      capture(service, id, part),
      capture(service, id, admin.options),
      release(service, id, admin.options),
    ])
      expect(await again).toMatchObject({ status: 409, body: { code: 'PAYMENT_IN_PROGRESS' } });
    await service.advance(3 * HOUR_SECONDS);
    expect(await read(service, id, user.options)).toMatchObject(pending);
    await service.advance(2 * DAY_SECONDS);
    expect(await capturesAsked()).toBe(1);
    expect(await read(service, id, user.options)).toMatchObject({
      ...{ status: 'succeeded', total_cents: 650, subtotal_cents: 600, tax_cents: 50 },
      ...{ authorized_cents: 1_000, captured_cents: 650, capturable_cents: 0, capture_pending: false },
    });
    expect(await holdsAtProvider(service, id)).toMatchObject([{ captured: 650, released: 350 }]);
  });
});

describe('a declined capture at PayPal', () => {
  test('leaves the payment held even after its event, and shows the decline', async () => {
    const user = await signIn(service);
    const admin = await signInAdmin(service);
    const { id } = await heldPayment(service, user, { holding: { ...AT_PAYPAL, method: AT_PAYPAL.captureDeclined } });
    for (const amount_cents of [1_000, 600]) {
      expect(await capture(service, id, { ...admin.options, body: { amount_cents } })).toMatchObject({
        status: 402,
        body: { code: 'PAYMENT_DECLINED', details: { decline_code: 'do_not_honor' } },
      });
      await service.settle();
      await service.advance(5 * MINUTE_SECONDS);
      expect(await read(service, id, user.options)).toMatchObject(HELD);
    }
    expect(await release(service, id, admin.options)).toMatchObject({ status: 200, body: { status: 'canceled' } });
    await service.settle();
    expect(await eventsOf(service, id)).toEqual(['payment.created', 'payment.authorized', 'payment.released']);
    expect(await holdsAtProvider(service, id)).toMatchObject([{ authorized: 1_000, captured: 0, released: 1_000 }]);
  });
});
