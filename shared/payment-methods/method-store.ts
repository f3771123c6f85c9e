/** @module Stores changes of payment methods. The same write updates the list of methods that use an address. */

import { DomainError } from '../core/errors.ts';
import { iso } from '../core/time.ts';
import { addressUseKey, recordKey } from '../platform/keys.ts';
import type { StoreDeps, TransactionStep } from '../platform/table.ts';
import { versionedRecord } from '../platform/versioned-record.ts';
import { type PaymentMethod, paymentMethodShape } from './payment-method.ts';

export type MethodChange = Pick<PaymentMethod, 'alias' | 'billingAddressId' | 'setup'>;

/**
 * Stores a change of a method, if any. If another commit came first, applies the change to the newer method.
 * @throws DomainError VERSION_CONFLICT if the method or the address has been removed
 */
export const commitMethod = async (
  deps: StoreDeps,
  method: PaymentMethod,
  changeOf: (current: PaymentMethod) => MethodChange,
): Promise<PaymentMethod> => {
  const { record, unmet } = await versionedRecord(deps, paymentMethodShape).change(
    method,
    (current) => {
      const changed = changeOf(current);
      const same =
        changed.billingAddressId === current.billingAddressId &&
        changed.alias === current.alias &&
        changed.setup === current.setup;
      return same ? undefined : { ...current, ...changed, version: current.version + 1, updatedAt: iso(deps.now()) };
    },
    addressUseSteps,
  );
  if (unmet) throw new DomainError('VERSION_CONFLICT');
  return record;
};

/** Unlinks an address from a method that still uses it. */
export const unlinkMethod = async (deps: StoreDeps, methodId: string, addressId: string): Promise<void> => {
  const store = versionedRecord(deps, paymentMethodShape);
  const method = await store.load(methodId);
  if (!method) return;
  await store.change(
    method,
    (current) =>
      current.billingAddressId === addressId
        ? { ...current, billingAddressId: undefined, version: current.version + 1, updatedAt: iso(deps.now()) }
        : undefined,
    addressUseSteps,
  );
};

type Linked = Pick<PaymentMethod, 'id' | 'billingAddressId'>;

/**
 * Steps that move a method from the use list of its old address to the use list of its new address. The steps fail if
 * the new address is deleted.
 * @param was undefined for a new method
 * @param next undefined for a deleted method
 */
export const addressUseSteps = (was: Linked | undefined, next: Linked | undefined): readonly TransactionStep[] =>
  was?.billingAddressId === next?.billingAddressId ? [] : [...removeUse(was), ...addUse(next)];

const removeUse = (method: Linked | undefined): readonly TransactionStep[] =>
  method?.billingAddressId === undefined ? [] : [{ delete: addressUseKey(method.billingAddressId, 'PM', method.id) }];

const addUse = (method: Linked | undefined): readonly TransactionStep[] => {
  if (method?.billingAddressId === undefined) return [];
  const { id, billingAddressId } = method;
  return [
    { put: { ...addressUseKey(billingAddressId, 'PM', id) } },
    { check: recordKey('ADDR', billingAddressId), if: [{ exists: true }, { lacks: 'tombstone' }] },
  ];
};
