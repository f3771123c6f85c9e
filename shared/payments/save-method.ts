/**
 * @module Saves the method of a succeeded payment that requested it (`setup_future_usage`). The method's id derives
 * from the payment's id and ID_SECRET, so repeated reports save one method and its id cannot be guessed. Due work
 * finishes an interrupted save. If the provider refuses to store the method, the payment still succeeds.
 */

import { ownerOfRecord } from '../access/record-kind.ts';
import { organizationCheck } from '../access/standing.ts';
import { runCreation } from '../calls/run-creation.ts';
import { isIdOf } from '../core/ids.ts';
import type { IdDeps } from '../core/keyed-ids.ts';
import { errorFields, type Log } from '../core/logger.ts';
import { iso } from '../core/time.ts';
import { addressShape } from '../customers/address.ts';
import { type Customer, customerShape, type OwnerCustomer } from '../customers/customer.ts';
import { isMethodOf, learnProviderId } from '../customers/learn-provider-id.ts';
import { organizationRecord } from '../organizations/organization.ts';
import { storedMethodFields } from '../payment-methods/create-method.ts';
import { addressUseSteps } from '../payment-methods/method-store.ts';
import { type PaymentMethod, paymentMethodShape } from '../payment-methods/payment-method.ts';
import { aliasStep, findAlias } from '../platform/alias.ts';
import type { Owner } from '../platform/keys.ts';
import type { StoreDeps, Table } from '../platform/table.ts';
import { ownerKeyOf } from '../platform/table-defaults.ts';
import { firstVersion, versionedRecord } from '../platform/versioned-record.ts';
import type { ProviderMethod } from '../providers/method-port.ts';
import type { Providers } from '../providers/registry.ts';
import { isVisiblePayment, type VisiblePayment, wantsMethodSaved } from './payment.ts';
import { type PaymentStore, paymentStore } from './payment-store.ts';
import { providerReference } from './payment-versions.ts';

interface SaveDeps extends StoreDeps, Pick<IdDeps, 'ids'> {
  readonly providers: Providers;
}

/**
 * Saves the method if possible. A failure does not fail the request that moved the money, because due work saves the
 * method later.
 */
export const trySaveMethod = async (deps: SaveDeps & { readonly log: Log }, payment: VisiblePayment): Promise<void> => {
  try {
    await saveMethod(deps, payment);
  } catch (error) {
    deps.log.warn('method not saved yet', { payment_id: payment.id, ...errorFields(error) });
  }
};

export const saveMethod = async (deps: SaveDeps, payment: VisiblePayment): Promise<VisiblePayment> => {
  if (!wantsMethodSaved(payment)) return payment;
  const owner = ownerOfRecord(payment);
  if (!owner) return payment;
  const store = paymentStore(deps.table, deps.now);
  if (await isGone(deps.table, owner)) return giveUp(store, payment);
  const customer = await customerOf(deps, payment, owner);
  if (!customer) return giveUp(store, payment);
  const { providerCustomerId: customerId } = customer;
  const named = { customerId: customer.id, providerCustomerId: customerId };
  const provider = await deps.providers.require(payment.providerId, 'payments');
  const idempotencyKey = `${payment.id}:keep`;
  return runCreation({
    send: () => provider.keepMethod({ ...providerReference(payment), customerId, idempotencyKey }),
    publish: async (kept) => {
      if (!isMethodOf(kept, named)) return giveUp(store, payment);
      const known = await knownMethod(deps, payment, kept);
      if (known && !isOf(known, owner)) return giveUp(store, payment);
      const holder = await learnProviderId(deps, named, kept);
      const method = known ?? (await save(deps, await newMethod(deps, { payment, kept, holder })));
      return useMethod(deps, payment, method);
    },
    remove: () => giveUp(store, payment),
    keep: async () => payment,
  });
};

