import { expect } from 'vitest';
import { changeTable, itemsOf } from '../flow.ts';
import type { ParsedJson, RequestOptions, TestAnswer, TestHost } from '../host.ts';
import { type ActionName, type Cell, isFromBefore, isGuest, type SessionCaller } from './cells.ts';
import { expectedOf } from './oracle.ts';
import type { Method, World } from './world.ts';

/** How each cell of the matrix is asked: what must stand before, and the requests of its caller. */
export interface Prepared {
  readonly cell: Cell;
  /** The method that the cell names, or that is stored; a guest's is saved later than others. */
  readonly method: () => Promise<Method>;
  /** What a charge of this cell comes to; of no other. */
  readonly amount: number;
  /** The answers of the caller's requests. Those that follow on a success are only sent then. */
  readonly send: () => Promise<readonly TestAnswer[]>;
}

export interface Stage {
  readonly service: TestHost;
  readonly world: World;
  /** Payments that are to name a method which the API of today would not store on them. */
  readonly fromBefore: { readonly id: string; readonly method: Method; readonly isByProviderOnly: boolean }[];
}

/** One amount for each charge, so that the ledger tells whose it is. */
let amounts = 1_000;
const nextAmount = (): number => {
  amounts += 1;
  return amounts;
};
const RAISED_BY = 500_000;

const made = async (answer: Promise<TestAnswer>, status = 201): Promise<ParsedJson> => {
  const { status: answered, body } = await answer;
  expect({ status: answered, body }).toMatchObject({ status });
  return body;
};

const nameOf = ({ naming }: Cell, { id, providerMethodId }: Method): string =>
  naming === 'our id' ? id : providerMethodId;

type Action = (stage: Stage, cell: Cell) => Promise<Prepared>;

const ok = ({ status }: TestAnswer): boolean => status < 300;

const createAndConfirm: Action = async ({ service, world }, cell) => {
  const method = await world.methodOf(cell);
  const amount = nextAmount();
  const options = world.optionsOf(cell.caller);
  const body = {
    total_cents: amount,
    currency: 'USD',
    provider_id: cell.provider,
    payment_method_id: nameOf(cell, method),
    ...world.payerFields(cell.caller, cell.payer),
  };
  return {
    cell,
    method: async () => method,
    amount,
    send: async () => {
      const created = await service.post('/payments/intents', body, options);
      if (!ok(created)) return [created];
      return [created, await service.post(`/payments/confirm/${created.body.id}`, {}, options)];
    },
  };
};

interface Payment {
  readonly id: string;
  readonly amount: number;
}

/** A payment of the cell's payer, with its method where that is stored; by a user with the permission. */
const newPayment = async ({ service, world, fromBefore }: Stage, cell: Cell): Promise<Payment> => {
  const amount = nextAmount();
  const isStored = cell.naming === 'stored';
  const method = await world.methodOf(cell);
  const body = {
    total_cents: amount,
    currency: 'USD',
    provider_id: cell.provider,
    ...world.payerFields(isGuest(cell.caller) && cell.payer === 'person' ? 'guest' : 'owner', cell.payer),
    ...(isStored && !isFromBefore(cell) && { payment_method_id: method.id }),
  };
  const { id } = await made(service.post('/payments/intents', body, world.makerOf(cell)));
  if (isFromBefore(cell)) {
    // Some rows hold the method by its provider's id alone, as a token that was saved as a method later.
    const isByProviderOnly = cell.payer === 'organization' || cell.holder === 'another user';
    fromBefore.push({ id, method, isByProviderOnly });
  }
  return { id, amount };
};

/** Who is refused changes nothing: one record of a payer, with what is stored on it, serves all of them. */
const sharedBy = <T>(make: (stage: Stage, cell: Cell) => Promise<T>) => {
  const records = new WeakMap<World, Map<string, Promise<T>>>();
  return (stage: Stage, cell: Cell): Promise<T> => {
    if (expectedOf(cell).kind !== 'refused') return make(stage, cell);
    const ofWorld = records.get(stage.world) ?? new Map<string, Promise<T>>();
    records.set(stage.world, ofWorld);
    const payer = cell.payer === 'organization' ? 'organization' : cell.caller;
    const key = `${payer} ${cell.provider} ${cell.naming === 'stored' ? cell.holder : ''}`;
    const known = ofWorld.get(key) ?? make(stage, cell);
    ofWorld.set(key, known);
    return known;
  };
};

const paymentFor = sharedBy(newPayment);

/** Rewrites those rows as they stand that were made before the rule. */
export const writeRowsFromBefore = async ({ service, fromBefore }: Stage): Promise<void> => {
  const { payment_methods: there } = await service.ledger();
  const items = await itemsOf(service, 'PAY#');
  for (const { id, method, isByProviderOnly } of fromBefore) {
    const stored = items.find(({ pk, sk }) => pk === `PAY#${id}` && sk === 'PAY');
    const customer = there.find((one: ParsedJson) => one.id === method.providerMethodId).customer;
    const names = {
      methodRef: method.providerMethodId,
      providerCustomerId: customer,
      ...(!isByProviderOnly && { paymentMethodId: method.id }),
    };
    await changeTable(service, { put: { ...stored, status: 'created', ...names } });
  }
};

