import { afterEach, describe, expect, test } from 'vitest';
import { DAY_SECONDS, HOUR_SECONDS, MINUTE_SECONDS, YEAR_SECONDS } from '../builders/seconds.ts';
import { eventsOf, read, signIn } from './flow.ts';
import { AT_PAYPAL, capture, HOLDING, heldPayment, holdsAtProvider, release } from './holders.ts';
import { withHost } from './host.ts';
import { signInAdmin } from './refunders.ts';

/** A capture or release with an unknown outcome. An event reports its end, and a repeat shows the end. */
const service = withHost({ frozen: true });
afterEach(async () => {
  await service.clearFaults();
  await service.webhookMode('normal');
});

const people = async () => ({
  user: await signIn(service, { expires_in: YEAR_SECONDS }),
  admin: await signInAdmin(service),
});

const eventData = async (id: string, name: string) =>
  (await service.busEvents(name))
    .map((event) => event.detail.payload.data)
    .filter(({ payment_id }) => payment_id === id);

const replayed = ({ headers }: { readonly headers: Headers }): string | null => headers.get('idempotent-replayed');

describe.each(HOLDING)('a command on a hold at $slot', (holding) => {
  test('is reported as not done if it is a capture that never arrives, and can be repeated with its key', async () => {
    const { user, admin } = await people();
    const { id } = await heldPayment(service, user, { holding });
    const keyed = { ...admin.options, idempotencyKey: `capture-${id}`, body: { amount_cents: 600 } };
    await service.fault({ provider: holding.slot, path: holding.capturePath, method: 'POST', action: 'error_500' });
    expect(await capture(service, id, keyed)).toMatchObject({ status: 202, body: { capture_pending: true } });
    const pending = await capture(service, id, keyed);
    expect(pending).toMatchObject({ status: 202, body: { capture_pending: true } });
    expect(replayed(pending)).toBe('true');
    await service.advance(3 * HOUR_SECONDS);
    expect(await eventData(id, 'payment.capture_failed')).toMatchObject([
      { reason: 'not_done', failure_code: null, status: 'requires_capture', amount: 1_000 },
    ]);
    await service.clearFaults();
    const made = await capture(service, id, keyed);
    expect(made).toMatchObject({ status: 200, body: { captured_cents: 600 } });
    expect(replayed(made)).toBeNull();
    const again = await capture(service, id, keyed);
    expect(again).toMatchObject({ status: 200, body: { captured_cents: 600 } });
    expect(replayed(again)).toBe('true');
    expect(await eventsOf(service, id)).toEqual([
      ...['payment.created', 'payment.authorized', 'payment.capture_failed', 'payment.succeeded'],
    ]);
  });

  test('is reported as not done if it is a release that never arrives, and can be repeated with its key', async () => {
    const { user, admin } = await people();
    const { id } = await heldPayment(service, user, { holding });
    const keyed = { ...admin.options, idempotencyKey: `release-${id}` };
    await service.fault({ provider: holding.slot, path: holding.releasePath, method: 'POST', action: 'error_500' });
    expect(await release(service, id, keyed)).toMatchObject({ status: 202, body: { release_pending: true } });
    await service.advance(3 * HOUR_SECONDS);
    expect(await eventData(id, 'payment.release_failed')).toMatchObject([{ reason: 'not_done', failure_code: null }]);
    await service.clearFaults();
    expect(await release(service, id, keyed)).toMatchObject({ status: 200, body: { status: 'canceled' } });
    expect(await holdsAtProvider(service, id)).toMatchObject([{ captured: 0, released: 1_000 }]);
    expect(await eventsOf(service, id)).toEqual([
      ...['payment.created', 'payment.authorized', 'payment.release_failed', 'payment.released'],
    ]);
  });

  test('is sent again with its key if it is a capture declined by the bank', async () => {
    const { user, admin } = await people();
    const { id } = await heldPayment(service, user, { holding: { ...holding, method: holding.captureDeclined } });
    const keyed = { ...admin.options, idempotencyKey: `declined-${id}` };
    await service.clearProviderRequests();
    for (const calls of [1, 2]) {
      const declined = await capture(service, id, keyed);
      expect(declined).toMatchObject({ status: 402, body: { code: 'PAYMENT_DECLINED' } });
      expect(replayed(declined)).toBeNull();
      const asked = (await service.providerRequests()).filter(
        ({ method, path }) => method === 'POST' && path.endsWith(holding.capturePath),
      );
      expect(asked).toHaveLength(calls);
    }
    await service.advance(DAY_SECONDS / 2);
    expect(await eventData(id, 'payment.capture_failed')).toEqual([]);
  });
});

