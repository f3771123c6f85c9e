/** @module The records named in a payment request. */

import type { NamedRecord } from '../access/record-kind.ts';
import { productRecord, projectRecord } from '../catalog/catalog-records.ts';
import type { ProviderSlot } from '../core/settings.ts';
import { addressRecord } from '../customers/address.ts';
import { customerPointerKey, customerRecord } from '../customers/customer.ts';
import { codeKeysOf } from '../discounts/redemption.ts';
import { paymentMethodRecord } from '../payment-methods/payment-method.ts';
import type { Key, Owner } from '../platform/keys.ts';

interface Naming {
  readonly project_id?: string | null | undefined;
  readonly product_id?: string | null | undefined;
  readonly customer_id?: string | null | undefined;
  readonly billing_address_id?: string | null | undefined;
  readonly payment_method_id?: string | null | undefined;
}

export const recordsNamedBy = (body: Naming): readonly NamedRecord[] => [
  ...(body.project_id ? [{ kind: projectRecord, id: body.project_id }] : []),
  ...(body.product_id ? [{ kind: productRecord, id: body.product_id }] : []),
  ...(body.customer_id ? [{ kind: customerRecord, id: body.customer_id }] : []),
  ...(body.billing_address_id ? [{ kind: addressRecord, id: body.billing_address_id }] : []),
];

interface Creating {
  readonly provider_id?: ProviderSlot | undefined;
  readonly discount_code?: string | null | undefined;
}

/**
 * The keys of the items that a create reads: those of the customer of the owner at the provider, and those of the
 * discount code.
 */
export const alongsideCreate = (owner: Owner, body: Creating): readonly Key[] => [
  customerPointerKey(owner, body.provider_id ?? 'provider_a'),
  ...codeKeysOf(owner, body.discount_code),
];

/**
 * The payment method that a request names by our id, by the provider's id of a saved method, or by a one-time token.
 */
export const methodsUsedBy = ({ payment_method_id: id }: Pick<Naming, 'payment_method_id'>): readonly NamedRecord[] =>
  id ? [{ kind: paymentMethodRecord, id }] : [];
