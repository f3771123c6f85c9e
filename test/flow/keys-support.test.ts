import { describe, expect, test } from 'vitest';
import { confirm, createPaidIntent, read, signIn, type User } from './flow.ts';
import { withHost } from './host.ts';
import { asMerchant, createKey, newAdmin } from './keys.ts';
import type { PaymentBody } from './routes.ts';

/** Support may refund up to a limit per payment, even if several support users refund at the same time. */
const LIMITS = { USD: 10_000, EUR: 5_000 };
const service = withHost({
  frozen: true,
  env: { SUPPORT_REFUND_LIMITS: `USD:${LIMITS.USD},EUR:${LIMITS.EUR}` },
});

const paid = async (user: User, fields = {}) => {
  const payment = await createPaidIntent(service, user, { total_cents: 50_000, ...fields });
  expect((await confirm(service, payment.id, user.options)).status).toBe(200);
  return payment;
};

const newSupport = (): Promise<User> => signIn(service, { staff_role: 'support' });

const refundOf = (payment: PaymentBody, { options }: Pick<User, 'options'>, amount_cents?: number) =>
  service.post(`/payments/${payment.id}/refunds`, amount_cents === undefined ? {} : { amount_cents }, options);

const beyond = (limit_cents: number) => ({
  status: 403,
  body: { code: 'INSUFFICIENT_PERMISSIONS', details: { required_scope: 'refunds:write', limit_cents } },
});

const PARALLEL = 50;

describe('refunds by support', () => {
  test('never exceed the limit of one payment in 50 parallel tries by several people', async () => {
    const payer = await signIn(service);
    const payment = await paid(payer);
    const people = await Promise.all(Array.from({ length: 5 }, newSupport));
    const tries = Array.from({ length: PARALLEL }, (_, index) =>
      refundOf(payment, people[index % people.length] ?? payer, 700 + index),
    );
    const answers = await Promise.all(tries);
    await service.settle();
    const made = answers.filter(({ status }) => status === 201);
    const sum = made.reduce((total, { body }) => total + body.amount_cents, 0);
    expect(sum).toBeGreaterThan(0);
    expect(sum).toBeLessThanOrEqual(LIMITS.USD);
    const others = new Set(
      answers.filter(({ status }) => status !== 201).map(({ status, body }) => `${status} ${body.code}`),
    );
    for (const other of others) {
      expect(['403 INSUFFICIENT_PERMISSIONS', '409 VERSION_CONFLICT', '409 PAYMENT_IN_PROGRESS']).toContain(other);
    }
    const { refunded_cents } = await read(service, payment.id, payer.options);
    expect(refunded_cents).toBe(sum);
    const [support] = people;
    if (!support) throw new Error('no support user');
    const left = LIMITS.USD - sum;
    expect(await refundOf(payment, support, left + 1)).toMatchObject(beyond(LIMITS.USD));
    if (left > 0) expect(await refundOf(payment, support, left)).toMatchObject({ status: 201 });
    expect(await refundOf(payment, support, 1)).toMatchObject(beyond(LIMITS.USD));
  });

  test('count every refund of the payment, including refunds by finance, admins and keys', async () => {
    const payment = await paid(await signIn(service));
    const finance = await signIn(service, { staff_role: 'finance' });
    const admin = await newAdmin(service);
    const key = await createKey(service, admin, { scopes: ['refunds:write'] });
    for (const options of [finance.options, admin.options, asMerchant(key)]) {
      expect(await refundOf(payment, { options }, 3_000)).toMatchObject({ status: 201 });
    }
    const support = await newSupport();
    expect(await refundOf(payment, support, 1_001)).toMatchObject(beyond(LIMITS.USD));
    expect(await refundOf(payment, support, 1_000)).toMatchObject({ status: 201 });
    expect(await refundOf(payment, finance, 20_000)).toMatchObject({ status: 201 });
    expect(await refundOf(payment, support, 1)).toMatchObject(beyond(LIMITS.USD));
  });

  test('have a limit per payment, in the payment’s currency', async () => {
    const payer = await signIn(service);
    const support = await newSupport();
    const [first, second] = [await paid(payer), await paid(payer)];
    for (const payment of [first, second]) {
      expect(await refundOf(payment, support, LIMITS.USD)).toMatchObject({ status: 201 });
    }
    const euros = await paid(payer, { currency: 'EUR' });
    expect(await refundOf(euros, support, LIMITS.EUR + 1)).toMatchObject(beyond(LIMITS.EUR));
    expect(await refundOf(euros, support, LIMITS.EUR)).toMatchObject({ status: 201 });
    const pounds = await paid(payer, { currency: 'GBP' });
    expect(await refundOf(pounds, support, 1)).toMatchObject(beyond(0));
  });

  test('refund the whole rest without an amount, and are refused beyond the limit', async () => {
    const payer = await signIn(service);
    const support = await newSupport();
    expect(await refundOf(await paid(payer), support)).toMatchObject(beyond(LIMITS.USD));
    const small = await paid(payer, { total_cents: LIMITS.USD });
    expect(await refundOf(small, support)).toMatchObject({ status: 201, body: { amount_cents: LIMITS.USD } });
  });

  test('have no limit for an admin who is also support', async () => {
    const payment = await paid(await signIn(service));
    const both = await signIn(service, { is_admin: true, staff_role: 'support' });
    expect(await refundOf(payment, both, LIMITS.USD + 1)).toMatchObject({ status: 201 });
  });
});
