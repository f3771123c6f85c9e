/** @module A sync that returns 200 shows the payment's status, refunds and disputes at the provider. */

import { afterEach, describe, expect, test } from 'vitest';
import { MINUTE_SECONDS, YEAR_SECONDS } from '../builders/seconds.ts';
import { IMPATIENT, read, signIn } from './flow.ts';
import { withHost } from './host.ts';
import { PAYING_METHODS, type Paying, paidPayment } from './refunders.ts';

const service = withHost({ frozen: true, env: IMPATIENT });
afterEach(async () => {
  await service.clearFaults();
  await service.webhookMode('normal');
});

/** A paid payment with a refund of 5.00 and a dispute at the provider. No event reports them. */
const changedAtProvider = async (paying: Paying) => {
  const user = await signIn(service, { expires_in: YEAR_SECONDS });
  const payment = await paidPayment(service, user, { paying });
  await service.webhookMode('drop');
  await service.control('POST', `/simulator/payments/${payment.id}/refunds`, { amount: 500 });
  await service.control('POST', `/simulator/payments/${payment.id}/disputes`, {});
  await service.advance(2 * MINUTE_SECONDS);
  return { user, payment, sync: () => service.post(`/payments/sync/${payment.provider_payment_id}`, {}, user.options) };
};

const UNKNOWN_TO_US = { refunded_cents: 0, disputed: false };
const AS_AT_THE_PROVIDER = { refunded_cents: 500, disputed: true };

/** The calls reading refunds and disputes. PayPal returns refunds in the order, next to the status. */
const READS = {
  provider_a: ['/v1/refunds', '/v1/disputes'],
  provider_b: ['/v1/customer/disputes'],
  provider_c: ['/v2/refunds', '/v2/disputes'],
} as const;
const FAULTS = [
  ['timeout_after', 504],
  ['error_500', 502],
  ['rate_limit', 503],
] as const;
const CASES = PAYING_METHODS.flatMap((paying) =>
  READS[paying[0] as keyof typeof READS].flatMap((path) =>
    FAULTS.map(([action, status]) => ({ paying, slot: paying[0], path, action, status })),
  ),
);

describe('a sync', () => {
  test.each(PAYING_METHODS)('shows a refund and a dispute made at %s', async (...paying) => {
    const { payment, user, sync } = await changedAtProvider(paying);
    expect(await read(service, payment.id, user.options)).toMatchObject(UNKNOWN_TO_US);
    expect(await sync()).toMatchObject({ status: 200, body: AS_AT_THE_PROVIDER });
    expect(await read(service, payment.id, user.options)).toMatchObject(AS_AT_THE_PROVIDER);
  });

  test.each(CASES)('returns $status if $slot does not respond on $path ($action)', async (one) => {
    const { payment, user, sync } = await changedAtProvider(one.paying);
    await service.fault({ provider: one.slot, method: 'GET', path: one.path, action: one.action });
    const { status, body } = await sync();
    expect([status, body.details]).toEqual([one.status, { payment_id: payment.id }]);
    await service.clearFaults();
    expect(await sync()).toMatchObject({ status: 200, body: AS_AT_THE_PROVIDER });
    expect(await read(service, payment.id, user.options)).toMatchObject(AS_AT_THE_PROVIDER);
  });
});
