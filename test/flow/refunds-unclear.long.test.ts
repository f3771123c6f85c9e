import { describe, expect, onTestFinished, test } from 'vitest';
import { DAY_SECONDS, HOUR_SECONDS, MINUTE_SECONDS, YEAR_SECONDS } from '../builders/seconds.ts';
import { IMPATIENT, read, signIn } from './flow.ts';
import { withHost } from './host.ts';
import { expectAgreement, PAYING_METHODS, paidPayment, refund, refundsAtProvider, signInAdmin } from './refunders.ts';

/**
 * Refunds whose call to the provider has an unknown outcome. No webhook arrives, so only the scheduled lookups find the
 * outcome.
 */
const service = withHost({ frozen: true, env: IMPATIENT });

/** The fault, the response of the route, and whether the provider has made the refund. */
const FAULTS = [
  ['timeout_before', 202, false],
  ['timeout_after', 202, true],
  ['reset', 202, false],
  ['error_500', 202, false],
  ['rate_limit', 503, false],
] as const;

const setUp = async (provider: (typeof PAYING_METHODS)[number]) => {
  const [user, admin] = [await signIn(service, { expires_in: YEAR_SECONDS }), await signInAdmin(service)];
  const payment = await paidPayment(service, user, { paying: provider });
  await service.webhookMode('drop');
  onTestFinished(async () => {
    await service.clearFaults();
    await service.webhookMode('normal');
  });
  return { user, admin, payment };
};

const REFUND_PATH: Readonly<Record<string, string>> = {
  provider_a: '/v1/refunds',
  provider_b: '/refund',
  provider_c: '/v2/refunds',
};

describe.each(PAYING_METHODS)('a refund at %s', (...provider) => {
  const strike = (action: string, times: number, method = 'POST') =>
    service.fault({ provider: provider[0], method, path: REFUND_PATH[provider[0]], action, times });

  test.each(FAULTS)('is made at most once after %s, which returns %i', async (action, status, made) => {
    const { user, admin, payment } = await setUp(provider);
    // The service retries a refund without effect once.
    await strike(action, status === 503 ? 2 : 1);
    const answer = await refund(service, payment.id, { ...admin.options, body: { amount_cents: 900 } });
    expect(answer.status).toBe(status);
    expect(await refundsAtProvider(service, payment.id)).toHaveLength(made ? 1 : 0);
    expect(await read(service, payment.id, user.options)).toMatchObject({
      refunded_cents: 0,
      refundable_cents: status === 503 ? 2_500 : 1_600,
    });
    await service.advance(MINUTE_SECONDS);
    // Square completes a refund a while after accepting it.
    await service.advance(HOUR_SECONDS);
    const list = (await service.get(`/payments/${payment.id}/refunds`, user.options)).body;
    expect(list.map((one: { status: string }) => one.status)).toEqual(status === 503 ? [] : ['succeeded']);
    expect(await refundsAtProvider(service, payment.id)).toHaveLength(status === 503 ? 0 : 1);
    await expectAgreement(service, payment.id, admin);
  });

  test('leaves no trace if it was not executed, and a retry under the same key starts again', async () => {
    const { admin, payment } = await setUp(provider);
    await strike('rate_limit', 2);
    const options = { ...admin.options, headers: { 'idempotency-key': `again-${payment.id}` } };
    expect(await refund(service, payment.id, options)).toMatchObject({
      status: 503,
      body: { code: 'PROVIDER_UNAVAILABLE' },
    });
    await service.clearFaults();
    expect(await refund(service, payment.id, options)).toMatchObject({ status: 201, body: { amount_cents: 2_500 } });
    expect(await refundsAtProvider(service, payment.id)).toHaveLength(1);
  });

  test('is never made after an error response, even if many requests are refused concurrently', async () => {
    const { admin, payment } = await setUp(provider);
    await strike('rate_limit', 500);
    const answers = await Promise.all(
      Array.from({ length: 40 }, () => refund(service, payment.id, { ...admin.options, body: { amount_cents: 50 } })),
    );
    await service.clearFaults();
    const accepted = answers.filter(({ status }) => status === 202);
    expect(answers.filter(({ status }) => ![202, 409, 503].includes(status))).toEqual([]);
    await service.advance(HOUR_SECONDS);
    const made = (await refundsAtProvider(service, payment.id)).length;
    expect(made).toBe(accepted.length);
    await expectAgreement(service, payment.id, admin);
  });

  test('fails after half an hour if it never reaches the provider, and its amount can be refunded again', async () => {
    const { user, admin, payment } = await setUp(provider);
    await strike('timeout_before', 20);
    expect(await refund(service, payment.id, admin.options)).toMatchObject({
      status: 202,
      body: { status: 'pending' },
    });
    expect(await refund(service, payment.id, admin.options)).toMatchObject({
      status: 400,
      body: { code: 'REFUND_EXCEEDS_PAYMENT', details: { refundable_cents: 0 } },
    });
    await service.advance(3 * HOUR_SECONDS);
    const [failed] = (await service.get(`/payments/${payment.id}/refunds`, user.options)).body;
    expect(failed).toMatchObject({ status: 'failed', failure_code: 'not_received', provider_refund_id: null });
    expect(await read(service, payment.id, user.options)).toMatchObject({ refundable_cents: 2_500 });
    await service.clearFaults();
    expect(await refund(service, payment.id, admin.options)).toMatchObject({ status: 201 });
    expect(await refundsAtProvider(service, payment.id)).toHaveLength(1);
  });

  test('is looked up while the provider cannot be read, and never resent before a read', async () => {
    const { user, admin, payment } = await setUp(provider);
    await strike('timeout_after', 1);
    await refund(service, payment.id, { ...admin.options, body: { amount_cents: 400 } });
    await service.fault({ provider: provider[0], method: 'GET', action: 'error_500', probability: 1 });
    await service.control('DELETE', '/simulator/requests');
    await service.advance(2 * HOUR_SECONDS);
    const sent = await service.control('GET', '/simulator/requests');
    expect(
      sent.filter(({ method, path }: { method: string; path: string }) => method === 'POST' && /refund/.test(path)),
    ).toEqual([]);
    await service.clearFaults();
    await service.advance(DAY_SECONDS);
    const [found] = (await service.get(`/payments/${payment.id}/refunds`, user.options)).body;
    expect(found).toMatchObject({ status: 'succeeded' });
    await expectAgreement(service, payment.id, admin);
  });
});

