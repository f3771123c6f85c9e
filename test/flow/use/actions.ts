/** @module The requests of each matrix cell, and the records that must exist before. */

import { expect } from 'vitest';
import { changeTable, itemsOf } from '../flow.ts';
import type { RequestOptions, TestAnswer, TestHost } from '../host.ts';
import { type ActionName, isFromBefore, isGuest, isWithoutToken, type SignedInCaller, type UseCell } from './cells.ts';
import type { Method, UseFixtures } from './fixtures.ts';
import { expectedOf } from './oracle.ts';

export interface PreparedUse {
  readonly cell: UseCell;
  /** The named or stored method of the cell. A guest's method is saved later than others. */
  readonly method: () => Promise<Method>;
  /** The amount of the charge. It is unique to this cell. */
  readonly amount: number;
  /** The responses to the caller's requests. A follow-up request is sent only after a success. */
  readonly send: () => Promise<readonly TestAnswer[]>;
}

export interface ActionContext {
  readonly service: TestHost;
  readonly fixtures: UseFixtures;
  /** Payments with a stored method that today's API would refuse to store. */
  readonly fromBefore: { readonly id: string; readonly method: Method; readonly isByProviderOnly: boolean }[];
}

/** One amount per charge, to find the charge in the ledger. */
let amounts = 1_000;
const nextAmount = (): number => {
  amounts += 1;
  return amounts;
};
const RAISED_BY = 500_000;

const made = async (answer: Promise<TestAnswer>, status = 201) => {
  const { status: answered, body } = await answer;
  expect({ status: answered, body }).toMatchObject({ status });
  return body;
};

const nameOf = ({ naming }: UseCell, { id, providerMethodId }: Method): string =>
  naming === 'our id' ? id : providerMethodId;

type Action = (context: ActionContext, cell: UseCell) => Promise<PreparedUse>;

const ok = ({ status }: TestAnswer): boolean => status < 300;

const createAndConfirm: Action = async ({ service, fixtures }, cell) => {
  const method = await fixtures.methodOf(cell);
  const amount = nextAmount();
  const options = fixtures.optionsOf(cell.caller);
  const body = {
    total_cents: amount,
    currency: 'USD',
    provider_id: cell.provider,
    payment_method_id: nameOf(cell, method),
    ...fixtures.payerFields(cell.caller, cell.payer),
  };
  return {
    cell,
    method: async () => method,
    amount,
    send: async () => {
      const created = await service.post('/payments/intents', body, options);
      if (!ok(created)) return [created];
      const payer = isWithoutToken(cell.caller) ? { guestToken: created.body.guest_token } : options;
      return [created, await service.post(`/payments/confirm/${created.body.id}`, {}, payer)];
    },
  };
};

interface Payment {
  readonly id: string;
  readonly amount: number;
}

/** A payment of the cell's payer, created by a permitted user, with the method if it is stored. */
const newPayment = async ({ service, fixtures, fromBefore }: ActionContext, cell: UseCell): Promise<Payment> => {
  const amount = nextAmount();
  const isStored = cell.naming === 'stored';
  const method = await fixtures.methodOf(cell);
  const body = {
    total_cents: amount,
    currency: 'USD',
    provider_id: cell.provider,
    ...fixtures.payerFields(isGuest(cell.caller) && cell.payer === 'person' ? 'guest' : 'owner', cell.payer),
    ...(isStored && !isFromBefore(cell) && { payment_method_id: method.id }),
  };
  const { id } = await made(service.post('/payments/intents', body, fixtures.makerOf(cell)));
  if (isFromBefore(cell)) {
    // Some rows have only the method's provider id, like a token later saved as a method.
    const isByProviderOnly = cell.payer === 'organization' || cell.holder === 'another user';
    fromBefore.push({ id, method, isByProviderOnly });
  }
  return { id, amount };
};

/**
 * A refused request changes nothing, so all refused requests with the same payer, provider and holder of the stored
 * method use one record.
 */
const sharedBy = <T>(make: (context: ActionContext, cell: UseCell) => Promise<T>) => {
  const records = new WeakMap<UseFixtures, Map<string, Promise<T>>>();
  return (context: ActionContext, cell: UseCell): Promise<T> => {
    if (expectedOf(cell).kind !== 'refused') return make(context, cell);
    const ofWorld = records.get(context.fixtures) ?? new Map<string, Promise<T>>();
    records.set(context.fixtures, ofWorld);
    const payer = cell.payer === 'organization' ? 'organization' : cell.caller;
    const key = `${payer} ${cell.provider} ${cell.naming === 'stored' ? cell.holder : ''}`;
    const known = ofWorld.get(key) ?? make(context, cell);
    ofWorld.set(key, known);
    return known;
  };
};

const paymentFor = sharedBy(newPayment);

/** Rewrites the rows as if they had been stored before the usage rule. */
export const writeRowsFromBefore = async ({ service, fromBefore }: ActionContext): Promise<void> => {
  const { payment_methods: there } = await service.ledger();
  const items = await itemsOf(service, 'PAY#');
  for (const { id, method, isByProviderOnly } of fromBefore) {
    const stored = items.find(({ pk, sk }) => pk === `PAY#${id}` && sk === 'PAY');
    const customer = there.find((one) => one.id === method.providerMethodId)?.customer;
    const names = {
      methodRef: method.providerMethodId,
      providerCustomerId: customer,
      ...(!isByProviderOnly && { paymentMethodId: method.id }),
    };
    await changeTable(service, { put: { ...stored, status: 'created', ...names } });
  }
};

