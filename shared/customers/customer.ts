import * as z from 'zod';
import { type RecordKind, ownerOfRecord } from '../access/record-kind.ts';
import { PROVIDER_SLOTS } from '../core/settings.ts';
import { recordKey } from '../table/keys.ts';
import { knownAtSchema, parseRecord, type RecordShape, storedRecordFields } from '../table/record-store.ts';

/**
 * A customer: a payer at one provider. Always holds: it exists at the provider under providerCustomerId, and belongs to a
 * user, an organization or a guest.
 */
const optional = z.string().optional();

export const customerSchema = z.object({
  ...storedRecordFields,
  providerId: z.enum(PROVIDER_SLOTS),
  providerCustomerId: z.string(),
  email: optional,
  name: optional,
  firstName: optional,
  lastName: optional,
  phone: optional,
  userId: optional,
  guestId: optional,
  guestEmail: optional,
  organizationId: optional,
  projectId: optional,
  metadata: z.record(z.string(), z.json()).optional(),
  knownAt: knownAtSchema,
});
export type Customer = z.infer<typeof customerSchema>;

export const customerShape: RecordShape<Customer> = {
  kind: 'CUS',
  schema: customerSchema,
  ownerOf: ownerOfRecord,
  projectOf: ({ projectId }) => projectId,
  listFields: ({ providerId }) => ({ p: providerId }),
};

export const customerRecord: RecordKind<Customer> = {
  resource: 'customer',
  key: (id) => recordKey('CUS', id),
  parse: (item) => parseRecord(customerShape, item),
  ownedBy: ({ userId, organizationId, guestId, guestEmail }) => ({ userId, organizationId, guestId, guestEmail }),
  rule: 'owned',
};

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
