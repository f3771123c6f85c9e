/** @module Operations on payments and refunds. */
import type { Prng } from '../kernel/prng.ts';
import type { Person } from '../model/history.ts';
import type { Known } from './knowledge.ts';
import { drawToken } from './methods-to-try.ts';
import {
  type AskedRequest,
  choose,
  isDone,
  maybe,
  type OperationStep,
  type Scene,
  type WorldOperation,
} from './operation.ts';
import { ADA, CODE_WORDS, GUESTS, PRODUCTS, PROJECT, ROOT, WORLD_PROVIDERS, type WorldProvider } from './people.ts';
import { payInBrowser } from './provider-acts.ts';
import type { StageAnswer } from './stage.ts';

const AMOUNTS = [100, 700, 1_000, 2_500, 4_999] as const;
const UNCONFIRMED = ['created', 'requires_payment_method'];
const REUSABLE = [...UNCONFIRMED, 'failed'];

type Fields = Known['fields'];
export const isUnconfirmed = ({ status }: Fields): boolean => UNCONFIRMED.includes(status);
export const isOpenPayment = ({ status }: Fields): boolean => REUSABLE.includes(status);

export const drawAmount = (prng: Prng): number => (prng.chance(0.7) ? prng.pick(AMOUNTS) : prng.int(50, 9_999));

export const drawPayer = ({ prng, users }: Scene): Person => (prng.chance(0.8) ? prng.pick(users) : prng.pick(GUESTS));

/** The user's organization, or none. */
export const drawOrganization = (scene: Scene, person: Person, chance = 0.4): string | undefined =>
  person.kind !== 'guest' && scene.prng.chance(chance)
    ? choose(scene, { kind: 'organization', person: person.name })?.id
    : undefined;

/** Ada sells through her project. Other people may not name it. */
export const drawProject = (prng: Prng, { name }: Person): Record<string, unknown> =>
  maybe('project_id', prng.chance(name === ADA.name ? 0.25 : 0.03) ? PROJECT : undefined);

const CODED = 0.3;

/**
 * The price, sometimes with a discount code. With a code, a free price states its subtotal before the code's discount,
 * but no total.
 */
export const withCode = (prng: Prng, price: Readonly<Record<string, unknown>>): Record<string, unknown> => {
  const words = prng.fork('code');
  if (!words.chance(CODED)) return { ...price };
  const { total_cents: total, ...terms } = price;
  return { ...terms, ...maybe('subtotal_cents', total), discount_code: words.pick(CODE_WORDS) };
};

/** A saved method by our id or by the provider's, a one-time token, or none. */
const drawMethod = (scene: Scene, person: Person, provider: WorldProvider): string | undefined => {
  const { prng } = scene;
  const saved = choose(scene, {
    kind: 'method',
    person: person.name,
    fits: ({ provider_id }) => provider_id === provider,
  });
  const drawn = prng.next();
  const token = drawToken(prng, provider);
  if (drawn < 0.25) return undefined;
  if (drawn < 0.5 || saved === undefined) return token;
  return drawn < 0.62 ? (saved.fields['provider_payment_method_id'] ?? saved.id) : saved.id;
};

const guestData = ({ email, name }: Person) => ({ guest_data: { email, name } });

/** The share of payments that only hold their amount. Some methods cannot hold amounts. */
const MANUAL = 0.1;

const createIntent: WorldOperation = {
  name: 'create a payment',
  weight: 14,
  plan: (scene) => {
    const { prng } = scene;
    const person = drawPayer(scene);
    const provider = prng.weighted([
      { weight: 5, value: 'provider_a' as const },
      { weight: 3, value: 'provider_b' as const },
      { weight: 3, value: 'provider_c' as const },
    ]).value;
    const withProduct = prng.chance(0.25);
    const price = withProduct
      ? { product_id: prng.pick([PRODUCTS.monthly, PRODUCTS.course]).id }
      : { total_cents: drawAmount(prng), currency: provider === 'provider_c' || prng.chance(0.8) ? 'USD' : 'EUR' };
    return {
      kind: 'request',
      person,
      method: 'POST',
      path: prng.chance(0.9) ? '/payments/intents' : '/payments',
      body: {
        ...withCode(prng, price),
        provider_id: provider,
        ...maybe('payment_method_id', drawMethod(scene, person, provider)),
        ...maybe('organization_id', drawOrganization(scene, person)),
        ...drawProject(prng, person),
        ...maybe('setup_future_usage', prng.chance(0.15) ? 'off_session' : undefined),
        ...maybe('capture_method', prng.fork('capture method').chance(MANUAL) ? 'manual' : undefined),
        ...(person.kind === 'guest' && guestData(person)),
      },
      withoutToken: prng.chance(0.3),
      ...(prng.chance(0.5) && { next: confirmAtOnce(person, prng) }),
    };
  },
};

