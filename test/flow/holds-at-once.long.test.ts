import { afterEach, describe, expect, test } from 'vitest';
import { DAY_SECONDS, MINUTE_SECONDS, YEAR_SECONDS } from '../builders/seconds.ts';
import { eventsOf, read, signIn, type User } from './flow.ts';
import { capture, HOLDING, heldPayment, holdsAtProvider, release } from './holders.ts';
import { withHost } from './host.ts';
import { signInAdmin } from './refunders.ts';

/** Parallel captures and releases of one hold, and holds that end while the provider cannot be read. */
const service = withHost({ frozen: true, env: { PROVIDER_TIMEOUT_MS: '1500' } });
afterEach(async () => {
  await service.clearFaults();
  await service.webhookMode('normal');
});

const FAULTS = ['timeout_before', 'timeout_after', 'error_500', 'rate_limit', 'reset', 'malformed'] as const;
/** Expects at most one capture, and the same captured amount in the record as at the provider. */
const expectTruth = async (id: string, user: User): Promise<void> => {
  const payment = await read(service, id, user.options);
  const holds = await holdsAtProvider(service, id);
  expect(holds.filter(({ captured }) => captured > 0).length).toBeLessThanOrEqual(1);
  for (const { authorized, captured, released } of holds) {
    expect(captured).toBeLessThanOrEqual(authorized);
    if (payment.status !== 'requires_capture') expect(captured + released).toBe(authorized);
  }
  expect(holds.reduce((sum, { captured }) => sum + captured, 0)).toBe(payment.captured_cents);
  if (payment.status === 'succeeded') expect(payment.total_cents).toBe(payment.captured_cents);
};

const later = async (): Promise<void> => {
  await service.clearFaults();
  for (const minutes of [2, 10, 40, 60]) {
    await service.advance(minutes * MINUTE_SECONDS);
    await service.settle();
  }
};

describe.each(HOLDING)('ten holds at $slot, each with 20 parallel captures and releases', (holding) => {
  test('end once each', async () => {
    const [user, admin] = [await signIn(service, { expires_in: YEAR_SECONDS }), await signInAdmin(service)];
    for (let round = 0; round < 10; round += 1) {
      const { id } = await heldPayment(service, user, { holding });
      const tries = Array.from({ length: 20 }, (_, index) => {
        const body = { amount_cents: 200 + index * 10 };
        return index % 2 === round % 2
          ? capture(service, id, { ...admin.options, body })
          : release(service, id, admin.options);
      });
      const answers = await Promise.all(tries);
      expect(answers.filter(({ status }) => ![200, 202, 409].includes(status))).toEqual([]);
      await later();
      await expectTruth(id, user);
      expect((await read(service, id, user.options)).status).toMatch(/^(succeeded|canceled)$/);
    }
  });
});

describe.each(HOLDING)('a hold at $slot, after its end', (holding) => {
  test.each(FAULTS)('is recorded as expired, although reads fail with %s for a while', async (action) => {
    const user = await signIn(service, { expires_in: YEAR_SECONDS });
    const { id } = await heldPayment(service, user, { holding });
    await service.webhookMode('drop');
    await service.advance((holding.holdDays + 1) * DAY_SECONDS - 60);
    await service.fault({ provider: holding.slot, method: 'GET', action, times: 4 });
    for (let days = 0; days < 3; days += 1) {
      await service.advance(DAY_SECONDS);
      await service.settle();
    }
    expect(await read(service, id, user.options)).toMatchObject({ status: 'canceled', cancellation_reason: 'expired' });
    expect((await eventsOf(service, id)).filter((name) => name === 'payment.released')).toHaveLength(1);
    await expectTruth(id, user);
  });
});
