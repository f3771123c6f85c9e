import { describe, expect, test } from 'vitest';
import { createAddressBody, updateAddressBody } from '../../shared/customers/address-requests.ts';
import { type AddressFacts, addressProblems } from '../../shared/customers/address-rules.ts';

const PARTIAL = { country: 'US', isPartial: true, isBusiness: false };
const FULL = { ...PARTIAL, isPartial: false, line1: '1 Main St', city: 'Boston', postalCode: '02108' };
const BUSINESS = { country: 'US', isPartial: false, isBusiness: true, businessName: 'Ada Ltd' };

const CASES: readonly (readonly [what: string, facts: AddressFacts, missing: readonly string[]])[] = [
  ['a partial address with a country', PARTIAL, []],
  ['a partial address of an unknown country', { ...PARTIAL, country: undefined }, []],
  ['a full address', FULL, []],
  ['a full address without line1', { ...FULL, line1: undefined }, ['line1']],
  ['a full address without city', { ...FULL, city: undefined }, ['city']],
  ['a full address without postal code', { ...FULL, postalCode: undefined }, ['postal_code']],
  ['a full address without postal code where none is needed', { ...FULL, country: 'HK', postalCode: undefined }, []],
  ['a full address in Ireland, where a postal code is optional', { ...FULL, country: 'IE', postalCode: undefined }, []],
  ['a full address with only a country', { ...PARTIAL, isPartial: false }, ['line1', 'city', 'postal_code']],
  ['a full address without any field', { country: undefined, isPartial: false, isBusiness: false }, ['line1', 'city']],
  ['a business with its name alone', BUSINESS, []],
  ['a business without its name', { ...BUSINESS, businessName: undefined }, ['business_name']],
  ['a business with a full address but without its name', { ...FULL, isBusiness: true }, ['business_name']],
  ['a partial business', { ...BUSINESS, isPartial: true }, []],
  ['a partial business without its name', { ...PARTIAL, isBusiness: true }, ['business_name']],
];

describe('the required fields of an address', () => {
  test.each(CASES)('are correct for %s', (_, facts, missing) => {
    expect(addressProblems(facts).map(({ path }) => path)).toEqual(missing);
    for (const problem of addressProblems(facts)) expect(problem.rule).toBe('required');
  });
});

const problemsOf = (schema: typeof createAddressBody | typeof updateAddressBody, body: unknown): string[] =>
  schema
    .safeParse(body)
    .error?.issues.map(({ path }) => path.join('.'))
    .sort() ?? [];

describe('the body of an address', () => {
  test('reports all problems together', () => {
    const body = { country: 'UK', type: 'home', tax_id_type: 'ssn', alias: 'x'.repeat(101), nickname: 'home', city: 7 };
    expect(problemsOf(createAddressBody, body)).toEqual(
      ['alias', 'city', 'city', 'country', 'line1', 'nickname', 'tax_id_type', 'type'].sort(),
    );
  });

  test('requires a country', () => {
    expect(problemsOf(createAddressBody, { is_partial: true })).toEqual(['country']);
    expect(problemsOf(updateAddressBody, {})).toEqual([]);
    expect(problemsOf(updateAddressBody, { country: null })).toEqual(['country']);
  });

  test('accepts a country in any case', () => {
    expect(createAddressBody.parse({ country: ' de ', is_partial: true })).toMatchObject({
      country: 'DE',
      is_partial: true,
      is_business: false,
      is_default: false,
      type: 'billing',
    });
  });

  test('treats text of only spaces as absent', () => {
    const body = { country: 'US', line1: '  ', city: 'Boston', postal_code: '\t', name: ' ' };
    expect(problemsOf(createAddressBody, body)).toEqual(['line1', 'postal_code']);
  });

  test.each(['create', 'update'] as const)('rejects the field nickname with the advice "use alias" (%s)', (what) => {
    const schema = what === 'create' ? createAddressBody : updateAddressBody;
    const issues = schema.safeParse({ country: 'US', is_partial: true, nickname: 'Home' }).error?.issues;
    expect(issues).toMatchObject([{ path: ['nickname'], message: 'use alias' }]);
  });

  test.each([
    ['line1', 200],
    ['line2', 200],
    ['city', 100],
    ['state', 100],
    ['postal_code', 20],
    ['name', 200],
    ['business_name', 200],
    ['tax_id', 50],
    ['alias', 100],
  ])('accepts %s of up to %i characters', (field, max) => {
    const body = (length: number) => ({ country: 'US', is_partial: true, [field]: 'x'.repeat(length) });
    expect(problemsOf(createAddressBody, body(max))).toEqual([]);
    expect(problemsOf(createAddressBody, body(max + 1))).toEqual([field]);
    expect(problemsOf(updateAddressBody, body(max + 1))).toEqual([field]);
  });

  test.each([null, [], 'text', 7])('cannot be %j', (body) => {
    expect(createAddressBody.safeParse(body).success).toBe(false);
  });
});
