import { expect } from 'vitest';
import type { RequestOptions, TestHost } from '../host.ts';
import type { CallerName, Column } from './tables.ts';

/** Two organizations, their people, strangers and guests, and the makers of the records in every column. */
export interface MatrixFixtures {
  readonly organizationId: string;
  readonly anotherOrganizationId: string;
  readonly callers: Readonly<Record<CallerName, CallerCredentials>>;
  /** The user who may create a record in that column for that caller. */
  readonly makerOf: (caller: CallerName, column: Column) => RecordCreator;
  readonly userIdOf: (name: CallerName) => string;
}

/** The credential carriers of a caller; a session has three. */
export interface CallerCredentials {
  readonly carriers: readonly Carrier[];
  readonly guestData?: { readonly email: string; readonly name: string };
}

export interface Carrier {
  readonly name: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly query: Readonly<Record<string, string>>;
}

export interface RecordCreator {
  readonly options: RequestOptions;
  readonly fields: Readonly<Record<string, unknown>>;
}

interface Person {
  readonly userId: string;
  readonly email: string;
  readonly session: string;
  readonly token: string;
}

const carriersOf = (session: string, token: string): readonly Carrier[] => [
  { name: 'X-Session-ID', headers: { 'x-session-id': session }, query: {} },
  { name: 'Authorization', headers: { authorization: `Bearer ${token}` }, query: {} },
  { name: 'session_id', headers: {}, query: { session_id: session } },
];

const plain = (name: string, headers: Readonly<Record<string, string>> = {}): readonly Carrier[] => [
  { name, headers, query: {} },
];

const PEOPLE = [
  'user without organization',
  'member',
  'billing',
  'admin',
  'owner',
  'owner of another organization',
  'platform admin',
] as const;
type PersonName = (typeof PEOPLE)[number];

const isPerson = (name: CallerName): name is PersonName => PEOPLE.some((person) => person === name);

export const createMatrixFixtures = async (service: TestHost): Promise<MatrixFixtures> => {
  const person = async (name: string, isAdmin = false, expiresIn?: number): Promise<Person> => {
    const email = `${name.replaceAll(/\W/g, '.')}@example.com`;
    const session = await service.session({
      email,
      ...(isAdmin && { is_admin: true }),
      ...(expiresIn !== undefined && { expires_in: expiresIn }),
    });
    return { userId: session.user_id, email, session: session.session_id, token: session.token };
  };
  const named = await Promise.all(
    PEOPLE.map(async (name) => [name, await person(name, name === 'platform admin')] as const),
  );
  const people = Object.fromEntries(named) as Record<PersonName, Person>;
  const stranger = await person('stranger');
  const expired = await person('expired', false, 1);
  await service.advance(2);
  const organizationId = await createStaffedOrganization(service, people.owner, people);
  const anotherOrganizationId = await createStaffedOrganization(
    service,
    people['owner of another organization'],
    undefined,
  );
  const [guest, otherGuest] = await Promise.all([
    guestOf(service, 'gina@example.com'),
    guestOf(service, 'otto@example.com'),
  ]);

  const callers: Record<CallerName, CallerCredentials> = {
    anonymous: { carriers: plain('no credential') },
    'bad session': { carriers: carriersOf('no-such-session', 'no-such-token') },
    'expired session': { carriers: carriersOf(expired.session, expired.token) },
    guest_data: { carriers: plain('guest_data'), guestData: { email: 'gina@example.com', name: 'Gina' } },
    "other's guest_data": { carriers: plain('guest_data'), guestData: { email: 'otto@example.com', name: 'Otto' } },
    'own guest token': { carriers: plain('X-Guest-Token', { 'x-guest-token': guest }) },
    "other's guest token": { carriers: plain('X-Guest-Token', { 'x-guest-token': otherGuest }) },
    ...(Object.fromEntries(
      PEOPLE.map((name) => [name, { carriers: carriersOf(people[name].session, people[name].token) }]),
    ) as Record<PersonName, CallerCredentials>),
  };

  const makerOf = (caller: CallerName, column: Column): RecordCreator => {
    const by = (session: string, fields = {}): RecordCreator => ({ options: { session }, fields });
    switch (column) {
      case 'own':
        return by(isPerson(caller) ? people[caller].session : stranger.session);
      case "another's":
        return by(stranger.session);
      case 'organization':
        return by(people.owner.session, { organization_id: organizationId });
      case 'another organization':
        return by(people['owner of another organization'].session, { organization_id: anotherOrganizationId });
      case 'guest':
        return { options: { guestToken: guest }, fields: {} };
    }
  };
  const userIdOf = (name: CallerName): string => (isPerson(name) ? people[name].userId : stranger.userId);
  return { organizationId, anotherOrganizationId, callers, makerOf, userIdOf };
};

/** Creates an organization of the owner. If people are given, the organization has a member in every other role. */
export const createStaffedOrganization = async (
  service: TestHost,
  owner: Pick<Person, 'session'>,
  people: Readonly<Partial<Record<PersonName, Pick<Person, 'email'>>>> | undefined,
): Promise<string> => {
  const made = await service.post('/organizations', { name: 'Acme' }, { session: owner.session });
  expect(made).toMatchObject({ status: 201 });
  const { id } = made.body.data;
  for (const role of ['member', 'billing', 'admin'] as const) {
    const email = people?.[role]?.email;
    if (email === undefined) continue;
    const added = await service.post(`/organizations/${id}/members`, { email, role }, { session: owner.session });
    expect(added.status).toBe(201);
  }
  return id;
};

/** A guest token for that e-mail. */
const guestOf = async (service: TestHost, email: string): Promise<string> => {
  const made = await service.post('/payments/intents', {
    total_cents: 100,
    currency: 'USD',
    guest_data: { email, name: 'Guest' },
  });
  expect(made).toMatchObject({ status: 201 });
  return made.body.guest_token;
};
