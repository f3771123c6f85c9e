import { beforeAll, describe, expect, test, vi } from 'vitest';
import { paymentOf } from '../../shared/payments/payment.ts';
import { DECLINED, paidIntentBody, VISA } from '../builders/intent.ts';
import { DAY_SECONDS, HOUR_SECONDS, MINUTE_SECONDS } from '../builders/seconds.ts';
import { atProvider, confirm, createPaidIntent, eventsOf, itemsOf, PATIENT, read, signIn, type User } from './flow.ts';
import type { ParsedJson, TestAnswer } from './host.ts';
import { type Stop, withStops } from './stops.ts';
import { isTaken } from './ways.ts';

/** A function may end anywhere. Every call that it makes is tried, before and after it is carried out. */
const stoppable = withStops(PATIENT);
vi.setConfig({ testTimeout: 120_000 });

/** One way to stop: at a call of the function, before or after it is carried out. */
interface Way extends Stop {
  readonly name: string;
  /** Some write was carried out. */
  readonly wrote: boolean;
  /** A second write was carried out: of a create, the one that publishes the payment. The alias is a third. */
  readonly wroteTwice: boolean;
  /** The provider received the call. */
  readonly isSent: boolean;
  /** Everything was carried out; only the answer is missing. */
  readonly done: boolean;
}

const waysToLose = (calls: readonly string[]): Way[] =>
  calls.flatMap((_, index) => [wayOf(calls, index + 1, false), wayOf(calls, index + 1, true)]);

const waysToStop = (calls: readonly string[]): Way[] => waysToLose(calls).filter(isTaken);

const wayOf = (calls: readonly string[], call: number, executed: boolean): Way => {
  const carriedOut = calls.slice(0, executed ? call : call - 1);
  const writes = carriedOut.filter((name) => WRITES.has(name));
  return {
    call,
    executed,
    name: `${executed ? 'after' : 'before'} ${call} ${calls[call - 1]} of ${calls.join(', ')}`,
    wrote: writes.length > 0,
    wroteTwice: writes.length > 1,
    isSent: carriedOut.some((name) => name.startsWith('POST')),
    done: carriedOut.length === calls.length,
  };
};
const WRITES = new Set(['PutItem', 'UpdateItem', 'DeleteItem', 'TransactWriteItems']);

const providerCallOf = (calls: readonly string[]): number => calls.findIndex((name) => name.startsWith('POST')) + 1;

beforeAll(async () => {
  // No provider events arrive: only due work learns the outcome.
  await stoppable().service.webhookMode('drop');
});

describe('an interrupted create', () => {
  const create = (user: User) =>
    stoppable().service.post('/payments/intents', paidIntentBody(), { ...user.options, idempotencyKey: 'basket' });
  const ownPayments = async (user: User): Promise<ParsedJson[]> =>
    (await itemsOf(stoppable().service, 'PAY#'))
      .filter((item) => item.sk === 'PAY' && item.userId === user.userId)
      .map(paymentOf);

  /** One try for every way to stop it, each of a user of its own. */
  const stopEverywhere = async () => {
    const { service, watch, stopped } = stoppable();
    const observer = await signIn(service);
    const calls = await watch(() => create(observer));
    expect(providerCallOf(calls)).toBeGreaterThan(1);
    const cases: { way: Way; user: User }[] = [];
    for (const way of waysToStop(calls)) {
      const user = await signIn(service);
      const answer = await stopped(way, () => create(user));
      // The last call writes the alias, beside the payment: a create needs no answer to it.
      expect({ way, isAnswered: answer.status === 201 }).toEqual({ way, isAnswered: way.call === calls.length });
      cases.push({ way, user });
    }
    return cases;
  };

  test('is finished by due work, and is hidden until then', async () => {
    const { service } = stoppable();
    const cases = await stopEverywhere();
    for (const { way, user } of cases) {
      const { body } = await service.get('/payments', user.options);
      expect({ way, shown: body.data.length }).toEqual({ way, shown: way.wroteTwice ? 1 : 0 });
    }
    await service.advance(20 * MINUTE_SECONDS);
    for (const { way, user } of cases) {
      const records = await ownPayments(user);
      const { body } = await service.get('/payments', user.options);
      const count = way.wrote ? 1 : 0;
      const found = { records: records.length, listed: body.data.length, total: body.meta.total };
      expect({ way, found }).toEqual({ way, found: { records: count, listed: count, total: count } });
      for (const { id, status, provider_payment_id } of body.data) {
        const events = await eventsOf(service, id);
        expect({ way, status, events }).toEqual({ way, status: 'created', events: ['payment.created'] });
        expect((await atProvider(service, id)).intents).toHaveLength(1);
        expect(await read(service, id, user.options)).toHaveProperty('client_secret');
        const synced = await service.post(`/payments/sync/${provider_payment_id}`, {}, user.options);
        expect({ way, status: synced.status }).toEqual({ way, status: 200 });
      }
    }
  });

  test('is finished by the same key', async () => {
    const { service } = stoppable();
    const cases = await stopEverywhere();
    for (const { way, user } of cases) {
      const answer = await create(user);
      const underWay = way.wrote && !way.wroteTwice;
      expect({ way, status: answer.status }).toEqual({ way, status: underWay ? 409 : 201 });
      if (underWay) expect(Number(answer.headers.get('retry-after'))).toBe(25);
    }
    await service.advance(25);
    const ids: string[] = [];
    for (const { way, user } of cases) {
      const answer = await create(user);
      expect({ way, answer }).toMatchObject({ way, answer: { status: 201, body: { status: 'created' } } });
      expect(answer.body.client_secret).toEqual(expect.any(String));
      expect(answer.headers.get('idempotent-replayed')).toBe('true');
      ids.push(answer.body.id);
    }
    await service.advance(20 * MINUTE_SECONDS);
    for (const [index, { way, user }] of cases.entries()) {
      const id = ids[index] ?? '';
      expect({ way, records: (await ownPayments(user)).map((record) => record.id) }).toEqual({ way, records: [id] });
      expect((await atProvider(service, id)).intents).toHaveLength(1);
      expect(await eventsOf(service, id)).toEqual(['payment.created']);
    }
  });

  test('is finished even if its due work also stops at any call', async () => {
    const { service, stopped, watch, losing } = stoppable();
    const observer = await signIn(service);
    const atTheProvider = { call: providerCallOf(await watch(() => create(observer))), executed: true };
    const begin = async (): Promise<User> => {
      const user = await signIn(service);
      await stopped(atTheProvider, () => create(user));
      expect(await ownPayments(user)).toMatchObject([{ status: 'creating' }]);
      return user;
    };
    await begin();
    const calls = await watch(() => service.advance(2 * MINUTE_SECONDS));
    expect(providerCallOf(calls)).toBeGreaterThan(1);
    for (const way of waysToLose(calls)) {
      const user = await begin();
      await losing(way, () => service.advance(2 * MINUTE_SECONDS));
      await service.advance(20 * MINUTE_SECONDS);
      const records = await ownPayments(user);
      expect({ way, statuses: records.map(({ status }) => status) }).toEqual({ way, statuses: ['created'] });
      expect((await atProvider(service, records[0].id)).intents).toHaveLength(1);
    }
  });
});

