/** @module The expiry of an unconfirmed intent, and of every client secret. */

import { describe, expect, onTestFinished, test } from 'vitest';
import { DAY_MS } from '../../shared/core/time.ts';
import { guestIntentBody, paidIntentBody, THREE_D_SECURE, VISA } from '../builders/intent.ts';
import { DAY_SECONDS, HOUR_SECONDS, MINUTE_SECONDS } from '../builders/seconds.ts';
import {
  atProvider,
  confirm,
  confirmInBrowser,
  createIntent,
  createPaidIntent,
  eventsOf,
  PATIENT,
  read,
  signIn,
  storedPayment,
  timesCharged,
  type User,
} from './flow.ts';
import { type RequestOptions, withHost } from './host.ts';
import type { PaymentBody } from './routes.ts';

const service = withHost({ frozen: true, env: PATIENT });

const LONG = { expires_in: 300 * DAY_SECONDS };

const moveTo = (at: number) => service.moveTo(new Date(at).toISOString());
const createdAt = (payment: PaymentBody): number => Date.parse(payment.created_at);

/** The client secrets from every route that shows a secret to callers who may confirm. */
const secretsSeen = async (payment: PaymentBody, user: User, body: unknown): Promise<unknown[]> => {
  const replayed = await service.post('/payments/intents', body, { ...user.options, idempotencyKey: payment.concept });
  expect(replayed.body.id).toBe(payment.id);
  return [(await read(service, payment.id, user.options)).client_secret, replayed.body.client_secret];
};

describe('an unconfirmed intent', () => {
  test('is canceled after 24 hours, here and at the provider', async () => {
    const user = await signIn(service, LONG);
    const payments = await Promise.all([createIntent(service, user), createPaidIntent(service, user)]);
    await moveTo(createdAt(payments[1]) + DAY_MS - 1);
    const statuses = async () =>
      Promise.all(payments.map(async ({ id }) => (await read(service, id, user.options)).status));
    expect(await statuses()).toEqual(['requires_payment_method', 'created']);
    await service.advance(2 * MINUTE_SECONDS);
    expect(await statuses()).toEqual(['canceled', 'canceled']);
    for (const { id } of payments) {
      expect((await atProvider(service, id)).intents).toMatchObject([{ status: 'canceled' }]);
      expect(await eventsOf(service, id)).toEqual(['payment.created']);
      expect(await confirm(service, id, { ...user.options, body: { payment_method_id: VISA } })).toMatchObject({
        status: 409,
        body: { code: 'INVALID_STATE' },
      });
      expect(await storedPayment(service, id)).not.toHaveProperty('due');
    }
  });

  test('is found paid if the payer paid in the browser just before the expiry', async () => {
    const user = await signIn(service, LONG);
    const payment = await createIntent(service, user);
    await moveTo(createdAt(payment) + DAY_MS - 1_000);
    await service.webhookMode('drop');
    onTestFinished(async () => void (await service.webhookMode('normal')));
    expect(await confirmInBrowser(service, payment, VISA)).toMatchObject({ status: 200 });
    await service.advance(10 * MINUTE_SECONDS);
    expect(await read(service, payment.id, user.options)).toMatchObject({ status: 'succeeded' });
    expect(await timesCharged(service, payment.id)).toBe(1);
    expect(await eventsOf(service, payment.id)).toEqual(['payment.created', 'payment.succeeded']);
  });

  test('is canceled once its provider is available again after the expiry', async () => {
    const user = await signIn(service, LONG);
    const payment = await createIntent(service, user);
    await moveTo(createdAt(payment) + DAY_MS - 1_000);
    await service.fault({ path: payment.provider_payment_id, action: 'reset' });
    await service.advance(60 * MINUTE_SECONDS);
    expect(await read(service, payment.id, user.options)).toMatchObject({ status: 'requires_payment_method' });
    await service.clearFaults();
    await service.advance(20 * MINUTE_SECONDS);
    expect(await read(service, payment.id, user.options)).toMatchObject({ status: 'canceled' });
  });

  test.each([1, 20])('waits another day for the payer if confirmed after %s h', async (hours) => {
    const user = await signIn(service, LONG);
    const payment = await createIntent(service, user, { payment_method_id: THREE_D_SECURE });
    await service.advance(hours * HOUR_SECONDS);
    expect(await confirm(service, payment.id, user.options)).toMatchObject({ body: { status: 'pending' } });
    await service.advance(DAY_SECONDS - MINUTE_SECONDS);
    expect(await read(service, payment.id, user.options)).toMatchObject({ status: 'pending' });
    await service.advance(2 * DAY_SECONDS);
    expect(await read(service, payment.id, user.options)).toMatchObject({ status: 'canceled' });
    expect((await atProvider(service, payment.id)).intents).toMatchObject([{ status: 'canceled' }]);
  });

  test('leaves a settled payment unchanged for a year', async () => {
    const user = await signIn(service, LONG);
    const payment = await createPaidIntent(service, user);
    await confirm(service, payment.id, user.options);
    // The provider's fee is read after a minute.
    await service.advance(2 * MINUTE_SECONDS);
    const { client_secret: _secret, ...before } = await read(service, payment.id, user.options);
    await service.advance(200 * DAY_SECONDS);
    expect(await read(service, payment.id, user.options)).toEqual(before);
  });
});

