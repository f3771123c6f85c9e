import { beforeEach, describe, expect, test } from 'vitest';
import { DAY_SECONDS, HOUR_SECONDS, MINUTE_SECONDS } from '../builders/seconds.ts';
import { eventsOf, read, signIn, type User } from './flow.ts';
import { AT_PAYPAL, capture, heldPayment, release } from './holders.ts';
import { withHost } from './host.ts';
import { signInAdmin } from './refunders.ts';
import type { PaymentBody } from './routes.ts';

/** On PayPal's site, 11.50 are captured from a hold of 10.00. The service quarantines the amount. */
const service = withHost({ frozen: true });
beforeEach(async () => {
  await service.webhookMode('normal');
  await service.clearFaults();
});

const COMMANDS = [
  { kind: 'capture', ask: capture, path: AT_PAYPAL.capturePath, failed: 'payment.capture_failed' },
  { kind: 'release', ask: release, path: AT_PAYPAL.releasePath, failed: 'payment.release_failed' },
] as const;

interface Taken {
  readonly id: string;
  readonly admin: User;
}

const hold = async (): Promise<Taken> => {
  const user = await signIn(service, { expires_in: 3 * DAY_SECONDS });
  const { id } = await heldPayment(service, user, { holding: AT_PAYPAL });
  return { id, admin: await signInAdmin(service) };
};

const takeTooMuch = async ({ id }: Taken, final = true): Promise<void> => {
  await service.control('POST', `/simulator/payments/${id}/captures`, { amount: 1_150, final });
  await service.settle();
};

const STANDS = { status: 'requires_capture', total_cents: 1_000, capturable_cents: 1_000 };

const expectNothingPending = async ({ id, admin }: Taken): Promise<void> => {
  const payment: PaymentBody = await read(service, id, admin.options);
  expect(payment).toMatchObject(STANDS);
  expect(payment.capture_pending ?? false).toBe(false);
  expect(payment.release_pending ?? false).toBe(false);
};

const failures = async ({ id }: Taken, name: string) =>
  (await service.busEvents(name))
    .map((event) => event.detail.payload.data)
    .filter(({ payment_id }) => payment_id === id);

describe.each(COMMANDS)('a $kind of a hold after an excessive capture', ({ kind, ask, path, failed }) => {
  test('returns 502 each time, and leaves nothing pending', async () => {
    const held = await hold();
    await takeTooMuch(held);
    const keyed = { ...held.admin.options, idempotencyKey: `${kind}-${held.id}` };
    for (const _ of [1, 2]) {
      expect(await ask(service, held.id, keyed)).toMatchObject({ status: 502, body: { code: 'PROVIDER_ERROR' } });
      await expectNothingPending(held);
    }
    await service.advance(HOUR_SECONDS);
    await expectNothingPending(held);
    expect(await eventsOf(service, held.id)).toEqual(['payment.created', 'payment.authorized']);
  });

  test.each(['error_500', 'timeout_after'])('ends with one failure event if %s hides its outcome', async (action) => {
    const held = await hold();
    await takeTooMuch(held);
    await service.fault({ provider: AT_PAYPAL.slot, path, method: 'POST', action, times: 4 });
    const keyed = { ...held.admin.options, idempotencyKey: `${kind}-${held.id}` };
    expect(await ask(service, held.id, keyed)).toMatchObject({ status: 202, body: { [`${kind}_pending`]: true } });
    await service.clearFaults();
    await service.advance(5 * MINUTE_SECONDS);
    await expectNothingPending(held);
    const end = { reason: 'not_done', failure_code: null, status: 'requires_capture' };
    expect(await failures(held, failed)).toMatchObject([end]);
    await service.advance(DAY_SECONDS);
    expect(await failures(held, failed)).toHaveLength(1);
    expect(await ask(service, held.id, keyed)).toMatchObject({ status: 502, body: { code: 'PROVIDER_ERROR' } });
  });
});

describe('a release of a hold after an excessive capture', () => {
  test('keeps the hold if the capture’s event was lost', async () => {
    const held = await hold();
    await service.webhookMode('drop');
    await takeTooMuch(held);
    expect(await release(service, held.id, held.admin.options)).toMatchObject({
      status: 502,
      body: { code: 'PROVIDER_ERROR' },
    });
    await expectNothingPending(held);
  });
});