interface Case {
  readonly way: Way;
  readonly user: User;
  readonly payment: ParsedJson;
}

/** One payment for every way to stop what `act` does with it. */
const stopEverywhere = async (
  fields: Readonly<Record<string, unknown>>,
  act: (payment: ParsedJson, user: User) => Promise<TestAnswer>,
): Promise<Case[]> => {
  const { service, watch, stopped } = stoppable();
  const user = await signIn(service, { expires_in: 7 * DAY_SECONDS });
  const observed = await createPaidIntent(service, user, fields);
  const calls = await watch(() => act(observed, user));
  expect(providerCallOf(calls)).toBeGreaterThan(1);
  const cases: Case[] = [];
  for (const way of waysToStop(calls)) {
    const payment = await createPaidIntent(service, user, fields);
    const answer = await stopped(way, () => act(payment, user));
    expect(answer.status).not.toBe(200);
    cases.push({ way, user, payment });
  }
  return cases;
};

/** What the record says is what the provider has. */
const expectAgreement = async (
  { user, payment }: Pick<Case, 'user' | 'payment'>,
  hint: unknown,
): Promise<ParsedJson> => {
  const { service } = stoppable();
  const record = await read(service, payment.id, user.options);
  const { charges, intents } = await atProvider(service, payment.id);
  const paid = charges.filter((charge: ParsedJson) => charge.status === 'succeeded').length;
  const theirs = intents.map(({ status, amount }: ParsedJson) => ({ status, amount }));
  const ours = { status: STATUS_THERE[record.status] ?? record.status, amount: record.total_cents };
  expect({ hint, theirs, paid }).toEqual({ hint, theirs: [ours], paid: record.status === 'succeeded' ? 1 : 0 });
  return record;
};
const STATUS_THERE: Readonly<Record<string, string>> = {
  created: 'requires_confirmation',
  failed: 'requires_payment_method',
};

