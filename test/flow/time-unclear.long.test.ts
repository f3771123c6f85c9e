/** @module The provider's behavior in a call with an unknown outcome, and how the service finds the outcome. */

import { describe, expect, onTestFinished, test } from 'vitest';
import { DECLINED, intentBody, paidIntentBody, THREE_D_SECURE, VISA } from '../builders/intent.ts';
import { intentEvent } from '../builders/provider-event.ts';
import { DAY_SECONDS, HOUR_SECONDS, MINUTE_SECONDS } from '../builders/seconds.ts';
import {
  atProvider,
  confirm,
  confirmInBrowser,
  createIntent,
  createPaidIntent,
  eventsOf,
  IMPATIENT,
  read,
  signIn,
  storedPayment,
  timesCharged,
  type User,
} from './flow.ts';
import { withHost } from './host.ts';
import type { PaymentBody } from './routes.ts';

const service = withHost({ frozen: true, env: IMPATIENT });

const WEEK_SECONDS = 7 * DAY_SECONDS;

/** Drops all webhooks until the end of the test. */
const withoutWebhooks = async (): Promise<void> => {
  await service.webhookMode('drop');
  onTestFinished(async () => {
    await service.clearFaults();
    await service.webhookMode('normal');
  });
};

/** Injects a fault into calls about this payment with this end of the path. */
const strike = (payment: PaymentBody, path: string, fault: { readonly action: string; readonly times?: number }) =>
  service.fault({ provider: 'provider_a', path: `${payment.provider_payment_id}${path}`, ...fault });

const confirmUnclear = async (payment: PaymentBody, user: User) => {
  const answer = await confirm(service, payment.id, user.options);
  expect(answer).toMatchObject({ status: 202, body: { id: payment.id, status: 'processing', completed_at: null } });
};

const callsAbout = async ({ provider_payment_id: id }: { readonly provider_payment_id: string }) =>
  (await service.providerRequests()).filter(({ path }) => path.includes(id));

const syncOf = (payment: PaymentBody, user: User) =>
  service.post(`/payments/sync/${payment.provider_payment_id}`, {}, user.options);

