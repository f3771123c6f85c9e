/** @module Payers preview, change and withdraw plans. A merchant sets prices, and some payers try that, too. */
import type { Prng } from '../kernel/prng.ts';
import type { Person } from '../model/history.ts';
import type { Known } from './knowledge.ts';
import { DECLINED_CARDS, PLAIN_TOKENS } from './methods-to-try.ts';
import {
  type AskedRequest,
  choose,
  isDone,
  maybe,
  type OperationStep,
  type Scene,
  type WorldOperation,
} from './operation.ts';
import { drawAmount, drawProvider } from './payments.ts';
import { PRODUCTS, ROOT } from './people.ts';
import type { StageAnswer } from './stage.ts';

type Body = Readonly<Record<string, unknown>>;

const CHANGEABLE = new Set(['active', 'trialing']);

/** A subscription that mostly can change, and sometimes is past due, paused or canceled. */
export const chooseChangeable = (
  { prng, knowledge, latest }: Scene,
  fits: (subscription: Known) => boolean = () => true,
): Known | undefined => {
  const isAny = prng.chance(0.25);
  const found = knowledge
    .all('subscription')
    .filter((one) => (isAny || CHANGEABLE.has(one.fields['status'])) && fits(one));
  return found.length === 0 ? undefined : prng.pick(found.slice(-latest));
};

interface Changer {
  readonly person: Person;
  readonly id: string;
}

/** The acting person, who mostly has seen the subscription. */
const drawChanger = (scene: Scene): Changer | undefined => {
  const subscription = chooseChangeable(scene);
  if (!subscription) return undefined;
  const seeing = scene.users.filter(({ name }) => subscription.seenBy.has(name));
  const among = seeing.length === 0 || scene.prng.chance(0.1) ? scene.users : seeing;
  return { person: scene.prng.pick(among), id: subscription.id };
};

const TIMES = [
  { weight: 2, value: undefined },
  { weight: 1, value: 'now' },
  { weight: 1, value: 'period_end' },
] as const;

export const drawTarget = (prng: Prng): Body => {
  const product = prng.chance(0.6) ? prng.pick(Object.values(PRODUCTS)).id : undefined;
  const quantity = product === undefined || prng.chance(0.5) ? prng.int(1, 5) : undefined;
  return {
    ...maybe('product_id', product),
    ...maybe('quantity', quantity),
    ...maybe('when', prng.weighted(TIMES).value),
  };
};

export const changeBy = ({ person, id }: Changer, body: Body): AskedRequest => ({
  ...{ kind: 'request', person, method: 'POST', path: `/subscriptions/${id}/change`, body },
});

export const withdrawBy = ({ person, id }: Changer): AskedRequest => ({
  ...{ kind: 'request', person, method: 'DELETE', path: `/subscriptions/${id}/change` },
});

const cancelBy = ({ person, id }: Changer, prng: Prng): AskedRequest => ({
  ...{ kind: 'request', person, method: 'POST', path: `/subscriptions/${id}/cancel` },
  body: { cancel_at_period_end: prng.chance(0.5) },
});

/** A payer's act during or just after the change: a withdrawal, a cancellation, or none. */
const regret = (changer: Changer, prng: Prng): OperationStep | undefined =>
  prng.weighted([
    { weight: 6, value: undefined },
    { weight: 2, value: withdrawBy(changer) },
    { weight: 1, value: cancelBy(changer, prng) },
  ]).value;

/** Previews the change, and then makes it with the preview's time and amount. */
const previewBy = (changer: Changer, body: Body, prng: Prng): AskedRequest => ({
  ...changeBy(changer, body),
  path: `/subscriptions/${changer.id}/change/preview`,
  next: (answer: StageAnswer) => {
    if (!isDone(answer)) return undefined;
    const { proration_at, due_now_cents: expected_cents } = answer.body;
    const next = regret(changer, prng);
    return { ...changeBy(changer, { ...body, proration_at, expected_cents }), ...(next && { next: () => next }) };
  },
});

const changePlan: WorldOperation = {
  name: 'change a plan',
  weight: 30,
  twice: 0.4,
  // Concurrently the payer changes the plan again, withdraws the change or cancels.
  again: (step, prng) => {
    const id = step.kind === 'request' && /^\/subscriptions\/([^/]+)\//.exec(step.path)?.[1];
    if (!id) return step;
    const changer = { person: step.person, id };
    return prng.chance(0.4) ? step : (regret(changer, prng) ?? changeBy(changer, drawTarget(prng)));
  },
  plan: (scene) => {
    const { prng } = scene;
    const changer = drawChanger(scene);
    if (!changer) return undefined;
    const body = drawTarget(prng);
    if (prng.chance(0.5)) return previewBy(changer, body, prng);
    const next = regret(changer, prng);
    return { ...changeBy(changer, body), ...(next && { next: () => next }) };
  },
};

const postBy = (person: Person, path: string, body: Body): AskedRequest => ({
  ...{ kind: 'request', person, method: 'POST', path, body },
});

const FREE_TERMS = [
  { total_cents: 0, billing_interval: 'daily' },
  { total_cents: 0, billing_interval: 'weekly' },
  { total_cents: 500, billing_interval: 'weekly', trial_days: 5 },
] as const;

