import { describe, expect, test } from 'vitest';
import { type ContinuationTime, continueGuest } from '../../shared/access/continue-guest.ts';
import type { Owned, RecordKind } from '../../shared/access/record-kind.ts';
import { addressRecord } from '../../shared/customers/address.ts';
import { customerRecord } from '../../shared/customers/customer.ts';
import { paymentMethodRecord } from '../../shared/payment-methods/payment-method.ts';
import { paymentRecord } from '../../shared/payments/payment.ts';
import { subscriptionRecord } from '../../shared/subscriptions/subscription.ts';
import { guest, session } from '../builders/api-request.ts';

const CREATED_AT = '2026-01-05T09:00:00.000Z';
const secondsLater = (seconds: number, window = 3_600): ContinuationTime => ({
  now: Date.parse(CREATED_AT) + seconds * 1_000,
  seconds: window,
});

const fresh = guest({ guestId: 'gst_new', byToken: false });

/** A record of the guest gst_1 of Ada's e-mail. */
const record = (owner: Owned & { readonly createdAt?: string } = {}) => ({
  guestId: 'gst_1',
  guestEmail: 'ada@example.com',
  createdAt: CREATED_AT,
  ...owner,
});
/** The kind with a parser that accepts the few fields of a test. */
const kindOf = (kind: object): RecordKind => ({ ...(kind as RecordKind), parse: (item) => item });
const named = (owner: Parameters<typeof record>[0] = {}, kind: object = customerRecord) => ({
  kind: kindOf(kind),
  item: record(owner),
});

describe('a guest without a token', () => {
  test.each([
    ['customer', customerRecord],
    ['payment method', paymentMethodRecord],
    ['address', addressRecord],
  ])('keeps the guest_id of a recent %s', (_, kind) => {
    const { caller, isComplete } = continueGuest(fresh, [named({}, kind)], secondsLater(10));
    expect(caller).toEqual({ ...fresh, guestId: 'gst_1', proven: ['gst_1'] });
    expect(isComplete).toBe(true);
  });

  test.each([
    ['payment', paymentRecord],
    ['subscription', subscriptionRecord],
  ])('keeps no guest_id from a %s, because its id is visible in lists by e-mail', (_, kind) => {
    expect(continueGuest(fresh, [named({}, kind)], secondsLater(10)).caller).toBe(fresh);
  });

  test.each([
    ['another e-mail', { guestEmail: 'eve@example.com' }],
    ['an erased guest', { guestEmail: undefined }],
    ['a user', { userId: 'user_1' }],
    ['an organization', { organizationId: 'org_1' }],
    ['no owner at all', { guestId: undefined }],
  ])('keeps no guest_id from the record of %s', (_, owner) => {
    expect(continueGuest(fresh, [named(owner)], secondsLater(10))).toEqual({ caller: fresh, isComplete: true });
  });

  test('keeps no guest_id from a missing record', () => {
    const gone = { kind: kindOf(customerRecord), item: undefined };
    expect(continueGuest(fresh, [gone], secondsLater(10)).caller).toBe(fresh);
  });

  test('keeps the guest_id only until the record reaches its maximum age', () => {
    const at = (seconds: number, window?: number) =>
      continueGuest(fresh, [named()], secondsLater(seconds, window)).caller;
    expect(at(3_600)).not.toBe(fresh);
    expect(at(3_600.001)).toBe(fresh);
    expect(at(60, 59)).toBe(fresh);
    expect(at(0, 0)).toBe(fresh);
    expect(at(-5, 0)).toBe(fresh);
  });

  test('keeps the first proven guest_id, and can use all proven ids', () => {
    const records = [
      named({ guestId: 'gst_old', createdAt: '2026-01-04T09:00:00.000Z' }),
      named({ guestId: 'gst_2' }),
      named({ guestId: 'gst_3' }),
    ];
    const found = continueGuest(fresh, records, secondsLater(10));
    expect(found).toEqual({ caller: { ...fresh, guestId: 'gst_2', proven: ['gst_2', 'gst_3'] }, isComplete: false });
  });

  test('prefers the first record if a later record also proves its guest_id', () => {
    const old = { createdAt: '2026-01-04T09:00:00.000Z' };
    const found = continueGuest(fresh, [named(old), named({ guestId: 'gst_2' }), named()], secondsLater(10));
    expect(found).toMatchObject({ caller: { guestId: 'gst_1' }, isComplete: true });
  });
});

describe('a caller who is not a guest without a token', () => {
  test.each([
    ['a guest with a token', guest({ guestId: 'gst_9' })],
    ['a user', session()],
    ['an anonymous caller', { kind: 'anonymous' } as const],
  ])('stays unchanged: %s', (_, caller) => {
    expect(continueGuest(caller, [named()], secondsLater(10))).toEqual({ caller, isComplete: true });
  });
});
