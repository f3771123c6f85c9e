import { describe, expect, test } from 'vitest';
import type { IdentityUser } from '../../shared/access/identity.ts';
import {
  newMember,
  newOrganization,
  organizationOf,
  requireAssignable,
  requireChangeable,
} from '../../shared/organizations/organization.ts';
import { insertSteps } from '../../shared/organizations/organization-store.ts';
import { listMembers } from '../../shared/organizations/read-organizations.ts';
import type { Item } from '../../shared/platform/table.ts';

const AT = '2026-11-01T00:00:00.000Z';
const organization = newOrganization({ id: 'org_1', name: 'Acme', ownerUserId: 'user_o' }, AT);
const member = (userId: string, role: 'owner' | 'admin') => newMember({ organizationId: 'org_1', userId, role }, AT);

describe('the rules of memberships', () => {
  test.each([
    ['the owner if the caller is the owner', member('user_o', 'owner'), 'user_o', 'OWNER_IMMUTABLE'],
    ['the owner if the caller is another member', member('user_o', 'owner'), 'user_a', 'OWNER_IMMUTABLE'],
    ['the caller', member('user_a', 'admin'), 'user_a', 'CANNOT_CHANGE_SELF'],
  ])('refuse to change or remove %s', (...[_, target, callerId, code]) => {
    expect(() => requireChangeable(target, callerId)).toThrow(expect.objectContaining({ code }));
  });

  test('allow changes and removals of other members', () => {
    expect(() => requireChangeable(member('user_a', 'admin'), 'user_o')).not.toThrow();
  });

  test('refuse to assign the role owner', () => {
    expect(() => requireAssignable('owner')).toThrow(expect.objectContaining({ code: 'INVALID_ROLE' }));
    for (const role of ['admin', 'billing', 'member'] as const) expect(() => requireAssignable(role)).not.toThrow();
  });
});

describe('an organization’s stored item', () => {
  const [first] = insertSteps(organization);
  const item = first && 'put' in first ? first.put : {};

  test('is read back unchanged', () => {
    expect(organizationOf(item)).toEqual(organization);
  });

  test('is hidden from every caller after its deletion, even while its records remain', () => {
    expect(organizationOf({ ...item, deletedAt: AT })).toBeUndefined();
    expect(organizationOf({ id: 'org_1', createdAt: AT, deletedAt: AT })).toBeUndefined();
  });
});

describe('a page of members', () => {
  const members = ['user_o', 'user_a', 'user_gone'].map((userId) => member(userId, 'admin'));
  const rows: Item[] = members.map((test) => ({
    pk: `ORG#${test.organizationId}`,
    sk: `MEMBER#${test.id}`,
    sort: test.id,
  }));
  const table = {
    queryIndex: async () => ({ items: rows, next: undefined }),
    getMany: async () => members,
  };

  test('needs one call of the identity service, and shows a user unknown to that service', async () => {
    const calls: (readonly string[])[] = [];
    const users = async (ids: readonly string[]): Promise<readonly IdentityUser[]> => {
      calls.push(ids);
      return [{ id: 'user_a', email: 'a@example.com', name: 'Ann', last_name: null, picture: null }];
    };
    const request = { record: organization, query: { page: 1, limit: 20 } };
    const { data } = await listMembers(
      { table: table as never, identity: { users, looksUp: true } },
      request as Parameters<typeof listMembers>[1],
    );
    expect(calls).toEqual([['user_o', 'user_a', 'user_gone']]);
    const unknown = { user_name: '', user_last_name: '', user_email: '', user_picture: null };
    expect(data).toMatchObject([
      { user_id: 'user_o', ...unknown },
      { user_id: 'user_a', user_name: 'Ann', user_last_name: '', user_email: 'a@example.com', user_picture: null },
      { user_id: 'user_gone', ...unknown },
    ]);
  });
});
