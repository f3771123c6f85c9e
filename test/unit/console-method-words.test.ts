import { describe, expect, test } from 'vitest';
import type { MethodDetails } from '../../functions/console/web/api/types.ts';
import {
  adviceFor,
  declineInWords,
  methodInShort,
  methodInWords,
} from '../../functions/console/web/pages/method-words.ts';

const CARD = { type: 'card', card_brand: 'visa', last_four: '4242', expiry_month: '12', expiry_year: '2030' } as const;
const SECURE = { version: '2.2.0', liability_shifted: true } as const;

const detailsOf = (known: Partial<MethodDetails>): MethodDetails => ({
  type: 'card',
  wallet_type: null,
  card_brand: null,
  last_four: null,
  expiry_month: null,
  expiry_year: null,
  funding: null,
  country: null,
  bank_name: null,
  three_d_secure: null,
  fingerprint: null,
  ...known,
});

describe('the method of a payment in words', () => {
  test.each<[known: Partial<MethodDetails>, short: string, long?: string]>([
    [CARD, 'Visa •••• 4242', 'Visa •••• 4242'],
    [
      {
        ...CARD,
        funding: 'credit',
        country: 'US',
        wallet_type: 'apple_pay',
        three_d_secure: { ...SECURE, result: 'authenticated' },
      },
      'Visa •••• 4242',
      'Visa •••• 4242, credit, US, Apple Pay, 3-D Secure passed',
    ],
    [
      { ...CARD, card_brand: 'amex', funding: 'prepaid', three_d_secure: { ...SECURE, result: 'failed' } },
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
});

describe('a decline in words', () => {
  test('names the reason, and what to tell the payer', () => {
    expect(declineInWords({ code: 'do_not_honor' })).toBe('The bank declined the card (do_not_honor).');
    expect(adviceFor({ advice: 'contact_bank', hard: false })).toBe(
      'Ask the payer to contact the bank or use another card.',
    );
  });

  test('says if the same card will be declined again', () => {
    expect(declineInWords({ code: 'stolen_card' })).toBe('The bank declined the card (stolen_card).');
    expect(adviceFor({ advice: 'another_method', hard: true })).toBe(
      'Ask the payer to use another card, and do not name the reason. The same card will be declined again.',
    );
  });
});
