import { type PaymentMethod, paymentMethodRecord } from '../../payment-methods/payment-method.ts';
import { recordKey } from '../../table/keys.ts';
import type { Table } from '../../table/table.ts';
import type { Subscription } from './subscription.ts';

/** The customer and the payment method that a subscription names, where they have not been deleted. */
export interface LinkedRecords {
  readonly hasCustomer: boolean;
  readonly method: PaymentMethod | undefined;
}

export const readLinkedRecords = async (
  table: Table,
  { customerId, paymentMethodId }: Pick<Subscription, 'customerId' | 'paymentMethodId'>,
): Promise<LinkedRecords> => {
  const keys = [recordKey('CUS', customerId), ...(paymentMethodId ? [recordKey('PM', paymentMethodId)] : [])];
  const [customer, method] = await table.getMany(keys, { consistent: true });
  return { hasCustomer: customer !== undefined, method: method && paymentMethodRecord.parse(method) };
};
