import { expect, test } from 'vitest';
import type { Caller } from '../../shared/access/caller.ts';
import { ensureCustomer } from '../../shared/customers/ensure-customer.ts';
import type { ProviderRecordDeps } from '../../shared/providers/provider-deps.ts';
import { memoryTable } from '../builders/memory-table.ts';
import { NOON } from '../builders/payment.ts';

test('the next request after an adapter’s exception immediately creates the same customer', async () => {
  const { table } = memoryTable({ now: () => NOON });
  const keys: string[] = [];
  const provider = {
    createCustomer: async ({ idempotencyKey }: { readonly idempotencyKey: string }) => {
      keys.push(idempotencyKey);
      if (keys.length === 1) throw new TypeError('the adapter has a bug');
      return { kind: 'done', value: { customerId: 'cus_1' } };
    },
  };
  const providers = { require: async () => provider };
  const deps = { table, now: () => NOON, newId: () => `cust_${keys.length}`, providers };
  const ensure = () =>
    ensureCustomer(deps as unknown as ProviderRecordDeps, {
      ...{ slot: 'provider_a', owner: { kind: 'user', userId: 'user_1' }, forId: 'pay_1', known: undefined },
      caller: { kind: 'user', userId: 'user_1', email: 'ann@example.com' } as unknown as Caller,
    });
  await expect(ensure()).rejects.toThrow(TypeError);
  expect(await ensure()).toEqual({ customerId: 'cust_0', providerCustomerId: 'cus_1' });
  expect(new Set(keys).size).toBe(1);
});
