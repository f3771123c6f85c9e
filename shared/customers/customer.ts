/**
 * @module A customer is a payer at one provider. It always exists at the provider as `providerCustomerId`, and belongs
 * to a user, an organization or a guest.
 */

import * as z from 'zod';
import {
  guestCreationOf,
  networkColumn,
  ownerColumns,
  ownerIdsOf,
  ownerOfRecord,
  type RecordKind,
} from '../access/record-kind.ts';
import { PROVIDER_SLOTS } from '../core/settings.ts';
import { type Key, type Owner, ownerCustomerKey, ownerPartition, recordKey } from '../platform/keys.ts';
import { knownAtSchema, ownedShape } from '../platform/owned-record.ts';
import { storedReader } from '../platform/stored-reader.ts';
import type { Item, Table, TransactionStep } from '../platform/table.ts';
import { ownerKeyOf } from '../platform/table-defaults.ts';
import { storedRecordFields } from '../platform/versioned-record.ts';
import type { ContactField, CustomerDetails } from '../providers/customer-port.ts';

const optional = z.string().optional();

export const customerSchema = z.lazy(() =>
  z.object({
    ...storedRecordFields,
    providerId: z.enum(PROVIDER_SLOTS),
    providerCustomerId: z.string(),
    email: optional,
    name: optional,
    /** True if the full name was sent, so it does not follow the first and last name. */
    isNameGiven: z.boolean().optional(),
    firstName: optional,
    lastName: optional,
    phone: optional,
    ...ownerColumns,
    ...networkColumn,
    projectId: optional,
    metadata: z.record(z.string(), z.json()).optional(),
    /** When the customer was imported from the provider. */
    importedAt: optional,
    knownAt: knownAtSchema,
  }),
);
export type Customer = z.infer<typeof customerSchema>;

export const customerShape = /* @__PURE__ */ ownedShape<Customer>({
  kind: 'CUS',
  read: storedReader(customerSchema),
  ownerOf: ownerOfRecord,
  projectOf: ({ projectId }) => projectId,
  listFields: ({ providerId }) => ({ p: providerId }),
});

export const customerRecord: RecordKind<Customer> = {
  resource: 'customer',
  readScope: 'customers:read',
  key: (id) => recordKey('CUS', id),
  parse: (item) => customerShape.parse(item),
  ownedBy: ownerIdsOf,
  provesGuest: guestCreationOf,
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
  ...(customer.importedAt && { imported_at: customer.importedAt }),
  created_at: customer.createdAt,
  updated_at: customer.updatedAt,
});

export const CONTACT_FIELDS = ['email', 'name', 'phone'] as const satisfies readonly ContactField[];

/** The full name, made from first and last name. */
export const derivedName = ({ firstName, lastName }: Pick<Customer, 'firstName' | 'lastName'>): string | undefined =>
  [firstName, lastName].filter(Boolean).join(' ') || undefined;

/** The contact details for the provider. First and last name are included unless a different full name was sent. */
export const detailsFor = ({ email, name, phone, ...parts }: ContactOf): CustomerDetails => ({
  email,
  name,
  phone,
  ...(name !== undefined &&
    name === derivedName(parts) && { nameParts: { given: parts.firstName, family: parts.lastName } }),
});
type ContactOf = Pick<Customer, 'email' | 'name' | 'phone' | 'firstName' | 'lastName'>;

/** An owner's default customer at a provider, for requests that name no customer. */
const pointerSchema = z.object({ customerId: z.string(), providerCustomerId: z.string() });
export type OwnerCustomer = z.infer<typeof pointerSchema>;

export const customerPointerKey = (owner: Owner, providerId: string): Key =>
  ownerCustomerKey(ownerKeyOf(owner), providerId);

/** @returns undefined for a claim, because its customer does not exist yet */
export const ownerCustomerOf = (item: Item | undefined): OwnerCustomer | undefined =>
  item === undefined || 'claim' in item ? undefined : pointerSchema.parse(item);

/** Makes the owner's first customer at a provider the default. It stays the default until it is deleted. */
export const setOwnerCustomer = async (table: Table, owner: Owner, customer: Customer): Promise<void> => {
  await table.put(pointerItem(owner, customer), [{ absent: true }]);
};

export const pointerItem = (owner: Owner, { id: customerId, providerCustomerId, providerId }: Customer): Item => ({
  ...customerPointerKey(owner, providerId),
  customerId,
  providerCustomerId,
});

/**
 * Write steps that remove a customer. If it is the default, the owner's oldest other customer at the provider becomes
 * the default. The steps fail if another request has changed the pointer.
 */
export const customerSuccessorSteps = async (
  table: Table,
  owner: Owner,
  { id, providerId }: Customer,
): Promise<readonly TransactionStep[]> => {
  const key = customerPointerKey(owner, providerId);
  const pointer = ownerCustomerOf(await table.get(key));
  if (pointer?.customerId !== id) {
    return [{ check: key, if: [{ any: [{ absent: true }, { differs: ['customerId', id] }] }] }];
  }
  const successor = await oldestOf(table, owner, { providerId, except: id });
  const guard = [{ equals: ['customerId', id] }] as const;
  if (!successor) return [{ delete: key, if: guard }];
  const { id: customerId, providerCustomerId } = successor;
  return [
    { update: key, changes: { set: { customerId, providerCustomerId } }, if: guard },
    { check: recordKey('CUS', customerId), if: [{ exists: true }, { lacks: 'tombstone' }] },
  ];
};

const oldestOf = async (
  table: Table,
  owner: Owner,
  { providerId, except }: { readonly providerId: string; readonly except: string },
): Promise<Customer | undefined> => {
  const page = await table.queryIndex({
    index: 'owner',
    partition: ownerPartition(owner, 'CUS'),
    filter: [
      { equals: ['f.p', providerId] },
      ...(owner.kind === 'guest' ? [{ equals: ['f.g', owner.guestId] } as const] : []),
    ],
  });
  for (const { pk } of page.items) {
    const id = String(pk).slice('CUS#'.length);
    const customer = id === except ? undefined : await load(table, id);
    if (customer) return customer;
  }
  return undefined;
};

const load = async (table: Table, id: string): Promise<Customer | undefined> => {
  const item = await table.get(recordKey('CUS', id));
  return item && customerShape.parse(item);
};
