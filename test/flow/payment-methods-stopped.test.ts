import { beforeAll, describe, expect, test } from 'vitest';
import { intentBody, VISA } from '../builders/intent.ts';
import { methodBody } from '../builders/payer.ts';
import { DAY_SECONDS, MINUTE_SECONDS } from '../builders/seconds.ts';
import { confirm, createIntent, itemsOf, PATIENT, read, signIn, timesCharged, type User } from './flow.ts';
import type { ParsedJson, RequestOptions, TestAnswer } from './host.ts';
import { createAddress, createCustomer, saveMethod } from './payers.ts';
import { withStops } from './stops.ts';
import { type Way, waysToLose, waysToStop } from './ways.ts';

/** A function may stop at any call; a retry, or the payment's due work, finishes it. */
const stoppable = withStops(PATIENT);

beforeAll(async () => {
  // No provider events arrive: only a retry or due work finishes the work.
  await stoppable().service.webhookMode('drop');
});

interface Case<T> {
  readonly way: Way;
  readonly user: User;
  readonly prepared: T;
}

/** One case, with a user of its own, for every way to stop what `act` does. */
const stopEverywhere = async <T>(
  prepare: (user: User) => Promise<T>,
  act: (prepared: T, user: User) => Promise<TestAnswer>,
): Promise<Case<T>[]> => {
  const { service, watch, stopped } = stoppable();
  const begin = async () => {
    const user = await signIn(service, { expires_in: 3 * DAY_SECONDS });
    return { user, prepared: await prepare(user) };
  };
  const observed = await begin();
  const calls = await watch(() => act(observed.prepared, observed.user));
  expect(calls.filter((name) => !name.startsWith('Get')).length).toBeGreaterThan(1);
  const cases: Case<T>[] = [];
  for (const way of waysToStop(calls)) {
    const { user, prepared } = await begin();
    await stopped(way, () => act(prepared, user));
    cases.push({ way, user, prepared });
  }
  return cases;
};

const all = <T, R>(cases: readonly Case<T>[], ask: (prepared: T, user: User) => Promise<R>): Promise<R[]> =>
  Promise.all(cases.map(({ prepared, user }) => ask(prepared, user)));

/** What the provider holds for the customers of these users. */
const attached = async (): Promise<{ methods: ParsedJson[]; customers: ParsedJson[] }> => {
  const { payment_methods, customers } = await stoppable().service.ledger();
  return { methods: payment_methods, customers };
};

const listOf = async (options: RequestOptions): Promise<ParsedJson[]> =>
  (await stoppable().service.get('/payment-methods', options)).body;

/** The function's time-out plus 5 s. */
const TAKEN_SECONDS = 34;

