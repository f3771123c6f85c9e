import { describe, expect, test } from 'vitest';
import {
  type Action,
  decideAccess,
  decideScope,
  decideShowing,
  effectiveOrganization,
  mayReadUser,
  standingRefusal,
} from '../../shared/access/access.ts';
import { type Caller, principalOf } from '../../shared/access/caller.ts';
import { PERMISSIONS, type Permission, ROLES, type Role } from '../../shared/access/permissions.ts';
import { type Owned, ownerFor, type RecordKind } from '../../shared/access/record-kind.ts';
import type { RouteScopes } from '../../shared/access/scopes.ts';
import { organizationCheck, type Standing, standingOf } from '../../shared/access/standing.ts';
import { organizationKey } from '../../shared/platform/keys.ts';
import { guest, session } from '../builders/api-request.ts';

/** The interface's table of roles and permissions in an organization. */
const MAY: Readonly<Record<Permission, readonly Role[]>> = {
  canManagePayments: ['owner', 'admin', 'billing'],
  canManageSubscriptions: ['owner', 'admin', 'billing'],
  canManagePaymentMethods: ['owner', 'admin', 'billing'],
  canManageAddresses: ['owner', 'admin', 'billing'],
  canManageMembers: ['owner', 'admin'],
  canDeleteOrganization: ['owner'],
};
const permissions = Object.keys(MAY) as readonly Permission[];

describe('the permissions of organization roles', () => {
  test.each(permissions)('grant %s to the documented roles', (permission) => {
    expect(ROLES.filter((role) => PERMISSIONS[role].has(permission))).toEqual(MAY[permission]);
  });

  test('are named as in the documentation', () => {
    const held = new Set(ROLES.flatMap((role) => [...PERMISSIONS[role]]));
    expect([...held].toSorted()).toEqual(permissions.toSorted());
  });
});

type Rule = RecordKind['rule'];
const kind = (rule: Rule = 'owned') => ({ resource: 'payment', rule, readScope: 'payments:read' as const });
/** The scopes of a route that the merchant may use on every record, such as cancel. */
const OPEN_TO_MERCHANT = { merchant: 'payments:operate', payer: 'payments:write' } as const;
const FOR_MERCHANT = { merchant: 'refunds:write' } as const;
const standing = (role: Role | undefined, organizationId = 'org_1', exists = true): Standing => ({
  organizationId,
  exists,
  role,
});
const GONE = standing(undefined, 'org_1', false);

interface Asked {
  readonly record: Owned;
  readonly standing?: Standing;
  readonly rule?: Rule;
  readonly scopes?: RouteScopes;
}

/** The decision as text: the access, the refusal's code, or `ask` and the organization whose standing is needed. */
const verdict = (caller: Caller, action: Action, { rule, ...asked }: Asked) => {
  const found = decideAccess(action, { caller, kind: kind(rule), ...asked });
  switch (found.kind) {
    case 'granted':
      if (found.asAdmin) return 'as admin';
      return found.canWrite ? 'change' : 'read';
    case 'refused':
      return found.error.code;
    case 'needs standing':
      return `ask ${found.organizationId}`;
  }
};

const me = session();
const admin = session({ userId: 'user_9', isAdmin: true });
const mine: Owned = { userId: 'user_1' };
const theirs: Owned = { userId: 'user_2' };
const ofOrg: Owned = { userId: 'user_2', organizationId: 'org_1' };
const mineInOrg: Owned = { userId: 'user_1', organizationId: 'org_1' };
const ofGuest: Owned = { guestId: 'gst_1', guestEmail: 'ada@example.com' };

describe('a user’s record', () => {
  test('can be read and changed by its user', () => {
    expect(verdict(me, 'read', { record: mine })).toBe('change');
    expect(verdict(me, 'canManagePayments', { record: mine })).toBe('change');
  });

  test.each([
    ['another user', me],
    ['a guest by token', guest()],
    ['an anonymous caller', { kind: 'anonymous' } as const],
  ])('does not exist for %s', (_, caller) => {
    expect(verdict(caller, 'read', { record: theirs })).toBe('RESOURCE_NOT_FOUND');
    expect(verdict(caller, 'canManagePayments', { record: theirs })).toBe('RESOURCE_NOT_FOUND');
  });

  test('is refused to every user if it has no owner', () => {
    expect(verdict(me, 'read', { record: {} })).toBe('RESOURCE_NOT_FOUND');
    expect(verdict(session({ userId: '' }), 'read', { record: { userId: undefined } })).toBe('RESOURCE_NOT_FOUND');
  });
});

