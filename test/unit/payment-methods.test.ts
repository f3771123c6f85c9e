import { describe, expect, test } from 'vitest';
import { createMethodBody, listMethodsQuery, updateMethodBody } from '../../shared/payment-methods/method-requests.ts';
import { methodBeside, methodView, paymentMethodShape } from '../../shared/payment-methods/payment-method.ts';
import { recordItem } from '../../shared/platform/versioned-record.ts';
import { methodBody, rawCardBody } from '../builders/payer.ts';
import { savedCard } from '../builders/saved-card.ts';

const problemsIn = (schema: typeof createMethodBody | typeof listMethodsQuery, value: unknown): string[] =>
  (schema.safeParse(value).error?.issues ?? []).map(({ path }) => path.join('.')).sort();

describe('the request to create a payment method', () => {
  test('accepts a token, and makes the method the default only on request', () => {
    expect(createMethodBody.parse(methodBody({ id: 'x', user_id: 'x', card_brand: 'x' }))).toEqual({
      provider_id: 'provider_a',
      provider_payment_method_token: 'pm_card_visa',
      is_default: false,
    });
  });

  test.each([
    [{}, []],
    [{ card_number: '4242 4242 4242 4242' }, []],
    [{ card_number: '4242-4242-4242-4242' }, []],
    [{ card_cvc: undefined }, []],
    [{ card_cvc: '1234' }, []],
    [{ card_number: '424242424242' }, ['card_number']],
    [{ card_number: '42424242424242424242' }, ['card_number']],
    [{ card_number: '4242 4242 4242 424x' }, ['card_number']],
    [{ card_number: 4_242_424_242_424_242 }, ['card_number']],
    [{ card_exp_month: '1' }, ['card_exp_month']],
    [{ card_exp_month: '00' }, ['card_exp_month']],
    [{ card_exp_month: '13' }, ['card_exp_month']],
    [{ card_exp_month: undefined }, ['card_exp_month']],
    [{ card_exp_year: '31' }, ['card_exp_year']],
    [{ card_exp_year: '1999' }, ['card_exp_year']],
    [{ card_exp_year: undefined }, ['card_exp_year']],
    [{ card_cvc: '12' }, ['card_cvc']],
    [{ card_number: undefined }, ['provider_payment_method_token']],
    [{ card_number: undefined, provider_payment_method_token: 'pm_1' }, []],
  ])('with the raw card fields %j has problems in %j', (fields, paths) => {
    expect(problemsIn(createMethodBody, rawCardBody(fields))).toEqual(paths);
  });

  test('reports the problem of an invalid card without its values', () => {
    const { error } = createMethodBody.safeParse(rawCardBody({ card_number: '4242x', card_cvc: '73x' }));
    expect(JSON.stringify(error?.issues)).not.toMatch(/4242|73x/);
  });
});

describe('the request to list payment methods', () => {
  const plain = { page: 1, limit: 100, orderBy: 'created_at', orderDir: 'desc' };
  test.each([
    [{}, {}],
    [{ limit: '250' }, { limit: 100 }],
    [
      { page: '3', limit: '5' },
      { page: 3, limit: 5 },
    ],
    [
      { search: ' Work ', card_brand: 'VISA' },
      { search: 'work', card_brand: 'visa' },
    ],
    [{ organization_id: '' }, { organization_id: '' }],
    [{ page: '101' }, { page: 101 }],
    [
      { page: '10001', limit: '1' },
      { page: 10_001, limit: 1 },
    ],
  ])('reads %j as %j', (query, asked) => {
    expect(listMethodsQuery.parse(query)).toEqual({ ...plain, ...asked });
  });

  test.each([
    [{ page: '0' }, ['page']],
    [{ page: '102' }, ['page']],
    [{ page: '10002', limit: '1' }, ['page']],
    [{ page: 'x', limit: 'y' }, ['limit', 'page']],
    [{ orderBy: 'id', orderDir: 'up', payment_type: 'gold' }, ['orderBy', 'orderDir', 'payment_type']],
  ])('with %j has problems in %j', (query, paths) => {
    expect(problemsIn(listMethodsQuery, query)).toEqual(paths);
  });
});

test('an update of a payment method accepts only alias, address and default', () => {
  const body = { alias: 'Work', billing_address_id: null, is_default: true };
  expect(updateMethodBody.parse({ ...body, card_brand: 'x', user_id: 'x', organization_id: 'x' })).toEqual(body);
});

test('a payment method is stored with its list keys, and shown without internal fields', () => {
  const record = savedCard({ alias: 'Work Card', requestHash: 'h', knownAt: 5 });
  const item = recordItem(paymentMethodShape, record);
  expect(item).toMatchObject({
    pk: `PM#${record.id}`,
    sk: 'PM',
    owner: 'USER#user_1#PM',
    f: { y: 'card', b: 'visa', l: '4242', a: 'Work Card', s: 'work card' },
  });
  expect(paymentMethodShape.parse(item)).toEqual(record);
  const shown = methodView(record, true);
  expect(shown).toMatchObject({
    is_default: true,
    card_exp_month: '07',
    card_exp_year: '2031',
    is_guest_method: false,
  });
  expect(JSON.stringify(shown)).not.toMatch(/cus_1|user_1|request|known/);
  expect(methodView(savedCard({ userId: undefined, organizationId: 'org_1' }), false)).toMatchObject({
    organization_id: 'org_1',
  });
});

test('a payment method within a payment has the eight fields of the contract', () => {
  expect(Object.keys(Object(methodBeside.view(savedCard()))).sort()).toEqual([
    'alias',
    'card_brand',
    'expiry_month',
    'expiry_year',
    'id',
    'last_four',
    'payment_type',
    'wallet_type',
  ]);
});
