/**
 * @module Updates with a lost response. An update applied by the provider stays, and only the recorded amount is
 * charged.
 */

import { afterEach, describe, expect, test } from 'vitest';
import { DECLINED, intentBody, paidIntentBody, THREE_D_SECURE, VISA } from '../builders/intent.ts';
import { DAY_SECONDS, HOUR_SECONDS, MINUTE_SECONDS } from '../builders/seconds.ts';
import {
  atProvider,
  confirm,
  confirmInBrowser,
  createIntent,
  eventsOf,
  IMPATIENT,
  read,
  signIn,
  storedPayment,
  type User,
} from './flow.ts';
import { withHost } from './host.ts';

const service = withHost({ frozen: true, env: IMPATIENT });
afterEach(async () => {
  await service.clearFaults();
  await service.webhookMode('normal');
});

/** The provider, its test method, and its call that changes an amount. */
const PROVIDERS = [
  { slot: 'provider_a', method: VISA, call: { method: 'POST', path: '/v1/payment_intents/' } },
  { slot: 'provider_b', method: 'SIM-OK', call: { method: 'PATCH', path: '/v2/checkout/orders/' } },
  { slot: 'provider_c', method: 'cnon:card-nonce-ok', call: { method: 'PUT', path: '/v2/orders/' } },
] as const;
/** The injected faults, and whether the provider applied the update. */
const LOST = [
  ['timeout_after', true],
  ['reset', false],
  ['error_500', false],
] as const;
const CASES = PROVIDERS.flatMap((provider) => LOST.map(([action, taken]) => ({ ...provider, action, taken })));

const update = (id: string, user: User, total: number) =>
  service.put(`/payments/intents/${id}`, { total_cents: total }, user.options);
const cancel = (id: string, user: User) => service.post(`/payments/intents/${id}/cancel`, {}, user.options);

/** A payment of 2,500 with an unanswered update to 5,000. */
const withLostUpdate = async ({ slot, method, call, action }: (typeof CASES)[number], user: User) => {
  await service.webhookMode('drop');
  const payment = await createIntent(service, user, paidIntentBody({ provider_id: slot, payment_method_id: method }));
  await service.fault({ provider: slot, ...call, action, times: 1 });
  const lost = await update(payment.id, user, 5_000);
  expect(lost.status).toBeGreaterThanOrEqual(502);
  expect(await read(service, payment.id, user.options)).toMatchObject({ total_cents: 2_500 });
  return payment;
};

const expectCharged = async (id: string, user: User, amount: number): Promise<void> => {
  expect(await read(service, id, user.options)).toMatchObject({ status: 'succeeded', total_cents: amount });
  expect((await atProvider(service, id)).charges).toMatchObject([{ amount, status: 'succeeded' }]);
};

describe.each(CASES)('an update at $slot with a lost response ($action)', (lost) => {
  test('is completed by the same request, which gets the same response', async () => {
    const user = await signIn(service);
    const { id } = await withLostUpdate(lost, user);
    expect(await update(id, user, 5_000)).toMatchObject({ status: 200, body: { total_cents: 5_000 } });
    expect(await confirm(service, id, user.options)).toMatchObject({ status: 200 });
    await expectCharged(id, user, 5_000);
  });

  test('is completed before another update, and before a confirm of the recorded amount', async () => {
    const user = await signIn(service);
    const [first, second] = [await withLostUpdate(lost, user), await withLostUpdate(lost, user)];
    expect(await update(first.id, user, 7_000)).toMatchObject({ status: 200, body: { total_cents: 7_000 } });
    expect(await confirm(service, first.id, user.options)).toMatchObject({ status: 200 });
    await expectCharged(first.id, user, 7_000);
    expect(await confirm(service, second.id, user.options)).toMatchObject({ status: 200 });
    await expectCharged(second.id, user, 5_000);
  });

  test('is looked up and discarded by a cancel', async () => {
    const user = await signIn(service);
    const { id } = await withLostUpdate(lost, user);
    expect(await cancel(id, user)).toMatchObject({ status: 200, body: { status: 'canceled' } });
    const amount = lost.taken ? 5_000 : 2_500;
    expect(await read(service, id, user.options)).toMatchObject({ status: 'canceled', total_cents: amount });
    await service.advance(HOUR_SECONDS);
    expect(await read(service, id, user.options)).toMatchObject({ status: 'canceled', total_cents: amount });
    expect((await atProvider(service, id)).intents).toMatchObject([{ amount }]);
  });
});

