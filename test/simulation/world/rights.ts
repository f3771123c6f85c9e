/** @module Members act for their organization while its owner removes their rights. A person uses found keys. */
import type { Person } from '../model/history.ts';
import type { Known } from './knowledge.ts';
import { drawFirstToken } from './methods-to-try.ts';
import { maybe, type OperationStep, type Scene, type WorldOperation } from './operation.ts';
import { confirmStep, drawAmount, drawProvider, isOpenPayment, isUnconfirmed } from './payments.ts';
import { ACCOUNTS } from './people.ts';
import { drawPrice } from './subscriptions.ts';

/** A member who may charge, with the id of the membership. */
interface Manager {
  readonly person: Person;
  readonly memberId: string;
  readonly organization: Known;
}

const managerIn = ({ prng, knowledge }: Scene): Manager | undefined => {
  const organizations = knowledge.all('organization');
  const managers = knowledge.all('member').flatMap(({ id, fields }) => {
    const person = ACCOUNTS.find(({ userId }) => userId === fields['user_id']);
    const organization = organizations.find((one) => one.id === fields['organization_id']);
    const isManager = fields['role'] === 'admin' || fields['role'] === 'billing';
    return person && organization && isManager ? [{ person, memberId: id, organization }] : [];
  });
  return managers.length === 0 ? undefined : prng.pick(managers);
};

type Act = (scene: Scene, manager: Manager) => OperationStep | undefined;

/** One of the organization's latest records, even if only others have seen the record. */
const ofOrganization = (
  { prng, knowledge }: Scene,
  { organization }: Manager,
  { kind, fits }: { readonly kind: Known['kind']; readonly fits: (fields: Known['fields']) => boolean },
): Known | undefined => {
  const all = knowledge
    .all(kind)
    .filter(({ fields }) => fields['organization_id'] === organization.id && fits(fields))
    .slice(-3);
  return all.length === 0 ? undefined : prng.pick(all);
};

const pay: Act = ({ prng }, { person, organization }) => {
  const provider = drawProvider(prng);
  return {
    kind: 'request',
    person,
    method: 'POST',
    path: '/payments/intents',
    body: {
      ...{ provider_id: provider, total_cents: drawAmount(prng), currency: 'USD', organization_id: organization.id },
      payment_method_id: drawFirstToken(prng, provider),
    },
    next: ({ status, body }) =>
      status === 201 ? confirmStep(person, { id: body.id, fields: { ...body } }, prng) : undefined,
  };
};

const confirm: Act = (scene, manager) => {
  const payment = ofOrganization(scene, manager, { kind: 'payment', fits: isOpenPayment });
  return payment && confirmStep(manager.person, payment, scene.prng);
};

const changeAmount: Act = (scene, manager) => {
  const payment = ofOrganization(scene, manager, { kind: 'payment', fits: isUnconfirmed });
  const path = `/payments/intents/${payment?.id}`;
  const body = { total_cents: drawAmount(scene.prng) };
  return payment && { kind: 'request', person: manager.person, method: 'PUT', path, body };
};

const save: Act = ({ prng }, { person, organization }) => {
  const provider = drawProvider(prng);
  return {
    kind: 'request',
    person,
    method: 'POST',
    path: '/payment-methods',
    body: {
      ...{ provider_id: provider, organization_id: organization.id },
      provider_payment_method_token: drawFirstToken(prng, provider),
    },
  };
};

/** The method of the organization, or the member's own method. */
const methodFor = (scene: Scene, manager: Manager, provider?: string): Known | undefined => {
  const fits = (fields: Known['fields']): boolean => provider === undefined || fields['provider_id'] === provider;
  const own = scene.knowledge
    .all('method')
    .filter(({ seenBy, fields }) => seenBy.has(manager.person.name) && fits(fields));
  return ofOrganization(scene, manager, { kind: 'method', fits }) ?? own.at(-1);
};

