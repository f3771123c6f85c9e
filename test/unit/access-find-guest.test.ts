import { describe, expect, test } from 'vitest';
import { findGuest, noteGuest } from '../../shared/access/find-guest.ts';
import { recordKey } from '../../shared/platform/keys.ts';
import { memoryTable } from '../builders/memory-table.ts';
import { NOON } from '../builders/payment.ts';

const GUEST = 'gst_00000000000000000000000a';
const EMAIL = 'gus@example.com';
const KEY = { id: 'key_1', scopes: [], holders: [] };

/** The guest found through a payment with these fields, which a service key created for a guest. */
const foundBy = async (fields: Readonly<Record<string, unknown>>) => {
  const { table } = memoryTable({ now: () => NOON });
  await table.put({ ...recordKey('PAY', 'pay_1'), id: 'pay_1', ...fields });
  const byKey = { kind: 'guest', email: EMAIL, guestId: GUEST, name: undefined, phone: undefined } as const;
  const record = { id: 'pay_1', guestId: GUEST, kind: 'PAY' } as const;
  await noteGuest({ table }, { ...byKey, byToken: false, key: KEY }, record);
  return findGuest(table, GUEST);
};

describe('a guest_id', () => {
  const OWNED = { guestId: GUEST, guestEmail: EMAIL };

  test('finds the guest of a record created by a service key', async () => {
    expect(await foundBy(OWNED)).toEqual({ email: EMAIL });
  });

  test.each([
    ['another guest', { guestId: 'gst_other' }],
    ['an erased guest', { guestEmail: undefined }],
    ['a user', { userId: 'user_1' }],
    ['an organization', { organizationId: 'org_1' }],
  ])('finds no guest through a record of %s', async (_, fields) => {
    expect(await foundBy({ ...OWNED, ...fields })).toBeUndefined();
  });
});
