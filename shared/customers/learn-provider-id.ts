import { ownerOfRecord } from '../access/owner.ts';
import { DomainError } from '../core/errors.ts';
import { iso } from '../core/time.ts';
import type { ProviderMethod } from '../providers/port/methods.ts';
import type { ProviderRecordDeps } from '../providers/registry/deps.ts';
import { aliasRemoval } from '../table/alias.ts';
import { recordStore } from '../table/record-store.ts';
import type { Table, TransactionStep } from '../table/table.ts';
import { customerAlias } from './create.ts';
import { type Customer, customerShape } from './customer.ts';
import { customerPointerKey, type OwnerCustomer, ownerCustomerOf, pointerItem } from './owner-customer.ts';

/**
 * Some providers (PayPal) give a customer an id only with its first saved method; until then the record has our own id in
 * its place. The id is stored before the method is: from then on every later method is saved for the same customer, and
 * a deletion finds all of them.
 */
type LearnDeps = Pick<ProviderRecordDeps, 'table' | 'now'>;

/** Does the provider store the method for this customer? */
export const isMethodOf = (
  { customerId, ourCustomerId }: Pick<ProviderMethod, 'customerId' | 'ourCustomerId'>,
  customer: OwnerCustomer,
): boolean => customerId === customer.providerCustomerId || ourCustomerId === customer.customerId;

const TRIES = 5;

/**
 * Stores the provider's id of the customer, if the method's answer tells it first.
 * @returns the customer with the id that its record has now
 * @throws DomainError VERSION_CONFLICT if every try meets another change
 */
export const learnProviderId = async (
  deps: LearnDeps,
  known: OwnerCustomer,
  { customerId: given }: Pick<ProviderMethod, 'customerId'>,
): Promise<OwnerCustomer> => {
  const { customerId: id } = known;
  if (known.providerCustomerId !== id || given === undefined || given === id) return known;
  const store = recordStore(deps.table, deps.now, customerShape);
  for (let tries = 0; tries < TRIES; tries += 1) {
    const customer = await store.load(id);
    if (!customer) return known;
    if (customer.providerCustomerId !== id) return { customerId: id, providerCustomerId: customer.providerCustomerId };
    const next = {
      ...customer,
      providerCustomerId: given,
      version: customer.version + 1,
      updatedAt: iso(deps.now()),
    };
    const steps = [
      aliasRemoval(customer.providerId, id),
      customerAlias(next),
      ...(await pointerSteps(deps.table, next)),
    ];
    if (await store.commit(customer, next, steps)) return { customerId: id, providerCustomerId: given };
  }
  throw new DomainError('VERSION_CONFLICT');
};

/** The owner's pointer holds the id too, where it leads to this customer. */
const pointerSteps = async (table: Table, customer: Customer): Promise<readonly TransactionStep[]> => {
  const owner = ownerOfRecord(customer);
  if (!owner) return [];
  const pointer = ownerCustomerOf(await table.get(customerPointerKey(owner, customer.providerId)));
  return pointer?.customerId === customer.id
    ? [{ put: pointerItem(owner, customer), if: [{ equals: ['customerId', customer.id] }] }]
    : [];
};
