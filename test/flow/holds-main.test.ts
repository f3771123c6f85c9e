import { describe, expect, test } from 'vitest';
import { confirm, eventsOf, read, signIn } from './flow.ts';
import { capture, HOLDING, heldPayment, holdsAtProvider, release } from './holders.ts';
import { withHost } from './host.ts';
import { signInAdmin } from './refunders.ts';

const service = withHost({ frozen: true });

describe.each(HOLDING)('a hold at $slot', (holding) => {
  test('is captured in full', async () => {
    const user = await signIn(service);
    const admin = await signInAdmin(service);
    const held = await heldPayment(service, user, { holding });
    expect(held).toMatchObject({
      capture_method: 'manual',
      total_cents: 1_000,
      authorized_cents: 1_000,
      captured_cents: 0,
      capturable_cents: 1_000,
      capture_before: expect.any(String),
      capture_pending: false,
      release_pending: false,
      completed_at: null,
      cancellation_reason: null,
    });
    expect(held).not.toHaveProperty('client_secret');
    expect(await confirm(service, held.id, user.options)).toMatchObject({
      status: 200,
      body: { id: held.id, status: 'requires_capture' },
    });
    expect(await capture(service, held.id, admin.options)).toMatchObject({
      status: 200,
      body: { status: 'succeeded', total_cents: 1_000, captured_cents: 1_000, capturable_cents: 0 },
    });
    expect(await holdsAtProvider(service, held.id)).toMatchObject([
      { authorized: 1_000, captured: 1_000, released: 0, status: 'succeeded' },
    ]);
    await service.settle();
    expect(await eventsOf(service, held.id)).toEqual(['payment.created', 'payment.authorized', 'payment.succeeded']);
  });

  test('is captured in part, and the rest is released', async () => {
    const user = await signIn(service);
    const admin = await signInAdmin(service);
    const { id } = await heldPayment(service, user, { holding });
    const part = { ...admin.options, body: { amount_cents: 600 } };
    expect(await capture(service, id, { ...admin.options, body: { amount_cents: 50 } })).toMatchObject({
      status: 400,
      body: { code: 'PRICING_MISMATCH' },
    });
    expect(await capture(service, id, part)).toMatchObject({
      status: 200,
      body: { subtotal_cents: 500, tax_cents: 100, total_cents: 600, authorized_cents: 1_000 },
    });
    expect(await holdsAtProvider(service, id)).toMatchObject([{ authorized: 1_000, captured: 600, released: 400 }]);
    await service.settle();
    expect(await read(service, id, user.options)).toMatchObject({ status: 'succeeded', total_cents: 600 });
  });

  test('is released by the merchant', async () => {
    const user = await signIn(service);
    const admin = await signInAdmin(service);
    const { id } = await heldPayment(service, user, { holding });
    expect(await release(service, id, user.options)).toMatchObject({ status: 403 });
    const released = { status: 200, body: { status: 'canceled', cancellation_reason: 'released' } };
    expect(await release(service, id, admin.options)).toMatchObject(released);
    expect(await release(service, id, admin.options)).toMatchObject(released);
    await service.settle();
    expect(await eventsOf(service, id)).toEqual(['payment.created', 'payment.authorized', 'payment.released']);
    expect(await holdsAtProvider(service, id)).toMatchObject([{ authorized: 1_000, captured: 0, released: 1_000 }]);
  });
});