describe('an organization’s record', () => {
  test('requires the caller’s standing in the record’s organization', () => {
    expect(verdict(me, 'read', { record: ofOrg })).toBe('ask org_1');
    expect(verdict(me, 'read', { record: ofOrg, standing: standing('owner', 'org_2') })).toBe('ask org_1');
    expect(verdict(me, 'canManagePayments', { record: mineInOrg })).toBe('ask org_1');
  });

  test.each(ROLES)('can be read by its %s, and changed if the role allows it', (role) => {
    const expected = MAY.canManagePayments.includes(role) ? 'change' : 'read';
    expect(verdict(me, 'read', { record: ofOrg, standing: standing(role) })).toBe(expected);
  });

  test.each(ROLES.flatMap((role) => permissions.map((permission) => [role, permission] as const)))(
    'gives its %s the permission %s as the role table says, regardless of who created the record',
    (role, permission) => {
      const expected = MAY[permission].includes(role) ? 'change' : 'INSUFFICIENT_PERMISSIONS';
      expect(verdict(me, permission, { record: ofOrg, standing: standing(role) })).toBe(expected);
      expect(verdict(me, permission, { record: mineInOrg, standing: standing(role) })).toBe(expected);
    },
  );

  test.each(ROLES)('allows an owner-only action only in the role owner: %s', (role) => {
    const expected = role === 'owner' ? 'change' : 'INSUFFICIENT_PERMISSIONS';
    expect(verdict(me, 'owner only', { record: ofOrg, standing: standing(role), rule: 'organization' })).toBe(expected);
  });

  test('refuses former members and other non-members', () => {
    expect(verdict(me, 'read', { record: ofOrg, standing: standing(undefined) })).toBe('ORGANIZATION_ACCESS_DENIED');
    expect(verdict(me, 'canManagePayments', { record: ofOrg, standing: standing(undefined) })).toBe(
      'ORGANIZATION_ACCESS_DENIED',
    );
  });

  test('can be read, but not changed, by the former member who created it', () => {
    expect(verdict(me, 'read', { record: mineInOrg, standing: standing(undefined) })).toBe('read');
    expect(verdict(me, 'canManagePayments', { record: mineInOrg, standing: standing(undefined) })).toBe(
      'ORGANIZATION_ACCESS_DENIED',
    );
  });

  test('stays readable to the record’s creator and to platform admins after the organization is deleted, and no caller may change it', () => {
    expect(verdict(me, 'read', { record: mineInOrg, standing: GONE })).toBe('read');
    expect(verdict(admin, 'read', { record: ofOrg, standing: GONE })).toBe('as admin');
    expect(verdict(me, 'read', { record: ofOrg, standing: GONE })).toBe('ORGANIZATION_ACCESS_DENIED');
    const owner = { ...GONE, role: 'owner' as const };
    for (const action of [...permissions, 'owner only'] as const) {
      expect(verdict(me, action, { record: mineInOrg, standing: owner })).toBe('ORGANIZATION_ACCESS_DENIED');
      expect(verdict(admin, action, { record: mineInOrg, standing: owner })).toBe('INSUFFICIENT_PERMISSIONS');
    }
  });

  test('does not exist for guests', () => {
    expect(verdict(guest(), 'read', { record: { ...ofGuest, organizationId: 'org_1', guestId: 'gst_2' } })).toBe(
      'RESOURCE_NOT_FOUND',
    );
  });
});

describe('a guest’s record', () => {
  test('belongs to the holder of a token with its guest_id and e-mail', () => {
    expect(verdict(guest(), 'read', { record: ofGuest })).toBe('change');
    expect(verdict(guest(), 'canManagePayments', { record: ofGuest })).toBe('change');
  });

  test('belongs to a request that proves its guest_id with its e-mail', () => {
    const proving = guest({ byToken: false, guestId: 'gst_9', proven: ['gst_9', 'gst_1'] });
    expect(verdict(proving, 'canManagePayments', { record: ofGuest })).toBe('change');
    expect(verdict(proving, 'canManagePayments', { record: { guestEmail: 'ada@example.com' } })).toBe(
      'RESOURCE_NOT_FOUND',
    );
  });

  test.each([
    ['a guest with the same e-mail and another guest_id', guest({ guestId: 'gst_2' })],
    ['a guest with the same guest_id and another e-mail', guest({ email: 'eve@example.com' })],
    ['a guest who only names the e-mail', guest({ byToken: false })],
    ['a guest who proves another guest_id', guest({ byToken: false, proven: ['gst_2'] })],
    [
      'a guest who proves the guest_id with another e-mail',
      guest({ byToken: false, email: 'eve@example.com', proven: ['gst_1'] }),
    ],
    ['a user', me],
    ['an anonymous caller', { kind: 'anonymous' } as const],
  ])('does not exist for %s', (_, caller) => {
    expect(verdict(caller, 'read', { record: ofGuest })).toBe('RESOURCE_NOT_FOUND');
    expect(verdict(caller, 'canManagePayments', { record: ofGuest })).toBe('RESOURCE_NOT_FOUND');
  });
});