describe('an interrupted payment method create', () => {
  const create = (options: RequestOptions, fields = {}) =>
    stoppable().service.post('/payment-methods', methodBody(fields), { ...options, idempotencyKey: 'save' });

  /** One method, the default, attached to one customer, which is the one meant from here on. */
  const expectOne = async (cases: readonly Case<unknown>[], answers: readonly TestAnswer[]): Promise<void> => {
    const { methods, customers } = await attached();
    for (const [index, { way, user }] of cases.entries()) {
      const answer = answers[index];
      expect({ way, answer }).toMatchObject({ way, answer: { status: 201, body: { is_default: true } } });
      expect({ way, list: await listOf(user.options) }).toEqual({ way, list: [answer?.body] });
      const { body: own } = await stoppable().service.get('/customers', user.options);
      expect({ way, own }).toMatchObject({ way, own: [{ id: answer?.body.customer_id }] });
      const theirs = customers.filter(({ metadata }) => metadata.customer_id === own[0].id);
      expect({ way, theirs }).toMatchObject({ way, theirs: [{ id: own[0].provider_customer_id }] });
      const held = methods.filter(({ customer }) => customer === own[0].provider_customer_id);
      expect({ way, held }).toMatchObject({ way, held: [{ id: answer?.body.provider_payment_method_id }] });
    }
  };

  test('is finished by the same key, with its customer', async () => {
    const { service } = stoppable();
    const again = (_: unknown, user: User) =>
      create(user.options, { provider_payment_method_token: 'tok_visa', is_default: true });
    const cases = await stopEverywhere(async () => undefined, again);
    const waiting = await all(cases, again);
    expect(new Set(waiting.map(({ status }) => status))).toEqual(new Set([201, 409]));
    for (const { status, headers } of waiting) {
      if (status === 409) expect(headers.get('retry-after')).toBe(String(TAKEN_SECONDS));
    }
    await service.advance(TAKEN_SECONDS);
    await expectOne(cases, await all(cases, again));
  });

  test('refuses another body under its key, during and after the work', async () => {
    const { service, watch, stopped } = stoppable();
    const observer = await signIn(service);
    const calls = await watch(() => create(observer.options));
    const call = calls.findIndex((name) => name.endsWith('/v1/setup_intents')) + 1;
    const user = await signIn(service);
    await stopped({ call, executed: true }, () => create(user.options));
    const refused = { status: 422, body: { code: 'IDEMPOTENCY_KEY_REUSED' } };
    expect(await create(user.options, { alias: 'Other' })).toMatchObject(refused);
    await service.advance(TAKEN_SECONDS);
    expect(await create(user.options, { alias: 'Other' })).toMatchObject(refused);
    expect(await create(user.options)).toMatchObject({ status: 201 });
  });

  test('is finished by the same key for a guest, and the returned token can use the method', async () => {
    const { service, watch, stopped } = stoppable();
    const createAs = (email: string) => create({}, { guest_data: { email, name: 'Gina' } });
    const ways = waysToStop(await watch(() => createAs('observed@example.com')));
    const emailOf = (way: Way): string => `guest.${way.call}.${way.executed}@example.com`;
    for (const way of ways) await stopped(way, () => createAs(emailOf(way)));
    await service.advance(TAKEN_SECONDS);
    const finish = async (way: Way): Promise<void> => {
      const answer = await createAs(emailOf(way));
      expect({ way, answer }).toMatchObject({ way, answer: { status: 201 } });
      const options = { guestToken: answer.body.guest_token };
      expect((await listOf(options)).map(({ id }) => id)).toEqual([answer.body.id]);
      const paying = { payment_method_id: answer.body.id, total_cents: 100, currency: 'USD' };
      const payment = await service.post('/payments/intents', paying, options);
      expect({ way, payment }).toMatchObject({ way, payment: { status: 201 } });
      expect(await confirm(service, payment.body.id, options)).toMatchObject({ body: { status: 'succeeded' } });
    };
    await Promise.all(ways.map(finish));
  });
});

