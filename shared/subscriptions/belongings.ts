import { DomainError } from '../core/errors.ts';
import { recordKey } from '../table/keys.ts';
import type { Table } from '../table/table.ts';
import type { Subscription } from './subscription.ts';

/**
 * What a subscription may use beside what its caller owns: an organization's records only in that organization. Whether
 * they are the caller's to name at all is decided before.
 */
export const requireSameOwner = (
  record: { readonly organizationId?: string | undefined },
  organizationId: string | undefined,
): void => {
  if (record.organizationId === undefined || record.organizationId === organizationId) return;
  throw new DomainError('ORGANIZATION_ACCESS_DENIED', { message: 'It belongs to another organization' });
};

export interface Left {
  readonly customer: boolean;
  /** False, too, where it names none. */
  readonly method: boolean;
}

/** What still stands of the customer and the method that a subscription names. */
export const whatIsLeft = async (
  table: Table,
  { customerId, paymentMethodId }: Pick<Subscription, 'customerId' | 'paymentMethodId'>,
): Promise<Left> => {
  const keys = [recordKey('CUS', customerId), ...(paymentMethodId ? [recordKey('PM', paymentMethodId)] : [])];
  const [customer, method] = await table.getMany(keys, { consistent: true });
  return { customer: customer !== undefined, method: method !== undefined };
};