test('every caller gets a retry delay while the provider is unreachable', async () => {
  const user = await signIn(service);
  const [lost] = CASES;
  if (!lost) throw new Error('no case');
  const { id } = await withLostUpdate(lost, user);
  await service.fault({ provider: 'provider_a', action: 'rate_limit' });
  for (const again of [
    () => update(id, user, 5_000),
    () => update(id, user, 1),
    () => confirm(service, id, user.options),
    () => cancel(id, user),
  ]) {
    const answer = await again();
    expect([answer.status, answer.body.code]).toEqual([409, 'PAYMENT_IN_PROGRESS']);
    expect(Number(answer.headers.get('retry-after'))).toBeGreaterThan(0);
    await service.settle();
  }
  await service.clearFaults();
  expect(await confirm(service, id, user.options)).toMatchObject({ status: 200 });
  await expectCharged(id, user, 5_000);
});

test.each(PROVIDERS)(
  'a payment of $slot expires after a day despite an unexecuted update and a failed lookup',
  async ({ slot, method }) => {
    const user = await signIn(service, { expires_in: 9 * DAY_SECONDS });
    const payment = await createIntent(service, user, paidIntentBody({ provider_id: slot, payment_method_id: method }));
    await service.fault({ provider: slot, action: 'rate_limit' });
    expect((await update(payment.id, user, 5_000)).status).toBe(503);
    await service.advance(DAY_SECONDS);
    await service.clearProviderRequests();
    await service.advance(HOUR_SECONDS);
    // An unavailable provider gets fewer than two requests per minute.
    expect((await service.providerRequests()).length).toBeLessThan(2 * 60);
    await service.clearFaults();
    await service.advance(2 * DAY_SECONDS);
    expect(await read(service, payment.id, user.options)).toMatchObject({ status: 'canceled', total_cents: 2_500 });
    expect(await storedPayment(service, payment.id)).not.toHaveProperty('due');
  },
);

const PAYPAL = { provider_id: 'provider_b', total_cents: 1_000, return_url: 'https://shop.example/back' };

/** An order of 1,000 that awaits approval. Its update to 5,000 was applied without a response, or never arrived. */
const lostAtPayPal = async (user: User, action: string) => {
  const payment = await createIntent(service, user, intentBody(PAYPAL));
  await service.fault({ provider: 'provider_b', method: 'PATCH', action, times: 1 });
  expect((await update(payment.id, user, 5_000)).status).toBeGreaterThanOrEqual(502);
  expect(await read(service, payment.id, user.options)).toMatchObject({ total_cents: 1_000 });
  return payment;
};

describe.each([
  ['timeout_after', 5_000],
  ['reset', 1_000],
] as const)('an order approved after a lost update (%s)', (action, approved) => {
  test('is captured for the approved amount, and the record shows that amount', async () => {
    const user = await signIn(service);
    const { id } = await lostAtPayPal(user, action);
    await service.authenticate(id);
    await service.settle();
    await service.advance(5 * MINUTE_SECONDS);
    await expectCharged(id, user, approved);
    expect(await eventsOf(service, id)).toEqual(['payment.created', 'payment.succeeded']);
  });

  test('is captured for the approved amount without an approval webhook', async () => {
    await service.webhookMode('drop');
    const user = await signIn(service);
    const [looked, confirmed, synced] = [
      await lostAtPayPal(user, action),
      await lostAtPayPal(user, action),
      await lostAtPayPal(user, action),
    ];
    for (const { id } of [looked, confirmed, synced]) await service.authenticate(id);
    expect(await confirm(service, confirmed.id, user.options)).toMatchObject({ status: 200 });
    await expectCharged(confirmed.id, user, approved);
    await service.post(`/payments/sync/${synced.provider_payment_id}`, {}, user.options);
    expect(await read(service, synced.id, user.options)).toMatchObject({ status: 'pending', total_cents: approved });
    await service.advance(10 * MINUTE_SECONDS);
    for (const { id } of [looked, synced]) await expectCharged(id, user, approved);
  });
});

test('a PayPal order with another amount than the record is not captured, with or without an event', async () => {
  const user = await signIn(service);
  const [reported, unreported] = [await overtakenByALateUpdate(user), await overtakenByALateUpdate(user)];
  await service.authenticate(reported);
  await service.settle();
  await service.webhookMode('drop');
  await service.authenticate(unreported);
  await service.advance(2 * HOUR_SECONDS);
  for (const id of [reported, unreported]) {
    expect(await read(service, id, user.options)).toMatchObject({ status: 'pending', total_cents: 7_000 });
    expect(await atProvider(service, id)).toMatchObject({ charges: [], intents: [{ amount: 5_000 }] });
  }
});

/**
 * A payment with a lost update to 5,000 and a later update to 7,000. While the payer's approval is pending, the first
 * update still reaches PayPal.
 */
