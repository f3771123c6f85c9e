import { describe, expect, test } from 'vitest';
import { type ContinuationMoment, continueGuest } from '../../shared/access/continue-guest.ts';
import type { GuestCreation, Owned, RecordKind } from '../../shared/access/record-kind.ts';
import { addressRecord } from '../../shared/customers/address.ts';
import { customerRecord } from '../../shared/customers/customer.ts';
import { paymentMethodRecord } from '../../shared/payment-methods/payment-method.ts';
import { paymentRecord } from '../../shared/payments/payment.ts';
import { subscriptionRecord } from '../../shared/subscriptions/record/subscription.ts';
import { guest, session } from '../builders/api-request.ts';

const CREATED_AT = '2026-01-05T09:00:00.000Z';
const NETWORK = 'the hash of a network';
const secondsLater = (seconds: number, window = 3_600): ContinuationMoment => ({
  now: Date.parse(CREATED_AT) + seconds * 1_000,
  network: NETWORK,
  seconds: window,
});

const fresh = guest({ guestId: 'gst_new', byToken: false });

/** A record of the guest gst_1 with Ada's e-mail. */
const record = (owner: Owned & Partial<GuestCreation> = {}) => ({
  guestId: 'gst_1',
  guestEmail: 'ada@example.com',
  createdAt: CREATED_AT,
  guestNetwork: NETWORK,
  ...owner,
});
/** The record kind with a parser that accepts the few fields of a test. */
const kindOf = (kind: object): RecordKind => ({ ...(kind as RecordKind), parse: (item) => item });
const named = (owner: Parameters<typeof record>[0] = {}, kind: object = customerRecord) => ({
  kind: kindOf(kind),
  item: record(owner),
  isOurId: true,
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
  ])('keeps no guest_id from a %s, whose id appears in lists by e-mail', (_, kind) => {
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
    const gone = { kind: kindOf(customerRecord), item: undefined, isOurId: true };
    expect(continueGuest(fresh, [gone], secondsLater(10)).caller).toBe(fresh);
  });

  test.each([
    ['another network', { guestNetwork: 'the hash of another network' }],
    ['an unknown network', { guestNetwork: undefined }],
  ])('keeps no guest_id from a record created in %s', (_, creation) => {
    expect(continueGuest(fresh, [named(creation)], secondsLater(10))).toEqual({ caller: fresh, isComplete: false });
  });

  test('keeps no guest_id if the network of the request is unknown', () => {
    for (const creation of [{}, { guestNetwork: undefined }]) {
      const moment = { ...secondsLater(10), network: undefined };
      expect(continueGuest(fresh, [named(creation)], moment).caller).toBe(fresh);
    }
  });

  test('keeps no guest_id from a record that the request names by the provider’s id', () => {
    const byProvider = { ...named(), isOurId: false };
    expect(continueGuest(fresh, [byProvider], secondsLater(10))).toEqual({ caller: fresh, isComplete: false });
    const both = continueGuest(fresh, [byProvider, named()], secondsLater(10));
    expect(both).toMatchObject({ caller: { guestId: 'gst_1' }, isComplete: true });
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

  test('prefers the guest_id of the first record if a later record proves that guest_id', () => {
    const old = { createdAt: '2026-01-04T09:00:00.000Z' };
    const found = continueGuest(fresh, [named(old), named({ guestId: 'gst_2' }), named()], secondsLater(10));
    expect(found).toMatchObject({ caller: { guestId: 'gst_1' }, isComplete: true });
  });
});

describe('any other caller', () => {
  test.each([
    ['a guest with a token', guest({ guestId: 'gst_9' })],
    ['a user', session()],
    ['an anonymous caller', { kind: 'anonymous' } as const],
  ])('stays unchanged: %s', (_, caller) => {
    expect(continueGuest(caller, [named()], secondsLater(10))).toEqual({ caller, isComplete: true });
  });
});
