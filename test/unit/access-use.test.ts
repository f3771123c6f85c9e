import { describe, expect, test } from 'vitest';
import type { Caller } from '../../shared/access/caller.ts';
import { chargeableIf, mayCharge, payingOwners, requireMayCharge } from '../../shared/access/may-charge.ts';
import type { Owned } from '../../shared/access/record-kind.ts';
import { guest, session } from '../builders/api-request.ts';
import { memoryTable } from '../builders/memory-table.ts';

const CALLERS: Readonly<Record<string, Caller>> = {
  'user 1': session({ userId: 'user_1' }),
  'user 2': session({ userId: 'user_2' }),
  'an admin': session({ userId: 'user_9', isAdmin: true }),
  'guest 1': guest({ guestId: 'gst_1', email: 'ada@example.com' }),
  anonymous: { kind: 'anonymous' },
};
const OWNERS: Readonly<Record<string, Owned>> = {
  'user 1': { userId: 'user_1' },
  'user 2': { userId: 'user_2' },
  'organization 1': { organizationId: 'org_1' },
  'organization 2': { organizationId: 'org_2' },
  'guest 1': { guestId: 'gst_1', guestEmail: 'ada@example.com' },
  'guest 2': { guestId: 'gst_2', guestEmail: 'ada@example.com' },
  'no owner': {},
};
/** The owners of the payment. An organization's payment may also name the user who made it. */
const PAYERS: Readonly<Record<string, Owned>> = {
  ...OWNERS,
  'organization 1, by user 2': { organizationId: 'org_1', userId: 'user_2' },
};

/** The methods that each caller may charge for each payer. All other charges are refused. */
const ALLOWED: readonly (readonly [caller: string, payer: string, methods: readonly string[]])[] = [
  ['user 1', 'user 1', ['user 1']],
  ['user 2', 'user 2', ['user 2']],
  ...Object.keys(CALLERS).flatMap((caller) =>
    ['organization 1', 'organization 2', 'organization 1, by user 2'].map((payer) => {
      const own = caller.startsWith('user') ? [caller] : [];
      return [caller, payer, [payer.slice(0, 'organization 1'.length), ...own]] as const;
    }),
  ),
  ...Object.keys(CALLERS).flatMap((caller) => ['guest 1', 'guest 2'].map((payer) => [caller, payer, [payer]] as const)),
];

const allows = (caller: string, payer: string, method: string): boolean =>
  ALLOWED.some(([who, pays, methods]) => who === caller && pays === payer && methods.includes(method));

const cells = Object.entries(CALLERS).flatMap(([caller, who]) =>
  Object.entries(PAYERS).flatMap(([payer, pays]) =>
    Object.entries(OWNERS).map(([method, owner]) => ({ caller, who, payer, pays, method, owner })),
  ),
);

describe('the rule for using a payment method', () => {
  test.each(cells)(
    'decides whether $caller may charge $method’s method for payer $payer',
    ({ who, pays, owner, ...names }) => {
      const expected = allows(names.caller, names.payer, names.method);
      const owners = payingOwners(who, pays);
      expect(mayCharge(owners, owner)).toBe(expected);
      if (expected) requireMayCharge(owners, owner);
      else
        expect(() => requireMayCharge(owners, owner)).toThrow(
          expect.objectContaining({ code: 'INSUFFICIENT_PERMISSIONS' }),
        );
    },
  );

  test('gives the same result as the condition on the stored method', async () => {
    for (const { who, pays, owner } of cells) {
      const owners = payingOwners(who, pays);
      if (owners.length === 0) continue;
      const { table } = memoryTable({ now: () => 0 });
      await table.put({ pk: 'PM#1', sk: 'PM', ...owner });
      const { ok } = await table.update({ pk: 'PM#1', sk: 'PM' }, { set: { seen: true } }, chargeableIf(owners));
      expect([pays, owner, ok]).toEqual([pays, owner, mayCharge(owners, owner)]);
    }
  });

  test('does not let a user charge an organization’s method, even if the method names the user', async () => {
    const { table } = memoryTable({ now: () => 0 });
    await table.put({ pk: 'PM#1', sk: 'PM', organizationId: 'org_1', userId: 'user_1' });
    const condition = chargeableIf([{ userId: 'user_1' }]);
    expect((await table.update({ pk: 'PM#1', sk: 'PM' }, { set: { seen: true } }, condition)).ok).toBe(false);
  });

  test('refuses a deleted method', async () => {
    const { table } = memoryTable({ now: () => 0 });
    await table.put({ pk: 'PM#1', sk: 'PM', tombstone: true, userId: 'user_1' });
    const condition = chargeableIf([{ userId: 'user_1' }]);
    expect((await table.update({ pk: 'PM#1', sk: 'PM' }, { set: { seen: true } }, condition)).ok).toBe(false);
    expect((await table.update({ pk: 'PM#2', sk: 'PM' }, { set: { seen: true } }, condition)).ok).toBe(false);
  });
});
