import { beforeEach, describe, expect, test } from 'vitest';
import { endpoints, triggers } from '../../functions/api/catalogue.ts';
import type { Catalogue } from '../../infra/local/host/assemble.ts';
import { loadEntry } from '../../infra/local/machine/invoke.ts';
import { sweepDeps } from '../../shared/host.ts';
import type { Connection } from '../../shared/platform/connection.ts';
import { callsKey } from '../../shared/platform/keys.ts';
import { MINUTE_SECONDS } from '../builders/seconds.ts';
import {
  atProvider,
  changeTable,
  confirm,
  createIntent,
  createPaidIntent,
  itemsOf,
  PATIENT,
  signIn,
  storedPayment,
} from './flow.ts';
import { withHost } from './host.ts';
import type { ParsedJson } from './routes.ts';
import { OWN_BILLING, paymentsOf, type Subscriber, subscribe, subscriber } from './subscribers.ts';

/** More work is due than the provider accepts, or the queue of due work is stuck. */
const ALL_BILLED_HERE = { ...OWN_BILLING, PROVIDER_C_SUBSCRIPTIONS: 'service' };

/** `collect` keeps messages of due work unprocessed. `stuck` makes them wait until a test calls `free`. */
let mode: 'work' | 'collect' | 'stuck' = 'work';
let collected: unknown[] = [];
let free: () => void = () => undefined;
let isFree: Promise<void> = Promise.resolve();
const block = (): void => {
  mode = 'stuck';
  isFree = new Promise((resolve) => {
    free = resolve;
  });
};

const catalogue: Catalogue = {
  endpoints,
  triggers,
  load: async (id) => {
    const handler = await loadEntry(id);
    if (id !== 'workers.run-due') return handler;
    return async (event, context) => {
      if (mode === 'stuck') await isFree;
      if (mode === 'collect') collected.push(event);
      return mode === 'collect' || isFiller(event) ? { batchItemFailures: [] } : handler(event, context);
    };
  },
};

/** True if the message only fills the queue. */
const isFiller = (event: unknown): boolean => JSON.stringify(event).includes('NONE#');

let isBucketDown = false;
const withBucket = (connection: Connection): Connection => ({
  ...connection,
  updateItem: async (update) => {
    if (isBucketDown && update.key.pk.startsWith('CALLS#')) throw new Error('throttled');
    return connection.updateItem(update);
  },
});

/** The background rate of provider A is so low that a sweep queues at most 120 of its renewals. */
const service = withHost({
  frozen: true,
  env: { ...PATIENT, ...ALL_BILLED_HERE, PROVIDER_A_BACKGROUND_RATE: '4', PROVIDER_A_BACKGROUND_BURST: '1000' },
  catalogue,
  between: withBucket,
});

beforeEach(async () => {
  mode = 'work';
  collected = [];
  isBucketDown = false;
  await service.settle();
});

const renewed = async (token?: string, fields?: Readonly<Record<string, unknown>>) => {
  const who = await subscriber(service, token, fields);
  return { who, subscription: await subscribe(service, who) };
};

const chargesOf = async (who: Subscriber, { id }: ParsedJson): Promise<number[]> => {
  const payments = await paymentsOf(service, who, id);
  return Promise.all(payments.map(async (payment) => (await atProvider(service, payment.id)).charges.length));
};

const minutesBefore = (time: string, minutes: number): string =>
  new Date(Date.parse(time) - minutes * MINUTE_SECONDS * 1_000).toISOString();

const dueOf = async ({ id }: { readonly id: string }): Promise<string> =>
  (await itemsOf(service, `SUB#${id}`)).find(({ sk }) => sk === 'SUB')?.due_at;

test('a renewal is charged once, even if it is queued repeatedly while the queue is stuck', async () => {
  const { who, subscription } = await renewed();
  await service.moveTo(minutesBefore(subscription.current_period_end, 2));
  mode = 'collect';
  for (let sweep = 0; sweep < 3; sweep += 1) await service.advance(16 * MINUTE_SECONDS);
  const queued = collected.filter((event) => JSON.stringify(event).includes(subscription.id));
  expect(queued.length).toBeGreaterThanOrEqual(3);
  mode = 'work';
  await Promise.all([...queued, ...queued].map((event) => service.host().invoke('workers.run-due', event)));
  await service.advance(30 * MINUTE_SECONDS);
  await service.settle();
  expect(await chargesOf(who, subscription)).toEqual([1, 1]);
});

