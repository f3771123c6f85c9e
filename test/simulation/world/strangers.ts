/**
 * @module A non-paying stranger in another network. The stranger knows all guests' e-mail addresses, their
 * Idempotency-Keys (order numbers) and all ids seen by readers of payments and events, and computes further
 * ids from these. The stranger names such an id and a guest's e-mail in a create, and confirms the payment.
 */
import type { HistoryExchange, Person } from '../model/history.ts';
import { idOfKey, idsBeside } from '../model/plain-ids.ts';
import type { Known } from './knowledge.ts';
import { PLAIN_TOKENS } from './methods-to-try.ts';
import { type AskedRequest, maybe, type OperationStep, type Scene, type WorldOperation } from './operation.ts';
import { confirmStep, drawAmount } from './payments.ts';
import { GUESTS, STRANGER, WORLD_PROVIDERS, type WorldProvider } from './people.ts';

const guestData = ({ email, name }: Person) => ({ guest_data: { email, name } });

/** A guest with records, mostly with a saved method. */
const drawVictim = ({ prng, knowledge }: Scene): Person | undefined => {
  const withMethod = GUESTS.filter(({ name }) => knowledge.all('method').some(({ seenBy }) => seenBy.has(name)));
  const known = GUESTS.filter(({ name }) => knowledge.all('payment').some(({ seenBy }) => seenBy.has(name)));
  const among = withMethod.length > 0 && prng.chance(0.8) ? withMethod : known;
  return among.length === 0 ? undefined : prng.pick(among);
};

interface Named {
  readonly field: 'payment_method_id' | 'provider_payment_method_token' | 'customer_id' | 'billing_address_id';
  readonly id: string;
  readonly provider: WorldProvider | undefined;
  /** The customer of a method. A subscription needs both. */
  readonly customerId?: string | undefined;
}

const ofGuest = ({ knowledge }: Scene, kind: Known['kind'], { name }: Person): readonly Known[] =>
  knowledge
    .all(kind)
    .filter(({ seenBy }) => seenBy.has(name))
    .slice(-4);

const providerOf = ({ fields }: Known): WorldProvider | undefined =>
  WORLD_PROVIDERS.find((provider) => provider === fields['provider_id']);

/** Ids that readers of payments, customers or provider events see. */
const seenIds = (scene: Scene, victim: Person): readonly Named[] => {
  const methods = ofGuest(scene, 'method', victim).flatMap((method): Named[] => {
    const provider = providerOf(method);
    const customerId: string | undefined = method.fields['customer_id'] ?? undefined;
    const atProvider: string | undefined = method.fields['provider_payment_method_id'] ?? undefined;
    return [
      { field: 'payment_method_id', id: method.id, provider, customerId },
      { field: 'provider_payment_method_token', id: method.id, provider },
      ...(atProvider ? [{ field: 'payment_method_id', id: atProvider, provider, customerId } as const] : []),
    ];
  });
  const customers = ofGuest(scene, 'customer', victim).flatMap((customer): Named[] =>
    [customer.id, customer.fields['provider_customer_id'] ?? customer.id].map((id) => ({
      ...{ field: 'customer_id', id, provider: providerOf(customer) },
    })),
  );
  const addresses = ofGuest(scene, 'address', victim).map(
    ({ id }): Named => ({ field: 'billing_address_id', id, provider: undefined }),
  );
  return [...methods, ...customers, ...addresses];
};

const FIELDS: Readonly<Record<string, Named['field']>> = {
  pmt: 'payment_method_id',
  cust: 'customer_id',
  addr: 'billing_address_id',
};

/** Ids that would be hashes of known data. The service must use other ids. */
const computedIds = (scene: Scene, victim: Person): readonly Named[] => {
  const ofKeys = requestsOf(scene, victim).flatMap((one) => idOfKey(one, victim));
  const beside = [...ofGuest(scene, 'payment', victim), ...ofGuest(scene, 'method', victim)].flatMap((known) =>
    idsBeside(known.id).map((id) => ({ id, provider: providerOf(known) })),
  );
  return [...ofKeys.map((id) => ({ id, provider: undefined })), ...beside].flatMap(({ id, provider }) => {
    const field = FIELDS[id.split('_')[0] ?? ''];
    return field === undefined ? [] : [{ field, id, provider }];
  });
};

const requestsOf = ({ sent }: Scene, victim: Person): readonly HistoryExchange[] =>
  sent.filter(({ person, idempotencyKey }) => person === victim.name && idempotencyKey !== undefined).slice(-8);

