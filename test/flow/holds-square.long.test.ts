import { describe, expect, test } from 'vitest';
import { DAY_SECONDS, MINUTE_SECONDS } from '../builders/seconds.ts';
import { confirm, createIntent, eventsOf, IMPATIENT, read, signIn } from './flow.ts';
import { capture, HOLDING, type Holding, heldPayment, holdsAtProvider, manualBody, release } from './holders.ts';
import { withHost } from './host.ts';
import { signInAdmin } from './refunders.ts';

/** Only at Square, a hold has its own order, and a partial capture takes two calls. */
const service = withHost({ frozen: true, env: IMPATIENT });

const square = (): Holding => {
  const found = HOLDING.find(({ slot }) => slot === 'provider_c');
  if (!found) throw new Error('Square holds amounts; absence is a bug');
  return found;
};
const fault = (action: string, method: string, path: string) =>
  service.fault({ provider: 'provider_c', action, method, path, times: 1 });

describe('a partial capture at Square', () => {
  test.each([
    ['timeout_before', 'PUT', '/v2/payments/'],
    ['timeout_after', 'PUT', '/v2/payments/'],
    ['timeout_before', 'POST', '/complete'],
    ['timeout_after', 'POST', '/complete'],
  ])('takes the part once after a lost response (%s of %s %s)', async (...call) => {
    const user = await signIn(service);
    const admin = await signInAdmin(service);
    const { id } = await heldPayment(service, user, { holding: square() });
    await service.webhookMode('drop');
    await fault(...call);
    const body = { amount_cents: 600 };
    expect(await capture(service, id, { ...admin.options, body })).toMatchObject({
      status: 202,
      body: { status: 'requires_capture', capture_pending: true, total_cents: 1_000 },
    });
    expect(await release(service, id, admin.options)).toMatchObject({ status: 409 });
    await service.advance(2 * MINUTE_SECONDS);
    expect(await read(service, id, user.options)).toMatchObject({
      status: 'succeeded',
      ...{ subtotal_cents: 500, tax_cents: 100, total_cents: 600, authorized_cents: 1_000, capture_pending: false },
    });
    expect(await holdsAtProvider(service, id)).toMatchObject([{ authorized: 1_000, captured: 600, released: 400 }]);
    await service.webhookMode('normal');
  });
});

describe('a hold at Square', () => {
  test.each(['drop', 'normal'] as const)(
    'is found after a lost response, with webhooks in the mode %s',
    async (mode) => {
      const user = await signIn(service);
      await service.webhookMode(mode);
      const { id } = await createIntent(service, user, manualBody({ ...square(), method: 'cnon:sim-timeout-after' }));
      expect(await confirm(service, id, user.options)).toMatchObject({ status: 202, body: { status: 'processing' } });
      if (mode === 'drop') await service.advance(2 * MINUTE_SECONDS);
      await service.settle();
      const held = await read(service, id, user.options);
      expect(held).toMatchObject({
        status: 'requires_capture',
        capturable_cents: 1_000,
        provider_payment_id: expect.stringMatching(/^SQPAY/),
      });
      expect(await holdsAtProvider(service, id)).toMatchObject([{ authorized: 1_000, captured: 0, released: 0 }]);
      await service.webhookMode('normal');
    },
  );

  test('is looked up before the payer or the expiry cancels the payment', async () => {
    const user = await signIn(service, { expires_in: 2 * DAY_SECONDS });
    await service.webhookMode('drop');
    const { id } = await createIntent(service, user, manualBody(square()));
    await service.advance(DAY_SECONDS - MINUTE_SECONDS);
    await confirm(service, id, user.options);
    await service.advance(10 * MINUTE_SECONDS);
    expect(await release(service, id, user.options)).toMatchObject({ status: 403 });
    expect(await read(service, id, user.options)).toMatchObject({ status: 'requires_capture' });
    await service.webhookMode('normal');
  });

  test('ends after seven days, and its order stays unpaid', async () => {
    const user = await signIn(service, { expires_in: 9 * DAY_SECONDS });
    const { id } = await heldPayment(service, user, { holding: square() });
    await service.advance(8 * DAY_SECONDS);
    await service.settle();
    expect(await read(service, id, user.options)).toMatchObject({ status: 'canceled', cancellation_reason: 'expired' });
    const events = await eventsOf(service, id);
    expect(events.filter((type) => type === 'payment.released')).toHaveLength(1);
    expect(await holdsAtProvider(service, id)).toMatchObject([{ authorized: 1_000, captured: 0, released: 1_000 }]);
  });
});
