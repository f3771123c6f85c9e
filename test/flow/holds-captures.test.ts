import { afterEach, describe, expect, test } from 'vitest';
import { MINUTE_SECONDS } from '../builders/seconds.ts';
import { createIntent, eventsOf, read, signIn, storedPayment } from './flow.ts';
import { capture, HOLDING, heldPayment, holdsAtProvider, manualBody, release } from './holders.ts';
import { withHost } from './host.ts';
import { refund, signInAdmin } from './refunders.ts';

const service = withHost({ frozen: true });
afterEach(() => service.clearFaults());

const captureCalls = async (path: string): Promise<number> =>
  (await service.providerRequests()).filter(
    (request: { method: string; path: string }) => request.method === 'POST' && request.path.endsWith(path),
  ).length;

describe.each(HOLDING)('the prices of a capture at $slot', (holding) => {
  const held = async () => {
    const admin = await signInAdmin(service);
    const { id } = await heldPayment(service, await signIn(service), { holding });
    const take = (body: object) => capture(service, id, { ...admin.options, body });
    return { id, admin, take };
  };

  test.each([
    [{}, { subtotal_cents: 900, tax_cents: 100, discount_cents: 0, total_cents: 1_000 }],
    [{ amount_cents: 600 }, { subtotal_cents: 500, tax_cents: 100, total_cents: 600, amount_cents: 600 }],
    [
      { total_cents: 50, tax_cents: 5 },
      { subtotal_cents: 45, tax_cents: 5, total_cents: 50 },
    ],
    [{ subtotal_cents: 400 }, { subtotal_cents: 400, tax_cents: 100, total_cents: 500 }],
    [{ tax_cents: 0 }, { subtotal_cents: 900, tax_cents: 0, total_cents: 900 }],
    [{ discount_cents: 300 }, { subtotal_cents: 900, discount_cents: 300, total_cents: 700 }],
  ])('are derived from %j as %j', async (body, prices) => {
    const { id, take } = await held();
    const { total_cents: total } = prices;
    const captured = { status: 'succeeded', authorized_cents: 1_000, captured_cents: total, capturable_cents: 0 };
    expect(await take(body)).toMatchObject({ status: 200, body: { ...prices, ...captured } });
    expect(await holdsAtProvider(service, id)).toMatchObject([
      { authorized: 1_000, captured: total, released: 1_000 - total },
    ]);
    expect(await take(body)).toMatchObject({ status: 200, body: captured });
    expect(await take({})).toMatchObject({ status: 200, body: captured });
    // The payment is already captured, so an amount below the tax is refused without asking for a split.
    for (const other of [{ total_cents: total + 1, tax_cents: 0, discount_cents: 0 }, { amount_cents: 1 }]) {
      expect(await take(other)).toMatchObject({
        status: 409,
        body: { code: 'INVALID_STATE', details: { captured_cents: total } },
      });
    }
  });

  test.each([
    [{ amount_cents: 50 }, 'PRICING_MISMATCH', undefined],
    [{ total_cents: 600, amount_cents: 601 }, 'PRICING_MISMATCH', undefined],
    [{ total_cents: 600, subtotal_cents: 600 }, 'PRICING_MISMATCH', undefined],
    [{ total_cents: 0 }, 'AMOUNT_TOO_SMALL', undefined],
    [{ total_cents: 0, tax_cents: 0 }, 'AMOUNT_TOO_SMALL', undefined],
    [{ total_cents: -1 }, 'VALIDATION_ERROR', undefined],
    [{ total_cents: 1_001 }, 'CAPTURE_EXCEEDS_AUTHORIZATION', { capturable_cents: 1_000 }],
    [{ subtotal_cents: 1_000 }, 'CAPTURE_EXCEEDS_AUTHORIZATION', { capturable_cents: 1_000 }],
  ])('are refused before any provider call: %j gets %s', async (body, code, details) => {
    const { id, take } = await held();
    await service.clearProviderRequests();
    expect(await take(body)).toMatchObject({ status: 400, body: { code, ...(details && { details }) } });
    expect(await service.providerRequests()).toEqual([]);
    expect(await holdsAtProvider(service, id)).toMatchObject([{ authorized: 1_000, captured: 0, released: 0 }]);
  });

  test('limit later refunds', async () => {
    const { id, admin, take } = await held();
    expect(await take({ amount_cents: 600 })).toMatchObject({ status: 200, body: { refundable_cents: 600 } });
    const asked = (amount: number) => refund(service, id, { ...admin.options, body: { amount_cents: amount } });
    expect(await asked(601)).toMatchObject({ status: 400, body: { code: 'REFUND_EXCEEDS_PAYMENT' } });
    expect(await asked(600)).toMatchObject({ status: 201, body: { amount_cents: 600 } });
    // Square completes a refund within a minute.
    await service.advance(2 * MINUTE_SECONDS);
    expect(await read(service, id, admin.options)).toMatchObject({ status: 'succeeded', refund_status: 'full' });
  });
});