describe('a confirm with an unknown outcome', () => {
  test('is settled by the webhook before the first reconciliation', async () => {
    const user = await signIn(service);
    const payment = await createPaidIntent(service, user);
    await strike(payment, '/confirm', { action: 'timeout_after', times: 1 });
    await confirmUnclear(payment, user);
    await service.settle();
    expect(await read(service, payment.id, user.options)).toMatchObject({ status: 'succeeded' });
    expect(await timesCharged(service, payment.id)).toBe(1);
  });

  test('is settled if the user syncs the payment', async () => {
    await withoutWebhooks();
    const user = await signIn(service);
    const payment = await createPaidIntent(service, user);
    await strike(payment, '/confirm', { action: 'malformed', times: 1 });
    await confirmUnclear(payment, user);
    const synced = await service.post(`/payments/sync/${payment.provider_payment_id}`, {}, user.options);
    expect(synced).toMatchObject({ status: 200, body: { status: 'succeeded', completed_at: expect.any(String) } });
  });

  test.each([
    ['pm_sim_timeout_before', 'tok_sim_timeout_before'],
    ['pm_sim_timeout_after', 'tok_sim_timeout_after'],
  ])('is charged once with the test methods %s and %s', async (...methods) => {
    await withoutWebhooks();
    const user = await signIn(service);
    const payments = await Promise.all(
      methods.map((method) => createIntent(service, user, { payment_method_id: method })),
    );
    await Promise.all(payments.map((payment) => confirmUnclear(payment, user)));
    await service.advance(2 * MINUTE_SECONDS);
    for (const { id } of payments) {
      expect(await read(service, id, user.options)).toMatchObject({ status: 'succeeded' });
      expect(await timesCharged(service, id)).toBe(1);
    }
  });

  test('ends as failed with a declined card', async () => {
    await withoutWebhooks();
    const user = await signIn(service);
    const fields = { payment_method_id: 'pm_card_visa_chargeDeclinedInsufficientFunds' };
    const payments = await Promise.all([createIntent(service, user, fields), createIntent(service, user, fields)]);
    await strike(payments[0], '/confirm', { action: 'reset', times: 1 });
    await strike(payments[1], '/confirm', { action: 'malformed', times: 1 });
    await Promise.all(payments.map((payment) => confirmUnclear(payment, user)));
    await service.advance(2 * MINUTE_SECONDS);
    for (const { id } of payments) {
      expect(await read(service, id, user.options)).toMatchObject({
        status: 'failed',
        failure_code: 'insufficient_funds',
      });
      expect(await eventsOf(service, id)).toEqual(['payment.created', 'payment.failed']);
      expect((await atProvider(service, id)).charges).toMatchObject([{ status: 'failed' }]);
    }
  });

  test.each([
    ['a decline', DECLINED],
    ['a refused 3-D Secure', THREE_D_SECURE],
  ])('is not mistaken for the previous attempt after %s', async (_what, method) => {
    await withoutWebhooks();
    const user = await signIn(service);
    const payment = await createIntent(service, user, { payment_method_id: method });
    await confirm(service, payment.id, user.options);
    if (method === THREE_D_SECURE) {
      await service.authenticate(payment.id, 'failure');
      expect(await syncOf(payment, user)).toMatchObject({ body: { status: 'failed' } });
    }
    await service.advance(5);
    await strike(payment, '/confirm', { action: 'reset', times: 1 });
    const again = await confirm(service, payment.id, { ...user.options, body: { payment_method_id: VISA } });
    expect(again).toMatchObject({ status: 202 });
    expect(await syncOf(payment, user)).toMatchObject({ body: { status: 'processing' } });
    await service.advance(2 * MINUTE_SECONDS);
    expect(await read(service, payment.id, user.options)).toMatchObject({ status: 'succeeded' });
    expect(await timesCharged(service, payment.id)).toBe(1);
    expect(await eventsOf(service, payment.id)).toEqual(['payment.created', 'payment.failed', 'payment.succeeded']);
  });

  test('is looked up once, even if its due work is delivered several times', async () => {
    await withoutWebhooks();
    const user = await signIn(service);
    const payment = await createPaidIntent(service, user);
    await strike(payment, '/confirm', { action: 'malformed', times: 1 });
    await confirmUnclear(payment, user);
    await service.sendEvent(intentEvent(payment, 'payment_intent.requires_action'));
    await service.settle();
    await service.clearProviderRequests();
    const { pk, sk, due_at } = await storedPayment(service, payment.id);
    expect(Date.parse(due_at)).toBeLessThanOrEqual(service.now());
    const hand = (dueAt: string) => {
      const record = {
        messageId: 'm',
        receiptHandle: 'r',
        body: JSON.stringify({ pk, sk, due_at: dueAt }),
        attributes: { ApproximateReceiveCount: '1' },
      };
      return service.host().invoke('workers.run-due', { Records: [record] });
    };
    expect(await hand('2020-01-01T00:00:00.000Z')).toEqual({ batchItemFailures: [] });
    expect(await service.providerRequests()).toEqual([]);
    await Promise.all(Array.from({ length: 8 }, () => hand(due_at)));
    expect(await service.providerRequests()).toMatchObject([{ method: 'GET' }]);
    expect(await read(service, payment.id, user.options)).toMatchObject({ status: 'succeeded' });
  });

  test('is resent under its own key within 30 minutes, and fails afterwards', async () => {
    await withoutWebhooks();
    const user = await signIn(service, { expires_in: WEEK_SECONDS });
    const payment = await createPaidIntent(service, user);
    await strike(payment, '/confirm', { action: 'reset' });
    await service.clearProviderRequests();
    await confirmUnclear(payment, user);
    await service.advance(29 * MINUTE_SECONDS);
    expect(await read(service, payment.id, user.options)).toMatchObject({ status: 'processing' });
    await service.advance(3 * HOUR_SECONDS);
    expect(await read(service, payment.id, user.options)).toMatchObject({
      status: 'failed',
      failure_code: 'processing_error',
    });
    expect(await timesCharged(service, payment.id)).toBe(0);
    const calls = await callsAbout(payment);
    const sent = calls.filter(({ method }) => method === 'POST');
    expect(sent.length).toBeGreaterThanOrEqual(3);
    expect(new Set(sent.map((call) => call.idempotency_key)).size).toBe(1);
    // The service looks up the payment before each retry.
    // It reads the failed payment's facts after a minute and an hour.
    const order = calls.map(({ method }) => method).join(' ');
    expect(order).toMatch(/^POST( GET POST)+ GET( GET){2}$/);
    expect(await eventsOf(service, payment.id)).toEqual(['payment.created', 'payment.failed']);
  });

  test('is looked up after 1, 5 and 30 minutes and 2, 12 and 24 hours, and is never abandoned', async () => {
    await withoutWebhooks();
    const user = await signIn(service, { expires_in: WEEK_SECONDS });
    const payment = await createPaidIntent(service, user);
    await strike(payment, '/confirm', { action: 'malformed', times: 1 });
    await service.clearProviderRequests();
    const confirmedAt = service.now();
    await confirmUnclear(payment, user);
    await strike(payment, '', { action: 'reset' });
    await service.advance(25 * HOUR_SECONDS);
    const minutes = (await callsAbout(payment))
      .filter(({ method }) => method === 'GET')
      .map(({ at }) => Math.floor((Date.parse(at) - confirmedAt) / 60_000));
    expect(minutes).toEqual([1, 5, 30, 120, 720, 1_440]);
    expect(await read(service, payment.id, user.options)).toMatchObject({ status: 'processing' });
    await service.clearFaults();
    await service.advance(DAY_SECONDS);
    expect(await read(service, payment.id, user.options)).toMatchObject({ status: 'succeeded' });
    expect(await timesCharged(service, payment.id)).toBe(1);
  });

  test('is corrected by a sync if it failed in our record but was never executed at the provider', async () => {
    await withoutWebhooks();
    const user = await signIn(service, { expires_in: WEEK_SECONDS });
    const payment = await createPaidIntent(service, user);
    await strike(payment, '/confirm', { action: 'reset' });
    await confirmUnclear(payment, user);
    await service.advance(3 * HOUR_SECONDS);
    await service.clearFaults();
    const synced = await service.post(`/payments/sync/${payment.provider_payment_id}`, {}, user.options);
    expect(synced).toMatchObject({ status: 200, body: { status: 'created' } });
    expect((await storedPayment(service, payment.id)).anomaly).toContain('failed here, created at the provider');
    expect(await confirm(service, payment.id, user.options)).toMatchObject({ body: { status: 'succeeded' } });
    await service.settle();
    expect(await eventsOf(service, payment.id)).toEqual(['payment.created', 'payment.failed', 'payment.succeeded']);
  });
});

