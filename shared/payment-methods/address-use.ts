import { addressUseKey, recordKey } from '../table/keys.ts';
import type { TransactionStep } from '../table/table.ts';
import type { PaymentMethod } from './payment-method.ts';

type Linked = Pick<PaymentMethod, 'id' | 'billingAddressId'>;

/**
 * What is written with a method so that its address leads to the method; fails where the address is deleted meanwhile.
 * @param was undefined for a new method
 * @param next undefined for one that is deleted
 */
export const addressUseSteps = (was: Linked | undefined, next: Linked | undefined): readonly TransactionStep[] =>
  was?.billingAddressId === next?.billingAddressId ? [] : [...withoutUse(was), ...withUse(next)];

const withoutUse = (method: Linked | undefined): readonly TransactionStep[] =>
  method?.billingAddressId === undefined ? [] : [{ delete: addressUseKey(method.billingAddressId, 'PM', method.id) }];

const withUse = (method: Linked | undefined): readonly TransactionStep[] => {
  if (method?.billingAddressId === undefined) return [];
  const { id, billingAddressId } = method;
  return [
    { put: { ...addressUseKey(billingAddressId, 'PM', id) } },
    { check: recordKey('ADDR', billingAddressId), if: [{ exists: true }, { lacks: 'tombstone' }] },
  ];
};
