import { describe, expect, test } from 'vitest';
import type { Caller } from '../../shared/access/caller.ts';
import type { Role } from '../../shared/access/permissions.ts';
import type { Standings } from '../../shared/access/standing.ts';
import { mayReadLogOf, requireSender } from '../../shared/webhooks/log-access.ts';
import { guest, session } from '../builders/api-request.ts';
import { refusalIn } from '../builders/refusal.ts';

type Standing = { readonly role: Role | undefined; readonly exists?: boolean };

/** Standings with this role in every organization. Cached reads fail, because a write must not use the cache. */
const standingsOf = ({ role, exists = true }: Standing): Standings => ({
  cached: () => Promise.reject(new Error('an event is sent by a standing that may be outdated')),
  consistent: async (_, organizationId) => ({ organizationId, exists, role }),
});

const send = (caller: Caller, organizationId: string | undefined, standing: Standing): Promise<void> =>
  requireSender({ standings: standingsOf(standing) }, caller, organizationId);

describe('a caller who may replay an event', () => {
  test.each(['owner', 'admin'] as const)('can be the %s of the event’s organization', async (role) => {
    await send(session(), 'org_1', { role });
  });

  test.each([
    [{ role: 'billing' }, 'INSUFFICIENT_PERMISSIONS'],
    [{ role: 'member' }, 'INSUFFICIENT_PERMISSIONS'],
    [{ role: undefined }, 'ORGANIZATION_ACCESS_DENIED'],
    [{ role: 'owner', exists: false }, 'ORGANIZATION_ACCESS_DENIED'],
  ] as const)('cannot have the standing %j', async (standing, code) => {
    expect((await refusalIn(send(session(), 'org_1', standing))).code).toBe(code);
  });

  test('can be a platform admin, even if the event has no organization', async () => {
    const admin = session({ isAdmin: true });
    await send(admin, 'org_1', { role: undefined });
    await send(admin, undefined, { role: undefined });
  });

  test('cannot be a user if the event has no organization, even for the user’s own event', async () => {
    expect(await refusalIn(send(session(), undefined, { role: 'owner' }))).toMatchObject({
      code: 'INSUFFICIENT_PERMISSIONS',
      details: { required: 'platform admin' },
    });
  });

  test('cannot be a guest', async () => {
    expect((await refusalIn(send(guest(), 'org_1', { role: 'owner' }))).code).toBe('AUTHENTICATION_REQUIRED');
  });
});

describe('the right to read an event’s log', () => {
  const reads = (caller: Caller, owner: Parameters<typeof mayReadLogOf>[1], role?: Role): Promise<boolean> =>
    mayReadLogOf(caller, owner, async (organizationId) => ({ organizationId, exists: true, role }));
  const OF_ORGANIZATION = { organizationId: 'org_1', userId: 'user_1' };

  test.each([
    ['the user of a personal event', session(), { organizationId: undefined, userId: 'user_1' }, undefined, true],
    ['another user', session({ userId: 'user_2' }), { organizationId: undefined, userId: 'user_1' }, undefined, false],
    ['a member of its organization', session({ userId: 'user_2' }), OF_ORGANIZATION, 'member', true],
    ['its user after leaving the organization', session(), OF_ORGANIZATION, undefined, false],
    ['a platform admin', session({ isAdmin: true }), OF_ORGANIZATION, undefined, true],
    ['a guest', guest(), { organizationId: undefined, userId: undefined }, undefined, false],
  ] as const)('is decided correctly for %s', async (...row) => {
    const [, caller, owner, role, expected] = row;
    expect(await reads(caller, owner, role)).toBe(expected);
  });
});
