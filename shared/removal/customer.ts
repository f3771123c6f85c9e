import { ownerOfRecord } from '../access/owner.ts';
import { DomainError } from '../core/errors.ts';
import { type Customer, customerShape } from '../customers/customer.ts';
import { customerSuccessorSteps } from '../customers/owner-customer.ts';
import type { Reply } from '../http/reply.ts';
import type { ApiRequest } from '../http/request.ts';
import { type PaymentMethod, paymentMethodShape } from '../payment-methods/payment-method.ts';
import { erasePayment } from '../payments/record/erase.ts';
import type { ProviderRecordDeps } from '../providers/registry/deps.ts';
import { requireDone } from '../providers/registry/unwrap.ts';
import type { BillingDeps } from '../subscriptions/billing/biller.ts';
import { leaveCustomer } from '../subscriptions/commands/leave-customer.ts';
import { requireReplacedElsewhere } from '../subscriptions/commands/replace-method.ts';
import { eraseSubscription } from '../subscriptions/record/store.ts';
import { subscriptionsUsing } from '../subscriptions/record/used-by.ts';
import { aliasRemoval } from '../table/alias.ts';
import { type Key, type Owner, ownerPartition } from '../table/keys.ts';
import { parseRecord, recordStore } from '../table/record-store.ts';
import type { TransactionStep } from '../table/table.ts';
import { removeMethod } from './payment-method.ts';

export interface RemoveCustomerDeps extends ProviderRecordDeps, BillingDeps {
  readonly deleteHistory: boolean;
}

/** Deletes a customer with its payment methods; its history stays, unless the operator decided otherwise. */
export const deleteCustomer = async (
  deps: RemoveCustomerDeps,
  { record }: ApiRequest<unknown, unknown, unknown, Customer>,
): Promise<Reply> => {
  await removeCustomer(deps, record, { atProvider: true });
  // One that came to live while this went on: whoever made it looks whether its customer still stands.
  await endUses(deps, record);
  return { data: undefined };
};

/**
 * Its owner's subscriptions are canceled first, and others leave it; then methods go, then the provider's customer, then ours: whatever stops it, the
 * next call goes on. @throws DomainError PAYMENT_METHOD_IN_USE where another's subscription uses one of its methods.
 */
export const removeCustomer = async (
  deps: RemoveCustomerDeps,
  customer: Customer,
  { atProvider }: { readonly atProvider: boolean },
): Promise<void> => {
  const owner = ownerOfRecord(customer);
  const methods = owner ? await methodKeysOf(deps, owner, customer) : [];
  // Before anything is canceled or removed: a refusal changes nothing.
  if (atProvider) await requireMethodsFree(deps, methods, customer);
  const pointer = await withUsesEnded(deps, owner, customer);
  for await (const method of loaded(deps, methods)) await removeMethod(deps, method, { atProvider });
  if (atProvider) {
    const provider = await deps.providers.require(customer.providerId, 'customers');
    requireDone(await provider.deleteCustomer(customer.providerCustomerId), 'id');
  }
  if (owner && deps.deleteHistory) await removeHistory(deps, owner, customer);
  await removeRecord(deps, owner, customer, pointer);
};

const REMOVE_TRIES = 5;

/** The removal of another may pass the pointer on to this one meanwhile: then it is passed on again. */
const removeRecord = async (
  deps: ProviderRecordDeps,
  owner: Owner | undefined,
  customer: Customer,
  passedOn: readonly TransactionStep[],
): Promise<void> => {
  const store = recordStore(deps.table, deps.now, customerShape);
  const alias = aliasRemoval(customer.providerId, customer.providerCustomerId);
  let pointer = passedOn;
  for (let tries = 0; tries < REMOVE_TRIES; tries += 1) {
    if (await store.remove(customer, [alias, ...pointer])) return;
    pointer = owner ? await customerSuccessorSteps(deps.table, owner, customer) : [];
  }
  throw new DomainError('VERSION_CONFLICT');
};

/** @returns who inherits, looked for in the meantime. */
const withUsesEnded = async (
  deps: RemoveCustomerDeps,
  owner: Owner | undefined,
  customer: Customer,
): Promise<readonly TransactionStep[]> => {
  const [, pointer] = await Promise.all([
    endUses(deps, customer),
    owner ? customerSuccessorSteps(deps.table, owner, customer) : [],
  ]);
  return pointer;
};

const endUses = async (deps: RemoveCustomerDeps, customer: Customer): Promise<void> => {
  for (const subscription of await subscriptionsUsing(deps.table, 'CUS', customer.id)) {
    await leaveCustomer(deps, subscription, customer);
  }
};

const requireMethodsFree = async (
  deps: RemoveCustomerDeps,
  methods: readonly Key[],
  customer: Customer,
): Promise<void> => {
  for await (const method of loaded(deps, methods)) await requireReplacedElsewhere(deps, method, customer.id);
};

const methodKeysOf = async (deps: ProviderRecordDeps, owner: Owner, customer: Customer): Promise<readonly Key[]> => {
  const keys: Key[] = [];
  for await (const key of ownedBy(deps, owner, 'PM', customer)) keys.push(key);
  return keys;
};

async function* loaded(deps: ProviderRecordDeps, keys: readonly Key[]): AsyncGenerator<PaymentMethod> {
  for (const key of keys) {
    const item = await deps.table.get(key);
    const method = item && parseRecord(paymentMethodShape, item);
    if (method) yield method;
  }
}

/** Keys of an owner's records that name this customer. */
async function* ownedBy(
  deps: ProviderRecordDeps,
  owner: Owner,
  kind: 'PM' | 'PAY' | 'SUB',
  customer: Customer,
): AsyncGenerator<Key> {
  let after: Readonly<Record<string, unknown>> | undefined;
  do {
    const page = await deps.table.queryIndex({
      index: 'owner',
      partition: ownerPartition(owner, kind),
      filter: [{ equals: ['f.c', customer.id] }],
      after,
    });
    for (const item of page.items) yield { pk: String(item['pk']), sk: String(item['sk']) };
    after = page.next;
  } while (after);
}

const removeHistory = async (deps: ProviderRecordDeps, owner: Owner, customer: Customer): Promise<void> => {
  for await (const { pk } of ownedBy(deps, owner, 'PAY', customer)) {
    await erasePayment(deps.table, pk.slice('PAY#'.length));
  }
  for await (const { pk } of ownedBy(deps, owner, 'SUB', customer)) {
    await eraseSubscription(deps.table, pk.slice('SUB#'.length));
  }
};
