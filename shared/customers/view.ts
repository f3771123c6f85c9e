import type { Customer } from './customer.ts';

export const customerView = (customer: Customer) => ({
  id: customer.id,
  provider_id: customer.providerId,
  provider_customer_id: customer.providerCustomerId,
  email: customer.email ?? null,
  name: customer.name ?? null,
  first_name: customer.firstName ?? null,
  last_name: customer.lastName ?? null,
  phone: customer.phone ?? null,
  user_id: customer.userId ?? null,
  is_guest: customer.guestId !== undefined,
  ...(customer.guestEmail && { guest_email: customer.guestEmail }),
  ...(customer.organizationId && { organization_id: customer.organizationId }),
  ...(customer.projectId && { project_id: customer.projectId }),
  metadata: customer.metadata ?? {},
  created_at: customer.createdAt,
  updated_at: customer.updatedAt,
});