describe('a payment that settles later', () => {
  test.each([
    ['normal', 1],
    ['drop', 30],
  ] as const)('is processing first (webhooks %s)', async (mode, minutes) => {
    await withoutWebhooks();
    await service.webhookMode(mode);
    const user = await signIn(service);
    const [paid, failing] = await Promise.all([
      createIntent(service, user, { payment_method_id: 'pm_sim_processing_ok' }),
      createIntent(service, user, { payment_method_id: 'pm_sim_processing_fail' }),
    ]);
    for (const { id } of [paid, failing]) {
      const answer = await confirm(service, id, user.options);
      expect(answer).toMatchObject({ status: 200, body: { status: 'processing' } });
    }
    await service.advance(59);
    expect(await read(service, paid.id, user.options)).toMatchObject({ status: 'processing' });
    await service.advance(minutes * MINUTE_SECONDS);
    expect(await read(service, paid.id, user.options)).toMatchObject({ status: 'succeeded' });
    expect(await read(service, failing.id, user.options)).toMatchObject({ status: 'failed' });
    expect(await eventsOf(service, paid.id)).toEqual(['payment.created', 'payment.succeeded']);
    expect(await eventsOf(service, failing.id)).toEqual(['payment.created', 'payment.failed']);
    expect(await timesCharged(service, paid.id)).toBe(1);
    expect(await timesCharged(service, failing.id)).toBe(0);
  });

  test('waits for its customer, and is found paid without a webhook', async () => {
    await withoutWebhooks();
    const user = await signIn(service);
    const payment = await createIntent(service, user, { payment_method_id: THREE_D_SECURE });
    expect(await confirm(service, payment.id, user.options)).toMatchObject({ body: { status: 'pending' } });
    await service.authenticate(payment.id);
    await service.settle();
    expect(await read(service, payment.id, user.options)).toMatchObject({ status: 'pending' });
    await service.advance(6 * MINUTE_SECONDS);
    expect(await read(service, payment.id, user.options)).toMatchObject({ status: 'succeeded' });
    expect(await timesCharged(service, payment.id)).toBe(1);
  });
});

