import * as z from 'zod';
import { ownerKeyOf } from '../table/defaults.ts';
import { type Key, type Owner, ownerCustomerKey } from '../table/keys.ts';
import type { Item, Table } from '../table/table.ts';
import type { Customer } from './customer.ts';

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

export const forgetCustomer = async (table: Table, owner: Owner, customer: Customer): Promise<void> => {
  await table.remove(customerPointerKey(owner, customer.providerId), [{ equals: ['customerId', customer.id] }]);
};
