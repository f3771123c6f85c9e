/** @module Stores a customer created at a provider by another integration. The provider is not called. */

import type { Owned } from '../access/record-kind.ts';
import type { ProviderSlot } from '../core/settings.ts';
import { normalizedEmail } from '../core/text.ts';
import { epochSeconds, iso } from '../core/time.ts';
import type { Owner } from '../platform/keys.ts';
import type { StoreDeps, TransactionStep } from '../platform/table.ts';
import { firstVersion, recordItem } from '../platform/versioned-record.ts';
import type { ReportedDetails } from '../providers/customer-port.ts';
import { customerAlias } from './create-customer.ts';
import { type Customer, customerShape, pointerItem } from './customer.ts';

interface AdoptedCustomer {
  readonly id: string;
  readonly slot: ProviderSlot;
  readonly providerCustomerId: string;
  readonly owner: Owner;
  readonly owned: Owned;
  readonly contact: ReportedDetails;
  /** The write conditions that the owner exists. */
  readonly onlyIf: readonly TransactionStep[];
}

/**
 * Stores the customer if no record has its provider id. Makes it the owner's default at the slot if the owner has no
 * default.
 * @returns false if a condition failed
 */
export const storeAdoptedCustomer = async (deps: StoreDeps, adopted: AdoptedCustomer): Promise<boolean> => {
  const customer = customerOf(deps, adopted);
  const steps: readonly TransactionStep[] = [
    { put: recordItem(customerShape, customer), if: [{ absent: true }] },
    { ...customerAlias(customer), if: [{ absent: true }] },
    ...adopted.onlyIf,
  ];
  const pointer: TransactionStep = { put: pointerItem(adopted.owner, customer), if: [{ absent: true }] };
  const first = await deps.table.transact([...steps, pointer]);
  if (first.ok) return true;
  const hasDefault = first.failed.every((index) => index === steps.length);
  return hasDefault && (await deps.table.transact(steps)).ok;
};

const customerOf = (
  { now }: StoreDeps,
  { id, slot, providerCustomerId, owned, contact }: AdoptedCustomer,
): Customer => {
  const at = iso(now());
  const { given, family } = contact.nameParts ?? {};
  const name = contact.name || undefined;
  return {
    id,
    ...firstVersion(at),
    ...{ providerId: slot, providerCustomerId, name, firstName: given, lastName: family },
    email: contact.email ? normalizedEmail(contact.email) : undefined,
    ...(name !== undefined && !contact.nameParts && { isNameGiven: true }),
    phone: contact.phone || undefined,
    ...owned,
    importedAt: at,
    knownAt: epochSeconds(now()),
  };
};
