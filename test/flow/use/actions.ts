import { expect } from 'vitest';
import { changeTable, storedPayment } from '../flow.ts';
import type { ParsedJson, RequestOptions, TestAnswer, TestHost } from '../host.ts';
import { type ActionName, type Cell, isFromBefore, isGuest, type SessionCaller } from './cells.ts';
import { expectedOf } from './oracle.ts';
import type { Method, World } from './world.ts';

/** How each cell of the matrix is asked: what must stand before, and the requests of its caller. */
export interface Prepared {
  readonly cell: Cell;
  /** The method that the cell names, or that is stored. */
  readonly method: Method;
  /** What a charge of this cell comes to; of no other. */
  readonly amount: number;
  /** The answers of the caller's requests. Those that follow on a success are only sent then. */
  readonly send: () => Promise<readonly TestAnswer[]>;
}

export interface Stage {
  readonly service: TestHost;
  readonly world: World;
}

/** One amount for each charge, so that the ledger tells whose it is. */
let amounts = 1_000;
const nextAmount = (): number => {
  amounts += 1;
  return amounts;
};
const RAISED_BY = 500_000;

const made = async (answer: Promise<TestAnswer>, status = 201): Promise<ParsedJson> => {
  const { status: told, body } = await answer;
  expect({ status: told, body }).toMatchObject({ status });
  return body;
};

const nameOf = ({ naming }: Cell, { id, providerMethodId }: Method): string =>
  naming === 'our id' ? id : providerMethodId;

type Action = (stage: Stage, cell: Cell) => Promise<Prepared>;

const ok = ({ status }: TestAnswer): boolean => status < 300;

const createAndConfirm: Action = async ({ service, world }, cell) => {
  const method = world.methodOf(cell);
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
    method,
    amount,
    send: async () => {
      const created = await service.post('/payments/intents', body, options);
      if (!ok(created)) return [created];
      return [created, await service.post(`/payments/confirm/${created.body.id}`, {}, options)];
    },
  };
};

/** A payment of the cell's payer, with its method where that is stored; by whoever could. */
const paymentFor = async ({ service, world }: Stage, cell: Cell, amount: number): Promise<string> => {
  const isStored = cell.naming === 'stored';
  const method = world.methodOf(cell);
  const body = {
    total_cents: amount,
    currency: 'USD',
    provider_id: cell.provider,
    ...world.payerFields(isGuest(cell.caller) && cell.payer === 'person' ? 'guest' : 'owner', cell.payer),
    ...(isStored && !isFromBefore(cell) && { payment_method_id: method.id }),
  };
  const { id } = await made(service.post('/payments/intents', body, world.makerOf(cell)));
  if (isFromBefore(cell)) await storeFromBefore(service, id, method);
  return id;
};

/** As a payment stands that was made before the rule. */
const storeFromBefore = async (service: TestHost, id: string, method: Method): Promise<void> => {
  const { payment_methods: there } = await service.ledger();
  const customer = there.find((one: ParsedJson) => one.id === method.providerMethodId).customer;
  const names = { paymentMethodId: method.id, methodRef: method.providerMethodId, providerCustomerId: customer };
  await changeTable(service, { put: { ...(await storedPayment(service, id)), status: 'created', ...names } });
};