describe.each(HOLDING)('a capture at $slot', (holding) => {
  test('is refused unless the payment is held', async () => {
    const [user, admin] = [await signIn(service), await signInAdmin(service)];
    const { id } = await createIntent(service, user, manualBody(holding));
    expect(await capture(service, id, admin.options)).toMatchObject({ status: 409, body: { code: 'INVALID_STATE' } });
    const held = await heldPayment(service, user, { holding });
    expect(await release(service, held.id, admin.options)).toMatchObject({ status: 200 });
    expect(await capture(service, held.id, admin.options)).toMatchObject({
      status: 409,
      body: { code: 'INVALID_STATE', details: { reason: 'released' } },
    });
  });

  test('leaves the amount held after a decline, and uses a new key for each further attempt', async () => {
    const [user, admin] = [await signIn(service), await signInAdmin(service)];
    const { id } = await heldPayment(service, user, { holding, payment_method_id: holding.captureDeclined });
    await service.clearProviderRequests();
    for (const failedCaptures of [1, 2]) {
      expect(await capture(service, id, admin.options)).toMatchObject({
        status: 402,
        body: { code: 'PAYMENT_DECLINED', details: { decline_code: 'do_not_honor' } },
      });
      expect(await storedPayment(service, id)).toMatchObject({ status: 'requires_capture', failedCaptures });
    }
    expect(await captureCalls(holding.capturePath)).toBe(2);
    expect(await read(service, id, admin.options)).toMatchObject({ capture_pending: false, capturable_cents: 1_000 });
    expect(await release(service, id, admin.options)).toMatchObject({ status: 200 });
    expect(await eventsOf(service, id)).toEqual(['payment.created', 'payment.authorized', 'payment.released']);
  });

  test('can be repeated if it certainly did not happen', async () => {
    const [user, admin] = [await signIn(service), await signInAdmin(service)];
    const { id } = await heldPayment(service, user, { holding });
    await service.fault({ provider: holding.slot, path: holding.capturePath, action: 'rate_limit' });
    expect(await capture(service, id, admin.options)).toMatchObject({ status: 503 });
    expect(await read(service, id, admin.options)).toMatchObject({ capture_pending: false, capturable_cents: 1_000 });
    await service.clearFaults();
    expect(await capture(service, id, admin.options)).toMatchObject({ status: 200, body: { status: 'succeeded' } });
    expect(await holdsAtProvider(service, id)).toMatchObject([{ authorized: 1_000, captured: 1_000 }]);
  });

  test.each(['error_500', 'timeout_after', 'reset', 'malformed'])(
    'is pending after a lost response (%s), is looked up, and takes the amount once',
    async (action) => {
      const [user, admin] = [await signIn(service), await signInAdmin(service)];
      const { id } = await heldPayment(service, user, { holding });
      await service.webhookMode('drop');
      await service.fault({ provider: holding.slot, path: holding.capturePath, method: 'POST', action });
      const part = { ...admin.options, body: { amount_cents: 600 } };
      expect(await capture(service, id, part)).toMatchObject({
        status: 202,
        body: { status: 'requires_capture', capture_pending: true, total_cents: 1_000 },
      });
      for (const again of [capture(service, id, part), release(service, id, admin.options)]) {
        expect(await again).toMatchObject({ status: 409, body: { code: 'PAYMENT_IN_PROGRESS' } });
      }
      await service.clearFaults();
      await service.advance(2 * MINUTE_SECONDS);
      await service.settle();
      await service.webhookMode('normal');
      expect(await read(service, id, admin.options)).toMatchObject({
        status: 'succeeded',
        total_cents: 600,
        subtotal_cents: 500,
        capture_pending: false,
      });
      expect(await holdsAtProvider(service, id)).toMatchObject([{ captured: 600, released: 400 }]);
      expect(await eventsOf(service, id)).toEqual(['payment.created', 'payment.authorized', 'payment.succeeded']);
    },
  );

  test('fails after half an hour if it never arrived, and can be repeated', async () => {
    const [user, admin] = [await signIn(service), await signInAdmin(service)];
    const { id } = await heldPayment(service, user, { holding });
    await service.fault({ provider: holding.slot, path: holding.capturePath, method: 'POST', action: 'error_500' });
    expect(await capture(service, id, admin.options)).toMatchObject({ status: 202 });
    await service.advance(20 * MINUTE_SECONDS);
    expect(await read(service, id, admin.options)).toMatchObject({ capture_pending: true });
    await service.advance(60 * MINUTE_SECONDS);
    await service.settle();
    expect(await read(service, id, admin.options)).toMatchObject({
      status: 'requires_capture',
      capture_pending: false,
    });
    await service.clearFaults();
    expect(await capture(service, id, admin.options)).toMatchObject({ status: 200 });
  });

  test('stores the end of a hold released on the dashboard', async () => {
    const [user, admin] = [await signIn(service), await signInAdmin(service)];
    const { id } = await heldPayment(service, user, { holding });
    await service.control('POST', `/simulator/payments/${id}/release`);
    expect(await capture(service, id, admin.options)).toMatchObject({
      status: 409,
      body: { code: 'INVALID_STATE', details: { reason: 'released' } },
    });
    await service.settle();
    expect(await read(service, id, admin.options)).toMatchObject({
      status: 'canceled',
      cancellation_reason: 'provider',
    });
  });
});

describe.each(HOLDING)('parallel captures and releases at $slot', (holding) => {
  test('end the hold once, and the record shows the end', async () => {
    const [user, admin] = [await signIn(service), await signInAdmin(service)];
    for (let round = 0; round < 3; round += 1) {
      const { id } = await heldPayment(service, user, { holding });
      const answers = await Promise.all(
        Array.from({ length: 10 }, (_, index) =>
          index % 2 === round % 2
            ? capture(service, id, { ...admin.options, body: { amount_cents: 600 } })
            : release(service, id, admin.options),
        ),
      );
      await service.settle();
      expect(answers.every(({ status }) => [200, 409].includes(status))).toBe(true);
      const { status, total_cents } = await read(service, id, admin.options);
      const [hold, ...others] = await holdsAtProvider(service, id);
      expect(others).toEqual([]);
      expect(hold).toMatchObject(
        status === 'succeeded' ? { captured: 600, released: 400 } : { captured: 0, released: 1_000 },
      );
      expect(total_cents).toBe(status === 'succeeded' ? 600 : 1_000);
    }
  });
});