describe('an interrupted confirm', () => {
  const confirmIt = ({ id }: ParsedJson, user: User) => confirm(stoppable().service, id, user.options);

  test('charges once, and the record shows the charge after due work', async () => {
    const { service } = stoppable();
    const cases = await stopEverywhere({}, confirmIt);
    await service.advance(20 * MINUTE_SECONDS);
    for (const { way, user, payment } of cases) {
      const record = await expectAgreement({ user, payment }, way);
      expect({ way, status: record.status }).toEqual({ way, status: way.wrote ? 'succeeded' : 'created' });
      const events = (await eventsOf(service, payment.id)).filter((name) => name === 'payment.succeeded');
      expect(events).toHaveLength(way.wrote ? 1 : 0);
      expect(await confirmIt(payment, user)).toMatchObject({ status: 200, body: { status: 'succeeded' } });
      await expectAgreement({ user, payment }, way);
    }
  });

  test('ends as failed with a declined card, and another card pays', async () => {
    const { service } = stoppable();
    const cases = await stopEverywhere({ payment_method_id: DECLINED }, confirmIt);
    await service.advance(20 * MINUTE_SECONDS);
    for (const { way, user, payment } of cases) {
      const record = await expectAgreement({ user, payment }, way);
      expect({ way, status: record.status }).toEqual({ way, status: way.wrote ? 'failed' : 'created' });
      const paid = await confirm(service, payment.id, { ...user.options, body: { payment_method_id: VISA } });
      expect({ way, paid }).toMatchObject({ way, paid: { status: 200 } });
      await expectAgreement({ user, payment }, way);
    }
  });

  test('is resumed by a request with the same key', async () => {
    const { service } = stoppable();
    const confirmByKey = ({ id }: ParsedJson, user: User) =>
      confirm(service, id, { ...user.options, idempotencyKey: 'confirm' });
    const cases = await stopEverywhere({}, confirmByKey);
    await service.advance(30);
    for (const { way, user, payment } of cases) {
      const { status, body } = await confirmByKey(payment, user);
      const claimed = body.code === 'PAYMENT_IN_PROGRESS';
      expect({ way, status }).toEqual({ way, status: claimed ? 409 : 200 });
    }
    await service.advance(20 * MINUTE_SECONDS);
    for (const { way, user, payment } of cases) {
      expect(await confirmByKey(payment, user)).toMatchObject({ status: 200, body: { status: 'succeeded' } });
      await expectAgreement({ user, payment }, way);
    }
  });

  test('has the same result even if its due work also stops at any call', async () => {
    const { service, stopped, watch, losing } = stoppable();
    const user = await signIn(service, { expires_in: 7 * DAY_SECONDS });
    const observed = await createPaidIntent(service, user);
    const call = providerCallOf(await watch(() => confirmIt(observed, user)));
    const begin = async (executed: boolean): Promise<ParsedJson> => {
      const payment = await createPaidIntent(service, user);
      await stopped({ call, executed }, () => confirmIt(payment, user));
      return payment;
    };
    for (const executed of [false, true]) {
      await begin(executed);
      const calls = await watch(() => service.advance(2 * MINUTE_SECONDS));
      for (const way of waysToLose(calls)) {
        const payment = await begin(executed);
        await losing(way, () => service.advance(2 * MINUTE_SECONDS));
        await service.advance(20 * MINUTE_SECONDS);
        const hint = { executed, way };
        const record = await expectAgreement({ user, payment }, hint);
        expect({ hint, status: record.status }).toEqual({ hint, status: 'succeeded' });
      }
    }
  });
});

describe('an interrupted update', () => {
  test('takes effect both here and at the provider, or at neither', async () => {
    const { service } = stoppable();
    const cases = await stopEverywhere({}, ({ id }, user) =>
      service.put(`/payments/intents/${id}`, { total_cents: 7_000, description: 'Changed' }, user.options),
    );
    await service.advance(20 * MINUTE_SECONDS);
    for (const { way, user, payment } of cases) {
      const record = await expectAgreement({ user, payment }, way);
      expect({ way, total: record.total_cents }).toEqual({ way, total: way.wrote ? 7_000 : 2_500 });
      expect(await confirm(service, payment.id, user.options)).toMatchObject({ body: { status: 'succeeded' } });
      await expectAgreement({ user, payment }, way);
    }
  });
});

describe('an interrupted cancel', () => {
  const cancel = ({ id }: ParsedJson, user: User) =>
    stoppable().service.post(`/payments/intents/${id}/cancel`, {}, user.options);

  test('is finished by a retry', async () => {
    const cases = await stopEverywhere({}, cancel);
    for (const { way, user, payment } of cases) {
      expect(await cancel(payment, user)).toMatchObject({ status: 200, body: { status: 'canceled' } });
      await expectAgreement({ user, payment }, way);
    }
  });

  test('is learned from the webhook, however late, if the provider canceled', async () => {
    const { service } = stoppable();
    await service.webhookMode('delay');
    const cases = await stopEverywhere({}, cancel);
    await service.webhookMode('drop');
    await service.advance(2 * HOUR_SECONDS);
    for (const { way, user, payment } of cases) {
      const record = await expectAgreement({ user, payment }, way);
      expect({ way, status: record.status }).toEqual({ way, status: way.isSent ? 'canceled' : 'created' });
    }
  });

  test('is finished by the expiry’s due work if no webhook arrives', async () => {
    const { service } = stoppable();
    const cases = await stopEverywhere({}, cancel);
    await service.advance(25 * HOUR_SECONDS);
    for (const { way, user, payment } of cases) {
      const record = await expectAgreement({ user, payment }, way);
      expect({ way, status: record.status }).toEqual({ way, status: 'canceled' });
    }
  });
});
