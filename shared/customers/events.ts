import { type BusEvent, changeId } from '../events/bus-event.ts';
import type { Customer } from './customer.ts';

/** customer.created for a new customer, customer.updated for a new version. */
export const customerEvents = (before: Customer | undefined, after: Customer): readonly BusEvent[] => {
  if (before?.version === after.version) return [];
  const event = before === undefined ? 'customer.created' : 'customer.updated';
  const id = changeId(after.id, after.version, event);
  return [
    {
      id,
      source: 'payments',
      type: event,
      detail: {
        id,
        organization_id: after.organizationId ?? null,
        user_id: after.userId ?? null,
        payload: { event, provider: after.providerId, timestamp: after.updatedAt, data: dataOf(after) },
      },
    },
  ];
};

const dataOf = (customer: Customer) => ({
  customer_id: customer.id,
  provider_customer_id: customer.providerCustomerId,
  email: customer.email ?? null,
  name: customer.name ?? null,
  is_guest: customer.guestId !== undefined,
  user: userOf(customer),
  project: customer.projectId ? { id: customer.projectId } : null,
  organization_id: customer.organizationId ?? null,
});

const userOf = (customer: Customer) => {
  if (customer.userId) return { id: customer.userId, type: 'authenticated', email: customer.email ?? null };
  if (customer.guestId) return { id: customer.guestId, type: 'guest', email: customer.guestEmail ?? null };
  return null;
};
