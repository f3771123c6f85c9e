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