describe('a platform admin', () => {
  const ofOthers: readonly [string, Owned, Standing | undefined][] = [
    ['another user’s record', theirs, undefined],
    ['a guest’s record', ofGuest, undefined],
    ['an organization’s record', ofOrg, standing(undefined)],
    ['a deleted organization’s record', ofOrg, GONE],
    ['a record without an owner', {}, undefined],
  ];
  const given = (known: Standing | undefined) => (known ? { standing: known } : {});

  test.each(ofOthers)('reads %s, but never as its payer', (_, record, known) => {
    expect(verdict(admin, 'read', { record, ...given(known) })).toBe('as admin');
  });

  test.each(ofOthers)('may perform on %s only the actions declared for platform admins', (_, record, known) => {
    for (const action of [...permissions, 'owner only'] as const) {
      expect(verdict(admin, action, { record, ...given(known) })).toBe('INSUFFICIENT_PERMISSIONS');
      expect(verdict(admin, action, { record, ...given(known), scopes: OPEN_TO_MERCHANT })).toBe('as admin');
    }
  });

  test('is an ordinary owner of their own record, and an ordinary member of their own organization', () => {
    const own: Owned = { userId: 'user_9' };
    expect(verdict(admin, 'read', { record: own })).toBe('change');
    expect(verdict(admin, 'canManagePayments', { record: own, scopes: OPEN_TO_MERCHANT })).toBe('change');
    expect(verdict(admin, 'canManagePayments', { record: ofOrg, standing: standing('billing') })).toBe('change');
    expect(verdict(admin, 'read', { record: ofOrg, standing: standing('member') })).toBe('read');
    expect(verdict(admin, 'canManagePayments', { record: ofOrg, standing: standing('member') })).toBe(
      'INSUFFICIENT_PERMISSIONS',
    );
  });

  test('is the only caller who may perform admin actions, also on their own record', () => {
    for (const record of [theirs, ofGuest, ofOrg, { userId: 'user_9' }]) {
      expect(verdict(admin, 'merchant', { record, scopes: FOR_MERCHANT })).toBe('as admin');
    }
    for (const caller of [me, guest(), { kind: 'anonymous' } as const]) {
      expect(verdict(caller, 'merchant', { record: mine, scopes: FOR_MERCHANT })).toBe('ADMIN_REQUIRED');
    }
  });

  test.each([
    ['a user', me],
    ['a guest', guest()],
    ['an anonymous caller', { kind: 'anonymous' } as const],
  ])('may perform the actions opened to admins on another owner’s record, unlike %s', (_, caller) => {
    expect(verdict(caller, 'canManagePayments', { record: theirs, scopes: OPEN_TO_MERCHANT })).toBe(
      'RESOURCE_NOT_FOUND',
    );
  });

  const scope = (caller: Caller, action: Exclude<Action, 'merchant'>, known: Standing) => {
    const found = decideScope(action, { caller, standing: known, scopes: { merchant: 'payments:read' } });
    return found.kind === 'refused' ? found.error.code : found.asAdmin ? 'as admin' : 'granted';
  };

  test('reads the lists of every organization, and creates records only in their own', () => {
    expect(scope(admin, 'read', standing(undefined))).toBe('as admin');
    expect(scope(admin, 'read', GONE)).toBe('as admin');
    expect(scope(admin, 'read', standing('member'))).toBe('granted');
    expect(scope(admin, 'canManagePayments', standing('billing'))).toBe('granted');
    expect(scope(admin, 'canManagePayments', standing(undefined))).toBe('INSUFFICIENT_PERMISSIONS');
    expect(scope(admin, 'canManagePayments', GONE)).toBe('ORGANIZATION_ACCESS_DENIED');
    expect(scope(me, 'read', standing(undefined))).toBe('ORGANIZATION_ACCESS_DENIED');
  });

  test('reads the records of any user, while a user reads only their own', () => {
    expect([
      mayReadUser(admin, 'user_2', 'subscriptions:read'),
      mayReadUser(me, 'user_1', 'subscriptions:read'),
    ]).toEqual([true, true]);
    expect([
      mayReadUser(me, 'user_2', 'subscriptions:read'),
      mayReadUser(guest(), 'user_2', 'subscriptions:read'),
    ]).toEqual([false, false]);
  });
});

