/** @module `setup_future_usage: off_session` saves the method of a succeeded payment once for its payer. */

import { afterEach, describe, expect, test } from 'vitest';
import { DECLINED, intentBody, THREE_D_SECURE, VISA } from '../builders/intent.ts';
import { present } from '../builders/present.ts';
import { intentEvent } from '../builders/provider-event.ts';
import { DAY_SECONDS, HOUR_SECONDS, MINUTE_SECONDS } from '../builders/seconds.ts';
import {
  confirm,
  confirmInBrowser,
  createIntent,
  eventsOf,
  IMPATIENT,
  itemsOf,
  read,
  signIn,
  timesCharged,
  type User,
} from './flow.ts';
import { capture, HOLDING, heldPayment } from './holders.ts';
import { type RequestOptions, withHost } from './host.ts';
import { company, methodAtProvider, saveMethod } from './payers.ts';
import { signInAdmin } from './refunders.ts';

const service = withHost({ frozen: true, env: IMPATIENT });

afterEach(async () => {
  await service.clearFaults();
  await service.webhookMode('normal');
});

const SAVING = { setup_future_usage: 'off_session', payment_method_id: VISA };
const saving = (user: User, fields = {}) => createIntent(service, user, { ...SAVING, ...fields });
const methodsOf = async (options: RequestOptions, query = '') =>
  (await service.get(`/payment-methods${query}`, options)).body;

/** Expects exactly one saved method. The payment names this method and its customer. */
const expectSavedOnce = async (paymentId: string, options: RequestOptions, query = '') => {
  const methods = await methodsOf(options, query);
  expect(methods).toMatchObject([{ type: 'card', is_default: false, card_exp_month: expect.stringMatching(/^\d\d$/) }]);
  const [method] = methods;
  const payment = await read(service, paymentId, options);
  expect(payment).toMatchObject({
    status: 'succeeded',
    payment_method_id: present(method).id,
    customer_id: present(method).customer_id,
    setup_future_usage: 'off_session',
  });
  const there = await methodAtProvider(service, present(method).provider_payment_method_id);
  expect(there?.customer).toEqual(expect.stringMatching(/^cus_/));
  expect(await timesCharged(service, paymentId)).toBe(1);
  // Events are published after the response.
  await service.settle();
  expect(await eventsOf(service, paymentId)).toEqual(['payment.created', 'payment.succeeded']);
  return method;
};

