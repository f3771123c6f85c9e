import { addressUseKey, recordKey } from '../table/keys.ts';
import type { TransactionStep } from '../table/table.ts';
import type { PaymentMethod } from './payment-method.ts';

type Linked = Pick<PaymentMethod, 'id' | 'billingAddressId'>;

/**
 * Steps of the write of a method, so that its address leads to the method. They fail if the address is deleted.
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