describe('a project', () => {
  const inOrg = { rule: 'project' } as const;

  test('can be named by its owner in any role', () => {
    expect(verdict(me, 'canManagePayments', { record: mineInOrg, ...inOrg, standing: standing('member') })).toBe(
      'change',
    );
    expect(verdict(me, 'canManagePayments', { record: mineInOrg, ...inOrg })).toBe('change');
  });

  test('can be named by payment managers of its organization, and by no other user', () => {
    expect(verdict(me, 'canManagePayments', { record: ofOrg, ...inOrg, standing: standing('billing') })).toBe('change');
    expect(verdict(me, 'canManagePayments', { record: ofOrg, ...inOrg, standing: standing('member') })).toBe(
      'INSUFFICIENT_PERMISSIONS',
    );
    expect(verdict(me, 'canManagePayments', { record: ofOrg, ...inOrg, standing: standing(undefined) })).toBe(
      'INSUFFICIENT_PERMISSIONS',
    );
    expect(verdict(me, 'canManagePayments', { record: ofOrg, ...inOrg })).toBe('ask org_1');
    for (const record of [theirs, {}]) {
      expect(verdict(me, 'canManagePayments', { record, ...inOrg })).toBe('INSUFFICIENT_PERMISSIONS');
    }
  });

  test('cannot be named by platform admins or guests, or by any caller after its organization’s deletion', () => {
    for (const caller of [guest(), guest({ byToken: false })]) {
      expect(verdict(caller, 'canManagePayments', { record: ofOrg, ...inOrg })).toBe('INSUFFICIENT_PERMISSIONS');
    }
    expect(verdict(admin, 'canManagePayments', { record: theirs, ...inOrg })).toBe('INSUFFICIENT_PERMISSIONS');
    const gone = { ...GONE, role: 'owner' as const };
    expect(verdict(me, 'canManagePayments', { record: ofOrg, ...inOrg, standing: gone })).toBe(
      'INSUFFICIENT_PERMISSIONS',
    );
    expect(verdict({ kind: 'anonymous' }, 'read', { record: ofOrg, ...inOrg })).toBe('RESOURCE_NOT_FOUND');
  });
});

describe('an included record', () => {
  const shown = (
    caller: Caller,
    rule: Rule,
    { record, standing: known, guestsRead }: { record: Owned; standing?: Standing; guestsRead?: true },
  ) =>
    decideShowing({
      caller,
      kind: { ...kind(rule), ...(guestsRead && { guestsRead }) },
      record,
      standing: known,
    }).kind;

  test('is shown to callers who may read it on its own route', () => {
    expect(shown(me, 'owned', { record: mine })).toBe('granted');
    expect(shown(me, 'owned', { record: theirs })).toBe('refused');
    expect(shown(me, 'owned', { record: ofOrg })).toBe('needs standing');
    expect(shown(me, 'owned', { record: ofOrg, standing: standing('member') })).toBe('granted');
    expect(shown(me, 'organization', { record: { organizationId: 'org_1' }, standing: standing(undefined) })).toBe(
      'refused',
    );
    expect(shown(admin, 'owned', { record: ofOrg, standing: standing(undefined) })).toBe('granted');
  });

  test('is shown to a guest if its route accepts a guest token', () => {
    expect(shown(guest(), 'owned', { record: ofGuest, guestsRead: true })).toBe('granted');
    expect(shown(guest(), 'owned', { record: ofGuest })).toBe('refused');
    expect(shown(guest({ guestId: 'gst_2' }), 'owned', { record: ofGuest, guestsRead: true })).toBe('refused');
  });

  test.each(['project', 'open'] as const)(
    'is shown in full under the rule %s to its owner, members and platform admins',
    (rule) => {
      expect(shown(me, rule, { record: mine })).toBe('granted');
      expect(shown(admin, rule, { record: ofOrg })).toBe('granted');
      expect(shown(me, rule, { record: ofOrg })).toBe('needs standing');
      for (const role of ROLES) expect(shown(me, rule, { record: ofOrg, standing: standing(role) })).toBe('granted');
      expect(shown(me, rule, { record: ofOrg, standing: standing(undefined) })).toBe('refused');
      expect(shown(me, rule, { record: ofOrg, standing: GONE })).toBe('refused');
      expect(shown(me, rule, { record: {} })).toBe('refused');
      expect(shown(guest(), rule, { record: ofOrg })).toBe('refused');
    },
  );
});

