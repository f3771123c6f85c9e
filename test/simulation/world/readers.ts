/** @module Reads of all people. */
import type { Person } from '../model/history.ts';
import type { Kind } from './knowledge.ts';
import { choose, type Scene, sameAgain, type WorldOperation } from './operation.ts';
import { ADA, GUESTS, PEOPLE, PROJECT, ROOT } from './people.ts';

const INCLUDES = 'payment_method,organization,subscription,product,project,order';

interface Read {
  readonly path: string;
  readonly asCsv?: boolean;
  readonly query?: Readonly<Record<string, string>>;
}

type Reader = (scene: Scene, person: Person) => Read | undefined;

const one =
  (kind: Kind, base: string, tail = ''): Reader =>
  (scene, person) => {
    const found = choose(scene, { kind, person: person.name });
    return found && { path: `${base}/${found.id}${tail}` };
  };

/** Lists also available as CSV. */
const TABLES: ReadonlySet<string> = new Set(['/payments', '/payments/summary']);

const list =
  (path: string, query: Readonly<Record<string, string>> = {}): Reader =>
  (scene, person) => {
    const organization = scene.prng.chance(0.4)
      ? choose(scene, { kind: 'organization', person: person.name })
      : undefined;
    const isTable = TABLES.has(path) && scene.prng.chance(0.2);
    return {
      path,
      query: { ...query, ...(organization && { organization_id: organization.id }) },
      ...(isTable && { asCsv: true }),
    };
  };

const READERS: readonly Reader[] = [
  (scene, person) => {
    const read = one('payment', '/payments')(scene, person);
    return read && { ...read, query: { include: INCLUDES } };
  },
  one('payment', '/payments'),
  one('payment', '/payments', '/timeline'),
  one('payment', '/payments', '/refunds'),
  one('payment', '/payments', '/disputes'),
  one('method', '/payment-methods'),
  one('customer', '/customers'),
  one('subscription', '/subscriptions'),
  one('subscription', '/subscriptions', '/timeline'),
  one('refund', '/refunds'),
  one('organization', '/organizations'),
  one('organization', '/organizations', '/members'),
  list('/payments', { include: 'payment_method', limit: '50' }),
  list('/payments', { limit: '2' }),
  list('/payments/summary'),
  list('/payment-methods'),
  list('/customers'),
  list('/subscriptions', { include_pm: 'true', include_projects: 'true' }),
  list('/addresses'),
  one('address', '/addresses'),
  (scene, person) => {
    const organization = choose(scene, { kind: 'organization', person: person.name });
    const isTheirs = organization === undefined || scene.prng.chance(0.4);
    const entity = isTheirs
      ? { entity_type: 'user', entity_id: scene.prng.pick(scene.users).userId }
      : { entity_type: 'organization', entity_id: organization.id };
    return { path: '/memberships', query: entity };
  },
  list('/webhooks/logs'),
  one('log entry', '/webhooks/logs'),
  list('/organizations'),
];

const read: WorldOperation = {
  name: 'read',
  weight: 7,
  plan: (scene) => {
    const person = scene.prng.pick(PEOPLE);
    const found = scene.prng.pick(READERS)(scene, person);
    return found && { kind: 'request', person, method: 'GET', ...found };
  },
};

/** Reads a list that needs no credential. */
const readGuestList: WorldOperation = {
  name: 'read the list of a guest',
  weight: 2,
  plan: ({ prng }) => ({
    kind: 'request',
    person: prng.pick(PEOPLE),
    method: 'GET',
    path: `/${prng.pick(['payments', 'subscriptions'])}/guest/${encodeURIComponent(prng.pick(GUESTS).email)}`,
    withoutToken: prng.chance(0.5),
  }),
};

const OF_EVERYBODY = [
  ...['/admin/payments', '/admin/summary', '/admin/projects', '/admin/products'],
  ...['/refunds', '/disputes', '/webhooks/logs'],
];

const readAsAdmin: WorldOperation = {
  name: 'read as platform admin',
  weight: 2.5,
  plan: (scene) => {
    const { prng, users } = scene;
    const erasure = choose(scene, { kind: 'erasure', person: ROOT.name });
    return {
      kind: 'request',
      person: prng.chance(0.8) ? ROOT : prng.pick(users),
      method: 'GET',
      path: prng.pick([...OF_EVERYBODY, ...(erasure ? [`/admin/erasures/${erasure.id}`] : [])]),
      ...(prng.chance(0.15) && { asCsv: true }),
    };
  },
};

