import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { codeOnly, ERASED, isCode, withoutEmails, withoutPerson } from '../../shared/core/person-fields.ts';

describe('a payload without personal data', () => {
  test('keeps ids, amounts, dates, currencies and statuses', () => {
    const facts = {
      id: 'evt_1mwsbsfey0000002g',
      type: 'payment_intent.succeeded',
      created: 1_764_000_000,
      data: {
        object: { id: 'pi_3abc', amount: 2_500, currency: 'usd', status: 'succeeded', paid: true, refund: null },
      },
      amounts: [{ value: '10.00', currency_code: 'EUR' }],
      create_time: '2026-11-22T21:00:00.000Z',
    };
    expect(withoutPerson(facts)).toEqual(facts);
  });

  test('keeps the state of an order or a dispute, but not of an address', () => {
    const dispute = { dispute: { id: 'dts_1', state: 'WON' }, order_updated: { state: 'CANCELED' } };
    expect(withoutPerson(dispute)).toEqual(dispute);
    expect(withoutPerson({ state: 'TX', buyer: { state: 'WON' } })).toEqual({ state: null, buyer: {} });
  });

  test('has no names, addresses, phone numbers, e-mail addresses or free texts', () => {
    expect(
      withoutPerson({
        receipt_email: 'ada@example.com',
        name: 'Ada',
        mobile: 34_600_111_222,
        billing_details: { address: { line1: 'Street', city: 'Boston' }, phone: '555' },
        description: 'Order',
        unknown: 'two words',
        also: 'ada@example.com',
        call: '600-111-222',
      }),
    ).toEqual({
      receipt_email: null,
      name: null,
      mobile: null,
      billing_details: { address: {} },
      description: null,
      unknown: null,
      also: null,
      call: null,
    });
  });

  test('has no digits, expiry date, bank or fingerprint of a card or an account, but its brand and kind', () => {
    const stripe = { brand: 'visa', funding: 'credit', last4: '4242', exp_month: 12, exp_year: 2030, iin: '424242' };
    const paypal = { last_digits: '4242', expiry: '2030-12', bin_details: { bin: '424242', issuing_bank: 'Bank' } };
    const square = { card: { last_4: '4242', fingerprint: 'sq-1-x', card_brand: 'VISA' }, account_number_suffix: '42' };
    const ours = {
      payment_method_details: { last_four: '4242', expiry_year: '2030', bank_name: 'B', fingerprint: 'f' },
    };
    expect(withoutPerson({ stripe, paypal, square, ours })).toEqual({
      stripe: { brand: 'visa', funding: 'credit', last4: null, exp_month: null, exp_year: null, iin: null },
      paypal: { last_digits: null, expiry: null, bin_details: { bin: null, issuing_bank: null } },
      square: { card: { last_4: null, fingerprint: null, card_brand: 'VISA' }, account_number_suffix: null },
      ours: { payment_method_details: { last_four: null, expiry_year: null, bank_name: null, fingerprint: null } },
    });
    expect(withoutPerson({ expires_at: 1_764_000_000, expand: 'x' })).toEqual({
      expires_at: 1_764_000_000,
      expand: 'x',
    });
  });

  test('keeps only our own ids in metadata', () => {
    const id = 'pay_0123456789abcdef01234567';
    expect(withoutPerson({ metadata: { payment_id: id, member: 'Ada', 'ada@example.com': 1, n: 5 } })).toEqual({
      metadata: { payment_id: id },
    });
  });

  test('does not change in a second run', () => {
    fc.assert(
      fc.property(fc.jsonValue(), (value) => {
        const once = withoutPerson(value);
        expect(withoutPerson(once)).toEqual(once);
      }),
    );
  });
});

test('an e-mail address is replaced at any place and in any case', () => {
  const emails = ['ada@example.com'];
  expect(withoutEmails({ a: 'To ADA@example.com, ada@Example.com!', 'ada@example.com': [1, 'other'] }, emails)).toEqual(
    {
      a: `To ${ERASED}, ${ERASED}!`,
      [ERASED]: [1, 'other'],
    },
  );
  expect(withoutEmails('İ ada@example.com', emails)).toContain(ERASED);
});

test.each(['J\u030coe@example.com', 'j\u030coe@example.com', '\u01f0oe@example.com', 'J\u030cOE@EXAMPLE.COM'])(
  'an e-mail address is replaced as %j, in any Unicode composition and case',
  (written) => {
    const replaced = withoutEmails({ [written]: [`Re\u0301: to ${written}, today`] }, ['\u01f0oe@example.com']);
    expect(replaced).toEqual({ [ERASED]: [expect.stringContaining(`: to ${ERASED}, today`)] });
  },
);

test.each([
  ['INV-2026-17', true],
  ['order.17', true],
  ['2026-11-22', true],
  ['1234567.89', true],
  ['', true],
  ['Ada Lovelace', false],
  ['ada@example.com', false],
  ['+34600111222', false],
  ['600.111.222', false],
  ['34600111222', false],
])('the text %j is kept as a code: %s', (text, isKept) => {
  expect(isCode(text)).toBe(isKept);
  expect(codeOnly(text)).toBe(isKept ? text : undefined);
});