describe('a create with an unknown outcome', () => {
  test.each([
    ['timeout_before', 504, 'PROVIDER_TIMEOUT'],
    ['timeout_after', 504, 'PROVIDER_TIMEOUT'],
    ['reset', 503, 'PROVIDER_UNAVAILABLE'],
    ['error_500', 502, 'PROVIDER_ERROR'],
    ['malformed', 502, 'PROVIDER_ERROR'],
  ] as const)('caused by %s returns %i and the payment id, and finishes later', async (action, status, code) => {
    await withoutWebhooks();
    const user = await signIn(service);
    await service.fault({ provider: 'provider_a', path: '/v1/payment_intents', times: 1, action });
    const options = { ...user.options, idempotencyKey: 'basket' };
    const answer = await service.post('/payments/intents', paidIntentBody(), options);
    expect(answer).toMatchObject({ status, body: { code, details: { payment_id: expect.stringMatching(/^pay_/) } } });
    const id: string = answer.body.details.payment_id;
    expect(await service.get(`/payments/${id}`, user.options)).toMatchObject({ status: 404 });
    expect(await confirm(service, id, user.options)).toMatchObject({ status: 404 });
    expect((await service.get('/payments', user.options)).body).toMatchObject({ data: [], meta: { total: 0 } });
    expect((await service.get(`/payments?search=${id}`, user.options)).body).toMatchObject({ data: [] });
    const tooEarly = await service.post('/payments/intents', paidIntentBody(), options);
    expect(tooEarly).toMatchObject({ status: 409, body: { code: 'IDEMPOTENCY_IN_PROGRESS' } });
    await service.advance(2 * MINUTE_SECONDS);
    expect(await read(service, id, user.options)).toMatchObject({
      status: 'created',
      client_secret: expect.any(String),
    });
    expect((await service.get('/payments', user.options)).body).toMatchObject({ data: [{ id }], meta: { total: 1 } });
    expect((await service.post('/payments/intents', paidIntentBody(), options)).body.id).toBe(id);
    expect((await atProvider(service, id)).intents).toHaveLength(1);
    expect(await eventsOf(service, id)).toEqual(['payment.created']);
    expect(await confirm(service, id, user.options)).toMatchObject({ status: 200, body: { status: 'succeeded' } });
  });

  test('is retried until the provider is back, even after hours', async () => {
    await withoutWebhooks();
    const user = await signIn(service);
    await service.fault({ provider: 'provider_a', action: 'reset' });
    const answer = await service.post('/payments/intents', intentBody(), user.options);
    const id: string = answer.body.details.payment_id;
    await service.advance(3 * HOUR_SECONDS);
    expect(await service.get(`/payments/${id}`, user.options)).toMatchObject({ status: 404 });
    await service.clearFaults();
    await service.advance(10 * MINUTE_SECONDS);
    expect(await read(service, id, user.options)).toMatchObject({ status: 'requires_payment_method' });
    expect((await atProvider(service, id)).intents).toHaveLength(1);
  });
});