const updateAndConfirm: Action = async (stage, cell) => {
  const { service, world } = stage;
  const amount = nextAmount();
  const raised = amount + RAISED_BY;
  const method = world.methodOf(cell);
  const id = await paymentFor(stage, cell, amount);
  const isStored = cell.naming === 'stored';
  const options = world.optionsOf(cell.caller);
  const body = { total_cents: raised, ...(!isStored && { payment_method_id: nameOf(cell, method) }) };
  return {
    cell,
    method,
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
  const amount = nextAmount();
  const method = world.methodOf(cell);
  const id = await paymentFor(stage, cell, amount);
  const body = cell.naming === 'stored' ? {} : { payment_method_id: nameOf(cell, method) };
  return {
    cell,
    method,
    amount,
    send: async () => [await service.post(`/payments/confirm/${id}`, body, world.optionsOf(cell.caller))],
  };
};

const save: Action = async ({ service, world }, cell) => {
  const method = world.methodOf(cell);
  const body = {
    provider_id: cell.provider,
    provider_payment_method_token: method.providerMethodId,
    ...world.payerFields(cell.caller, cell.payer),
  };
  return {
    cell,
    method,
    amount: nextAmount(),
    send: async () => [await service.post('/payment-methods', body, world.optionsOf(cell.caller))],
  };
};

const planOf = (amount: number) => ({ total_cents: amount, currency: 'USD', billing_interval: 'monthly' });

/** The customer beside a method: the method's own, where the caller may name it; else the payer's. */
const customerFor = ({ world }: Stage, cell: Cell): string => {
  if (cell.caller === 'guest' && cell.payer === 'person')
    return world.methodOf({ ...cell, holder: 'guest' }).customerId;
  if (cell.payer === 'organization' && cell.holder !== 'user') return world.failingOf(cell).customerId;
  return isGuest(cell.caller)
    ? world.methodOf({ ...cell, holder: 'guest' }).customerId
    : world.methodOf({ ...cell, holder: 'user' }).customerId;
};

const subscribe: Action = async (stage, cell) => {
  const { service, world } = stage;
  const method = world.methodOf(cell);
  const amount = nextAmount();
  const body = {
    ...planOf(amount),
    provider_id: cell.provider,
    customer_id: customerFor(stage, cell),
    payment_method_id: nameOf(cell, method),
    ...world.payerFields(cell.caller, cell.payer),
  };
  return {
    cell,
    method,
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

/** A trial that ends in a charge that fails, while the clock moves on: it is past due when the cells are asked. */
const changeMethod: Action = async (stage, cell) => {
  const { service, world } = stage;
  const isCharged = expectedOf(cell).kind === 'charged';
  const owing = isCharged ? await newOwing(stage, cell) : await sharedOwing(stage, cell);
  return {
    cell,
    amount: owing.amount,
    get method() {
      return world.methodOf(cell);
    },
    send: async () => {
      const body = { payment_method_id: nameOf(cell, world.methodOf(cell)) };
      const path = `/subscriptions/${owing.id}`;
      return [await service.request('PATCH', path, { ...world.optionsOf(cell.caller), body })];
    },
  };
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
    method: stage.world.failingOf(cell),
    amount,
    fields: { trial_days: TRIAL_DAYS },
  });
  return { id, amount };
};

/** Who is refused changes nothing: one for all of them. */
const owed = new WeakMap<World, Map<string, Promise<Owing>>>();
const sharedOwing = (stage: Stage, cell: Cell): Promise<Owing> => {
  const ofWorld = owed.get(stage.world) ?? new Map<string, Promise<Owing>>();
  owed.set(stage.world, ofWorld);
  const key = cell.payer === 'organization' ? `organization ${cell.provider}` : `${cell.caller} ${cell.provider}`;
  const known = ofWorld.get(key) ?? newOwing(stage, cell);
  ofWorld.set(key, known);
  return known;
};

/** Brought to a stop while its first period runs, and asked for again when that is over. */
const comingBack =
  (stop: 'pause' | 'cancel', comeBack: 'resume' | 'reactivate'): Action =>
  async (stage, cell) => {
    const { service, world } = stage;
    const amount = nextAmount();
    const isDetached = cell.holder === 'deleted' && stop === 'pause';
    const method = isDetached ? world.detachedOf(cell) : world.methodOf(cell);
    const options = world.makerOf(cell);
    const id = await subscriptionOf(stage, cell, { options, method, amount });
    const body = stop === 'cancel' ? { cancel_at_period_end: false } : {};
    await made(service.post(`/subscriptions/${id}/${stop}`, body, options), 200);
    const path = `/subscriptions/${id}/${comeBack}`;
    return { cell, method, amount, send: async () => [await service.post(path, {}, world.optionsOf(cell.caller))] };
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