const updateAndConfirm: Action = async (context, cell) => {
  const { service, fixtures } = context;
  const method = await fixtures.methodOf(cell);
  const { id, amount } = await paymentFor(context, cell);
  const raised = amount + RAISED_BY;
  const isStored = cell.naming === 'stored';
  const options = fixtures.optionsOf(cell.caller);
  const body = { total_cents: raised, ...(!isStored && { payment_method_id: nameOf(cell, method) }) };
  return {
    cell,
    method: async () => method,
    amount: raised,
    send: async () => {
      const updated = await service.put(`/payments/intents/${id}`, body, options);
      // If the update of the amount was refused, the confirm uses the stored amount.
      if (!ok(updated) && (!isStored || updated.status === 401)) return [updated];
      return [updated, await service.post(`/payments/confirm/${id}`, {}, options)];
    },
  };
};

const confirmWith: Action = async (context, cell) => {
  const { service, fixtures } = context;
  const method = await fixtures.methodOf(cell);
  const { id, amount } = await paymentFor(context, cell);
  const body = cell.naming === 'stored' ? {} : { payment_method_id: nameOf(cell, method) };
  return {
    cell,
    method: async () => method,
    amount,
    send: async () => [await service.post(`/payments/confirm/${id}`, body, fixtures.optionsOf(cell.caller))],
  };
};

const save: Action = async ({ service, fixtures }, cell) => {
  const method = await fixtures.methodOf(cell);
  const body = {
    provider_id: cell.provider,
    provider_payment_method_token: method.providerMethodId,
    ...fixtures.payerFields(cell.caller, cell.payer),
  };
  return {
    cell,
    method: async () => method,
    amount: nextAmount(),
    send: async () => [await service.post('/payment-methods', body, fixtures.optionsOf(cell.caller))],
  };
};

const planOf = (amount: number) => ({
  subtotal_cents: amount,
  total_cents: amount,
  currency: 'USD',
  billing_interval: 'monthly',
});

/** The method's own customer if the caller may name it, else the payer's customer. */
const customerFor = async ({ fixtures }: ActionContext, cell: UseCell): Promise<string> => {
  const isOrganizations = cell.payer === 'organization' && cell.holder !== 'user';
  const own = isGuest(cell.caller) ? 'guest' : 'user';
  const { customerId } = await fixtures.methodOf({ ...cell, holder: isOrganizations ? 'organization' : own });
  return customerId;
};

const subscribe: Action = async (context, cell) => {
  const { service, fixtures } = context;
  const method = await fixtures.methodOf(cell);
  const amount = nextAmount();
  const body = {
    ...planOf(amount),
    provider_id: cell.provider,
    customer_id: await customerFor(context, cell),
    payment_method_id: nameOf(cell, method),
    ...fixtures.payerFields(cell.caller, cell.payer),
  };
  return {
    cell,
    method: async () => method,
    amount,
    send: async () => [await service.post('/subscriptions', body, fixtures.optionsOf(cell.caller))],
  };
};

interface NewSubscription {
  readonly options: RequestOptions;
  readonly method: Method;
  readonly amount: number;
  readonly fields?: object;
}

const subscriptionOf = async (
  { service, fixtures }: ActionContext,
  { provider, payer }: UseCell,
  { options, method, amount, fields }: NewSubscription,
): Promise<string> => {
  const body = {
    ...planOf(amount),
    provider_id: provider,
    customer_id: method.customerId,
    payment_method_id: method.id,
    ...fixtures.payerFields('owner', payer),
    ...fields,
  };
  return (await made(service.post('/subscriptions', body, options))).id;
};

interface Owing {
  readonly id: string;
  readonly amount: number;
}

export const TRIAL_DAYS = 31;

const newOwing = async (context: ActionContext, cell: UseCell): Promise<Owing> => {
  const amount = nextAmount();
  const maker: SignedInCaller = cell.payer === 'organization' || isGuest(cell.caller) ? 'owner' : cell.caller;
  const id = await subscriptionOf(context, cell, {
    options: context.fixtures.optionsOf(maker),
    method: await context.fixtures.failingOf(cell),
    amount,
    fields: { trial_days: TRIAL_DAYS },
  });
  return { id, amount };
};

const owingFor = sharedBy(newOwing);

/**
 * Changes the method of a past-due subscription. The trial of the subscription ends with a failed charge before the
 * cells run.
 */
const changeMethod: Action = async (context, cell) => {
  const { service, fixtures } = context;
  const owing = await owingFor(context, cell);
  return {
    cell,
    amount: owing.amount,
    method: () => fixtures.methodOf(cell),
    send: async () => {
      const body = { payment_method_id: nameOf(cell, await fixtures.methodOf(cell)) };
      const path = `/subscriptions/${owing.id}`;
      return [await service.request('PATCH', path, { ...fixtures.optionsOf(cell.caller), body })];
    },
  };
};

/** Stops a subscription during its first period, and restarts it after the period. */
const comingBack =
  (stop: 'pause' | 'cancel', comeBack: 'resume' | 'reactivate'): Action =>
  async (context, cell) => {
    const { service, fixtures } = context;
    const amount = nextAmount();
    const isDetached = cell.holder === 'deleted' && stop === 'pause';
    const method = await (isDetached ? fixtures.detachedOf(cell) : fixtures.methodOf(cell));
    const options = fixtures.makerOf(cell);
    const id = await subscriptionOf(context, cell, { options, method, amount });
    const body = stop === 'cancel' ? { cancel_at_period_end: false } : {};
    await made(service.post(`/subscriptions/${id}/${stop}`, body, options), 200);
    const path = `/subscriptions/${id}/${comeBack}`;
    return {
      cell,
      method: async () => method,
      amount,
      send: async () => [await service.post(path, {}, fixtures.optionsOf(cell.caller))],
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