describe('a card that requires authentication to be saved', () => {
  const ASKS = 'pm_card_authenticationRequiredOnSetup';
  const create = (_: unknown, { options }: User) =>
    stoppable().service.post('/payment-methods', methodBody({ provider_payment_method_token: ASKS }), {
      ...options,
      idempotencyKey: 'asks',
    });

  /** The methods that the provider holds for the customer of a user. */
  const attachedMethods = async ({ options }: User): Promise<string[]> => {
    const [{ methods }, { body }] = await Promise.all([attached(), stoppable().service.get('/customers', options)]);
    return methods.filter(({ customer }) => customer === body[0].provider_customer_id).map(({ id }) => id);
  };

  test('has one set-up after an interrupted create, and due work completes it', async () => {
    const { service } = stoppable();
    const cases = await stopEverywhere(async () => undefined, create);
    await service.advance(TAKEN_SECONDS);
    const answers = await all(cases, create);
    for (const [index, { way }] of cases.entries()) {
      const answer = answers[index];
      expect({ way, answer }).toMatchObject({ answer: { status: 201, body: { setup_status: 'requires_action' } } });
      await service.authenticateMethod(answer?.body.id);
    }
    await service.advance(DAY_SECONDS + 20 * MINUTE_SECONDS);
    const lists = await all(cases, (_, { options }) => listOf(options));
    const held = await all(cases, (_, user) => attachedMethods(user));
    for (const [index, { way }] of cases.entries()) {
      const { id, provider_payment_method_id: at } = answers[index]?.body ?? {};
      expect({ way, list: lists[index] }).toMatchObject({ way, list: [{ id, setup_status: 'succeeded' }] });
      expect({ way, held: held[index] }).toEqual({ way, held: [at] });
    }
  });

  test.each([
    ['is completed if its payer has authenticated', true],
    ['is removed if its payer has not authenticated', false],
  ])('%s, even if its due work stops at any call', async (_, passed) => {
    const { service, watch, losing } = stoppable();
    const begin = async (): Promise<{ user: User; method: ParsedJson }> => {
      const user = await signIn(service, { expires_in: 3 * DAY_SECONDS });
      const { body } = await create(undefined, user);
      if (passed) await service.authenticateMethod(body.id);
      await service.advance(DAY_SECONDS - MINUTE_SECONDS);
      return { user, method: body };
    };
    await begin();
    const due = await watch(() => service.advance(3 * MINUTE_SECONDS));
    expect(due.length).toBeGreaterThan(3);
    for (const way of waysToLose(due)) {
      const { user, method } = await begin();
      await losing(way, () => service.advance(3 * MINUTE_SECONDS));
      await service.advance(20 * MINUTE_SECONDS);
      const saved = passed ? [{ id: method.id, setup_status: 'succeeded' }] : [];
      expect({ way, list: await listOf(user.options) }).toMatchObject({ way, list: saved });
      const held = passed ? [method.provider_payment_method_id] : [];
      expect({ way, held: await attachedMethods(user) }).toEqual({ way, held });
    }
  });

  test('is deleted by a retry after an interrupted deletion, and attaches nothing', async () => {
    const { service } = stoppable();
    const remove = ({ id }: ParsedJson, user: User) =>
      service.request('DELETE', `/payment-methods/${id}`, user.options);
    const cases = await stopEverywhere(async (user) => (await create(undefined, user)).body, remove);
    const again = await all(cases, remove);
    for (const [index, { way, user, prepared }] of cases.entries()) {
      expect({ way, status: again[index]?.status }).toEqual({ way, status: expect.toSatisfy(isGone) });
      expect({ way, list: await listOf(user.options) }).toEqual({ way, list: [] });
      await expect(service.authenticateMethod(prepared.id)).rejects.toThrow('409');
    }
  });
});

const isGone = (status: number): boolean => status === 204 || status === 404;

test('an interrupted deletion is finished by a retry, and the default passes to another method', async () => {
  const { service } = stoppable();
  const remove = ({ gone }: { gone: ParsedJson }, user: User) =>
    service.request('DELETE', `/payment-methods/${gone.id}`, user.options);
  const cases = await stopEverywhere(async (user) => {
    await createCustomer(service, user.options);
    const left = await saveMethod(service, user.options);
    return { left, gone: await saveMethod(service, user.options, { is_default: true }) };
  }, remove);
  const again = await all(cases, remove);
  const { methods } = await attached();
  for (const [index, { way, user, prepared }] of cases.entries()) {
    expect({ way, status: again[index]?.status }).toEqual({ way, status: expect.toSatisfy(isGone) });
    expect({ way, list: await listOf(user.options) }).toMatchObject({
      way,
      list: [{ id: prepared.left.id, is_default: true }],
    });
    const { body } = await service.get(`/payment-methods/${prepared.left.id}`, user.options);
    expect({ way, body }).toMatchObject({ way, body: { is_default: true } });
    const theirs = methods.find(({ id }) => id === prepared.gone.provider_payment_method_id);
    expect({ way, theirs }).toMatchObject({ way, theirs: { customer: null } });
  }
});

test('an interrupted change takes effect when resent', async () => {
  const { service } = stoppable();
  const fields = { alias: 'Changed', is_default: true };
  const change = (method: ParsedJson, user: User) => service.put(`/payment-methods/${method.id}`, fields, user.options);
  const cases = await stopEverywhere((user) => saveMethod(service, user.options), change);
  for (const answer of await all(cases, change)) expect(answer).toMatchObject({ status: 200, body: fields });
  for (const { user } of cases) expect(await listOf(user.options)).toMatchObject([fields]);
});

