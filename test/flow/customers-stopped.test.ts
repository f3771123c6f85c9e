import { beforeAll, describe, expect, test } from 'vitest';
import { customerBody } from '../builders/payer.ts';
import { createIntent, itemsOf, PATIENT, signIn, type User } from './flow.ts';
import type { ParsedJson, RequestOptions, TestAnswer } from './host.ts';
import { createCustomer, customerAtProvider, customerEventsOf, saveMethod } from './payers.ts';
import { withStops } from './stops.ts';
import { type Way, waysToStop } from './ways.ts';

/** A function may stop at any call; a retry of the request finishes the work, and nothing is created twice. */
const stoppable = withStops(PATIENT);

beforeAll(async () => {
  // No provider events arrive: only a retry of the request finishes the work.
  await stoppable().service.webhookMode('drop');
});

interface Case {
  readonly way: Way;
  readonly user: User;
  readonly customer: ParsedJson;
}

/** One case, with a user and customer of its own, for every way to stop what `act` does with it. */
const stopEverywhere = async (
  prepare: (user: User) => Promise<ParsedJson>,
  act: (customer: ParsedJson, user: User) => Promise<TestAnswer>,
): Promise<Case[]> => {
  const { service, watch, stopped } = stoppable();
  const begin = async () => {
    const user = await signIn(service);
    return { user, customer: await prepare(user) };
  };
  const observed = await begin();
  const calls = await watch(() => act(observed.customer, observed.user));
  expect(calls.filter((name) => !name.startsWith('GET')).length).toBeGreaterThan(1);
  const cases: Case[] = [];
  for (const way of waysToStop(calls)) {
    const { user, customer } = await begin();
    const answer = await stopped(way, () => act(customer, user));
    expect({ way, status: answer.status }).toEqual({ way, status: expect.toSatisfy((status) => status >= 500) });
    cases.push({ way, user, customer });
  }
  return cases;
};

/** The function's time-out plus 5 s. */
const TAKEN_SECONDS = 25;

/** Until then the key is in use: a repeat gets a 409, another body is refused. */
const expectTaken = async (cases: readonly Case[], again: (user: User) => Promise<TestAnswer>): Promise<void> => {
  const { service } = stoppable();
  const statuses = new Set<number>();
  for (const { way, user } of cases) {
    const { status, headers } = await again(user);
    expect({ way, status }).toEqual({ way, status: expect.toSatisfy((code) => code === 201 || code === 409) });
    if (status === 409) expect(headers.get('retry-after')).toBe(String(TAKEN_SECONDS));
    statuses.add(status);
  }
  expect(statuses).toEqual(new Set([201, 409]));
  await service.advance(TAKEN_SECONDS);
};

const customersOf = async (options: RequestOptions): Promise<ParsedJson[]> =>
  (await stoppable().service.get('/customers', options)).body;

describe('an interrupted customer create', () => {
  const create = (options: RequestOptions, fields = {}) =>
    stoppable().service.post('/customers', customerBody(fields), { ...options, idempotencyKey: 'new-customer' });

  test('is finished by the same key, with one customer here and at the provider', async () => {
    const { service } = stoppable();
    const cases = await stopEverywhere(
      async () => undefined,
      (_, user) => create(user.options, { email: `${user.userId}@example.com` }),
    );
    const atProvider = async (email: string) =>
      (await service.ledger()).customers.filter((customer: ParsedJson) => customer.email === email);
    await expectTaken(cases, (user) => create(user.options, { email: `${user.userId}@example.com` }));
    for (const { way, user } of cases) {
      const email = `${user.userId}@example.com`;
      const answer = await create(user.options, { email });
      expect({ way, answer }).toMatchObject({ way, answer: { status: 201, body: { email } } });
      expect({ way, customers: await customersOf(user.options) }).toEqual({ way, customers: [answer.body] });
      expect(await atProvider(email)).toMatchObject([{ id: answer.body.provider_customer_id }]);
      expect(await createIntent(service, user)).toMatchObject({ customer_id: answer.body.id });
      await service.settle();
      expect(await customerEventsOf(service, answer.body.id)).toHaveLength(1);
    }
  });

  test('is also finished by the same key for a guest', async () => {
    const { service, watch, stopped } = stoppable();
    const createAs = (email: string) => create({}, { guest_data: { email, name: 'Gina' }, email: undefined });
    const calls = await watch(() => createAs('observed.guest@example.com'));
    const emailOf = (way: Way): string => `stopped.guest.${way.call}.${way.executed}@example.com`;
    for (const way of waysToStop(calls)) await stopped(way, () => createAs(emailOf(way)));
    await service.advance(TAKEN_SECONDS);
    for (const way of waysToStop(calls)) {
      const email = emailOf(way);
      const answer = await createAs(email);
      expect({ way, answer }).toMatchObject({ way, answer: { status: 201, body: { guest_email: email } } });
      const stored = (await itemsOf(service, 'CUS#')).filter(({ guestEmail }) => guestEmail === email);
      expect(stored).toMatchObject([{ id: answer.body.id }]);
      const intent = { total_cents: 100, currency: 'USD' };
      const paying = await service.post('/payments/intents', intent, { guestToken: answer.body.guest_token });
      expect({ way, paying }).toMatchObject({ way, paying: { status: 201, body: { customer_id: answer.body.id } } });
    }
  });
});

