import { expect, test } from 'vitest';
import { runAs } from '../../shared/core/actor.ts';
import { iso } from '../../shared/core/time.ts';
import { type Customer, customerShape } from '../../shared/customers/customer.ts';
import { updateCustomer } from '../../shared/customers/update-customer.ts';
import type { ApiRequest } from '../../shared/http/request.ts';
import { ownedRecord } from '../../shared/platform/owned-record.ts';
import { recordItem } from '../../shared/platform/versioned-record.ts';
import type { ProviderRecordDeps } from '../../shared/providers/provider-deps.ts';
import { memoryTable } from '../builders/memory-table.ts';
import { NOON } from '../builders/payment.ts';

/** The customer as an update reads it. Another commit follows before the provider responds. */
const read: Customer = {
  id: 'cust_00000000000000000000000a',
  version: 1,
  createdAt: iso(NOON),
  updatedAt: iso(NOON),
  knownAt: NOON / 1_000,
  providerId: 'provider_a',
  providerCustomerId: 'cus_1',
  name: 'Ada',
  userId: 'user_1',
};

type Body = Readonly<Record<string, unknown>>;

/** `during` runs once, after the provider has carried out the first update and before it responds. */
const openStage = async (during: (put: (body: Body) => Promise<unknown>) => Promise<unknown>) => {
  let now = NOON;
  const there: Record<string, unknown> = { name: read.name };
  const { table } = memoryTable({ now: () => now });
  await table.put(recordItem(customerShape, read));
  const keys = new Set<string>();
  let isFirst = true;
  const provider = {
    updateCustomer: async ({ idempotencyKey, name, phone }: Record<string, string | undefined>) => {
      now += 1_000;
      if (!keys.has(String(idempotencyKey))) Object.assign(there, name && { name }, phone && { phone });
      keys.add(String(idempotencyKey));
      if (isFirst) {
        isFirst = false;
        await during(put);
      }
      now += 1_000;
      return { kind: 'done', value: {} };
    },
  };
  const deps = { table, now: () => now, providers: { require: async () => provider } } as unknown as ProviderRecordDeps;
  const store = ownedRecord(deps, customerShape);
  const load = () => store.load(read.id);
  let requests = 0;
  const put = async (body: Body): Promise<unknown> => {
    const request = { record: await load(), body } as unknown as ApiRequest<unknown, unknown, never, Customer>;
    requests += 1;
    const work = { requestId: `request ${requests}`, actor: { type: 'user', id: 'user_1' } } as const;
    return runAs(work, () => updateCustomer(deps, request));
  };
  return { put, load, there, store };
};

test('two concurrent updates of a customer leave the record and the provider with the same values', async () => {
  const { put, load, there } = await openStage((other) => other({ name: 'Ada' }));
  await put({ name: 'Grace' });
  expect(there['name']).toBe((await load())?.name);
});

test('an update keeps the other fields that a concurrent update changed', async () => {
  const { put, load, there } = await openStage((other) => other({ phone: '+1555' }));
  await put({ name: 'Grace' });
  expect(await load()).toMatchObject({ name: 'Grace', phone: '+1555', version: 3 });
  expect(there).toEqual({ name: 'Grace', phone: '+1555' });
});

test('an older report of the provider does not replace a newer report', async () => {
  const { load, store } = await openStage(async () => undefined);
  await store.commit(read, { ...read, knownAt: NOON / 1_000 + 50 });
  await expect(store.revise(read, { firstName: 'Ada' })).rejects.toMatchObject({ code: 'VERSION_CONFLICT' });
  expect((await load())?.knownAt).toBe(NOON / 1_000 + 50);
});