describe('due work after the provider’s call budget is used up', () => {
  const exhaust = (minutes: number) =>
    changeTable(service, { put: { ...callsKey('provider_a'), at: service.now() + minutes * MINUTE_SECONDS * 1_000 } });

  test('defers a renewal and charges it once later, while payers can pay immediately', async () => {
    const { who, subscription } = await renewed();
    await service.moveTo(minutesBefore(subscription.current_period_end, 2));
    await exhaust(10);
    await service.advance(5 * MINUTE_SECONDS);
    expect(await chargesOf(who, subscription)).toEqual([1]);
    const payer = await signIn(service);
    const payment = await createPaidIntent(service, payer);
    expect(await confirm(service, payment.id, payer.options)).toMatchObject({ body: { status: 'succeeded' } });
    await service.advance(15 * MINUTE_SECONDS);
    await service.settle();
    expect(await chargesOf(who, subscription)).toEqual([1, 1]);
  });

  test('charges another provider’s renewal immediately', async () => {
    const { who, subscription } = await renewed('cnon:card-nonce-ok', { provider_id: 'provider_c' });
    await service.moveTo(minutesBefore(subscription.current_period_end, 2));
    await exhaust(10);
    await service.advance(5 * MINUTE_SECONDS);
    await service.settle();
    expect(await chargesOf(who, subscription)).toEqual([1, 1]);
  });
});

test('a call counter that cannot be written blocks no payer, and only delays renewals', async () => {
  const { who, subscription } = await renewed();
  await service.moveTo(minutesBefore(subscription.current_period_end, 2));
  isBucketDown = true;
  await service.advance(5 * MINUTE_SECONDS);
  expect(await chargesOf(who, subscription)).toEqual([1]);
  const payer = await signIn(service);
  const payment = await createPaidIntent(service, payer);
  expect(await confirm(service, payment.id, payer.options)).toMatchObject({ body: { status: 'succeeded' } });
  isBucketDown = false;
  await service.advance(30 * MINUTE_SECONDS);
  await service.settle();
  expect(await chargesOf(who, subscription)).toEqual([1, 1]);
});

test('each sweep queues at most a minute’s budget of a provider’s renewals, and all other work', async () => {
  const other = await renewed('cnon:card-nonce-ok', { provider_id: 'provider_c' });
  await service.moveTo(minutesBefore(other.subscription.current_period_end, 1));
  const before = new Date(service.now() - 60 * MINUTE_SECONDS * 1_000).toISOString();
  for (let item = 0; item < 400; item += 1) {
    const due = { due: `DUE#provider_a#${item % 4}`, due_at: before, providerId: 'provider_a' };
    await changeTable(service, { put: { pk: `NONE#${item}`, sk: 'NONE', ...due } });
  }
  const payer = await signIn(service);
  const payment = await createIntent(service, payer);
  await changeTable(service, { put: { ...(await storedPayment(service, payment.id)), due_at: before } });
  mode = 'collect';
  await service.advance(2 * MINUTE_SECONDS);
  await service.settle();
  const queued = collected.map((event) => JSON.stringify(event));
  expect(queued.filter(isFiller)).toHaveLength(2 * 120);
  expect(queued.filter((event) => event.includes(other.subscription.id))).toHaveLength(1);
  expect(queued.filter((event) => event.includes(payment.id))).toHaveLength(1);
  await Promise.all(
    Array.from({ length: 400 }, (_, item) => changeTable(service, { remove: { pk: `NONE#${item}`, sk: 'NONE' } })),
  );
});

test('a sweep queues no subscription while thousands of messages wait, and resumes when they are done', async () => {
  const { who, subscription } = await renewed();
  await service.moveTo(minutesBefore(subscription.current_period_end, 1));
  mode = 'collect';
  await service.advance(2 * MINUTE_SECONDS);
  await service.settle();
  const payment = await createIntent(service, await signIn(service));
  const past = new Date(service.now() - MINUTE_SECONDS * 1_000).toISOString();
  const stored = (await itemsOf(service, `SUB#${subscription.id}`)).find(({ sk }) => sk === 'SUB');
  for (const item of [stored, await storedPayment(service, payment.id)]) {
    await changeTable(service, { put: { ...item, due_at: past } });
  }
  block();
  const stale = JSON.stringify({ pk: 'NONE#1', sk: 'NONE', due_at: '2020-01-01T00:00:00.000Z' });
  await sweepDeps().queues.send(
    'run-due',
    Array.from({ length: 5_100 }, () => stale),
  );
  await service.host().invoke('workers.sweep-due', {});
  // The lookup of the payment is queued, but the renewal is not.
  expect(Date.parse((await storedPayment(service, payment.id)).due_at)).toBeGreaterThan(service.now());
  expect(await dueOf(subscription)).toBe(past);
  mode = 'work';
  free();
  await service.settle();
  await service.advance(MINUTE_SECONDS);
  await service.settle();
  expect(await chargesOf(who, subscription)).toEqual([1, 1]);
});
