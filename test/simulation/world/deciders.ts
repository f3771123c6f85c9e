/**
 * @module People of the merchant who are payers or members of paying organizations. They decide on those payments and
 * on payments of others, such as by refunds, captures, releases and prices. The platform admin also uses a service key.
 */
import type { Prng } from '../kernel/prng.ts';
import type { Person } from '../model/history.ts';
import { endHoldBy } from './holds.ts';
import type { Knowledge, Known } from './knowledge.ts';
import { PLAIN_TOKENS } from './methods-to-try.ts';
import { type AskedRequest, isDone, maybe, type OperationStep, type Scene, type WorldOperation } from './operation.ts';
import { drawAmount, drawProvider } from './payments.ts';
import { FAY, FAY_AS_GUEST, MERCHANTS, OLI, PRODUCTS, ROOT, USERS } from './people.ts';
import { chooseChangeable, drawFree, drawTarget } from './plans.ts';
import type { StageAnswer } from './stage.ts';

type Decider = Pick<AskedRequest, 'person' | 'byKey'>;

const DECIDERS: readonly Decider[] = [
  { person: ROOT },
  { person: ROOT, byKey: 'merchant' },
  { person: FAY },
  { person: OLI },
];

const isMerchantPaying = ({ users }: Pick<Scene, 'users'>): boolean =>
  MERCHANTS.every((person) => users.includes(person));

const roleIn = ({ knowledge }: Scene, { userId }: Person, organizationId: string): string | undefined =>
  knowledge
    .all('member')
    .find(({ fields }) => fields['user_id'] === userId && fields['organization_id'] === organizationId)?.fields['role'];

interface Paying {
  readonly person: Person;
  readonly organizationId?: string | undefined;
}

/** The operation that begins a payment by this payer, or undefined if the payer cannot begin one. */
type Then = (paying: Paying) => OperationStep | undefined;
type Payer = (scene: Scene, decider: Decider, then: Then) => OperationStep | undefined;

const self: Payer = (_, { person }, then) => then({ person });

const selfAsGuest: Payer = (_, { person }, then) => then({ person: person === FAY ? FAY_AS_GUEST : person });

const other: Payer = ({ prng }, _, then) => then({ person: prng.pick(USERS) });

const ownOrganization: Payer = ({ knowledge }, { person }, then) => {
  const known = knowledge.all('organization').findLast(({ fields }) => fields['owner_user_id'] === person.userId);
  if (known) return then({ person, organizationId: known.id });
  return {
    ...{ kind: 'request', person, method: 'POST', path: '/organizations', body: { name: 'Acme' } },
    next: ({ status, body }) => (status === 201 ? then({ person, organizationId: body.data.id }) : undefined),
  };
};

/** The organization's owner pays. The decider is or becomes a member. */
const othersOrganization: Payer = (scene, { person }, then) => {
  const { prng, knowledge, users } = scene;
  const owned = knowledge.all('organization').flatMap(({ id, fields }) => {
    const owner = users.find(({ userId }) => userId === fields['owner_user_id']);
    return owner && owner !== person ? [{ person: owner, organizationId: id }] : [];
  });
  const paying = owned.at(-1);
  if (!paying) return undefined;
  const { organizationId } = paying;
  if (roleIn(scene, person, organizationId) !== undefined) return then(paying);
  const body = { email: person.email, role: prng.pick(['member', 'billing']) };
  const path = `/organizations/${organizationId}/members`;
  return { kind: 'request', person: paying.person, method: 'POST', path, body, next: () => then(paying) };
};

const PAYERS = [
  { weight: 2, value: self },
  { weight: 1, value: selfAsGuest },
  { weight: 2, value: ownOrganization },
  { weight: 2, value: othersOrganization },
  { weight: 1, value: other },
] as const;

const refundBy = (decider: Decider, id: string, prng: Prng): AskedRequest => ({
  ...{ kind: 'request', ...decider, method: 'POST', path: `/payments/${id}/refunds` },
  body: maybe('amount_cents', prng.chance(0.8) ? prng.int(1, 90) : undefined),
});

type Payment = Pick<Known, 'id' | 'fields'>;

const decideOn = (decider: Decider, payment: Payment, prng: Prng): OperationStep | undefined => {
  switch (payment.fields['status']) {
    case 'succeeded':
      return refundBy(decider, payment.id, prng);
    case 'requires_capture':
      return { ...endHoldBy(decider.person, payment, prng), ...decider };
    default:
      return undefined;
  }
};

