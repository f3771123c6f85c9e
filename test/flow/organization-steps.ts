import { expect } from 'vitest';
import { DAY_SECONDS } from '../builders/seconds.ts';
import { itemsOf, signIn, type User } from './flow.ts';
import type { TestHost } from './host.ts';
import type { ParsedJson } from './routes.ts';

/** Steps that tests of organizations share. A refused step fails the test. */
export interface UserWithEmail extends User {
  readonly email: string;
}

let people = 0;

export const newPerson = async (service: TestHost, details: { name?: string; is_admin?: boolean } = {}) => {
  people += 1;
  const email = `member.${people}@example.com`;
  return {
    ...(await signIn(service, { email, expires_in: 300 * DAY_SECONDS, ...details })),
    email,
  } satisfies UserWithEmail;
};

export const newOrganization = async (service: TestHost, owner: User, name = 'Acme'): Promise<string> => {
  const made = await service.post('/organizations', { name }, owner.options);
  expect(made).toMatchObject({ status: 201, body: { success: true } });
  return made.body.data.id;
};

export const addMember = async (
  service: TestHost,
  owner: User,
  {
    organizationId,
    email,
    role = 'member',
  }: { readonly organizationId: string; readonly email: string; readonly role?: string },
): Promise<string> => {
  const added = await service.post(`/organizations/${organizationId}/members`, { email, role }, owner.options);
  expect(added).toMatchObject({ status: 201, body: { success: true } });
  return added.body.data.id;
};

/** An organization as it is stored, with its members. */
export const stored = async (service: TestHost, organizationId: string) =>
  storedOrganizationOf(await itemsOf(service), organizationId);

export const storedOrganizationOf = (items: readonly ParsedJson[], organizationId: string) => {
  const own = items.filter(({ pk }) => pk === `ORG#${organizationId}`);
  const organization = own.find(({ sk }) => sk === 'ORG');
  const members = own.filter(({ sk }) => sk !== 'ORG');
  return { organization, members };
};

/** Expects the invariants of an organization that has not been deleted. */
export const expectSound = ({ organization, members }: ReturnType<typeof storedOrganizationOf>): void => {
  const owners = members.filter(({ role }) => role === 'owner').map(({ userId }) => userId);
  expect(owners).toEqual([organization.ownerUserId]);
  for (const role of ['owner', 'admin', 'billing', 'member']) {
    const counted = organization[`members_${role}`];
    expect({ role, counted }).toEqual({ role, counted: members.filter((member) => member.role === role).length });
  }
  for (const member of members) expect(member.f.r).toBe(member.role);
};