describe('a command with an unknown outcome', () => {
  test('returns 504 for an update, which applies later, and shows the former amount until then', async () => {
    await withoutWebhooks();
    const user = await signIn(service);
    const payments = await Promise.all([createPaidIntent(service, user), createPaidIntent(service, user)]);
    await strike(payments[0], '', { action: 'timeout_before', times: 1 });
    await strike(payments[1], '', { action: 'timeout_after', times: 1 });
    await Promise.all(
      payments.map(async ({ id }) => {
        const answer = await service.put(`/payments/intents/${id}`, { total_cents: 4_000 }, user.options);
        expect(answer).toMatchObject({ status: 504, body: { code: 'PROVIDER_TIMEOUT', details: { payment_id: id } } });
        expect(await read(service, id, user.options)).toMatchObject({ total_cents: 2_500 });
      }),
    );
    await service.advance(2 * MINUTE_SECONDS);
    for (const { id } of payments) {
      expect(await read(service, id, user.options)).toMatchObject({ total_cents: 4_000 });
      expect((await atProvider(service, id)).intents).toMatchObject([{ amount: 4_000 }]);
      expect(await confirm(service, id, user.options)).toMatchObject({ body: { status: 'succeeded' } });
      expect((await atProvider(service, id)).charges).toMatchObject([{ amount: 4_000, status: 'succeeded' }]);
    }
  });

  test('returns 504 for a cancel, and a retry completes it', async () => {
    await withoutWebhooks();
    const user = await signIn(service);
    const payments = await Promise.all([createPaidIntent(service, user), createPaidIntent(service, user)]);
    await strike(payments[0], '/cancel', { action: 'timeout_before', times: 1 });
    await strike(payments[1], '/cancel', { action: 'timeout_after', times: 1 });
    await Promise.all(
      payments.map(async ({ id }) => {
        const cancel = () => service.post(`/payments/intents/${id}/cancel`, {}, user.options);
        expect(await cancel()).toMatchObject({ status: 504, body: { code: 'PROVIDER_TIMEOUT' } });
        expect(await cancel()).toMatchObject({ status: 200, body: { status: 'canceled' } });
        expect((await atProvider(service, id)).intents).toMatchObject([{ status: 'canceled' }]);
      }),
    );
  });

  test('returns 504 for a sync, and changes nothing', async () => {
    await withoutWebhooks();
    const user = await signIn(service);
    const payment = await createPaidIntent(service, user);
    const before = await read(service, payment.id, user.options);
    await strike(payment, '', { action: 'timeout_before', times: 1 });
    const answer = await service.post(`/payments/sync/${payment.provider_payment_id}`, {}, user.options);
    expect(answer).toMatchObject({
      status: 504,
      body: { code: 'PROVIDER_TIMEOUT', details: { payment_id: payment.id } },
    });
    expect(await read(service, payment.id, user.options)).toEqual(before);
  });

  test('returns 409 for a cancel of a payment that was paid in the meantime', async () => {
    await withoutWebhooks();
    const user = await signIn(service);
    const payment = await createIntent(service, user);
    await confirmInBrowser(service, payment, VISA);
    const answer = await service.post(`/payments/intents/${payment.id}/cancel`, {}, user.options);
    expect(answer).toMatchObject({ status: 409, body: { code: 'INVALID_STATE' } });
    expect(await read(service, payment.id, user.options)).toMatchObject({ status: 'succeeded' });
  });
});
