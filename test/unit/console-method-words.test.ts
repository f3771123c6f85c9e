import { describe, expect, test } from 'vitest';
import type { MethodDetails } from '../../functions/console/web/api/loose-fields.ts';
import { methodDetailsOf } from '../../functions/console/web/api/loose-fields.ts';
import {
  adviceFor,
  declineInWords,
  methodInShort,
  methodInWords,
} from '../../functions/console/web/pages/method-words.ts';

const CARD = { type: 'card', card_brand: 'visa', last_four: '4242', expiry_month: '12', expiry_year: '2030' };

const detailsOf = (fields: Readonly<Record<string, unknown>>): MethodDetails => {
  const details = methodDetailsOf({ payment_method_details: fields });
  if (!details) throw new Error('no details');
  return details;
};

describe('the method of a payment in words', () => {
  test.each([
    [CARD, 'Visa •••• 4242', 'Visa •••• 4242'],
    [
      {
        ...CARD,
        funding: 'credit',
        country: 'US',
        wallet_type: 'apple_pay',
        three_d_secure: { result: 'authenticated' },
      },
      'Visa •••• 4242',
      'Visa •••• 4242, credit, US, Apple Pay, 3-D Secure passed',
    ],
    [
      { ...CARD, card_brand: 'amex', funding: 'prepaid', three_d_secure: { result: 'failed' } },
      'American Express •••• 4242',
      'American Express •••• 4242, prepaid, 3-D Secure failed',
    ],
    [{ type: 'wallet', wallet_type: 'paypal', last_four: null, country: 'DE' }, 'PayPal', 'PayPal, DE'],
    [{ type: 'bank_account', bank_name: 'STRIPE TEST BANK', last_four: '6789' }, 'STRIPE TEST BANK •••• 6789'],
    [{ type: 'bank_account', last_four: '6789' }, 'Bank account •••• 6789'],
  ])('shows %j as %s', (fields, short, long = short) => {
    expect(methodInShort(detailsOf(fields))).toBe(short);
    expect(methodInWords(detailsOf(fields))).toBe(long);
  });

  test('is unknown until the payment has details', () => {
    expect(methodDetailsOf({ payment_method_details: null })).toBeUndefined();
  });
});

describe('a decline in words', () => {
  const known = { providerCode: undefined, networkCode: undefined, isHard: false };

  test('uses the advice of the API before the usual advice for the code', () => {
    const decline = { ...known, code: 'do_not_honor', advice: undefined };
    expect(declineInWords(decline)).toBe('The bank declined the card (do_not_honor).');
    expect(adviceFor(decline)).toBe('Ask the payer to contact the bank or use another card.');
    expect(adviceFor({ ...decline, advice: 'another_method' })).toMatch(/^Ask the payer to use another card/);
    expect(adviceFor({ ...decline, advice: 'something_new' })).toBe(adviceFor(decline));
  });

  test('says if the same card will be declined again', () => {
    const decline = { ...known, code: 'stolen_card', advice: 'another_method', isHard: true };
    expect(adviceFor(decline)).toBe(
      'Ask the payer to use another card, and do not name the reason. The same card will be declined again.',
    );
  });
});
