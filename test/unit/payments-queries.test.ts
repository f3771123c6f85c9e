import { describe, expect, test } from 'vitest';
import { PAYMENT_STATUSES } from '../../shared/payments/payment.ts';
import { getPaymentQuery, includesOf } from '../../shared/queries/includes.ts';
import { guestPaymentsQuery, listPaymentsQuery } from '../../shared/queries/parameters.ts';

const problems = (query: unknown): readonly string[] => {
  const parsed = listPaymentsQuery.safeParse(query);
  return parsed.success ? [] : [...new Set(parsed.error.issues.map(({ path }) => String(path[0])))];
};
const included = (query: unknown) => includesOf(getPaymentQuery.parse(query));
const includedInList = (query: unknown) => includesOf(listPaymentsQuery.parse(query));

describe('the query of a payment list', () => {
  test('reads the first twenty payments, newest first, by default', () => {
    expect(listPaymentsQuery.parse({})).toEqual({ page: 1, limit: 20, orderBy: 'created_at', orderDir: 'desc' });
    expect(guestPaymentsQuery.parse({})).toEqual({ page: 1, limit: 20 });
  });

  test.each([
    ['limit', ['1', '50'], ['0', '51', '-1', '1.5', 'ten', '', ' 1', '1e1', '0x1', '9999999999']],
    ['page', ['1', '1000000'], ['0', '-1', '1.5', 'one', '']],
    ['orderBy', ['created_at', 'amount_cents', 'status', 'updated_at'], ['id', '', 'createdAt', 'created_at ']],
    ['orderDir', ['asc', 'desc'], ['ASC', '', 'up']],
    [
      'status',
      ['succeeded', 'Pending,FAILED', ' pending , failed ', PAYMENT_STATUSES.join(',')],
      ['', 'paid', ',', 'creating'],
    ],
    ['search', ['', 'x'.repeat(200)], ['x'.repeat(201)]],
    ['token', ['x'.repeat(2048)], ['x'.repeat(2049)]],
    ['project_id', ['x'.repeat(64)], ['', 'x'.repeat(65)]],
    ['product_id', ['x'.repeat(64)], ['', 'x'.repeat(65)]],
    ['organization_id', ['', 'x'.repeat(64)], ['x'.repeat(65)]],
    [
      'created_at_from',
      ['2026-03-10', '2026-03-10T12:00:00Z', '2026-03-10T12:00:00.5+02:00'],
      ['', 'today', '2026-02-30', '1'],
    ],
    ['include_pm', ['true', 'false', '1', '0', 'yes', 'no'], ['maybe', '2']],
  ])('accepts %s within its limits', (field, right, wrong) => {
    expect(right.flatMap((value) => problems({ [field]: value }))).toEqual([]);
    for (const value of wrong) expect(problems({ [field]: value })).toEqual([field]);
  });

  test('covers whole UTC days if the bounds have no time', () => {
    expect(listPaymentsQuery.parse({ created_at_from: '2026-03-10', created_at_to: '2026-03-10' })).toMatchObject({
      created_at_from: '2026-03-10T00:00:00.000Z',
      created_at_to: '2026-03-10T23:59:59.999Z',
    });
    expect(listPaymentsQuery.parse({ created_at_from: '2026-03-10T01:30:00+02:00' })).toMatchObject({
      created_at_from: '2026-03-09T23:30:00.000Z',
    });
  });

  test('cannot end before it begins', () => {
    expect(problems({ created_at_from: '2026-03-11', created_at_to: '2026-03-10' })).toEqual(['created_at_to']);
    expect(problems({ created_at_from: '2026-03-10T12:00:00Z', created_at_to: '2026-03-10T12:00:00Z' })).toEqual([]);
  });

  test('reports all problems together', () => {
    const wrong = { page: '0', limit: '51', status: 'paid', orderBy: 'id', orderDir: 'up', created_at_from: 'today' };
    expect(problems(wrong).toSorted()).toEqual(Object.keys(wrong).toSorted());
  });

  test('reads a list of statuses', () => {
    expect(listPaymentsQuery.parse({ status: 'pending, failed' }).status).toEqual(['pending', 'failed']);
  });
});

describe('the includes of one payment', () => {
  test.each<[Readonly<Record<string, string>>, readonly string[]]>([
    [{}, []],
    [{ include: 'payment_method' }, ['payment_method']],
    [{ include: 'pm' }, ['payment_method']],
    [{ include: 'pm,payment_method' }, ['payment_method']],
    [{ include_pm: 'true' }, ['payment_method']],
    [{ include_payment_method: '1' }, ['payment_method']],
    [{ include_pm: 'no', include_project: 'yes' }, ['project']],
    [{ include: 'order, product', include_subscription: 'true' }, ['subscription', 'product', 'order']],
    [{ include: 'project', include_project: 'false' }, ['project']],
    [{ include_organization: '0' }, []],
  ])('are read from %j as %j', (query, expected) => {
    expect(included(query)).toEqual(expected);
  });

  test('can name only the payment method in a list', () => {
    for (const query of [{ include: 'pm' }, { include: 'payment_method' }, { include_pm: '1' }]) {
      expect(includedInList(query)).toEqual(['payment_method']);
    }
    expect(includedInList({ include_project: 'true' })).toEqual([]);
  });

  test('are refused if they are unknown', () => {
    for (const include of ['pm,secrets', 'secrets', 'pm,']) {
      expect(getPaymentQuery.safeParse({ include }).success).toBe(false);
      expect(problems({ include })).toEqual(['include']);
    }
    expect(problems({ include: 'PM, Payment_Method' })).toEqual([]);
    expect(problems({ include: 'order' })).toEqual(['include']);
    expect(getPaymentQuery.safeParse({ include_pm: 'maybe' }).success).toBe(false);
  });
});
