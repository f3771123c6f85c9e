import type { LedgerCustomer } from '../../ledger/documents.ts';
import type { Unit } from '../../ledger/unit.ts';
import { refused } from '../wire/errors.ts';
import type { CustomerReference } from '../wire/request.ts';

/**
 * The customer of a token or an order. If the request names no customer by PayPal's id, PayPal adds one and assigns the
 * id. `merchant_customer_id` is the merchant's own id and is only stored.
 * @throws Refused 422 for an id that PayPal has not assigned
 */
export const customerNamed = (unit: Unit, named: CustomerReference | undefined, field: string): LedgerCustomer => {
  if (named?.id === undefined) return addCustomer(unit, named?.merchant_customer_id);
  const known = unit.documents.customers.get(unit.slot, named.id);
  if (!known) throw refused('INVALID_CUSTOMER_ID', field);
  return known;
};

const addCustomer = (unit: Unit, merchantId: string | undefined): LedgerCustomer =>
  unit.documents.customers.put({
    id: unit.newId('customer'),
    provider: unit.slot,
    metadata: {},
    wire: merchantId === undefined ? {} : { merchant_customer_id: merchantId },
    createdAt: unit.at,
    email: null,
    name: null,
    phone: null,
    description: null,
    address: null,
    defaultMethodId: null,
    balance: 0,
    deleted: false,
  });
