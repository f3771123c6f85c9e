/** @module Operations on subscriptions. Stripe bills its own; at PayPal and Square the service bills. */
import type { Prng } from '../kernel/prng.ts';
import type { Person } from '../model/history.ts';
import { choose, isDone, maybe, type OperationStep, type Scene, type WorldOperation } from './operation.ts';
import { drawAmount, drawOrganization, drawPayer, drawProject, withCode } from './payments.ts';
import { PRODUCTS, ROOT } from './people.ts';
import type { StageAnswer } from './stage.ts';

export const drawPrice = (prng: Prng): Record<string, unknown> => {
  if (prng.chance(0.6)) return { product_id: prng.pick(Object.values(PRODUCTS)).id };
  const total = prng.chance(0.1) ? 0 : drawAmount(prng);
  return {
    subtotal_cents: total,
    total_cents: total,
    currency: 'USD',
    billing_interval: prng.chance(0.05) ? 'daily' : prng.pick(['weekly', 'monthly']),
    ...maybe('trial_days', prng.chance(0.25) ? prng.int(1, 5) : undefined),
  };
};

const subscribe: WorldOperation = {
  name: 'subscribe',
  weight: 10,
  plan: (scene) => {
    const person = drawPayer(scene);
    const method = choose(scene, { kind: 'method', person: person.name });
    if (!method) return undefined;
    const provider = method.fields['provider_id'];
    const customer =
      scene.knowledge.get(String(method.fields['customer_id'])) ??
      choose(scene, { kind: 'customer', person: person.name, fits: ({ provider_id }) => provider_id === provider });
    const customerId = customer?.id ?? method.fields['customer_id'];
    if (!customerId) return undefined;
    const organization = method.fields['organization_id'] ?? drawOrganization(scene, person, 0.45);
    return {
      kind: 'request',
      person,
      method: 'POST',
      path: '/subscriptions',
      body: {
        customer_id: customerId,
        payment_method_id: method.id,
        provider_id: provider,
        ...withCode(scene.prng, drawPrice(scene.prng)),
        ...maybe('organization_id', organization),
        ...drawProject(scene.prng, person),
        ...(person.kind === 'guest' && { guest_data: { email: person.email, name: person.name } }),
      },
      withoutToken: scene.prng.fork('without token').chance(0.4),
      next: (answer) => cancelUnpaid(scene, person, answer),
    };
  },
};

/** While the first charge is open, an impatient payer may cancel and return. */
const cancelUnpaid = ({ prng }: Scene, person: Person, answer: StageAnswer): OperationStep | undefined => {
  const { id, status } = isDone(answer) ? answer.body : {};
  if (status !== 'past_due' || !prng.fork(`cancel ${id}`).chance(0.5)) return undefined;
  const request = (tail: string, body: Readonly<Record<string, unknown>>): OperationStep => ({
    ...{ kind: 'request', person, method: 'POST', path: `/subscriptions/${id}/${tail}`, body },
  });
  const returns = prng.fork(`return ${id}`).chance(0.5);
  return {
    ...request('cancel', { cancel_at_period_end: false }),
    ...(returns && { next: () => request('reactivate', {}) }),
  };
};

const onSubscription = (
  name: string,
  weight: number,
  how: {
    readonly tail: string;
    readonly body?: Readonly<Record<string, unknown>>;
    readonly admins?: number;
    /** The route that the person may call immediately after the response. */
    readonly next?: string;
    /** The route that the person may call if the outcome is unknown. */
    readonly back?: string;
    /** The usual status of the chosen subscription. */
    readonly of?: readonly string[];
  },
): WorldOperation => ({
  name,
  weight,
  plan: (scene) => {
    const person = scene.prng.chance(how.admins ?? 0) ? ROOT : scene.prng.pick(scene.users);
    const isAny = how.of === undefined || scene.prng.chance(0.25);
    const subscription = choose(scene, {
      ...{ kind: 'subscription', person: person.name },
      fits: ({ status, cancel_at_period_end: ends }) => isAny || how.of?.includes(ends ? 'ending' : status) === true,
    });
    if (!subscription) return undefined;
    const { next, body = {} } = how;
    const request = (tail: string, sent: Readonly<Record<string, unknown>>): OperationStep => ({
      ...{ kind: 'request', person, method: 'POST', path: `/subscriptions/${subscription.id}/${tail}`, body: sent },
    });
    const goesOn = next !== undefined && scene.prng.chance(0.4) && { next: () => request(next, {}) };
    const { back } = how;
    const impatience = scene.prng.fork('impatience');
    const takesBack = back !== undefined && {
      next: ({ status }: StageAnswer) =>
        (status === 0 || status >= 500) && impatience.chance(0.6) ? request(back, {}) : undefined,
    };
    return { ...request(how.tail, body), ...goesOn, ...takesBack };
  },
});

const changeMethod: WorldOperation = {
  name: 'change the method of a subscription',
  weight: 4,
  plan: (scene) => {
    const person = scene.prng.pick(scene.users);
    const subscription = choose(scene, { kind: 'subscription', person: person.name });
    if (!subscription) return undefined;
    const method = choose(scene, {
      kind: 'method',
      person: person.name,
      fits: ({ provider_id }) => provider_id === subscription.fields['provider_id'],
    });
    return (
      method && {
        kind: 'request',
        person,
        method: 'PATCH',
        path: `/subscriptions/${subscription.id}`,
        body: { payment_method_id: method.id },
      }
    );
  },
};

export const SUBSCRIPTION_OPERATIONS: readonly WorldOperation[] = [
  subscribe,
  onSubscription('pause a subscription', 2.5, {
    tail: 'pause',
    next: 'resume',
    of: ['active', 'trialing'],
  }),
  onSubscription('resume a subscription', 3, { tail: 'resume', back: 'pause', of: ['paused'] }),
  onSubscription('cancel a subscription now', 2, {
    tail: 'cancel',
    next: 'reactivate',
    body: { cancel_at_period_end: false },
    admins: 0.2,
  }),
  onSubscription('cancel a subscription at its end', 3, { tail: 'cancel', of: ['active', 'trialing'] }),
  onSubscription('reactivate a subscription', 3.5, {
    tail: 'reactivate',
    back: 'cancel',
    of: ['canceled', 'ending'],
  }),
  changeMethod,
];