/** The seller of a project may read the payments of its buyers. */
const readAsSeller: WorldOperation = {
  name: 'read the list of a project',
  weight: 2,
  plan: ({ prng }) => {
    const person = prng.chance(0.6) ? ADA : prng.pick(PEOPLE);
    const path = prng.pick(['/payments', '/subscriptions']);
    const more =
      path === '/payments' ? { include: 'payment_method' } : { include_pm: 'true', include_projects: 'true' };
    const query = { project_id: PROJECT, ...(prng.chance(0.5) && more) };
    return { kind: 'request', person, method: 'GET', path, query };
  },
};

const replayDelivery: WorldOperation = {
  name: 'send an event again',
  weight: 2,
  plan: (scene) => {
    const person = scene.prng.chance(0.7) ? ROOT : scene.prng.pick(scene.users);
    const entry = choose(scene, {
      kind: 'log entry',
      person: person.name,
      fits: ({ direction }) => direction === 'outbound',
    });
    return entry && { kind: 'request', person, method: 'POST', path: `/webhooks/logs/${entry.id}/replay`, body: {} };
  },
};

/** Members of an organization read its log, and may send one of its events again. */
const replayInOrganization: WorldOperation = {
  name: 'send an event of an organization again',
  weight: 2,
  plan: (scene) => {
    const { prng } = scene;
    const person = prng.pick(scene.users);
    const organization = choose(scene, { kind: 'organization', person: person.name });
    const request = { kind: 'request', person, inOrganization: organization?.id } as const;
    return (
      organization && {
        ...{ ...request, method: 'GET', path: '/webhooks/logs' },
        next: ({ body }) => {
          const sent = Array.isArray(body) ? body.filter(({ direction }) => direction === 'outbound') : [];
          if (sent.length === 0) return undefined;
          const path = `/webhooks/logs/${prng.fork('entry').pick(sent).id}/replay`;
          return { ...request, method: 'POST', path, body: {} };
        },
      }
    );
  },
};

/** People load a page again and repeat earlier requests, because their rights may have changed. */
const doAgain: WorldOperation = {
  name: 'do the same again',
  weight: 7,
  plan: ({ prng, sent }) => {
    const own = sent.filter(
      ({ person, method, path }) => method !== 'DELETE' && person !== ROOT.name && NAMES_RECORD.test(path),
    );
    if (own.length === 0) return undefined;
    const chosen = prng.pick(own.slice(-60));
    const person = PEOPLE.find(({ name }) => name === chosen.person);
    return person && sameAgain(person, chosen);
  },
};

/** Paths that name a record. Adding a member is left out, because a member cannot be added again. */
const NAMES_RECORD = /_[0-9a-f]{24}(?!\/members$)/;

/** A program that lost a response or was restarted repeats its request under the key, up to a day later. */
const repeatOwn: WorldOperation = {
  name: 'repeat an earlier request under its key',
  weight: 2,
  plan: ({ prng, sent, now }) => {
    const keyed = sent.filter(
      ({ idempotencyKey, person, credential, sentAt }) =>
        idempotencyKey !== undefined &&
        person !== ROOT.name &&
        credential !== 'leaked key' &&
        sentAt > now - KEY_KEPT_MS,
    );
    if (keyed.length === 0) return undefined;
    const earlier = prng.pick(keyed.slice(-20));
    const { path, credential, sent: body, idempotencyKey = '' } = earlier;
    const person = PEOPLE.find(({ name }) => name === earlier.person);
    const inOrganization = prng.chance(0.8) ? earlier.sessionOrganizationId : undefined;
    return (
      person && {
        ...{ kind: 'request', person, method: 'POST', path, body, idempotencyKey, inOrganization },
        ...(credential === 'none' && { withoutToken: true }),
        ...(credential === 'key' && { byKey: 'backend' as const }),
      }
    );
  },
};

/** Less than the 24 hours for which keys are kept. */
const KEY_KEPT_MS = 20 * 3_600_000;

/** An idempotency key works only for the caller who has sent it. */
const repeatAnother: WorldOperation = {
  name: 'repeat another person’s request under its key',
  weight: 3,
  plan: ({ prng, users, sent }) => {
    const keyed = sent.filter(({ idempotencyKey, status }) => idempotencyKey !== undefined && status === 201);
    if (keyed.length === 0) return undefined;
    const { person: name, path, sent: body, idempotencyKey = '' } = prng.pick(keyed);
    const person = prng.pick(users.filter((user) => user.name !== name));
    return { kind: 'request', person, method: 'POST', path, body, idempotencyKey };
  },
};

export const READ_OPERATIONS: readonly WorldOperation[] = [
  read,
  readGuestList,
  readAsAdmin,
  readAsSeller,
  replayDelivery,
  replayInOrganization,
  doAgain,
  repeatOwn,
  repeatAnother,
];