/** A payer with an always declined card starts with a free plan and then changes to a product. */
const joinUnpaid: WorldOperation = {
  name: 'come to a product by a card that never pays',
  weight: 5,
  plan: (scene) => {
    const prng = scene.prng.fork('unpaid');
    const [person, provider] = [prng.pick(scene.users), drawProvider(prng)];
    const token = DECLINED_CARDS[provider].onceSaved;
    const save = postBy(person, '/payment-methods', { provider_id: provider, provider_payment_method_token: token });
    const terms = prng.pick(FREE_TERMS);
    const price = { ...terms, subtotal_cents: terms.total_cents, currency: 'USD' };
    const wanted = { product_id: prng.pick(Object.values(PRODUCTS)).id, when: prng.pick(['now', 'period_end']) };
    const join = ({ body: { id } }: StageAnswer) => changeBy({ person, id }, wanted);
    const subscribe = ({ body: { id, customer_id } }: StageAnswer) =>
      postBy(person, '/subscriptions', { ...price, customer_id, payment_method_id: id, provider_id: provider });
    const andJoin = (answer: StageAnswer) => (isDone(answer) ? { ...subscribe(answer), next: thenJoin } : undefined);
    const thenJoin = (answer: StageAnswer) => (isDone(answer) ? join(answer) : undefined);
    return { ...save, next: andJoin };
  },
};

const withdrawChange: WorldOperation = {
  name: 'withdraw a change of a plan',
  weight: 8,
  plan: (scene) => {
    const person = scene.prng.pick(scene.users);
    const isAny = scene.prng.chance(0.2);
    const changing = choose(scene, {
      ...{ kind: 'subscription', person: person.name },
      fits: ({ scheduled_change, pending_change }) => isAny || Boolean(scheduled_change ?? pending_change),
    });
    return changing && withdrawBy({ person, id: changing.id });
  },
};

export const drawFree = (prng: Prng): Body =>
  prng.weighted([
    { weight: 3, value: { total_cents: drawAmount(prng) } },
    { weight: 1, value: { total_cents: 0 } },
    { weight: 1, value: { billing_interval: prng.pick(['weekly', 'monthly']) } },
  ]).value;

/** The merchant sets a price immediately without a charge, or for the next period. A price with a charge is refused. */
const setPrice: WorldOperation = {
  name: 'set the price of a subscription',
  weight: 8,
  plan: (scene) => {
    const { prng } = scene;
    const subscription = chooseChangeable(scene);
    const how = prng.pick([
      { when: 'period_end' },
      { when: 'period_end' },
      { when: 'now', proration: 'none' },
      { when: 'now' },
    ]);
    return subscription && changeBy({ person: ROOT, id: subscription.id }, { ...drawFree(prng), ...how });
  },
};

/** A payer asks for a free price, or for a dearer plan without its difference. */
const tryPrice: WorldOperation = {
  name: 'try to set the price of a subscription',
  weight: 5,
  plan: (scene) => {
    const { prng } = scene;
    const changer = drawChanger(scene);
    const body = prng.chance(0.5) ? drawFree(prng) : { ...drawTarget(prng), when: 'now', proration: 'none' };
    return changer && changeBy(changer, body);
  },
};

const REFUNDS: readonly Body[] = [{}, {}, { amount_cents: 500 }];

/** Runs the steps in order until a refusal. Each step uses the last response with the subscription. */
const inTurn = (
  steps: readonly ((shown: StageAnswer) => AskedRequest)[],
  shown: StageAnswer,
): OperationStep | undefined => {
  const [step, ...rest] = steps;
  if (!step || !isDone(shown)) return undefined;
  const next = (answer: StageAnswer) => {
    const showsPlan = isDone(answer) && answer.body.latest_payment_id !== undefined;
    return inTurn(rest, showsPlan ? answer : shown);
  };
  return { ...step(shown), next };
};

/** A payer begins with a product and changes it twice, and the merchant gives back a payment or the difference. */
const changeRefunded: WorldOperation = {
  name: 'change a plan after a part was given back',
  weight: 8,
  plan: (scene) => {
    const prng = scene.prng.fork('refunded');
    const [person, provider] = [prng.pick(scene.users), drawProvider(prng)];
    const token = PLAIN_TOKENS[provider];
    const product_id = prng.pick([PRODUCTS.monthly, PRODUCTS.weekly]).id;
    const giveBack = ({ body }: StageAnswer) =>
      postBy(ROOT, `/payments/${body.latest_payment_id}/refunds`, prng.pick(REFUNDS));
    const waive = ({ body }: StageAnswer) =>
      changeBy({ person: ROOT, id: body.id }, { total_cents: 9_000, when: 'now', proration: 'none' });
    const raise =
      (quantity: number) =>
      ({ body }: StageAnswer) =>
        changeBy({ person, id: body.id }, { product_id, quantity, when: 'now' });
    const between = prng.pick([giveBack, giveBack, waive]);
    const steps = [...(prng.chance(0.6) ? [giveBack] : []), raise(prng.int(3, 5)), between, raise(prng.int(20, 30))];
    const subscribe = ({ body: { id, customer_id } }: StageAnswer): AskedRequest => ({
      ...postBy(person, '/subscriptions', { product_id, customer_id, payment_method_id: id, provider_id: provider }),
      next: (answer) => inTurn(steps, answer),
    });
    return {
      ...postBy(person, '/payment-methods', { provider_id: provider, provider_payment_method_token: token }),
      next: (answer) => (isDone(answer) ? subscribe(answer) : undefined),
    };
  },
};

export const PLAN_OPERATIONS: readonly WorldOperation[] = [
  ...[changePlan, joinUnpaid, withdrawChange, setPrice, tryPrice],
  changeRefunded,
];
