/** @module Stores a method that a provider holds for an imported customer. The provider is not called. */

import type { Owned } from '../access/record-kind.ts';
import type { ProviderSlot } from '../core/settings.ts';
import { epochSeconds, iso } from '../core/time.ts';
import { aliasStep } from '../platform/alias.ts';
import type { StoreDeps, TransactionStep } from '../platform/table.ts';
import { defaultStep } from '../platform/table-defaults.ts';
import { firstVersion, recordItem } from '../platform/versioned-record.ts';
import type { ProviderMethod } from '../providers/method-port.ts';
import { storedMethodFields } from './create-method.ts';
import { methodDefaultSlotOf, type PaymentMethod, paymentMethodShape } from './payment-method.ts';

interface AdoptedMethod {
  readonly id: string;
  readonly slot: ProviderSlot;
  readonly method: ProviderMethod;
  readonly customerId: string;
  readonly providerCustomerId: string;
  readonly owned: Owned;
  /** True if this is the default method of the provider's customer. */
  readonly isDefault: boolean;
  readonly onlyIf: readonly TransactionStep[];
}

/**
 * Stores the method, unless a record already has its id at the provider. A default method of the provider's customer
 * becomes the owner's default, unless the owner has a default.
 * @returns false if a condition failed
 */
export const storeAdoptedMethod = async (deps: StoreDeps, adopted: AdoptedMethod): Promise<boolean> => {
  const method = methodOf(deps, adopted);
  const { providerId, providerMethodId, id } = method;
  const steps: readonly TransactionStep[] = [
    { put: recordItem(paymentMethodShape, method), if: [{ absent: true }] },
    { ...aliasStep(providerId, providerMethodId, { kind: 'PM', id }), if: [{ absent: true }] },
    ...adopted.onlyIf,
  ];
  if (!adopted.isDefault) return (await deps.table.transact(steps)).ok;
  const pointer: TransactionStep = { ...defaultStep(methodDefaultSlotOf(method), id), if: [{ absent: true }] };
  const first = await deps.table.transact([...steps, pointer]);
  if (first.ok) return true;
  const hasDefault = first.failed.every((index) => index === steps.length);
  return hasDefault && (await deps.table.transact(steps)).ok;
};

const methodOf = (
  { now }: StoreDeps,
  { id, slot, method, customerId, providerCustomerId, owned }: AdoptedMethod,
): PaymentMethod => ({
  id,
  ...firstVersion(iso(now())),
  providerId: slot,
  ...storedMethodFields(method),
  ...{ customerId, providerCustomerId },
  ...owned,
  knownAt: epochSeconds(now()),
});