describe('a capture that the bank declines after a day', () => {
  const declinedLater = { ...AT_PAYPAL, method: 'SIM-CAPTURE-PENDING-FAIL' };

  test.each(['normal', 'drop'] as const)('is reported once, with events in mode %s', async (mode) => {
    const { user, admin } = await people();
    const { id } = await heldPayment(service, user, { holding: declinedLater });
    await service.webhookMode(mode);
    const keyed = { ...admin.options, idempotencyKey: `later-${id}` };
    expect(await capture(service, id, keyed)).toMatchObject({ status: 202, body: { capture_pending: true } });
    await service.advance(3 * HOUR_SECONDS);
    expect(await capture(service, id, keyed)).toMatchObject({ status: 202, body: { capture_pending: true } });
    await service.advance(2 * DAY_SECONDS);
    expect(await eventData(id, 'payment.capture_failed')).toMatchObject([
      { reason: 'declined', failure_code: 'do_not_honor', capturable_amount: 1_000 },
    ]);
    expect(await read(service, id, user.options)).toMatchObject({
      ...{ status: 'requires_capture', capture_pending: false, capturable_cents: 1_000 },
    });
    expect(await capture(service, id, keyed)).toMatchObject({ status: 202, body: { capture_pending: true } });
    await service.control('POST', `/simulator/payments/${id}/pending-capture`, { outcome: 'succeeded' });
    await service.advance(2 * DAY_SECONDS);
    expect(await capture(service, id, keyed)).toMatchObject({ status: 200, body: { status: 'succeeded' } });
    expect((await eventsOf(service, id)).slice(2)).toEqual(['payment.capture_failed', 'payment.succeeded']);
    expect((await holdsAtProvider(service, id)).map(({ captured }) => captured)).toEqual([1_000]);
  });

  test('is reported by a sync, and by the event of the decline', async () => {
    const { user, admin } = await people();
    const { id, provider_payment_id } = await heldPayment(service, user, { holding: declinedLater });
    const decline = () => service.control('POST', `/simulator/payments/${id}/pending-capture`, { outcome: 'failed' });
    await service.webhookMode('drop');
    await capture(service, id, admin.options);
    await decline();
    await service.post(`/payments/sync/${provider_payment_id}`, {}, admin.options);
    expect(await eventData(id, 'payment.capture_failed')).toHaveLength(1);
    await service.webhookMode('normal');
    await capture(service, id, admin.options);
    await decline();
    await service.advance(MINUTE_SECONDS);
    expect(await eventData(id, 'payment.capture_failed')).toHaveLength(2);
  });
});

describe('a hold that ends while the outcome of its capture is unknown', () => {
  test('is reported by payment.released alone', async () => {
    const { user, admin } = await people();
    const { id } = await heldPayment(service, user);
    await service.webhookMode('drop');
    await service.fault({ provider: 'provider_a', path: '/capture', method: 'POST', action: 'error_500' });
    expect(await capture(service, id, admin.options)).toMatchObject({ status: 202 });
    await service.control('POST', `/simulator/payments/${id}/release`);
    await service.advance(3 * HOUR_SECONDS);
    expect((await eventsOf(service, id)).slice(2)).toEqual(['payment.released']);
  });
});