const overtakenByALateUpdate = async (user: User): Promise<string> => {
  const { id, provider_intent_id: order } = await lostAtPayPal(user, 'reset');
  expect(await update(id, user, 7_000)).toMatchObject({ status: 200, body: { total_cents: 7_000 } });
  expect(await confirm(service, id, user.options)).toMatchObject({ status: 200, body: { status: 'pending' } });
  await patchAtPayPal(order, '50.00');
  return id;
};

const patchAtPayPal = async (order: string, value: string): Promise<void> => {
  const { env } = service.host();
  const at = '/_local/providers/paypal';
  const client = `${env['PROVIDER_B_CLIENT_ID']}:${env['PROVIDER_B_CLIENT_SECRET']}`;
  const granted = await service.request('POST', `${at}/v1/oauth2/token`, {
    headers: {
      authorization: `Basic ${Buffer.from(client).toString('base64')}`,
      'content-type': 'application/x-www-form-urlencoded',
    },
    body: 'grant_type=client_credentials',
  });
  const path = `/purchase_units/@reference_id=='default'/amount`;
  const { status, body } = await service.request('PATCH', `${at}/v2/checkout/orders/${order}`, {
    bearer: granted.body.access_token,
    body: [{ op: 'replace', path, value: { currency_code: 'USD', value } }],
  });
  expect({ status, body }).toMatchObject({ status: 204 });
};

/** The payer's action in the browser, and the status after the provider's event. */
const IN_BROWSER = [
  ['pays', VISA, 'succeeded'],
  ['is declined', DECLINED, 'failed'],
  ['has to authenticate', THREE_D_SECURE, 'pending'],
] as const;

describe.each([
  ['timeout_after', 5_000],
  ['reset', 2_500],
] as const)('a payment confirmed in the browser after a lost update (%s)', (action, amount) => {
  test.each(IN_BROWSER)('shows the provider’s amount if the payer %s', async (_, method, status) => {
    const user = await signIn(service);
    const payment = await createIntent(service, user);
    await service.fault({ provider: 'provider_a', path: payment.provider_payment_id, action, times: 1 });
    expect((await update(payment.id, user, 5_000)).status).toBeGreaterThanOrEqual(502);
    await confirmInBrowser(service, payment, method);
    // No due work runs, so only the event can change the payment.
    await service.settle();
    expect(await read(service, payment.id, user.options)).toMatchObject({ status, total_cents: amount });
    expect((await atProvider(service, payment.id)).intents).toMatchObject([{ amount }]);
    await service.advance(HOUR_SECONDS);
    const { total_cents: total } = await read(service, payment.id, user.options);
    expect((await atProvider(service, payment.id)).intents).toMatchObject([{ amount: total }]);
  });
});

describe('a payment that changed at the provider in the meantime', () => {
  test('is found paid by an update, a confirm and a cancel, which return the new status', async () => {
    await service.webhookMode('drop');
    const user = await signIn(service);
    const paid = async () => {
      const payment = await createIntent(service, user);
      await confirmInBrowser(service, payment, VISA);
      return payment;
    };
    const [updated, confirmed, canceled] = [await paid(), await paid(), await paid()];
    expect(await update(updated.id, user, 5_000)).toMatchObject({
      status: 409,
      body: { code: 'INVALID_STATE' },
    });
    const again = await confirm(service, confirmed.id, { ...user.options, body: { payment_method_id: VISA } });
    expect(again).toMatchObject({ status: 200, body: { status: 'succeeded' } });
    expect(await cancel(canceled.id, user)).toMatchObject({ status: 409, body: { code: 'INVALID_STATE' } });
    for (const { id } of [updated, confirmed, canceled]) await expectCharged(id, user, 2_500);
  });

  test('is paid for the previous amount if the lost update never arrived', async () => {
    await service.webhookMode('drop');
    const user = await signIn(service);
    const payment = await createIntent(service, user);
    await service.fault({ provider: 'provider_a', path: payment.provider_payment_id, action: 'reset', times: 1 });
    expect((await update(payment.id, user, 5_000)).status).toBe(503);
    await confirmInBrowser(service, payment, VISA);
    expect(await confirm(service, payment.id, user.options)).toMatchObject({ body: { status: 'succeeded' } });
    await expectCharged(payment.id, user, 2_500);
  });

  test('is reported as canceled if the provider canceled it', async () => {
    await service.webhookMode('drop');
    const user = await signIn(service);
    const payment = await createIntent(service, user, { payment_method_id: VISA });
    await service.request('POST', `/_local/providers/stripe/v1/payment_intents/${payment.provider_payment_id}/cancel`, {
      headers: { authorization: 'Bearer sk_test_local_provider_a' },
    });
    expect(await confirm(service, payment.id, user.options)).toMatchObject({
      status: 409,
      body: { code: 'INVALID_STATE' },
    });
    expect(await read(service, payment.id, user.options)).toMatchObject({ status: 'canceled' });
  });
});