const updateAndConfirm: Action = async (stage, cell) => {
  const { service, world } = stage;
  const method = await world.methodOf(cell);
  const { id, amount } = await paymentFor(stage, cell);
  const raised = amount + RAISED_BY;
  const isStored = cell.naming === 'stored';
  const options = world.optionsOf(cell.caller);
  const body = { total_cents: raised, ...(!isStored && { payment_method_id: nameOf(cell, method) }) };
  return {
    cell,
    method: async () => method,
    amount: raised,
    send: async () => {
      const updated = await service.put(`/payments/intents/${id}`, body, options);
      // An update of the amount that was refused is followed by a confirmation of what is stored.
      if (!ok(updated) && (!isStored || updated.status === 401)) return [updated];
      return [updated, await service.post(`/payments/confirm/${id}`, {}, options)];
    },
  };
};

const confirmWith: Action = async (stage, cell) => {
  const { service, world } = stage;
  const method = await world.methodOf(cell);
  const { id, amount } = await paymentFor(stage, cell);
  const body = cell.naming === 'stored' ? {} : { payment_method_id: nameOf(cell, method) };
  return {
    cell,
    method: async () => method,
    amount,
    send: async () => [await service.post(`/payments/confirm/${id}`, body, world.optionsOf(cell.caller))],
  };
};

const save: Action = async ({ service, world }, cell) => {
  const method = await world.methodOf(cell);
  const body = {
    provider_id: cell.provider,
    provider_payment_method_token: method.providerMethodId,
    ...world.payerFields(cell.caller, cell.payer),
  };
  return {
    cell,
    method: async () => method,
    amount: nextAmount(),
    send: async () => [await service.post('/payment-methods', body, world.optionsOf(cell.caller))],
  };
};

const planOf = (amount: number) => ({ total_cents: amount, currency: 'USD', billing_interval: 'monthly' });

/** The customer beside a method: the method's own, where the caller may name it; else the payer's. */
const customerFor = async ({ world }: Stage, cell: Cell): Promise<string> => {
  const isOrganizations = cell.payer === 'organization' && cell.holder !== 'user';
  const own = isGuest(cell.caller) ? 'guest' : 'user';
  const { customerId } = await world.methodOf({ ...cell, holder: isOrganizations ? 'organization' : own });
  return customerId;
};

const subscribe: Action = async (stage, cell) => {
  const { service, world } = stage;
  const method = await world.methodOf(cell);
  const amount = nextAmount();
  const body = {
    ...planOf(amount),
    provider_id: cell.provider,
    customer_id: await customerFor(stage, cell),
    payment_method_id: nameOf(cell, method),
    ...world.payerFields(cell.caller, cell.payer),
  };
  return {
    cell,
    method: async () => method,
    amount,
    send: async () => [await service.post('/subscriptions', body, world.optionsOf(cell.caller))],
  };
};

interface NewSubscription {
  readonly options: RequestOptions;
  readonly method: Method;
  readonly amount: number;
  readonly fields?: object;
}

const subscriptionOf = async (
  { service, world }: Stage,
  { provider, payer }: Cell,
  { options, method, amount, fields }: NewSubscription,
): Promise<string> => {
  const body = {
    ...planOf(amount),
    provider_id: provider,
    customer_id: method.customerId,
    payment_method_id: method.id,
    ...world.payerFields('owner', payer),
    ...fields,
  };
  return (await made(service.post('/subscriptions', body, options))).id;
};

interface Owing {
  readonly id: string;
  readonly amount: number;
}

export const TRIAL_DAYS = 31;

const newOwing = async (stage: Stage, cell: Cell): Promise<Owing> => {
  const amount = nextAmount();
  const maker: SessionCaller = cell.payer === 'organization' || isGuest(cell.caller) ? 'owner' : cell.caller;
  const id = await subscriptionOf(stage, cell, {
    options: stage.world.optionsOf(maker),
    method: await stage.world.failingOf(cell),
    amount,
    fields: { trial_days: TRIAL_DAYS },
  });
  return { id, amount };
};

const owingFor = sharedBy(newOwing);

/** A trial that ends in a charge that fails, while the clock moves on: it is past due when the cells are asked. */
const changeMethod: Action = async (stage, cell) => {
  const { service, world } = stage;
  const owing = await owingFor(stage, cell);
  return {
    cell,
    amount: owing.amount,
    method: () => world.methodOf(cell),
    send: async () => {
      const body = { payment_method_id: nameOf(cell, await world.methodOf(cell)) };
      const path = `/subscriptions/${owing.id}`;
      return [await service.request('PATCH', path, { ...world.optionsOf(cell.caller), body })];
    },
  };
};

/** Brought to a stop while its first period runs, and asked for again when that is over. */
const comingBack =
  (stop: 'pause' | 'cancel', comeBack: 'resume' | 'reactivate'): Action =>
  async (stage, cell) => {
    const { service, world } = stage;
    const amount = nextAmount();
    const isDetached = cell.holder === 'deleted' && stop === 'pause';
    const method = await (isDetached ? world.detachedOf(cell) : world.methodOf(cell));
    const options = world.makerOf(cell);
    const id = await subscriptionOf(stage, cell, { options, method, amount });
    const body = stop === 'cancel' ? { cancel_at_period_end: false } : {};
    await made(service.post(`/subscriptions/${id}/${stop}`, body, options), 200);
    const path = `/subscriptions/${id}/${comeBack}`;
    return {
      cell,
      method: async () => method,
      amount,
      send: async () => [await service.post(path, {}, world.optionsOf(cell.caller))],
    };
  };

export const RUN: Readonly<Record<ActionName, Action>> = {
  'create and confirm': createAndConfirm,
  'update and confirm': updateAndConfirm,
  'confirm with': confirmWith,
  save,
  subscribe,
  'change method': changeMethod,
  resume: comingBack('pause', 'resume'),
  reactivate: comingBack('cancel', 'reactivate'),
};
