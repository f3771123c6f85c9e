import Stripe from 'stripe';
import { describe, expect, test } from 'vitest';
import { MINUTE_MS, SECOND_MS } from '../../shared/core/time.ts';
import { verifyStripeSignature } from '../../shared/providers/stripe/verify.ts';
import { NOON } from '../builders/payment.ts';

const SECRET = 'whsec_test';
const PAYLOAD = '{"id":"evt_1"}';
const signedAt = (at: number): string =>
  Stripe.webhooks.generateTestHeaderString({
    payload: PAYLOAD,
    secret: SECRET,
    timestamp: Math.floor(at / SECOND_MS),
  });
const verify = (header: string) =>
  verifyStripeSignature({ raw: Buffer.from(PAYLOAD), headers: { 'stripe-signature': header }, now: NOON }, SECRET);

describe('the signature of a Stripe event', () => {
  test('is valid for five minutes before and after its time', () => {
    expect(verify(signedAt(NOON))).toBe('valid');
    expect(verify(signedAt(NOON - 5 * MINUTE_MS))).toBe('valid');
    expect(verify(signedAt(NOON + 5 * MINUTE_MS))).toBe('valid');
    expect(verify(signedAt(NOON - 5 * MINUTE_MS - SECOND_MS))).toBe('invalid');
    expect(verify(signedAt(NOON + 5 * MINUTE_MS + SECOND_MS))).toBe('invalid');
  });

  test('is refused if it has two times, in any order and with either signed', () => {
    const now = Math.floor(NOON / SECOND_MS);
    const [far, near] = [signedAt(NOON + 60 * MINUTE_MS), signedAt(NOON)];
    for (const header of [`t=${now},${far}`, `${far},t=${now}`, `t=${now},${near}`, `${near},t=${now}`]) {
      expect(verify(header)).toBe('invalid');
    }
  });

  test.each(['', 't=', 'v1=00', 't=abc,v1=00', `t=${Math.floor(NOON / SECOND_MS)}`])('is refused as %j', (header) => {
    expect(verify(header)).toBe('invalid');
  });
});
