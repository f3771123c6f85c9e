import { describe, expect, test } from 'vitest';
import { guestIntentBody } from '../builders/intent.ts';
import { present } from '../builders/present.ts';
import { DAY_SECONDS } from '../builders/seconds.ts';
import { disputedPayment } from './disputers.ts';
import { changeTable, createIntent, itemsOf, PATIENT, signIn, storedPayment, type User } from './flow.ts';
import { withHost } from './host.ts';
import { company, createCustomer, saveReadyMethod } from './payers.ts';
import { PAYING_METHODS, paidPayment, refund } from './refunders.ts';
import { subscribe, subscriber } from './subscribers.ts';

const service = withHost({ frozen: true, env: PATIENT });

const adminOf = (): Promise<User> => signIn(service, { is_admin: true });

const search = async (admin: User, q: string) => {
  await service.settle();
  const answer = await service.get(`/admin/search?${new URLSearchParams({ q })}`, admin.options);
  expect(answer, JSON.stringify(answer.body)).toMatchObject({ status: 200, body: { success: true } });
  return answer.body;
};
/** The kind and id of each hit. */
const hitsOf = async (admin: User, q: string): Promise<string[]> =>
  (await search(admin, q)).data.map(({ kind, id }) => `${kind} ${id}`);

describe('GET /admin/search', () => {
  test('finds a record of each kind by our id and by the id at its provider', async () => {
    const admin = await adminOf();
    const who = await subscriber(service);
    const acme = await company(service);
    const subscription = await subscribe(service, who);
    const { payment, id: providerDisputeId } = await disputedPayment(service, PAYING_METHODS[0]);
    const [dispute] = (await service.get(`/payments/${payment.id}/disputes`, admin.options)).body;
    const refundable = await paidPayment(service, who.user);
    const made = await refund(service, refundable.id, { ...admin.options, body: { amount_cents: 100 } });
    const customer = await service.get(`/customers/${who.names.customer_id}`, who.options);
    const method = await service.get(`/payment-methods/${who.names.payment_method_id}`, who.options);
    for (const [kind, id, providerId] of [
      ['payment', payment.id, payment.provider_payment_id],
      ['dispute', present(dispute).id, providerDisputeId],
      ['refund', made.body.id, made.body.provider_refund_id],
      ['subscription', subscription.id, subscription.provider_subscription_id],
      ['customer', customer.body.id, customer.body.provider_customer_id],
      ['method', method.body.id, method.body.provider_payment_method_id],
      ['organization', acme.id, undefined],
    ] as const) {
      expect(await hitsOf(admin, id), kind).toEqual([`${kind} ${id}`]);
      if (providerId !== undefined) expect(await hitsOf(admin, providerId), providerId).toEqual([`${kind} ${id}`]);
    }
  });

  test('finds only the kinds of records that the scopes of the caller permit it to read', async () => {
    const who = await subscriber(service);
    const subscription = await subscribe(service, who);
    const operations = await signIn(service, { staff_role: 'operations' });
    expect(await hitsOf(operations, subscription.id)).toEqual([`subscription ${subscription.id}`]);
    expect(await hitsOf(operations, who.names.customer_id)).toEqual([]);
    expect(await hitsOf(operations, who.names.payment_method_id)).toEqual([]);
    const kinds = (await search(operations, who.user.userId)).data.map(({ kind }) => kind);
    expect(new Set(kinds)).toEqual(new Set(['user', 'subscription', 'payment']));
    const support = await signIn(service, { staff_role: 'support' });
    expect(await hitsOf(support, who.names.customer_id)).toEqual([`customer ${who.names.customer_id}`]);
  });

  test('shows label, amount, payment and payer of each record', async () => {
    const admin = await adminOf();
    const user = await signIn(service, { email: 'label@example.com' });
    const payment = await paidPayment(service, user, { description: 'Ten tickets', total_cents: 1_500 });
    const made = await refund(service, payment.id, { ...admin.options, body: { amount_cents: 100 } });
    const amounts = { status: 'succeeded', currency: 'USD' };
    expect((await search(admin, payment.id)).data).toEqual([
      {
        ...{ kind: 'payment', id: payment.id, label: 'Ten tickets', amount_cents: 1_500, payment_id: null, ...amounts },
        ...{ created_at: payment.created_at, user_email: 'label@example.com', organization_name: null },
      },
    ]);
    expect((await search(admin, made.body.id)).data).toEqual([
      expect.objectContaining({ kind: 'refund', amount_cents: 100, payment_id: payment.id, ...amounts }),
    ]);
  });

  test('finds users, and records of users and guests, by e-mail address in any case', async () => {
    const admin = await adminOf();
    const user = await signIn(service, { email: 'both@example.com' });
    const customer = await createCustomer(service, user.options);
    const own = await createIntent(service, user);
    const { body: guests } = await service.post(
      '/payments/intents',
      guestIntentBody({}, { email: 'both@example.com' }),
    );
    expect((await hitsOf(admin, 'Both@Example.com')).toSorted()).toEqual(
      [
        `user ${user.userId}`,
        `customer ${customer.id}`,
        ...(guests.customer_id === null ? [] : [`customer ${guests.customer_id}`]),
        `payment ${own.id}`,
        `payment ${guests.id}`,
      ].toSorted(),
    );
    expect(await hitsOf(admin, 'nobody@example.com')).toEqual([]);
  });

  test('finds a customer by its own e-mail address, until the customer changes it or is deleted', async () => {
    const admin = await adminOf();
    const user = await signIn(service, { email: 'works.for@example.com' });
    const customer = await createCustomer(service, user.options, { email: 'billing@example.com' });
    expect(await hitsOf(admin, 'Billing@example.com')).toEqual([`customer ${customer.id}`]);
    await service.put(`/customers/${customer.id}`, { email: 'accounts@example.com' }, user.options);
    expect(await hitsOf(admin, 'billing@example.com')).toEqual([]);
    expect(await hitsOf(admin, 'accounts@example.com')).toEqual([`customer ${customer.id}`]);
    expect((await service.request('DELETE', `/customers/${customer.id}`, user.options)).status).toBe(204);
    expect(await hitsOf(admin, 'accounts@example.com')).toEqual([]);
    expect((await itemsOf(service, 'EMAIL#')).filter(({ customerId }) => customerId === customer.id)).toEqual([]);
  });

  test('finds a user by id, with the e-mail address of the newest payment', async () => {
    const admin = await adminOf();
    const user = await signIn(service, { email: 'by.id@example.com' });
    const payment = await createIntent(service, user);
    const { data } = await search(admin, user.userId);
    expect(data).toMatchObject([
      { kind: 'user', id: user.userId, label: 'by.id@example.com', status: null, amount_cents: null },
      { kind: 'payment', id: payment.id },
    ]);
  });

  test('finds payments by last four digits, charge id or reference code, and subscriptions by their code', async () => {
    const admin = await adminOf();
    const user = await signIn(service);
    const reference_code = `CODE-${user.userId}`;
    const payment = await createIntent(service, user, { reference_code });
    const who = await subscriber(service);
    const subscription = await subscribe(service, who, { reference_code: `SUB-${user.userId}` });
    await service.settle();
    const item = await storedPayment(service, payment.id);
    const charge = `ch_${user.userId}`;
    const details = { type: 'card', cardBrand: 'visa', lastFour: '0341' };
    await changeTable(service, { put: { ...item, version: item.version + 1, details, attemptRef: charge } });
    expect(await hitsOf(admin, '0341')).toEqual([`payment ${payment.id}`]);
    expect(await hitsOf(admin, charge)).toEqual([`payment ${payment.id}`]);
    expect(await hitsOf(admin, reference_code.toLowerCase())).toEqual([`payment ${payment.id}`]);
    const [first, ...payments] = await hitsOf(admin, `sub-${user.userId}`);
    expect(first).toBe(`subscription ${subscription.id}`);
    expect(payments).toEqual([`payment ${subscription.latest_payment_id}`]);
  });

  test('shows a user with at most 15 payments, and says if records are missing', async () => {
    const admin = await adminOf();
    const user = await signIn(service);
    for (let index = 0; index < 16; index += 1) await createIntent(service, user);
    const { data, meta } = await search(admin, user.userId);
    expect(meta).toEqual({ truncated: true });
    expect(data).toHaveLength(16);
    const saved = await saveReadyMethod(service, user.options);
    expect((await search(admin, saved.id)).meta).toEqual({ truncated: false });
  });

  test('finds nothing for unknown ids, without an error', async () => {
    const admin = await adminOf();
    await service.advance(100 * DAY_SECONDS);
    const late = await signIn(service, { is_admin: true, user_id: admin.userId });
    for (const q of [
      'pay_000000000000000000000000',
      'mbr_000000000000000000000000',
      'pi_none',
      '0000',
      'none at all',
    ]) {
      expect((await search(late, q)).data, q).toEqual([]);
    }
  });

  test.each([[''], ['q='], ['q=%20'], [`q=${'a'.repeat(256)}`]])('refuses ?%s', async (query) => {
    const admin = await adminOf();
    const { status, body } = await service.get(`/admin/search?${query}`, admin.options);
    expect([status, body.code, body.details[0]?.path]).toEqual([400, 'VALIDATION_ERROR', 'q']);
  });

  test('requires a platform admin', async () => {
    const user = await signIn(service);
    expect((await service.get('/admin/search?q=a')).status).toBe(401);
    expect(await service.get('/admin/search?q=a', user.options)).toMatchObject({
      status: 403,
      body: { code: 'ADMIN_REQUIRED' },
    });
  });
});