describe('a client secret', () => {
  test('is hidden from every reader after exactly 24 hours', async () => {
    const user = await signIn(service, LONG);
    const body = paidIntentBody({ concept: 'key-of-secret' });
    const { body: payment } = await service.post('/payments/intents', body, {
      ...user.options,
      idempotencyKey: 'key-of-secret',
    });
    await confirm(service, payment.id, user.options);
    const secret = payment.client_secret;
    expect(await secretsSeen(payment, user, body)).toEqual([secret, secret]);
    await moveTo(createdAt(payment) + DAY_MS - 1);
    expect(await secretsSeen(payment, user, body)).toEqual([secret, secret]);
    await moveTo(createdAt(payment) + DAY_MS);
    const after = await read(service, payment.id, user.options);
    expect(after).toMatchObject({ status: 'succeeded' });
    expect(after).not.toHaveProperty('client_secret');
  });

  test('is also hidden from a guest', async () => {
    const { body: payment } = await service.post('/payments/intents', guestIntentBody());
    const options: RequestOptions = { guestToken: payment.guest_token };
    await moveTo(createdAt(payment) + DAY_MS - 1);
    expect(await read(service, payment.id, options)).toHaveProperty('client_secret', payment.client_secret);
    await moveTo(createdAt(payment) + DAY_MS);
    expect(await read(service, payment.id, options)).not.toHaveProperty('client_secret');
  });

  test.each([
    ['succeeded', VISA],
    ['pending', THREE_D_SECURE],
    ['failed', 'pm_card_visa_chargeDeclined'],
    ['canceled', undefined],
  ])('is removed from the table by due work for a payment in the status %s', async (status, method) => {
    const user = await signIn(service, LONG);
    const payment = await createIntent(service, user);
    if (method) await confirm(service, payment.id, { ...user.options, body: { payment_method_id: method } });
    else await service.post(`/payments/intents/${payment.id}/cancel`, {}, user.options);
    await moveTo(createdAt(payment) + DAY_MS - 1);
    expect(await storedPayment(service, payment.id)).toMatchObject({ status, clientSecret: payment.client_secret });
    const { version } = await storedPayment(service, payment.id);
    await service.advance(2 * MINUTE_SECONDS);
    const stored = await storedPayment(service, payment.id);
    expect(stored).not.toHaveProperty('clientSecret');
    // The expiry changes nothing else that callers see, unless it ends the payment.
    if (status !== 'pending') expect(stored).toMatchObject({ status, version });
    expect(JSON.stringify(await storedPayment(service, payment.id))).not.toContain(payment.client_secret);
  });

  test('is not restored by an update after 24 hours', async () => {
    const user = await signIn(service, LONG);
    const payment = await createPaidIntent(service, user);
    await service.fault({ path: payment.provider_payment_id, action: 'reset' });
    onTestFinished(async () => void (await service.clearFaults()));
    await moveTo(createdAt(payment) + DAY_MS + 60_000);
    const answer = await service.put(`/payments/intents/${payment.id}`, { concept: 'Late' }, user.options);
    expect(answer).toMatchObject({ status: 200, body: { concept: 'Late' } });
    expect(answer.body).not.toHaveProperty('client_secret');
    expect(await storedPayment(service, payment.id)).not.toHaveProperty('clientSecret');
  });

  test('is in no list, and in no response to confirm, sync or cancel', async () => {
    const user = await signIn(service);
    const payment = await createPaidIntent(service, user);
    const other = await createPaidIntent(service, user);
    const answers = [
      await confirm(service, payment.id, user.options),
      await service.post(`/payments/sync/${payment.provider_payment_id}`, {}, user.options),
      await service.post(`/payments/intents/${other.id}/cancel`, {}, user.options),
      await service.get('/payments', user.options),
    ];
    for (const answer of answers) {
      expect(answer.status).toBe(200);
      expect(JSON.stringify(answer.body)).not.toContain('_secret_');
    }
  });
});