const CONTINUED = [
  ['payment_method_id', 'method'],
  ['customer_id', 'customer'],
  ['billing_address_id', 'address'],
] as const;
const SHOWN_TO_ALL = [
  ['customer_id', 'payment'],
  ['billing_address_id', 'subscription'],
] as const;

/**
 * A guest continues with the e-mail and the id of one of their records of any age. An attacker who knows the e-mail
 * names a payment or a subscription from the lists by e-mail, which is no proof.
 */
const payByEmail: WorldOperation = {
  name: 'pay as a guest by the e-mail alone',
  weight: 3,
  plan: (scene) => {
    const { prng, knowledge } = scene;
    const victim = prng.pick(GUESTS);
    const isAttack = prng.chance(0.3);
    const known = (isAttack ? SHOWN_TO_ALL : CONTINUED).flatMap(([name, kind]) =>
      knowledge.all(kind).flatMap(({ id, fields, seenBy }) => (seenBy.has(victim.name) ? { name, id, fields } : [])),
    );
    if (known.length === 0) return undefined;
    const { name, id, fields } = prng.pick(known);
    return {
      kind: 'request',
      person: isAttack ? prng.pick(GUESTS.filter((one) => one !== victim)) : victim,
      method: 'POST',
      path: '/payments/intents',
      body: {
        ...{ total_cents: drawAmount(prng), currency: 'USD', [name]: id, ...guestData(victim) },
        ...maybe(
          'provider_id',
          WORLD_PROVIDERS.find((provider) => provider === fields['provider_id']),
        ),
      },
      withoutToken: true,
    };
  },
};

const confirmAtOnce =
  (person: Person, prng: Prng) =>
  (answer: StageAnswer): OperationStep | undefined => {
    const { id, ...fields } = answer.body ?? {};
    return isDone(answer) && id !== undefined ? confirmStep(person, { id, fields }, prng) : undefined;
  };

/** Confirms the payment, whether or not the person has seen the response to the last request. */
export const confirmStep = (
  person: Person,
  { id, fields }: Pick<Known, 'id' | 'fields'>,
  prng: Prng,
): OperationStep => {
  const [path, token] = [`/payments/confirm/${id}`, drawToken(prng, fields['provider_id'] ?? 'provider_a')];
  const body = fields['status'] === 'created' ? {} : { payment_method_id: token };
  return { kind: 'request', person, method: 'POST', path, body, next: tryAnotherMethod(person, path, prng) };
};

/** A payer whose attempt was declined mostly tries another method immediately. */
const tryAnotherMethod =
  (person: Person, path: string, prng: Prng) =>
  ({ body }: StageAnswer): OperationStep | undefined => {
    const provider: WorldProvider | undefined = body?.details?.payment?.provider_id;
    if (body?.code !== 'PAYMENT_DECLINED' || provider === undefined || !prng.chance(0.7)) return undefined;
    return { kind: 'request', person, method: 'POST', path, body: { payment_method_id: drawToken(prng, provider) } };
  };

const confirm: WorldOperation = {
  name: 'confirm a payment',
  weight: 20,
  plan: (scene) => {
    const { prng } = scene;
    const person = drawPayer(scene);
    const open = !prng.chance(0.15);
    const payment = choose(scene, {
      kind: 'payment',
      person: person.name,
      fits: (fields) => !open || isOpenPayment(fields),
    });
    if (!payment) return undefined;
    const provider = (payment.fields['provider_id'] ?? 'provider_a') as WorldProvider;
    const needs = payment.fields['status'] !== 'created' || prng.chance(0.15);
    const path = `/payments/confirm/${payment.id}`;
    return {
      kind: 'request',
      person,
      method: 'POST',
      path,
      body: maybe('payment_method_id', needs ? drawMethod(scene, person, provider) : undefined),
      next: tryAnotherMethod(person, path, prng),
    };
  },
};

/** Another code, none, or the code that the payment has. */
const drawOtherCode = (prng: Prng): { readonly discount_code?: string | null } =>
  prng.weighted([
    { weight: 6, value: {} },
    { weight: 2, value: { discount_code: prng.pick(CODE_WORDS) } },
    { weight: 1, value: { discount_code: null } },
  ]).value;

