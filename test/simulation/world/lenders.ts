/**
 * @module Members pay for a subscription of their organization with their own card. Other members and the merchant
 * change the price of that subscription.
 */
import type { Prng } from '../kernel/prng.ts';
import type { Person } from '../model/history.ts';
import type { Known } from './knowledge.ts';
import { PLAIN_TOKENS } from './methods-to-try.ts';
import { type AskedRequest, isDone, maybe, type OperationStep, type Scene, type WorldOperation } from './operation.ts';
import { drawAmount, drawProvider } from './payments.ts';
import { ACCOUNTS, MERCHANTS, PRODUCTS, ROOT } from './people.ts';
import { changeBy, drawFree, withdrawBy } from './plans.ts';

/** The owner and the members who may subscribe for an organization. */
const managersOf = ({ knowledge, users }: Scene, { id, fields }: Known): readonly Person[] => {
  const isManager = ({ role, organization_id: of }: Known['fields']): boolean =>
    of === id && (role === 'admin' || role === 'billing');
  const managers = knowledge.all('member').flatMap((one) => (isManager(one.fields) ? [one.fields['user_id']] : []));
  return users.filter(({ userId }) => userId === fields['owner_user_id'] || managers.includes(userId));
};

interface Lent {
  readonly organization: Known;
  readonly id: string;
  readonly lender: Person | undefined;
}

const LENT_STATUSES = new Set(['active', 'trialing']);

/** The organization's subscriptions on a member's own method. */
const lentIn = ({ knowledge }: Scene): readonly Lent[] =>
  knowledge.all('subscription').flatMap(({ id, fields }) => {
    const organization = knowledge.get(String(fields['organization_id']));
    const method = knowledge.get(String(fields['payment_method_id']));
    const isOwn = method !== undefined && !method.fields['organization_id'] && LENT_STATUSES.has(fields['status']);
    const lender = ACCOUNTS.find(({ userId }) => userId === fields['user_id']);
    return organization && isOwn ? [{ organization, id, lender }] : [];
  });

type Body = Readonly<Record<string, unknown>>;

/** The person who changes the subscription: another manager, the merchant, or sometimes the lender. */
const drawChanger = (scene: Scene, { organization, lender }: Lent): Person => {
  const { prng } = scene;
  const managers = managersOf(scene, organization);
  const others = managers.filter((person) => person !== lender);
  const merchants = MERCHANTS.filter((person) => person === ROOT || scene.users.includes(person));
  const drawn = prng.next();
  if (drawn < 0.2 && lender) return lender;
  return drawn < 0.75 && others.length > 0 ? prng.pick(others) : prng.pick(merchants);
};

const drawProduct = (prng: Prng): Body => ({
  product_id: prng.pick(Object.values(PRODUCTS)).id,
  ...maybe('quantity', prng.chance(0.5) ? prng.int(1, 5) : undefined),
});

const drawBody = (scene: Scene, person: Person): Body => {
  const { prng } = scene;
  const when = prng.pick(['now', 'period_end']);
  if (!MERCHANTS.includes(person)) return { ...drawProduct(prng), when };
  return { ...drawFree(prng), when, ...(when === 'now' && { proration: 'none' }) };
};

const changeLent = (scene: Scene, lent: Lent): OperationStep => {
  const { prng } = scene;
  const person = drawChanger(scene, lent);
  const { id, lender } = lent;
  const change = changeBy({ person, id }, drawBody(scene, person));
  if (lender === undefined || prng.chance(0.6)) return change;
  // The lender schedules a plan, and the other person replaces or withdraws that plan.
  const next = prng.chance(0.5) ? withdrawBy({ person, id }) : change;
  return { ...changeBy({ person: lender, id }, { ...drawProduct(prng), when: 'period_end' }), next: () => next };
};

const changeWhatIsLent: WorldOperation = {
  name: 'change what a lent card pays',
  weight: 16,
  twice: 0.1,
  plan: (scene) => {
    const lent = lentIn(scene);
    return lent.length === 0 ? undefined : changeLent(scene, scene.prng.pick(lent.slice(-scene.latest)));
  },
};

/** A member saves a card and subscribes for the organization. Another person mostly changes the plan immediately. */
const lendCard: WorldOperation = {
  name: 'lend a card to an organization',
  weight: 15,
  twice: 0.1,
  plan: (scene) => {
    const { prng, knowledge } = scene;
    const organization = knowledge.all('organization').at(-1);
    const managers = organization ? managersOf(scene, organization) : [];
    if (organization === undefined || managers.length === 0) return undefined;
    const lender = prng.pick(managers);
    const provider = drawProvider(prng);
    const by = { kind: 'request', person: lender, method: 'POST' } as const;
    const subscribe = (method: Known['fields']): AskedRequest => ({
      ...{ ...by, path: '/subscriptions' },
      body: {
        ...{ customer_id: method['customer_id'], payment_method_id: method['id'], provider_id: provider },
        organization_id: organization.id,
        ...(prng.chance(0.6)
          ? { product_id: prng.pick(Object.values(PRODUCTS)).id }
          : { total_cents: drawAmount(prng), currency: 'USD', billing_interval: prng.pick(['weekly', 'monthly']) }),
      },
      next: (answer) =>
        isDone(answer) && prng.chance(0.9)
          ? changeLent(scene, { organization, id: answer.body.id, lender })
          : undefined,
    });
    return {
      ...{ ...by, path: '/payment-methods' },
      body: { provider_id: provider, provider_payment_method_token: PLAIN_TOKENS[provider], organization_id: null },
      next: ({ status, body }) => (status === 201 ? subscribe(body) : undefined),
    };
  },
};

export const LENDING_OPERATIONS: readonly WorldOperation[] = [lendCard, changeWhatIsLent];