const useMethod = async (deps: SaveDeps, payment: VisiblePayment, method: PaymentMethod): Promise<VisiblePayment> => {
  const next = {
    ...payment,
    paymentMethodId: method.id,
    methodRef: method.providerMethodId,
    cause: 'update' as const,
    version: payment.version + 1,
    updatedAt: iso(deps.now()),
  };
  const committed = await paymentStore(deps.table, deps.now).commit(payment, next);
  const stands = committed.ok ? committed.record : committed.found;
  return stands && isVisiblePayment(stands) ? stands : payment;
};

const giveUp = async (store: PaymentStore, payment: VisiblePayment): Promise<VisiblePayment> => {
  await store.giveUpMethod(payment);
  return { ...payment, methodNotKept: true };
};

/** True if the owner is a deleted organization, which gets no new records. */
const isGone = async (table: Table, owner: Owner): Promise<boolean> => {
  if (owner.kind !== 'organization') return false;
  const item = await table.get(organizationRecord.key(owner.organizationId));
  return !item || organizationRecord.parse(item) === undefined;
};

/** The payment's customer; undefined if another owner has the customer. No method is saved for another owner. */
const customerOf = async (
  deps: SaveDeps,
  { providerId, providerCustomerId }: VisiblePayment,
  owner: Owner,
): Promise<Customer | undefined> => {
  if (providerCustomerId === undefined) return undefined;
  const id = await customerIdOf(deps.table, providerId, providerCustomerId);
  const customer = id && (await versionedRecord(deps, customerShape).load(id));
  return customer && isOf(customer, owner) ? customer : undefined;
};

/** Our id of the customer. A customer who is not at the provider yet has our id in place of the provider's id. */
const customerIdOf = async (
  table: Table,
  providerId: VisiblePayment['providerId'],
  providerCustomerId: string,
): Promise<string | undefined> => {
  if (isIdOf('customer', providerCustomerId)) return providerCustomerId;
  const alias = await findAlias(table, providerId, providerCustomerId);
  return alias?.kind === 'CUS' ? alias.id : undefined;
};

/** The method's record, if it is already saved. A method is saved once, for one owner. */
const knownMethod = async (
  deps: SaveDeps,
  { providerId }: VisiblePayment,
  { methodId }: ProviderMethod,
): Promise<PaymentMethod | undefined> => {
  const alias = await findAlias(deps.table, providerId, methodId);
  const found = alias?.kind === 'PM' ? await versionedRecord(deps, paymentMethodShape).load(alias.id) : undefined;
  // If the record has another id at the provider, the payer replaced this card during the set-up.
  return found?.providerMethodId === methodId ? found : undefined;
};

const isOf = (record: PaymentMethod | Customer, owner: Owner): boolean => {
  const recordOwner = ownerOfRecord(record);
  return recordOwner !== undefined && ownerKeyOf(recordOwner) === ownerKeyOf(owner);
};

const save = async (deps: SaveDeps, method: PaymentMethod): Promise<PaymentMethod> => {
  const alias = aliasStep(method.providerId, method.providerMethodId, { kind: 'PM', id: method.id });
  const steps = [alias, ...addressUseSteps(undefined, method), ...organizationCheck(method)];
  await versionedRecord(deps, paymentMethodShape).insertOrFind(method, steps);
  return method;
};

interface Kept {
  readonly payment: VisiblePayment;
  readonly kept: ProviderMethod;
  readonly holder: OwnerCustomer;
}

const newMethod = async (deps: SaveDeps, { payment, kept, holder }: Kept): Promise<PaymentMethod> => {
  const at = iso(deps.now());
  const { userId, organizationId, guestId, guestEmail, guestNetwork } = payment;
  return {
    id: await deps.ids.idOf('payment_method', payment.id),
    ...firstVersion(at),
    providerId: payment.providerId,
    ...storedMethodFields(kept),
    ...holder,
    billingAddressId: await addressOf(deps, payment),
    ...(organizationId ? { organizationId } : { userId, guestId, guestEmail, guestNetwork }),
  };
};

/** The payment's billing address, unless it was deleted since. */
const addressOf = async (deps: SaveDeps, { billingAddressId }: VisiblePayment): Promise<string | undefined> =>
  billingAddressId === undefined ? undefined : (await versionedRecord(deps, addressShape).load(billingAddressId))?.id;