const update: WorldOperation = {
  name: 'update a payment',
  weight: 10,
  twice: 0.5,
  // Two concurrent amounts. The same amount must win here and at the provider.
  again: (step, prng) =>
    step.kind === 'request' ? { ...step, body: { ...step.body, total_cents: drawAmount(prng) } } : step,
  plan: (scene) => {
    const { prng } = scene;
    const person = prng.pick(scene.users);
    const open = !prng.chance(0.15);
    const payment = choose(scene, {
      kind: 'payment',
      person: person.name,
      fits: (fields) => !open || isUnconfirmed(fields),
    });
    if (!payment) return undefined;
    const provider = (payment.fields['provider_id'] ?? 'provider_a') as WorldProvider;
    const amount = prng.chance(0.7) ? drawAmount(prng) : undefined;
    const code = drawOtherCode(prng.fork('code'));
    const isCoded = Boolean(payment.fields['discount'] ?? code.discount_code);
    const method = prng.chance(0.5) ? drawMethod(scene, person, provider) : undefined;
    return {
      kind: 'request',
      person,
      method: 'PUT',
      path: `/payments/intents/${payment.id}`,
      body: {
        ...{ description: 'changed', ...code },
        ...maybe(isCoded ? 'subtotal_cents' : 'total_cents', amount),
        ...maybe('payment_method_id', method),
      },
      next: afterUpdate(person, payment, prng),
    };
  },
};

/**
 * The person confirms. If an update left the provider's amount unclear, the payer may continue in the browser.
 */
const afterUpdate = (person: Person, payment: Known, prng: Prng) => {
  const confirms = prng.chance(0.4);
  const goesOn = prng.chance(0.5);
  return ({ status }: StageAnswer): OperationStep | undefined => {
    if (goesOn && (status === 0 || status >= 500)) return payInBrowser(payment, prng);
    return confirms ? confirmStep(person, payment, prng) : undefined;
  };
};

const cancel: WorldOperation = {
  name: 'cancel a payment',
  weight: 3,
  plan: (scene) => {
    const person = scene.prng.chance(0.2) ? ROOT : scene.prng.pick(scene.users);
    const payment = choose(scene, { kind: 'payment', person: person.name });
    return (
      payment && { kind: 'request', person, method: 'POST', path: `/payments/intents/${payment.id}/cancel`, body: {} }
    );
  },
};

const sync: WorldOperation = {
  name: 'sync a payment',
  weight: 4,
  plan: (scene) => {
    const person = scene.prng.chance(0.3) ? ROOT : scene.prng.pick(scene.users);
    const payment = choose(scene, {
      kind: 'payment',
      person: person.name,
      fits: ({ provider_payment_id: id }) => typeof id === 'string',
    });
    return (
      payment && {
        kind: 'request',
        person,
        method: 'POST',
        path: `/payments/sync/${payment.fields['provider_payment_id']}`,
        body: {},
      }
    );
  },
};

const refund: WorldOperation = {
  name: 'refund a payment',
  weight: 9,
  plan: (scene) => {
    const { prng, knowledge } = scene;
    const person = prng.chance(0.9) ? ROOT : prng.pick(scene.users);
    const paid = knowledge.all('payment').filter(({ fields }) => fields['status'] === 'succeeded');
    if (paid.length === 0) return undefined;
    const payment = prng.pick(paid.slice(-scene.latest));
    const total = Number(payment.fields['total_cents'] ?? 500);
    const amount = prng.chance(0.7) ? prng.int(1, Math.max(1, Math.round(total * prng.pick([0.3, 1])))) : undefined;
    const refunding = (cents: number | undefined): AskedRequest => ({
      ...{ kind: 'request', person, method: 'POST', path: `/payments/${payment.id}/refunds` },
      body: { ...maybe('amount_cents', cents), reason: 'requested_by_customer', ...maybe('despite_dispute', despite) },
    });
    const despite = prng.chance(0.3) || undefined;
    const rest = prng.chance(0.5) ? amount : undefined;
    return { ...refunding(amount), ...(prng.chance(0.4) && { next: () => refunding(rest) }) };
  },
};

export const PAYMENT_OPERATIONS: readonly WorldOperation[] = [
  createIntent,
  confirm,
  update,
  cancel,
  sync,
  refund,
  payByEmail,
];

export const drawProvider = (prng: Prng): WorldProvider => prng.pick(WORLD_PROVIDERS);
