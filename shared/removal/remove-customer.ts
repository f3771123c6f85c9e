/** @module Deletes customers with their payment methods, at the provider and here. */

import { ownerOfRecord } from '../access/record-kind.ts';
import { DomainError } from '../core/errors.ts';
import { type Customer, customerShape, customerSuccessorSteps } from '../customers/customer.ts';
import type { ApiRequest, Reply } from '../http/request.ts';
import { type PaymentMethod, paymentMethodShape } from '../payment-methods/payment-method.ts';
import { erasePayment } from '../payments/erase-payment.ts';
import { aliasRemoval } from '../platform/alias.ts';
import { type Key, keyOf, ownerPartition } from '../platform/keys.ts';
import { ownedRecord } from '../platform/owned-record.ts';
import type { TransactionStep } from '../platform/table.ts';
import type { ProviderRecordDeps } from '../providers/provider-deps.ts';
import { requireDone } from '../providers/unwrap.ts';
import type { BillingDeps } from '../subscriptions/billing/biller.ts';
import { detachCustomer, requireSuccessorElsewhere } from '../subscriptions/commands/replace-method.ts';
import { subscriptionsUsing } from '../subscriptions/record/linked-records.ts';
import { eraseSubscription } from '../subscriptions/record/subscription-store.ts';
import { removeMethod } from './remove-method.ts';

export interface RemoveCustomerDeps extends ProviderRecordDeps, BillingDeps {
  readonly deleteHistory: boolean;
}

/** Deletes a customer with its payment methods. Payments and subscriptions stay, unless `deleteHistory` is set. */
export const deleteCustomer = async (
  deps: RemoveCustomerDeps,
  { record }: ApiRequest<unknown, unknown, unknown, Customer>,
): Promise<Reply> => {
  await removeCustomer(deps, record, { atProvider: true });
  // The call is repeated for subscriptions created during the removal. A creation that starts later checks its customer
  // itself.
  await detachSubscriptions(deps, record);
  return { data: undefined };
};

/**
 * Removes a customer. The order of the steps makes a repeat safe. First the owner's subscriptions are canceled, and
 * other subscriptions are detached. Then the methods are removed, then the customer at the provider, then the record
 * here.
 * @throws DomainError PAYMENT_METHOD_IN_USE if a subscription of another owner uses one of the customer's methods
 */
export const removeCustomer = async (
  deps: RemoveCustomerDeps,
  customer: Customer,
  { atProvider }: { readonly atProvider: boolean },
): Promise<void> => {
  const methods: Key[] = [];
  for await (const key of keysOf(deps, customer, 'PM')) methods.push(key);
  // The check runs before any change, so that a refusal changes nothing.
  if (atProvider) await requireMethodsFree(deps, customer, methods);
  const [successorSteps] = await Promise.all([successorStepsOf(deps, customer), detachSubscriptions(deps, customer)]);
  for await (const method of loadMethods(deps, methods)) await removeMethod(deps, method, { atProvider });
  if (atProvider) {
    const provider = await deps.providers.require(customer.providerId, 'customers');
    requireDone(await provider.deleteCustomer(customer.providerCustomerId), 'id');
  }
  if (deps.deleteHistory) await removeHistory(deps, customer);
  await removeRecord(deps, customer, successorSteps);
};

const successorStepsOf = async (
  { table }: Pick<ProviderRecordDeps, 'table'>,
  customer: Customer,
): Promise<readonly TransactionStep[]> => {
  const owner = ownerOfRecord(customer);
  return owner ? customerSuccessorSteps(table, owner, customer) : [];
};

const REMOVE_TRIES = 5;

/**
 * Removes the record. Rebuilds the steps and retries if a concurrent removal of another customer has chosen this
 * customer as successor.
 */
const removeRecord = async (
  deps: ProviderRecordDeps,
  customer: Customer,
  successorSteps: readonly TransactionStep[],
): Promise<void> => {
  const store = ownedRecord(deps, customerShape);
  const alias = aliasRemoval(customer.providerId, customer.providerCustomerId);
  let steps = successorSteps;
  for (let tries = 0; tries < REMOVE_TRIES; tries += 1) {
    if (await store.remove(customer, [alias, ...steps])) return;
    steps = await successorStepsOf(deps, customer);
  }
  throw new DomainError('VERSION_CONFLICT');
};

const detachSubscriptions = async (deps: RemoveCustomerDeps, customer: Customer): Promise<void> => {
  for (const subscription of await subscriptionsUsing(deps.table, 'CUS', customer.id)) {
    await detachCustomer(deps, subscription, customer);
  }
};

const requireMethodsFree = async (
  deps: RemoveCustomerDeps,
  customer: Customer,
  methods: readonly Key[],
): Promise<void> => {
  for await (const method of loadMethods(deps, methods)) await requireSuccessorElsewhere(deps, method, customer.id);
};

async function* loadMethods(deps: ProviderRecordDeps, keys: readonly Key[]): AsyncGenerator<PaymentMethod> {
  for (const key of keys) {
    const item = await deps.table.get(key);
    const method = item && paymentMethodShape.parse(item);
    if (method) yield method;
  }
}

/** Keys of the owner's records that name this customer. */
async function* keysOf(deps: ProviderRecordDeps, customer: Customer, kind: 'PM' | 'PAY' | 'SUB'): AsyncGenerator<Key> {
  const owner = ownerOfRecord(customer);
  if (!owner) return;
  const filter = [{ equals: ['f.c', customer.id] }] as const;
  const partition = ownerPartition(owner, kind);
  for await (const item of deps.table.eachInIndex({ index: 'owner', partition, filter })) yield keyOf(item);
}

const removeHistory = async (deps: ProviderRecordDeps, customer: Customer): Promise<void> => {
  for await (const { pk } of keysOf(deps, customer, 'PAY')) await erasePayment(deps.table, pk.slice('PAY#'.length));
  for await (const { pk } of keysOf(deps, customer, 'SUB'))
    await eraseSubscription(deps.table, pk.slice('SUB#'.length));
};
