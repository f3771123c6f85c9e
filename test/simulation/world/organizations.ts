/** @module Operations on organizations and their members. */
import { organizationAsked } from '../model/exchanges.ts';
import type { HistoryExchange, Person } from '../model/history.ts';
import type { Known } from './knowledge.ts';
import { choose, isDone, type OperationStep, type Scene, sameAgain, type WorldOperation } from './operation.ts';
import { confirmStep } from './payments.ts';
import { ACCOUNTS, ROOT } from './people.ts';
import type { StageAnswer } from './stage.ts';

const ROLES = ['admin', 'billing', 'member'] as const;

/** The acting person, mostly the organization's owner. */
const ownedBy = ({
  prng,
  knowledge,
  users,
}: Scene): { readonly person: Person; readonly organization: Known } | undefined => {
  const all = knowledge.all('organization');
  if (all.length === 0) return undefined;
  const organization = prng.pick(all.slice(-3));
  const owner = ACCOUNTS.find(({ userId }) => userId === organization.fields['owner_user_id']);
  return { organization, person: owner && prng.chance(0.85) ? owner : prng.pick(users) };
};

const create: WorldOperation = {
  name: 'create an organization',
  weight: 1,
  plan: ({ prng, users }) => ({
    kind: 'request',
    person: prng.pick(users),
    method: 'POST',
    path: '/organizations',
    body: { name: 'Acme' },
  }),
};

const rename: WorldOperation = {
  name: 'rename an organization',
  weight: 1,
  plan: (scene) => {
    const by = ownedBy(scene);
    const path = `/organizations/${by?.organization.id}`;
    return by && { kind: 'request', person: by.person, method: 'PUT', path, body: { name: 'Acme & Sons' } };
  },
};

const addMember: WorldOperation = {
  name: 'add a member',
  weight: 4,
  plan: (scene) => {
    const by = ownedBy(scene);
    const added = scene.prng.pick(scene.users);
    return (
      by && {
        kind: 'request',
        person: by.person,
        method: 'POST',
        path: `/organizations/${by.organization.id}/members`,
        body: { email: added.email, role: scene.prng.pick(ROLES) },
        next: () => ({ kind: 'request', person: added, method: 'GET', path: `/organizations/${by.organization.id}` }),
      }
    );
  },
};

const onMember = (scene: Scene) => {
  const by = ownedBy(scene);
  const member =
    by &&
    choose(scene, {
      kind: 'member',
      person: by.person.name,
      fits: ({ organization_id, role }) =>
        role !== 'owner' && (organization_id === undefined || organization_id === by.organization.id),
    });
  if (!by || !member) return undefined;
  const path = `/organizations/${by.organization.id}/members/${member.id}`;
  const person = ACCOUNTS.find(({ userId }) => userId === member.fields['user_id']);
  return { person: by.person, path, ...(person && { next: goOnAs(scene, person, by.organization) }) };
};

/** True if the path names a record of the organization, or the request names the organization. */
const isAbout = ({ knowledge }: Scene, exchange: HistoryExchange, organizationId: string): boolean =>
  organizationAsked(exchange) === organizationId ||
  exchange.path.split('/').some((part) => knowledge.get(part)?.fields['organization_id'] === organizationId);

/** The next act of a person after a change of their rights, which mostly resembles an earlier act. */
const goOnAs =
  (scene: Scene, person: Person, organization: Known) =>
  (answer: StageAnswer): OperationStep | undefined => {
    const prng = scene.prng.fork('afterwards');
    const payment = scene.knowledge.choose(prng, {
      ...{ kind: 'payment', person: person.name, latest: scene.latest },
      fits: ({ organization_id }) => organization_id === organization.id,
    });
    if (!isDone(answer) || prng.chance(0.3)) return undefined;
    const earlier = scene.sent.filter(
      (one) => one.person === person.name && one.method !== 'DELETE' && isAbout(scene, one, organization.id),
    );
    if (earlier.length > 0 && prng.chance(0.5)) return sameAgain(person, prng.pick(earlier));
    if (payment === undefined) return undefined;
    if (OPEN.includes(payment.fields['status'])) return confirmStep(person, payment, prng);
    return { kind: 'request', person, method: 'GET', path: `/payments/${payment.id}` };
  };

const OPEN = ['created', 'requires_payment_method', 'failed'];

const changeRole: WorldOperation = {
  name: 'change a role',
  weight: 2.5,
  plan: (scene) => {
    const on = onMember(scene);
    return on && { kind: 'request', ...on, method: 'PUT', body: { role: scene.prng.pick(ROLES) } };
  },
};

const removeMember: WorldOperation = {
  name: 'remove a member',
  weight: 4,
  plan: (scene) => {
    const on = onMember(scene);
    return on && { kind: 'request', ...on, method: 'DELETE' };
  },
};

const leave: WorldOperation = {
  name: 'leave an organization',
  weight: 1.5,
  plan: (scene) => {
    const person = scene.prng.pick(scene.users);
    const organization = choose(scene, { kind: 'organization', person: person.name });
    return (
      organization && {
        kind: 'request',
        person,
        method: 'POST',
        path: `/organizations/${organization.id}/leave`,
        body: {},
      }
    );
  },
};

const remove: WorldOperation = {
  name: 'delete an organization',
  weight: 0.7,
  plan: (scene) => {
    const by = ownedBy(scene);
    return by && { kind: 'request', person: by.person, method: 'DELETE', path: `/organizations/${by.organization.id}` };
  },
};

const erase: WorldOperation = {
  name: 'erase a person',
  weight: 1.5,
  plan: ({ prng, users }) => ({
    kind: 'request',
    person: prng.chance(0.95) ? ROOT : prng.pick(users),
    method: 'POST',
    path: '/admin/erasures',
    body: prng.chance(0.8)
      ? { user_id: prng.pick(users).userId }
      : { email: prng.pick(['gus@guest.example.com', 'gia@guest.example.com']) },
  }),
};

export const ORGANIZATION_OPERATIONS: readonly WorldOperation[] = [
  create,
  rename,
  addMember,
  changeRole,
  removeMember,
  leave,
  remove,
  erase,
];
