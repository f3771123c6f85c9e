import { describe, expect, test } from 'vitest';
import type { Caller } from '../../shared/access/caller.ts';
import { ownPayment, requireOthersPayment } from '../../shared/access/own-payment.ts';
import { ROLES } from '../../shared/access/permissions.ts';
import type { Owned } from '../../shared/access/record-kind.ts';
import { emailHash, memberKey } from '../../shared/platform/keys.ts';
import { guest, session } from '../builders/api-request.ts';
import { memoryTable } from '../builders/memory-table.ts';
import { NOON } from '../builders/payment.ts';

const SCOPE = 'refunds:write';
const ACME = 'org_acme';
const [me, admin] = ['user_me', { userId: 'user_me', email: 'me@example.com', isAdmin: true }];
const keyOf = (...holders: string[]) => ({ id: 'key_1', scopes: [SCOPE], holders }) as const;
const asKey = (...holders: string[]): Caller => ({ kind: 'key', key: keyOf(...holders) });

const tableWith = async (role?: string) => {
  const { table } = memoryTable({ now: () => NOON });
  if (role !== undefined) await table.put({ ...memberKey(ACME, me), role });
  return table;
};

const decide = async (caller: Caller, record: Owned, role?: string): Promise<string> =>
  (await ownPayment(await tableWith(role), { caller, record, scope: SCOPE })).kind;

describe('a merchant’s staff member who is also the payer', () => {
  test.each<[string, Owned]>([
    ['as a user', { userId: me }],
    ['as a guest with the e-mail of the session', { guestId: 'gst_1', guestEmail: 'me@example.com' }],
    ['for an organization that has removed the person since', { userId: me, organizationId: ACME }],
  ])('may not decide on a payment made %s', async (_, record) => {
    expect(await decide(session(admin), record)).toBe('own payment');
    expect(await decide(session({ ...admin, isAdmin: false, staffRole: 'finance' }), record)).toBe('own payment');
  });

  test('may decide on the payments of others', async () => {
    const others = [
      { userId: 'user_2' },
      { guestId: 'gst_2', guestEmail: 'you@example.com' },
      { organizationId: ACME },
    ];
    for (const record of others) {
      expect(await decide(session(admin), record)).toBe('allowed');
      expect(await decide(asKey(me), record)).toBe('allowed');
    }
  });

  test.each(ROLES)(
    'counts as a payer of the organization’s payments in the role %s, but through a key only in the role owner',
    async (role) => {
      const record = { userId: 'user_2', organizationId: ACME };
      expect(await decide(session(admin), record, role)).toBe('own payment');
      expect(await decide(asKey(me), record, role)).toBe(role === 'owner' ? 'own payment' : 'allowed');
      expect(await decide(asKey('user_9'), record, role)).toBe('allowed');
    },
  );

  test('is recognized by a key that this person created or rotated, or by the e-mail of the key’s holder', async () => {
    expect(await decide(asKey(me), { userId: me })).toBe('own payment');
    expect(await decide(asKey('user_9', me), { userId: me })).toBe('own payment');
    expect(await decide(asKey('user_9', me), { organizationId: ACME }, 'owner')).toBe('own payment');
    const guests = { guestId: 'gst_1', guestEmail: 'me@example.com' };
    expect(await decide(asKey(me), guests)).toBe('allowed');
    const known: Caller = { kind: 'key', key: { ...keyOf(me), holderEmailHash: emailHash('Me@example.com') } };
    expect(await decide(known, guests)).toBe('own payment');
  });

  test('is refused for a missing scope before the payer is compared', async () => {
    const payers: readonly Caller[] = [
      ...[session({ userId: me }), session({ ...admin, key: keyOf(me) }), guest(), { kind: 'anonymous' } as const],
      { kind: 'organization', organizationId: ACME, key: keyOf(me) },
    ];
    for (const caller of payers) expect(await decide(caller, { userId: me })).toBe('no scope');
    const operations = session({ ...admin, isAdmin: false, staffRole: 'operations' });
    expect(await decide(operations, { userId: me })).toBe('no scope');
  });
});

describe('the right to decide on a payment', () => {
  const OWN = { code: 'INSUFFICIENT_PERMISSIONS', details: { reason: 'own_payment' } };

  test.each([
    { of: 'a session', caller: session(admin), role: 'member', remains: false },
    { of: 'a key', caller: asKey(me), role: 'member', remains: true },
    { of: 'a key', caller: asKey(me), role: 'owner', remains: false },
  ])(
    'of $of is checked again in the write after the person became $role (remains: $remains)',
    async ({ caller, role, remains }) => {
      const table = await tableWith();
      const right = await requireOthersPayment(table, { caller, record: { organizationId: ACME }, scope: SCOPE });
      expect((await table.transact(right.onlyIf)).ok).toBe(true);
      await right.requireStill();
      await table.put({ ...memberKey(ACME, me), role });
      expect((await table.transact(right.onlyIf)).ok).toBe(remains);
      if (remains) await right.requireStill();
      else await expect(right.requireStill()).rejects.toMatchObject(OWN);
    },
  );

  test('needs no write condition if a person, not an organization, owns the payment', async () => {
    const right = await requireOthersPayment(await tableWith(), {
      caller: session(admin),
      record: { userId: 'user_2' },
      scope: SCOPE,
    });
    expect(right.onlyIf).toEqual([]);
  });

  test('is refused with the reason own_payment for the caller’s own payment', async () => {
    const asked = { caller: session(admin), record: { userId: me }, scope: SCOPE } as const;
    await expect(requireOthersPayment(await tableWith(), asked)).rejects.toMatchObject(OWN);
  });
});