test('an interrupted link to an address reaches the provider when retried', async () => {
  const { service } = stoppable();
  const link = ({ method, address }: { method: ParsedJson; address: ParsedJson }, user: User) =>
    service.request('PATCH', `/payment-methods/${method.id}/billing-address`, {
      ...user.options,
      body: { billing_address_id: address.id },
    });
  const cases = await stopEverywhere(
    async (user) => ({
      method: await saveMethod(service, user.options),
      address: await createAddress(service, user.options),
    }),
    link,
  );
  const answers = await all(cases, link);
  for (const [index, { way, prepared }] of cases.entries()) {
    expect({ way, answer: answers[index] }).toMatchObject({
      answer: { status: 200, body: { billing_address_id: prepared.address.id, provider_synced: true } },
    });
  }
});

describe('a payment with setup_future_usage', () => {
  const saving = { setup_future_usage: 'off_session', payment_method_id: VISA };
  const expectSavedOnce = async (cases: readonly Case<ParsedJson>[]): Promise<void> => {
    const { service } = stoppable();
    const { methods } = await attached();
    for (const { way, user, prepared } of cases) {
      const payment = await read(service, prepared.id, user.options);
      const list = await listOf(user.options);
      const charged = await timesCharged(service, prepared.id);
      const saved = payment.status === 'succeeded' ? [{ id: payment.payment_method_id }] : [];
      expect({ way, list, charged }).toMatchObject({ way, list: saved, charged: saved.length });
      for (const { provider_payment_method_id } of list) {
        const there = methods.find(({ id }) => id === provider_payment_method_id);
        expect({ way, there }).toMatchObject({ way, there: { customer: expect.any(String) } });
      }
    }
  };

  test('saves the method once by due work after an interrupted confirm', async () => {
    const { service } = stoppable();
    const cases = await stopEverywhere(
      (user) => createIntent(service, user, saving),
      ({ id }, user) => confirm(service, id, user.options),
    );
    await service.advance(20 * MINUTE_SECONDS);
    await expectSavedOnce(cases);
    const statuses = await all(cases, async ({ id }, user) => (await read(service, id, user.options)).status);
    expect(statuses.filter((status) => status === 'succeeded').length).toBeGreaterThan(cases.length / 2);
  });

  test('saves the method once even if its due work also stops at any call', async () => {
    const { service, stopped, watch, losing } = stoppable();
    const user = await signIn(service, { expires_in: 3 * DAY_SECONDS });
    const observed = await createIntent(service, user, saving);
    const calls = await watch(() => confirm(service, observed.id, user.options));
    // The payment is recorded as paid; its method is not saved yet.
    const call = calls.lastIndexOf('GET /v1/payment_intents/:id') + 1;
    expect(call).toBeGreaterThan(1);
    const begin = async () => {
      const payer = await signIn(service, { expires_in: 3 * DAY_SECONDS });
      const payment = await createIntent(service, payer, saving);
      await stopped({ call, executed: false }, () => confirm(service, payment.id, payer.options));
      expect(await listOf(payer.options)).toEqual([]);
      return { user: payer, prepared: payment };
    };
    await begin();
    const due = await watch(() => service.advance(2 * MINUTE_SECONDS));
    const cases: Case<ParsedJson>[] = [];
    for (const way of waysToLose(due)) {
      const prepared = await begin();
      await losing(way, () => service.advance(2 * MINUTE_SECONDS));
      cases.push({ way, ...prepared });
    }
    await service.advance(20 * MINUTE_SECONDS);
    await expectSavedOnce(cases);
    for (const { way, user: payer } of cases) {
      expect({ way, saved: (await listOf(payer.options)).length }).toEqual({ way, saved: 1 });
    }
  });

  test('is created with one customer by the same key after an interrupted create', async () => {
    const { service } = stoppable();
    const create = (_: unknown, user: User) =>
      service.post('/payments/intents', intentBody(saving), { ...user.options, idempotencyKey: 'basket' });
    const cases = await stopEverywhere(async () => undefined, create);
    await service.advance(25);
    const answers = await all(cases, create);
    const stored = await itemsOf(service, 'CUS#');
    for (const [index, { way, user }] of cases.entries()) {
      const customers = stored.filter(({ userId }) => userId === user.userId).map(({ id }) => id);
      expect({ way, answer: answers[index], customers }).toMatchObject({
        way,
        answer: { status: 201, body: { customer_id: customers[0] } },
        customers: [expect.any(String)],
      });
    }
  });
});