/** The person pays, and the decider decides immediately. */
const payFor =
  ({ prng }: Scene, decider: Decider): Then =>
  ({ person, organizationId }) => {
    const provider = drawProvider(prng);
    const decide = ({ status, body }: StageAnswer): OperationStep | undefined =>
      status === 200 ? decideOn(decider, { id: body.id, fields: body }, prng) : undefined;
    const confirm = ({ status, body }: StageAnswer): OperationStep | undefined =>
      status === 201
        ? { kind: 'request', person, method: 'POST', path: `/payments/confirm/${body.id}`, body: {}, next: decide }
        : undefined;
    return {
      ...{ kind: 'request', person, method: 'POST', path: '/payments/intents', next: confirm },
      body: {
        ...{ provider_id: provider, payment_method_id: PLAIN_TOKENS[provider], currency: 'USD' },
        total_cents: drawAmount(prng),
        ...maybe('organization_id', organizationId),
        ...maybe('capture_method', prng.chance(0.6) ? 'manual' : undefined),
        ...(person.kind === 'guest' && { guest_data: { email: person.email, name: person.name } }),
      },
    };
  };

const payAndDecide: WorldOperation = {
  name: 'pay, and decide on it as the merchant',
  weight: 25,
  twice: 0.1,
  plan: (scene) => {
    if (!isMerchantPaying(scene)) return undefined;
    const decider = scene.prng.pick(DECIDERS);
    return scene.prng.weighted(PAYERS).value(scene, decider, payFor(scene, decider));
  },
};

/** True if the person is the payer or a member of the paying organization. */
const isOwn =
  (knowledge: Knowledge, { userId, email }: Person) =>
  ({ fields }: Known): boolean => {
    const organizations = [
      ...knowledge.all('organization').filter((one) => one.fields['owner_user_id'] === userId),
      ...knowledge.all('member').filter((one) => one.fields['user_id'] === userId),
    ].map((one) => one.fields['organization_id'] ?? one.id);
    return (
      fields['user_id'] === userId ||
      fields['guest_email'] === email ||
      organizations.includes(fields['organization_id'])
    );
  };

const DECIDABLE = new Set(['succeeded', 'requires_capture']);

const decideOnKnown: WorldOperation = {
  name: 'decide on a payment as the merchant',
  weight: 15,
  plan: (scene) => {
    const { prng, knowledge, latest } = scene;
    if (!isMerchantPaying(scene)) return undefined;
    const decider = prng.pick(DECIDERS);
    const found = knowledge.all('payment').filter(({ fields }) => DECIDABLE.has(fields['status']));
    const own = found.filter(isOwn(knowledge, decider.person));
    const among = own.length > 0 && prng.chance(0.7) ? own : found;
    return among.length === 0 ? undefined : decideOn(decider, prng.pick(among.slice(-latest)), prng);
  },
};

/** A plan that is cheaper than most plans. */
const CHEAPEST = { product_id: PRODUCTS.weekly.id, quantity: 1 };

/** A free price, a waived difference, or an immediate downgrade. Payers only change the product or the quantity. */
const drawDecision = (prng: Prng): Readonly<Record<string, unknown>> =>
  prng.weighted([
    { weight: 2, value: { ...drawFree(prng), when: 'period_end' } },
    { weight: 2, value: { ...drawFree(prng), when: 'now', proration: 'none' } },
    { weight: 2, value: { ...drawTarget(prng), when: 'now', proration: 'none' } },
    { weight: 1, value: { ...drawTarget(prng), when: 'now' } },
    { weight: 3, value: { ...CHEAPEST, when: 'now' } },
    { weight: 1, value: { total_cents: 60, when: 'now' } },
  ]).value;

const decideOnPlan: WorldOperation = {
  name: 'decide on a plan as the merchant',
  weight: 25,
  plan: (scene) => {
    const { prng, knowledge } = scene;
    if (!isMerchantPaying(scene)) return undefined;
    const decider = prng.pick(DECIDERS);
    const own = prng.chance(0.75) ? chooseChangeable(scene, isOwn(knowledge, decider.person)) : undefined;
    const subscription = own ?? chooseChangeable(scene);
    if (!subscription) return undefined;
    const decide = (body: Readonly<Record<string, unknown>>): AskedRequest => ({
      ...{ kind: 'request', ...decider, method: 'POST', path: `/subscriptions/${subscription.id}/change`, body },
    });
    const again = drawDecision(prng);
    return { ...decide(drawDecision(prng)), next: (answer) => (isDone(answer) ? undefined : decide(again)) };
  },
};

export const DECIDING_OPERATIONS: readonly WorldOperation[] = [payAndDecide, decideOnKnown, decideOnPlan];