test('an interrupted customer update takes effect here and at the provider when it is resent', async () => {
  const { service } = stoppable();
  const fields = { email: 'changed@example.com', name: 'Changed', metadata: { changed: true } };
  const update = (customer: ParsedJson, user: User) => service.put(`/customers/${customer.id}`, fields, user.options);
  const cases = await stopEverywhere((user) => createCustomer(service, user.options, { name: 'Ada' }), update);
  for (const { way, user, customer } of cases) {
    const answer = await update(customer, user);
    expect({ way, answer }).toMatchObject({ way, answer: { status: 200, body: fields } });
    const there = await customerAtProvider(service, customer.provider_customer_id);
    expect({ way, there }).toMatchObject({ way, there: { email: fields.email, name: fields.name } });
    await service.settle();
    const events = (await customerEventsOf(service, customer.id)).map((event) => event['detail-type']);
    expect(events).toEqual(['customer.created', 'customer.updated']);
  }
});

test('an interrupted customer update is reverted at the provider by an update to the previous values', async () => {
  const { service } = stoppable();
  const before = { email: 'before@example.com', name: 'Ada' };
  const update = (fields: object) => (customer: ParsedJson, user: User) =>
    service.put(`/customers/${customer.id}`, fields, user.options);
  const cases = await stopEverywhere(
    (user) => createCustomer(service, user.options, before),
    update({ email: 'changed@example.com', name: 'Changed' }),
  );
  for (const { way, user, customer } of cases) {
    const answer = await update(before)(customer, user);
    expect({ way, answer }).toMatchObject({ way, answer: { status: 200, body: before } });
    const there = await customerAtProvider(service, customer.provider_customer_id);
    expect({ way, there }).toMatchObject({ way, there: before });
  }
});

test('an interrupted customer deletion is finished by a retry, and leaves no record of the customer', async () => {
  const { service } = stoppable();
  const remove = (customer: ParsedJson, user: User) =>
    service.request('DELETE', `/customers/${customer.id}`, user.options);
  const cases = await stopEverywhere(async (user) => {
    const method = await saveMethod(service, user.options, { is_default: true });
    return { id: method.customer_id };
  }, remove);
  const again = await Promise.all(cases.map(({ user, customer }) => remove(customer, user)));
  for (const [index, { way }] of cases.entries()) {
    expect({ way, status: again[index]?.status }).toEqual({ way, status: expect.toSatisfy(isGone) });
  }
  const items = await itemsOf(service);
  const { customers } = await service.ledger();
  for (const { way, user, customer } of cases) {
    const left = items.filter(({ pk }) => pk.includes(user.userId) || pk === `CUS#${customer.id}`);
    expect({ way, left }).toEqual({ way, left: [] });
    const theirs = customers.find(({ metadata }: ParsedJson) => metadata.customer_id === customer.id);
    expect({ way, theirs }).toMatchObject({ way, theirs: { deleted: true } });
  }
  const saved = await Promise.all(cases.map(({ user }) => saveMethod(service, user.options)));
  for (const [index, { customer }] of cases.entries()) expect(saved[index].customer_id).not.toBe(customer.id);
});

const isGone = (status: number): boolean => status === 204 || status === 404;