const subscribe: Act = (scene, manager) => {
  const method = methodFor(scene, manager);
  const customerId = method?.fields['customer_id'];
  if (!method || !customerId) return undefined;
  return {
    kind: 'request',
    person: manager.person,
    method: 'POST',
    path: '/subscriptions',
    body: {
      ...{ customer_id: customerId, payment_method_id: method.id, provider_id: method.fields['provider_id'] },
      ...{ organization_id: manager.organization.id, ...drawPrice(scene.prng) },
    },
  };
};

const COMMANDS: Readonly<Record<string, string>> = { paused: 'resume', canceled: 'reactivate' };

/**
 * Resumes a paused subscription, reactivates a canceled subscription, or changes the method of any other subscription.
 */
const goOnWithSubscription: Act = (scene, manager) => {
  const subscription = ofOrganization(scene, manager, { kind: 'subscription', fits: () => true });
  if (!subscription) return undefined;
  const { id, fields } = subscription;
  const { person } = manager;
  const tail = COMMANDS[fields['status']];
  if (tail !== undefined)
    return { kind: 'request', person, method: 'POST', path: `/subscriptions/${id}/${tail}`, body: {} };
  const method = methodFor(scene, manager, fields['provider_id']);
  const body = { ...maybe('payment_method_id', method?.id) };
  return method && { kind: 'request', person, method: 'PATCH', path: `/subscriptions/${id}`, body };
};

const ACTS: readonly Act[] = [
  ...[pay, confirm, confirm, changeAmount, changeAmount, changeAmount],
  ...[save, subscribe, goOnWithSubscription],
];

const OF_OWNER = [
  { weight: 5, value: { method: 'DELETE', isOfMember: true, body: undefined } },
  { weight: 5, value: { method: 'PUT', isOfMember: true, body: { role: 'member' } } },
  { weight: 1, value: { method: 'DELETE', isOfMember: false, body: undefined } },
] as const;

/** The owner removes or demotes the member, or deletes the organization. */
const endOfRight = ({ prng }: Scene, { organization, memberId }: Manager): OperationStep | undefined => {
  const owner = ACCOUNTS.find(({ userId }) => userId === organization.fields['owner_user_id']);
  const { method, isOfMember, body } = prng.weighted(OF_OWNER).value;
  const path = `/organizations/${organization.id}${isOfMember ? `/members/${memberId}` : ''}`;
  return owner && { kind: 'request', person: owner, method, path, ...(body && { body }) };
};

/** A person has found a key, and tries to pay and to read as one of the users. */
const tryLeakedKey: WorldOperation = {
  name: 'try a key that was revoked or lacks the scope',
  weight: 3,
  plan: (scene) => {
    const { prng, knowledge } = scene;
    const [person, byKey] = [prng.pick(scene.users), prng.pick(['revoked', 'narrow'] as const)];
    const payment = knowledge
      .all('payment')
      .filter(({ fields }) => isOpenPayment(fields))
      .at(-1);
    const provider = drawProvider(prng);
    const asked = { kind: 'request', person, byKey } as const;
    const body = { provider_id: provider, total_cents: drawAmount(prng), currency: 'USD' };
    return prng.pick<OperationStep>([
      { ...asked, method: 'GET', path: '/payments' },
      {
        ...asked,
        method: 'POST',
        path: '/payments',
        body: { ...body, payment_method_id: drawFirstToken(prng, provider) },
      },
      ...(payment ? [{ ...asked, method: 'POST', path: `/payments/confirm/${payment.id}`, body: {} } as const] : []),
    ]);
  },
};

const actWhileRightEnds: WorldOperation = {
  name: 'act for an organization while the right to it ends',
  weight: 14,
  twice: 1,
  again: (step) => (step.kind === 'request' && step.beside) || step,
  plan: (scene) => {
    const manager = managerIn(scene);
    const beside = manager && endOfRight(scene, manager);
    if (!beside) return undefined;
    const step = scene.prng.pick(ACTS)(scene, manager) ?? pay(scene, manager);
    return step?.kind === 'request' ? { ...step, beside } : step;
  },
};

export const RIGHT_OPERATIONS: readonly WorldOperation[] = [actWhileRightEnds, tryLeakedKey];
