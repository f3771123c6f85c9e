import { type PaymentMethod, paymentMethodRecord } from '../../payment-methods/payment-method.ts';
import { recordKey } from '../../table/keys.ts';
import type { Table } from '../../table/table.ts';
import type { Subscription } from '../record/subscription.ts';

export interface Remaining {
  readonly customer: boolean;
  /** undefined, too, where it names none. */
  readonly method: PaymentMethod | undefined;
}

/** What still stands of the customer and the method that a subscription names. */
export const findRemaining = async (
  table: Table,
  { customerId, paymentMethodId }: Pick<Subscription, 'customerId' | 'paymentMethodId'>,
): Promise<Remaining> => {
  const keys = [recordKey('CUS', customerId), ...(paymentMethodId ? [recordKey('PM', paymentMethodId)] : [])];
  const [customer, method] = await table.getMany(keys, { consistent: true });
  return { customer: customer !== undefined, method: method && paymentMethodRecord.parse(method) };
};