test('every caller can name an open record, and no caller can change it', () => {
  for (const caller of [me, admin, guest(), { kind: 'anonymous' } as const]) {
    expect(verdict(caller, 'canManagePayments', { record: { organizationId: 'org_2' }, rule: 'open' })).toBe('read');
  }
});

describe('a standing in an organization', () => {
  test('follows the membership record of an active organization', () => {
    expect(standingOf('org_1', {}, { role: 'billing' })).toEqual(standing('billing'));
    expect(standingOf('org_1', {}, undefined)).toEqual(standing(undefined));
    expect(standingOf('org_1', {}, { role: 'root' })).toEqual(standing(undefined));
    expect(standingOf('org_1', undefined, { role: 'owner' })).toMatchObject({ exists: false });
    expect(standingOf('org_1', { deletedAt: '2026-03-10' }, { role: 'owner' })).toMatchObject({ exists: false });
  });

  test('needs a write condition that the organization exists, but only if an organization owns the record', () => {
    expect(organizationCheck({ organizationId: 'org_1' })).toEqual([
      { check: organizationKey('org_1'), if: [{ exists: true }, { lacks: 'deletedAt' }] },
    ]);
    expect(organizationCheck({})).toEqual([]);
  });

  test('is refused with the required role or permission', () => {
    expect(standingRefusal(standing('billing'), 'canManageMembers')).toMatchObject({
      code: 'INSUFFICIENT_PERMISSIONS',
      details: { role: 'billing', permission: 'canManageMembers' },
    });
    expect(standingRefusal(standing('admin'), 'owner only')).toMatchObject({
      code: 'INSUFFICIENT_PERMISSIONS',
      details: { role: 'admin', required_role: 'owner' },
    });
    expect(standingRefusal(standing(undefined), 'read')?.code).toBe('ORGANIZATION_ACCESS_DENIED');
    expect(standingRefusal(GONE, 'read')?.code).toBe('ORGANIZATION_ACCESS_DENIED');
    expect(standingRefusal(standing('member'), 'read')).toBeUndefined();
  });
});

describe('the organization of a new record', () => {
  const inOrg = session({ organizationId: 'org_s' });

  test.each<[string, Caller, string | null | undefined, boolean, string | undefined]>([
    ['is the organization that the request names', inOrg, 'org_r', true, 'org_r'],
    ['is the session’s organization if the request names none', inOrg, undefined, true, 'org_s'],
    ['is absent if the request says null', inOrg, null, true, undefined],
    ['is absent if the request has an empty string', inOrg, '', true, undefined],
    ['is absent if an omitted field means personal', inOrg, undefined, false, undefined],
    ['is the named organization, even if an omitted field means personal', inOrg, 'org_r', false, 'org_r'],
    ['is absent for a session without an organization', me, undefined, true, undefined],
    ['is absent for a guest', guest(), undefined, true, undefined],
  ])('%s', (...[_, caller, named, implied, expected]) => {
    expect(effectiveOrganization(caller, named, implied)).toBe(expected);
  });

  test('decides the record’s owner', () => {
    expect(ownerFor(me, 'org_1')).toEqual({ kind: 'organization', organizationId: 'org_1' });
    expect(ownerFor(me, undefined)).toEqual({ kind: 'user', userId: 'user_1' });
    expect(ownerFor(guest(), undefined)).toEqual({ kind: 'guest', email: 'ada@example.com', guestId: 'gst_1' });
    expect(ownerFor({ kind: 'anonymous' }, undefined)).toBeUndefined();
  });
});

test('a caller is identified by user, else by a proven guest_id, else by e-mail', () => {
  const callers: readonly Caller[] = [me, guest(), guest({ byToken: false }), { kind: 'anonymous' }];
  expect(callers.map(principalOf)).toEqual(['user:user_1', 'guest:gst_1', 'email:ada@example.com', 'anonymous']);
});
