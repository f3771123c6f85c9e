import { afterEach, describe, expect, test } from 'vitest';
import { instant, iso } from '../../shared/core/time.ts';
import { DAY_SECONDS, HOUR_SECONDS, MINUTE_SECONDS, YEAR_SECONDS } from '../builders/seconds.ts';
import { confirmInBrowser, createIntent, eventsOf, read, signIn } from './flow.ts';
import { AT_STRIPE, capture, HOLDING, heldPayment, holdsAtProvider, manualBody, release } from './holders.ts';
import { withHost } from './host.ts';
import { signInAdmin } from './refunders.ts';

const service = withHost({ frozen: true });
afterEach(async () => {
  await service.clearFaults();
  await service.webhookMode('normal');
});

const signInForLong = () => signIn(service, { expires_in: YEAR_SECONDS });

const dataOf = async (id: string, name: string) =>
  (await service.busEvents(name)).map((event) => event.detail.payload.data).filter((data) => data.payment_id === id);

describe.each(HOLDING)('an uncaptured hold at $slot', (holding) => {
  test.each(['normal', 'drop'] as const)('expires by the clock, with provider events in mode %s', async (mode) => {
    const [user, admin] = [await signInForLong(), await signInAdmin(service)];
    const held = await heldPayment(service, user, { holding });
    const { id, capture_before: end } = held;
    expect(instant(end)).toBeLessThanOrEqual(service.now() + holding.holdDays * DAY_SECONDS * 1_000);
    await service.webhookMode(mode);
    await service.moveTo(iso(instant(end) - DAY_SECONDS * 1_000 - 1_000));
    await service.settle();
    expect(await dataOf(id, 'payment.capture_due')).toEqual([]);
    await service.advance(MINUTE_SECONDS);
    const about = { authorized_amount: 1_000, capturable_amount: 1_000, capture_before: end };
    expect(await dataOf(id, 'payment.capture_due')).toMatchObject([{ ...about, status: 'requires_capture' }]);
    await service.moveTo(iso(instant(end) + 6 * MINUTE_SECONDS * 1_000));
    await service.settle();
    await service.advance(DAY_SECONDS);
    await service.settle();
    expect(await read(service, id, user.options)).toMatchObject({
      status: 'canceled',
      cancellation_reason: 'expired',
      capturable_cents: 0,
      authorized_cents: 1_000,
      completed_at: null,
    });
    expect(await eventsOf(service, id)).toEqual([
      ...['payment.created', 'payment.authorized', 'payment.capture_due', 'payment.released'],
    ]);
    expect(await dataOf(id, 'payment.released')).toMatchObject([
      { ...about, capturable_amount: 0, reason: 'expired', status: 'canceled', amount: 1_000 },
    ]);
    expect(await holdsAtProvider(service, id)).toMatchObject([{ authorized: 1_000, captured: 0, released: 1_000 }]);
    expect(await capture(service, id, admin.options)).toMatchObject({
      status: 409,
      body: { code: 'INVALID_STATE', details: { reason: 'expired' } },
    });
  });

  test('publishes payment.capture_due immediately if it lasts only an hour', async () => {
    const [user, admin] = [await signInForLong(), await signInAdmin(service)];
    await service.webhookMode('drop');
    const { id, capture_before: end } = await heldPayment(service, user, {
      holding,
      payment_method_id: holding.holdForAnHour,
    });
    expect(instant(end)).toBeLessThanOrEqual(service.now() + HOUR_SECONDS * 1_000);
    expect(await eventsOf(service, id)).toEqual(['payment.created', 'payment.authorized', 'payment.capture_due']);
    await service.moveTo(iso(instant(end) + 60_000));
    expect(await read(service, id, user.options)).toMatchObject({ status: 'requires_capture' });
    expect(await capture(service, id, admin.options)).toMatchObject({
      status: 409,
      body: { code: 'INVALID_STATE', details: { reason: 'expired' } },
    });
    expect(await read(service, id, user.options)).toMatchObject({ status: 'canceled', cancellation_reason: 'expired' });
  });

  test('is canceled, not expired, if it is released on the dashboard', async () => {
    const user = await signInForLong();
    const { id } = await heldPayment(service, user, { holding });
    expect(await service.control('POST', `/simulator/payments/${id}/release`)).toMatchObject({ status: 'canceled' });
    await service.settle();
    expect(await read(service, id, user.options)).toMatchObject({
      status: 'canceled',
      cancellation_reason: 'provider',
    });
    expect(await dataOf(id, 'payment.released')).toMatchObject([{ reason: 'provider' }]);
    await expect(service.control('POST', `/simulator/payments/${id}/release`)).rejects.toThrow('409');
  });
});