describe('a payment with setup_future_usage', () => {
  test('has a customer, created if the user has none', async () => {
    const user = await signIn(service);
    const payment = await saving(user);
    const { body: customers } = await service.get('/customers', user.options);
    expect(customers).toMatchObject([{ id: payment.customer_id, user_id: user.userId, is_guest: false }]);
    const second = await saving(user);
    expect(second.customer_id).toBe(payment.customer_id);
    expect(await methodsOf(user.options)).toEqual([]);
  });

  test('saves its method on confirm, and the method can pay later', async () => {
    const user = await signIn(service);
    const payment = await saving(user);
    expect(await confirm(service, payment.id, user.options)).toMatchObject({ body: { status: 'succeeded' } });
    const method = await expectSavedOnce(payment.id, user.options);
    expect(method).toMatchObject({ card_brand: 'visa', card_last_four: '4242', is_guest_method: false });
    const shown = (await service.get(`/payments/${payment.id}?include=payment_method`, user.options)).body.data;
    expect(shown.payment_method).toMatchObject({ id: present(method).id, last_four: '4242' });
    const later = await createIntent(service, user, { payment_method_id: present(method).id });
    expect(later).toMatchObject({ status: 'created', customer_id: payment.customer_id });
    expect(await confirm(service, later.id, user.options)).toMatchObject({
      status: 200,
      body: { status: 'succeeded' },
    });
  });

  test.each(['tok_mastercard', 'pm_card_amex'])('saves %s if the confirm names it', async (token) => {
    const user = await signIn(service);
    const payment = await saving(user, { payment_method_id: undefined });
    await confirm(service, payment.id, { ...user.options, body: { payment_method_id: token } });
    await expectSavedOnce(payment.id, user.options);
    expect(JSON.stringify(await itemsOf(service))).not.toContain(token);
  });

  test.each(HOLDING)('saves a held method at $slot with the capture, before any event', async (holding) => {
    const payer = await signIn(service);
    await service.webhookMode('drop');
    const held = await heldPayment(service, payer, { holding, setup_future_usage: 'off_session' });
    expect(await methodsOf(payer.options)).toEqual([]);
    const admin = await signInAdmin(service);
    expect(await capture(service, held.id, admin.options)).toMatchObject({ body: { status: 'succeeded' } });
    const [method, ...others] = await methodsOf(payer.options);
    expect(others).toEqual([]);
    expect(await read(service, held.id, payer.options)).toMatchObject({ payment_method_id: present(method).id });
  });

  test('saves the method on the webhook after a confirm in the browser', async () => {
    const user = await signIn(service);
    const payment = await saving(user, { payment_method_id: undefined });
    expect((await confirmInBrowser(service, payment, 'pm_card_mastercard')).status).toBe(200);
    await service.settle();
    expect(await expectSavedOnce(payment.id, user.options)).toMatchObject({ card_brand: 'mastercard' });
  });

  test('saves the method on a sync without a webhook', async () => {
    const user = await signIn(service);
    const payment = await saving(user, { payment_method_id: undefined });
    await service.webhookMode('drop');
    await confirmInBrowser(service, payment, VISA);
    const synced = await service.post(`/payments/sync/${payment.provider_payment_id}`, {}, user.options);
    expect(synced).toMatchObject({ status: 200, body: { status: 'succeeded' } });
    await service.advance(2 * MINUTE_SECONDS);
    await expectSavedOnce(payment.id, user.options);
  });

  test('saves the method on reconciliation after a lost response', async () => {
    const user = await signIn(service);
    const payment = await saving(user);
    await service.webhookMode('drop');
    await service.fault({ action: 'timeout_after', path: '/confirm', times: 1 });
    expect(await confirm(service, payment.id, user.options)).toMatchObject({ status: 202 });
    await service.advance(10 * MINUTE_SECONDS);
    await expectSavedOnce(payment.id, user.options);
  });

  test('saves the method after the payer authenticates', async () => {
    const user = await signIn(service);
    const payment = await saving(user, { payment_method_id: THREE_D_SECURE });
    expect(await confirm(service, payment.id, user.options)).toMatchObject({ body: { status: 'pending' } });
    expect(await methodsOf(user.options)).toEqual([]);
    await service.authenticate(payment.id);
    await service.settle();
    await expectSavedOnce(payment.id, user.options);
  });

  test('saves the method once if several sources report the success', async () => {
    const user = await signIn(service);
    const payment = await saving(user);
    await service.webhookMode('duplicate');
    const reported = intentEvent(payment, 'payment_intent.succeeded');
    const sync = () => service.post(`/payments/sync/${payment.provider_payment_id}`, {}, user.options);
    await confirm(service, payment.id, user.options);
    await Promise.all([
      ...Array.from({ length: 5 }, () => service.sendEvent(reported)),
      ...Array.from({ length: 5 }, sync),
      ...Array.from({ length: 5 }, () => confirm(service, payment.id, user.options)),
    ]);
    await service.advance(2 * HOUR_SECONDS);
    await expectSavedOnce(payment.id, user.options);
  });

  test('saves the method later if the provider does not respond', async () => {
    const user = await signIn(service);
    const payment = await saving(user);
    await service.fault({ action: 'error_500', path: '/v1/payment_methods/' });
    expect(await confirm(service, payment.id, user.options)).toMatchObject({
      status: 200,
      body: { status: 'succeeded' },
    });
    expect(await methodsOf(user.options)).toEqual([]);
    await service.advance(10 * MINUTE_SECONDS);
    expect(await methodsOf(user.options)).toEqual([]);
    await service.clearFaults();
    await service.advance(10 * MINUTE_SECONDS);
    await expectSavedOnce(payment.id, user.options);
  });

  test('saves nothing if the payment fails, is canceled or lacks setup_future_usage', async () => {
    const user = await signIn(service, { expires_in: 3 * DAY_SECONDS });
    const declined = await saving(user, { payment_method_id: DECLINED });
    expect((await confirm(service, declined.id, user.options)).status).toBe(402);
    const canceled = await saving(user);
    await service.post(`/payments/intents/${canceled.id}/cancel`, {}, user.options);
    const plain = await createIntent(service, user, { payment_method_id: VISA });
    await confirm(service, plain.id, user.options);
    await service.advance(DAY_SECONDS + HOUR_SECONDS);
    expect(await methodsOf(user.options)).toEqual([]);
    expect(await read(service, plain.id, user.options)).toMatchObject({ payment_method_id: null });
  });

  test('saves no other method if the payment names a saved method', async () => {
    const user = await signIn(service);
    const method = await saveMethod(service, user.options);
    const payment = await saving(user, { payment_method_id: method.id });
    await confirm(service, payment.id, user.options);
    await service.advance(HOUR_SECONDS);
    expect((await methodsOf(user.options)).map(({ id }) => id)).toEqual([method.id]);
  });

  test('saves no other method if the payment names a saved method by the provider’s id', async () => {
    const user = await signIn(service);
    const method = await saveMethod(service, user.options, { alias: 'Kept' });
    const payment = await saving(user, { payment_method_id: method.provider_payment_method_id });
    await confirm(service, payment.id, user.options);
    expect(await expectSavedOnce(payment.id, user.options)).toMatchObject({ id: method.id, alias: 'Kept' });
  });

  test('saves the card that paid in the browser instead of the named saved card', async () => {
    const user = await signIn(service);
    const named = await saveMethod(service, user.options);
    const payment = await saving(user, { payment_method_id: named.id });
    await service.webhookMode('drop');
    await confirmInBrowser(service, payment, 'pm_card_amex');
    await service.post(`/payments/sync/${payment.provider_payment_id}`, {}, user.options);
    expect(await read(service, payment.id, user.options)).toMatchObject({
      status: 'succeeded',
      payment_method_id: null,
    });
    await service.advance(2 * MINUTE_SECONDS);
    const { payment_method_id } = await read(service, payment.id, user.options);
    const paidWith = (await methodsOf(user.options)).find(({ id }) => id === payment_method_id);
    expect(paidWith).toMatchObject({ card_brand: 'amex' });
  });

  test('saves the charged card instead of an earlier declined card', async () => {
    const user = await signIn(service);
    const payment = await saving(user, { payment_method_id: DECLINED });
    await confirm(service, payment.id, user.options);
    await confirm(service, payment.id, { ...user.options, body: { payment_method_id: 'pm_card_amex' } });
    const methods = await methodsOf(user.options);
    expect(methods).toMatchObject([{ card_brand: 'amex' }]);
    expect(await read(service, payment.id, user.options)).toMatchObject({ payment_method_id: present(methods[0]).id });
  });

  test('does not restore a deleted method, even if the success is reported again', async () => {
    const user = await signIn(service);
    const payment = await saving(user);
    await confirm(service, payment.id, user.options);
    const method = await expectSavedOnce(payment.id, user.options);
    expect((await service.request('DELETE', `/payment-methods/${present(method).id}`, user.options)).status).toBe(204);
    await service.sendEvent(intentEvent(payment, 'payment_intent.succeeded'));
    await service.post(`/payments/sync/${payment.provider_payment_id}`, {}, user.options);
    await service.advance(HOUR_SECONDS);
    expect(await methodsOf(user.options)).toEqual([]);
  });

  test('can receive setup_future_usage from an update', async () => {
    const user = await signIn(service);
    const payment = await createIntent(service, user, { payment_method_id: VISA });
    expect(payment.customer_id).toBeNull();
    const path = `/payments/intents/${payment.id}`;
    const updated = await service.put(path, { setup_future_usage: 'off_session' }, user.options);
    expect(updated).toMatchObject({ status: 200, body: { setup_future_usage: 'off_session' } });
    await confirm(service, payment.id, user.options);
    await service.advance(2 * MINUTE_SECONDS);
    await expectSavedOnce(payment.id, user.options);
  });
});

