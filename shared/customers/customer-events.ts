import { type BusEvent, canonicalBusEvent, payerOf } from '../platform/bus-event.ts';
import type { Customer } from './customer.ts';

/** Publishes customer.created or, for later versions, customer.updated. An import publishes nothing. */
export const customerEvents = (before: Customer | undefined, after: Customer): readonly BusEvent[] => {
  if (before?.version === after.version || (before === undefined && after.importedAt !== undefined)) return [];
  const event = before === undefined ? 'customer.created' : 'customer.updated';
  return [canonicalBusEvent(event, after, dataOf(after))];
};

const dataOf = (customer: Customer) => ({
  customer_id: customer.id,
  provider_customer_id: customer.providerCustomerId,
  email: customer.email ?? null,
  name: customer.name ?? null,
  is_guest: customer.guestId !== undefined,
  user: payerOf({ ...customer, userEmail: customer.email }),
  project: customer.projectId ? { id: customer.projectId } : null,
  organization_id: customer.organizationId ?? null,
});