describe.each(HOLDING)('a release at $slot', (holding) => {
  test.each(['error_500', 'timeout_after', 'reset'])(
    'is pending and looked up after a lost response (%s)',
    async (action) => {
      const [user, admin] = [await signInForLong(), await signInAdmin(service)];
      const { id } = await heldPayment(service, user, { holding });
      await service.webhookMode('drop');
      await service.fault({ provider: holding.slot, path: holding.releasePath, method: 'POST', action });
      expect(await release(service, id, admin.options)).toMatchObject({
        status: 202,
        body: { status: 'requires_capture', release_pending: true, capture_pending: false },
      });
      expect(await capture(service, id, admin.options)).toMatchObject({
        status: 409,
        body: { code: 'PAYMENT_IN_PROGRESS' },
      });
      await service.clearFaults();
      await service.advance(2 * MINUTE_SECONDS);
      await service.settle();
      expect(await read(service, id, user.options)).toMatchObject({
        status: 'canceled',
        cancellation_reason: 'released',
        release_pending: false,
      });
      expect(await holdsAtProvider(service, id)).toMatchObject([{ captured: 0, released: 1_000 }]);
    },
  );
});

describe('a manual payment that is confirmed in the browser', () => {
  const heldUnheard = async () => {
    const user = await signInForLong();
    const payment = await createIntent(service, user, manualBody(AT_STRIPE, { payment_method_id: undefined }));
    await service.webhookMode('drop');
    expect(await confirmInBrowser(service, payment, AT_STRIPE.method)).toMatchObject({ status: 200 });
    return { user, id: payment.id };
  };

  test('cannot be canceled by the payer, because the service finds the hold', async () => {
    const { user, id } = await heldUnheard();
    expect(await release(service, id, user.options)).toMatchObject({
      status: 403,
      body: { code: 'INSUFFICIENT_PERMISSIONS' },
    });
    expect(await read(service, id, user.options)).toMatchObject({
      status: 'requires_capture',
      authorized_cents: 1_000,
      capture_before: expect.any(String),
    });
    expect(await holdsAtProvider(service, id)).toMatchObject([{ authorized: 1_000, released: 0 }]);
  });

  test('does not expire after 24 hours', async () => {
    const { user, id } = await heldUnheard();
    await service.advance(DAY_SECONDS + MINUTE_SECONDS);
    await service.settle();
    expect(await read(service, id, user.options)).toMatchObject({ status: 'requires_capture' });
    expect(await holdsAtProvider(service, id)).toMatchObject([{ authorized: 1_000, released: 0 }]);
  });

  test('is held as soon as the event arrives, and shows when the hold ends', async () => {
    const user = await signInForLong();
    const payment = await createIntent(service, user, manualBody(AT_STRIPE, { payment_method_id: undefined }));
    await confirmInBrowser(service, payment, AT_STRIPE.method);
    await service.settle();
    expect(await read(service, payment.id, user.options)).toMatchObject({
      status: 'requires_capture',
      capture_before: expect.any(String),
      payment_method_details: { card_brand: 'visa', last_four: '4242' },
    });
    expect(await dataOf(payment.id, 'payment.authorized')).toMatchObject([{ capture_before: expect.any(String) }]);
  });
});
