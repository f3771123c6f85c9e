import * as z from 'zod';
import { type RecordKind, ownerOfRecord } from '../access/record-kind.ts';
import { recordKey } from '../table/keys.ts';
import { parseRecord, type RecordShape, storedRecordFields } from '../table/record-store.ts';

/**
 * A billing or shipping address: partial (a country), full, or a business's. Always holds: the rules of its kind
 * (rules.ts). The tax id is stored as sent. An organization's address names no user.
 */
export const TAX_ID_TYPES = [
  'vat',
  'ein',
  'rfc',
  'rnc',
  'cnpj',
  'cpf',
  'gst',
  'nit',
  'cuit',
  'nif',
  'siren',
  'kvk',
  'other',
] as const;
export const ADDRESS_TYPES = ['billing', 'shipping'] as const;

const optional = z.string().optional();

export const addressSchema = z.object({
  ...storedRecordFields,
  country: z.string(),
  line1: optional,
  line2: optional,
  city: optional,
  state: optional,
  postalCode: optional,
  name: optional,
  isPartial: z.boolean(),
  isBusiness: z.boolean(),
  businessName: optional,
  taxId: optional,
  taxIdType: z.enum(TAX_ID_TYPES).optional(),
  /** The result of the tax id check at the last write; absent if the library has no rule for its type and country. */
  taxIdValid: z.boolean().optional(),
  type: z.enum(ADDRESS_TYPES),
  alias: optional,
  userId: optional,
  guestId: optional,
  guestEmail: optional,
  organizationId: optional,
});
export type Address = z.infer<typeof addressSchema>;

export const addressShape: RecordShape<Address> = {
  kind: 'ADDR',
  schema: addressSchema,
  ownerOf: ownerOfRecord,
  listFields: ({ type, isPartial }) => ({ t: type, c: isPartial ? 'partial' : 'full' }),
};

export const addressRecord: RecordKind<Address> = {
  resource: 'address',
  key: (id) => recordKey('ADDR', id),
  parse: (item) => parseRecord(addressShape, item),
  ownedBy: ({ userId, organizationId, guestId, guestEmail }) => ({ userId, organizationId, guestId, guestEmail }),
  rule: 'owned',
};

export const addressView = (address: Address, isDefault: boolean) => ({
  id: address.id,
  type: address.type,
  country: address.country,
  line1: address.line1 ?? null,
  line2: address.line2 ?? null,
  city: address.city ?? null,
  state: address.state ?? null,
  postal_code: address.postalCode ?? null,
  name: address.name ?? null,
  is_partial: address.isPartial,
  is_business: address.isBusiness,
  business_name: address.businessName ?? null,
  tax_id: address.taxId ?? null,
  tax_id_type: address.taxIdType ?? null,
  tax_id_valid: address.taxIdValid ?? null,
  is_default: isDefault,
  alias: address.alias ?? null,
  is_guest_address: address.guestId !== undefined,
  ...(address.organizationId && { organization_id: address.organizationId }),
  created_at: address.createdAt,
  updated_at: address.updatedAt,
});