describe('a refund whose event arrives before its response and without our refund id', () => {
  test('counts once when the response arrives', async () => {
    const [, paypal] = PAYING_METHODS;
    const { user, admin, payment } = await setUp(paypal ?? PAYING_METHODS[0]);
    await service.fault({ provider: 'provider_b', method: 'POST', path: '/refund', action: 'timeout_after', times: 1 });
    const made = await refund(service, payment.id, { ...admin.options, body: { amount_cents: 500 } });
    expect(made.status).toBe(202);
    await service.webhookMode('normal');
    const [held] = await refundsAtProvider(service, payment.id);
    const capture = `https://api.paypal.com/v2/payments/captures/${payment.provider_payment_id}`;
    await service.sendEvent({
      provider: 'provider_b',
      type: 'PAYMENT.CAPTURE.REFUNDED',
      vocabulary: 'native',
      object: {
        ...{ id: held.id, status: 'COMPLETED', amount: { currency_code: 'USD', value: '5.00' } },
        create_time: new Date(service.now()).toISOString(),
        links: [{ rel: 'up', href: capture, method: 'GET' }],
      },
    });
    await service.settle();
    await service.advance(HOUR_SECONDS);
    expect(await service.get(`/refunds/${made.body.id}`, user.options)).toMatchObject({
      body: { status: 'succeeded' },
    });
    const list = (await service.get(`/payments/${payment.id}/refunds`, user.options)).body;
    const others = list.filter(({ id }: { id: string }) => id !== made.body.id);
    expect(others).toMatchObject([
      { source: 'provider', status: 'canceled', failure_code: 'duplicate_record', provider_refund_id: null },
    ]);
    await expectAgreement(service, payment.id, admin);
    expect(await read(service, payment.id, user.options)).toMatchObject({ refunded_cents: 500 });
    await service.post(`/payments/sync/${payment.provider_payment_id}`, {}, admin.options);
    expect(await read(service, payment.id, user.options)).toMatchObject({ refunded_cents: 500 });
  });
});