const asStranger = (path: string, body: Readonly<Record<string, unknown>>): AskedRequest => ({
  ...{ kind: 'request', person: STRANGER, method: 'POST', path, body, withoutToken: true },
});

/** Names the id in a create, and confirms the resulting payment. */
const nameIt = ({ prng }: Scene, victim: Person, { field, id, provider, customerId }: Named): OperationStep => {
  const total = { total_cents: drawAmount(prng), currency: 'USD', ...maybe('provider_id', provider) };
  if (field === 'provider_payment_method_token') {
    return asStranger('/payment-methods', { ...maybe('provider_id', provider), [field]: id, ...guestData(victim) });
  }
  if (customerId !== undefined && prng.chance(0.4)) {
    const subscribing = { [field]: id, customer_id: customerId, billing_interval: 'weekly' };
    return asStranger('/subscriptions', { ...total, ...subscribing, ...guestData(victim) });
  }
  return {
    ...asStranger('/payments/intents', { ...total, [field]: id, ...guestData(victim) }),
    next: ({ status, body }) =>
      status === 201 ? confirmStep(STRANGER, { id: body.id, fields: { ...body, status: 'created' } }, prng) : undefined,
  };
};

/** Repeats the request of a guest under its key, as it was or with another amount, and confirms the payment. */
const repeatIt = ({ prng }: Scene, earlier: HistoryExchange): OperationStep => {
  const { path, sent, idempotencyKey = '' } = earlier;
  const body = prng.chance(0.7) ? sent : { ...sent, total_cents: drawAmount(prng) };
  return {
    ...asStranger(path, body),
    idempotencyKey,
    next: ({ status, body: made }) =>
      (status === 200 || status === 201) && path.startsWith('/payments')
        ? { kind: 'request', person: STRANGER, method: 'POST', path: `/payments/confirm/${made?.id}`, body: {} }
        : undefined,
  };
};

const goOnAsGuest: WorldOperation = {
  name: 'go on as a guest whose e-mail and order are known',
  weight: 16,
  twice: 0.1,
  plan: (scene) => {
    const { prng } = scene;
    const victim = drawVictim(scene);
    if (victim === undefined) return undefined;
    const keyed = requestsOf(scene, victim).filter(({ method, sent }) => method === 'POST' && sent?.guest_data);
    if (keyed.length > 0 && prng.chance(0.3)) return repeatIt(scene, prng.pick(keyed));
    const ids = prng.chance(0.7) ? seenIds(scene, victim) : computedIds(scene, victim);
    return ids.length === 0 ? undefined : nameIt(scene, victim, prng.pick(ids));
  },
};

/** Guests without a token save a card, alone or during a payment. They soon pay with it, mostly from one network. */
const saveAndGoOn: WorldOperation = {
  name: 'save a card as a guest, and go on without a token',
  weight: 8,
  twice: 0.1,
  plan: (scene) => {
    const { prng } = scene;
    const person = prng.pick(GUESTS);
    const provider = prng.pick(WORLD_PROVIDERS);
    const elsewhere = prng.chance(0.25);
    const request = (path: string, body: Readonly<Record<string, unknown>>): AskedRequest => ({
      ...{ kind: 'request', person, method: 'POST', path, withoutToken: true },
      body: { provider_id: provider, ...body, ...guestData(person) },
    });
    /** Reads the method. The latest token belongs to the payment, and does not open the method. */
    const lookBack = (method: Known['fields']): AskedRequest => ({
      ...{ kind: 'request', person, method: 'GET', path: `/payment-methods/${method['id']}` },
    });
    const pay = (method: Known['fields']): AskedRequest => ({
      ...request('/payments/intents', {
        ...{ total_cents: drawAmount(prng), currency: 'USD' },
        payment_method_id: prng.chance(0.8) ? method['id'] : method['provider_payment_method_id'],
      }),
      elsewhere,
      next: ({ status, body }) => {
        if (status !== 201) return undefined;
        if (prng.chance(0.3)) return lookBack(method);
        return confirmStep(person, { id: body.id, fields: { ...body, status: 'created' } }, prng);
      },
    });
    return {
      ...request('/payment-methods', { provider_payment_method_token: PLAIN_TOKENS[provider] }),
      next: ({ status, body }) => (status === 201 && prng.chance(0.8) ? pay(body) : undefined),
    };
  },
};

export const STRANGER_OPERATIONS: readonly WorldOperation[] = [goOnAsGuest, saveAndGoOn];
