import { describe, expect, test } from 'vitest';
import { endpoints } from '../../functions/api/catalogue.ts';
import { mayAsMerchant, merchantScopesOf } from '../../shared/access/caller.ts';
import { SCOPES, STAFF_ROLES, scopesOfRole, scopesOfRoute } from '../../shared/access/scopes.ts';
import { guest, session } from '../builders/api-request.ts';

const key = { id: 'key_1', scopes: ['payments:read'], holders: ['user_9'] } as const;

describe('the scopes of a caller', () => {
  test('include every scope for a platform admin, and the role’s scopes for staff', () => {
    expect(merchantScopesOf(session({ isAdmin: true, staffRole: 'support' }))).toEqual(SCOPES);
    expect(merchantScopesOf(session({ staffRole: 'support' }))).toEqual(scopesOfRole('support'));
  });

  test('are the key’s scopes if the key acts for the merchant', () => {
    expect(merchantScopesOf({ kind: 'key', key })).toEqual(key.scopes);
    expect(mayAsMerchant({ kind: 'key', key }, 'payments:read')).toBe(true);
    expect(mayAsMerchant({ kind: 'key', key }, 'refunds:write')).toBe(false);
    expect(mayAsMerchant({ kind: 'key', key }, undefined)).toBe(false);
  });

  test.each([
    ['a user', session()],
    ['a key that acts for an admin', session({ isAdmin: true, staffRole: 'finance', key })],
    ['a key that acts for an organization', { kind: 'organization', organizationId: 'org_1', key }],
    ['a guest', guest()],
    ['a key that sends guest_data', guest({ byToken: false, key })],
    ['a caller without a credential', { kind: 'anonymous' }],
  ] as const)('are empty for %s', (_, caller) => {
    expect(merchantScopesOf(caller)).toEqual([]);
  });
});

describe('the scopes of the role', () => {
  test.each(STAFF_ROLES)('%s include neither a payer’s scope nor the scope for erasures', (role) => {
    const scopes = scopesOfRole(role);
    for (const denied of ['payments:write', 'methods:write', 'subscriptions:write', 'organizations:write'] as const) {
      expect(scopes).not.toContain(denied);
    }
    expect(scopes).not.toContain('admin:erasures');
  });
});

describe('the scopes of the routes', () => {
  const scoped = endpoints.filter(({ id }) => scopesOfRoute(id));

  test('exist for every route that requires a session, except GET /me and key management', () => {
    const without = endpoints.filter(({ id }) => !scopesOfRoute(id));
    const asking = without.filter(
      ({ auth }) => auth !== 'public' && auth !== 'provider-signature' && auth !== 'link-token',
    );
    expect(asking.filter(({ path }) => !path.startsWith('/admin/keys')).map(({ path }) => path)).toEqual(['/me']);
    expect(asking).toHaveLength(7);
  });

  test('include every scope', () => {
    const used = new Set(scoped.flatMap(({ id }) => Object.values(scopesOfRoute(id) ?? {})));
    expect(SCOPES.filter((scope) => !used.has(scope))).toEqual([]);
  });

  test('give the merchant no access to a route that creates a payer’s record', () => {
    const creates = scoped.filter(({ auth }) => auth === 'session-or-guest');
    expect(creates.length).toBeGreaterThan(5);
    expect(creates.filter(({ id }) => scopesOfRoute(id)?.merchant !== undefined)).toEqual([]);
  });

  test('name only existing routes as the lists of all owners’ records', () => {
    const lists = scoped.flatMap(({ id }) => scopesOfRoute(id)?.ownersList?.ofAll ?? []);
    const known = endpoints.map(({ method, path }) => `${method} ${path}`);
    expect(lists.length).toBeGreaterThan(5);
    expect(lists.filter((list) => !known.includes(list))).toEqual([]);
  });
});