describe('a method saved with its payment', () => {
  test('belongs to the paying organization', async () => {
    const acme = await company(service);
    const payment = await saving(acme.billing, { organization_id: acme.id });
    await confirm(service, payment.id, acme.billing.options);
    expect(await methodsOf(acme.billing.options)).toEqual([]);
    const method = await expectSavedOnce(payment.id, acme.owner.options, `?organization_id=${acme.id}`);
    expect(method).toMatchObject({ organization_id: acme.id });
    const { body: customer } = await service.get(`/customers/${present(method).customer_id}`, acme.member.options);
    expect(customer).toMatchObject({ organization_id: acme.id, user_id: null });
  });

  test('belongs to the paying guest, who can use it with the guest token', async () => {
    const guest_data = { email: 'saver@example.com', name: 'Sam Saver' };
    const made = await service.post('/payments/intents', intentBody({ ...SAVING, guest_data }));
    expect(made).toMatchObject({ status: 201, body: { customer_id: expect.stringMatching(/^cust_/) } });
    const options = { guestToken: made.body.guest_token };
    expect((await confirm(service, made.body.id, options)).status).toBe(200);
    const method = await expectSavedOnce(made.body.id, options);
    expect(method).toMatchObject({ is_guest_method: true });
    const other = await service.post('/payments/intents', intentBody({ guest_data }));
    expect(await methodsOf({ guestToken: other.body.guest_token })).toEqual([]);
    const later = await service.post(
      '/payments/intents',
      intentBody({ payment_method_id: present(method).id }),
      options,
    );
    expect(await confirm(service, later.body.id, options)).toMatchObject({
      status: 200,
      body: { status: 'succeeded' },
    });
  });

  test('has the billing address of its payment', async () => {
    const user = await signIn(service);
    const address = { country: 'US', is_partial: true };
    const { id } = (await service.post('/addresses', address, user.options)).body;
    const payment = await saving(user, { billing_address_id: id });
    await confirm(service, payment.id, user.options);
    expect(await expectSavedOnce(payment.id, user.options)).toMatchObject({ billing_address_id: id });
  });
});
