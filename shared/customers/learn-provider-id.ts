/**
 * @module Stores the id that PayPal gives a customer only with the first saved method. Until then, our own id is used.
 * The provider's id is stored before the method, so a deletion finds every method.
 */

import { ownerOfRecord } from '../access/record-kind.ts';
import { iso } from '../core/time.ts';
import { aliasRemoval } from '../platform/alias.ts';
import { type Commit, changeRecord } from '../platform/change.ts';
import type { StoreDeps, Table, TransactionStep } from '../platform/table.ts';
import { versionedRecord } from '../platform/versioned-record.ts';
import type { ProviderMethod } from '../providers/method-port.ts';
import { customerAlias } from './create-customer.ts';
import {
  type Customer,
  customerPointerKey,
  customerShape,
  type OwnerCustomer,
  ownerCustomerOf,
  pointerItem,
} from './customer.ts';

/** True if the method belongs to this customer at the provider. */
export const isMethodOf = (
  { customerId, ourCustomerId }: Pick<ProviderMethod, 'customerId' | 'ourCustomerId'>,
  customer: OwnerCustomer,
): boolean => customerId === customer.providerCustomerId || ourCustomerId === customer.customerId;

/**
 * Stores the provider's customer id if this method is the first to report it. @returns the stored customer
 * @throws DomainError VERSION_CONFLICT after too many concurrent changes, or if the customer is removed
 */
export const learnProviderId = async (
  deps: StoreDeps,
  known: OwnerCustomer,
  { customerId: given }: Pick<ProviderMethod, 'customerId'>,
): Promise<OwnerCustomer> => {
  const { customerId: id } = known;
  if (known.providerCustomerId !== id || given === undefined || given === id) return known;
  const store = versionedRecord(deps, customerShape);
  const customer = await store.load(id);
  if (!customer) return known;
  const commit: Commit<Customer> = async (was, next) => {
    const steps = [aliasRemoval(was.providerId, id), customerAlias(next), ...(await pointerSteps(deps.table, next))];
    // Rebuild the steps for each try, because the pointer may have changed.
    return { ...(await store.commit(was, next, steps)), unmet: false };
  };
  const { record } = await changeRecord(commit, customer, (current) =>
    current.providerCustomerId === id
      ? { ...current, providerCustomerId: given, version: current.version + 1, updatedAt: iso(deps.now()) }
      : undefined,
  );
  return { customerId: id, providerCustomerId: record.providerCustomerId };
};

/** Updates the provider's id in the owner's pointer too, if the pointer names this customer. */
const pointerSteps = async (table: Table, customer: Customer): Promise<readonly TransactionStep[]> => {
  const owner = ownerOfRecord(customer);
  if (!owner) return [];
  const pointer = ownerCustomerOf(await table.get(customerPointerKey(owner, customer.providerId)));
  return pointer?.customerId === customer.id
    ? [{ put: pointerItem(owner, customer), if: [{ equals: ['customerId', customer.id] }] }]
    : [];
};
