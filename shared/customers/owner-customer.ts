import * as z from 'zod';
import { ownerKeyOf } from '../table/defaults.ts';
import { type Key, type Owner, ownerCustomerKey, ownerPartition, recordKey } from '../table/keys.ts';
import { parseRecord } from '../table/record-store.ts';
import type { Item, Table } from '../table/table.ts';
import { type Customer, customerShape } from './customer.ts';

/** An owner's customer at a provider: what is meant where a request names none. */
const pointerSchema = z.object({ customerId: z.string(), providerCustomerId: z.string() });
export type OwnerCustomer = z.infer<typeof pointerSchema>;

export const customerPointerKey = (owner: Owner, providerId: string): Key =>
  ownerCustomerKey(ownerKeyOf(owner), providerId);

export const ownerCustomerOf = (item: Item | undefined): OwnerCustomer | undefined => item && pointerSchema.parse(item);

/** The first customer of an owner at a provider is the one meant, until it is deleted. */
export const pointAtCustomer = async (table: Table, owner: Owner, customer: Customer): Promise<void> => {
  const { id: customerId, providerCustomerId, providerId } = customer;
  await table.put({ ...customerPointerKey(owner, providerId), customerId, providerCustomerId }, [{ absent: true }]);
};

/** Where it was the one meant, the owner's oldest other customer at that provider is from here on, if there is one. */
export const forgetCustomer = async (table: Table, owner: Owner, { id, providerId }: Customer): Promise<void> => {
  let goneId = id;
  for (let tries = 0; tries < FORGET_TRIES; tries += 1) {
    const key = customerPointerKey(owner, providerId);
    const pointer = ownerCustomerOf(await table.get(key));
    if (pointer?.customerId !== goneId) return;
    const heir = await oldestOf(table, owner, { providerId, except: goneId });
    const guard = [{ equals: ['customerId', goneId] }] as const;
    if (!heir) {
      await table.remove(key, guard);
      return;
    }
    const { id: customerId, providerCustomerId } = heir;
    await table.update(key, { set: { customerId, providerCustomerId } }, guard);
    // It may have been deleted meanwhile: then it is forgotten in turn.
    if (await load(table, customerId)) return;
    goneId = customerId;
  }
};

const FORGET_TRIES = 5;

const oldestOf = async (
  table: Table,
  owner: Owner,
  { providerId, except }: { readonly providerId: string; readonly except: string },
): Promise<Customer | undefined> => {
  const page = await table.queryIndex({
    index: 'owner',
    partition: ownerPartition(owner, 'CUS'),
    filter: [
      { equals: ['f.p', providerId] },
      ...(owner.kind === 'guest' ? [{ equals: ['f.g', owner.guestId] } as const] : []),
    ],
  });
  for (const { pk } of page.items) {
    const id = String(pk).slice('CUS#'.length);
    const customer = id === except ? undefined : await load(table, id);
    if (customer) return customer;
  }
  return undefined;
};

const load = async (table: Table, id: string): Promise<Customer | undefined> => {
  const item = await table.get(recordKey('CUS', id));
  return item && parseRecord(customerShape, item);
};
