import { expect, test } from 'vitest';
import { draw } from '../../infra/simulator/state/random.ts';
import { memberIdOf } from '../../shared/platform/keys.ts';
import { HOUR_SECONDS } from '../builders/seconds.ts';
import { itemsOf } from './flow.ts';
import { type TestAnswer, withHost } from './host.ts';
import {
  expectSound,
  newOrganization,
  newPerson,
  storedOrganizationOf,
  type UserWithEmail,
} from './organization-steps.ts';

/** Any two concurrent requests leave one owner, correct counts and no orphaned records. */
const service = withHost({ frozen: true });

const SEED = 3;
const ORGANIZATIONS = 100;
const RACES_EACH = 10;
const AT_ONCE = 8;
const ROLES = ['admin', 'billing', 'member'] as const;

interface Race {
  readonly id: string;
  readonly owner: UserWithEmail;
  readonly people: readonly UserWithEmail[];
  /** The next random number. */
  readonly next: () => number;
}

const among = <T>(items: readonly T[], next: () => number): T => {
  const item = items[Math.floor(next() * items.length)];
  if (item === undefined) throw new Error('nothing to choose from');
  return item;
};

const add = ({ id, owner, people, next }: Race) => {
  const body = { email: among(people, next).email, role: among(ROLES, next) };
  return service.post(`/organizations/${id}/members`, body, owner.options);
};
const leave = ({ id, people, next }: Race) =>
  service.post(`/organizations/${id}/leave`, {}, among(people, next).options);
const memberPath = ({ id, owner, people, next }: Race): string =>
  `/organizations/${id}/members/${memberIdOf(id, among([...people, ...people, owner], next).userId)}`;
const changeRole = (race: Race) => service.put(memberPath(race), { role: among(ROLES, race.next) }, race.owner.options);
const remove = (race: Race) => service.request('DELETE', memberPath(race), race.owner.options);
const rename = ({ id, owner }: Race) => service.put(`/organizations/${id}`, { name: 'Renamed' }, owner.options);
const deleteIt = ({ id, owner }: Race) => service.request('DELETE', `/organizations/${id}`, owner.options);

const ACTS = [add, add, changeRole, changeRole, leave, remove, rename];

/** Two or three concurrent requests about one organization and few people, so they conflict. */
const runRace = async (race: Race, isLast: boolean): Promise<TestAnswer[]> => {
  const acts = Array.from({ length: 2 + Math.floor(race.next() * 2) }, () => among(ACTS, race.next));
  const ends = isLast && race.next() < 0.5;
  return Promise.all([...acts, ...(ends ? [deleteIt] : [])].map((act) => act(race)));
};

test(`${ORGANIZATIONS * RACES_EACH} races of add, change role, leave, remove and delete end consistently`, async () => {
  const people = await Promise.all(Array.from({ length: 6 }, () => newPerson(service)));
  const owners = await Promise.all(Array.from({ length: 4 }, () => newPerson(service)));
  const tally = new Map<string, number>();
  const runOne = async (number: number): Promise<string> => {
    let draws = 0;
    const next = (): number => {
      draws += 1;
      return draw(SEED + number, draws);
    };
    const owner = among(owners, next);
    const id = await newOrganization(service, owner);
    const race = { id, owner, people: people.slice(number % 3, (number % 3) + 3), next };
    for (let round = 1; round <= RACES_EACH; round += 1) {
      for (const { status, body } of await runRace(race, round === RACES_EACH)) {
        const name = status < 300 ? String(status) : `${status} ${body.code}`;
        tally.set(name, (tally.get(name) ?? 0) + 1);
      }
    }
    return id;
  };
  const ids: string[] = [];
  for (let start = 0; start < ORGANIZATIONS; start += AT_ONCE) {
    const numbers = Array.from({ length: Math.min(AT_ONCE, ORGANIZATIONS - start) }, (_, index) => start + index);
    ids.push(...(await Promise.all(numbers.map(runOne))));
  }
  const expected = new Set([
    '200',
    '201',
    '400 ALREADY_MEMBER',
    '400 OWNER_IMMUTABLE',
    '403 ORGANIZATION_ACCESS_DENIED',
    '404 RESOURCE_NOT_FOUND',
  ]);
  expect([...tally.keys()].filter((name) => !expected.has(name))).toEqual([]);

  const items = await itemsOf(service, 'ORG#');
  const found = ids.map((id) => ({ id, ...storedOrganizationOf(items, id) }));
  const live = found.filter(({ organization }) => organization.deletedAt === undefined);
  for (const one of live) expectSound(one);
  expect(live.length / ORGANIZATIONS).toBeGreaterThan(0.3);
  expect(live.length / ORGANIZATIONS).toBeLessThan(0.7);

  await service.advance(27 * HOUR_SECONDS);
  const left = new Set((await itemsOf(service, 'ORG#')).map(({ pk }) => pk));
  expect([...left].sort()).toEqual(['ORG#org_demo', ...live.map(({ id }) => `ORG#${id}`)].sort());
}, 120_000);

test('50 adds of one user create one member, and 50 leaves end the membership once', async () => {
  const [owner, user] = [await newPerson(service), await newPerson(service)];
  const id = await newOrganization(service, owner);
  const atOnce = (act: () => Promise<TestAnswer>) => Promise.all(Array.from({ length: 50 }, act));
  const successes = (answers: readonly TestAnswer[]): number => answers.filter(({ status }) => status < 300).length;
  const body = { email: user.email, role: 'member' };
  const added = await atOnce(() => service.post(`/organizations/${id}/members`, body, owner.options));
  expect(successes(added)).toBe(1);
  expectSound(storedOrganizationOf(await itemsOf(service), id));
  const left = await atOnce(() => service.post(`/organizations/${id}/leave`, {}, user.options));
  expect(successes(left)).toBe(1);
  expectSound(storedOrganizationOf(await itemsOf(service), id));
});

test('20 concurrent deletes delete an organization once', async () => {
  const owner = await newPerson(service);
  const id = await newOrganization(service, owner);
  const answers = await Promise.all(
    Array.from({ length: 20 }, () => service.request('DELETE', `/organizations/${id}`, owner.options)),
  );
  const statuses = answers.map(({ status }) => status);
  expect(statuses.filter((status) => status === 200)).toHaveLength(1);
  expect(statuses.filter((status) => status === 404)).toHaveLength(19);
});
