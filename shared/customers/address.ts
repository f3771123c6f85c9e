/**
 * @module A billing or shipping address, which always satisfies the rules of its kind. The tax id is stored as sent.
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
import type { ApiRequest, Reply } from '../http/request.ts';
import { type Owner, recordKey } from '../platform/keys.ts';
import { ownedShape } from '../platform/owned-record.ts';
import { storedReader } from '../platform/stored-reader.ts';
import type { Table } from '../platform/table.ts';
import {
  type DefaultSlot,
  defaultIdOf,
  defaultKey,
  promoteNewest,
  readDefault,
  setDefault,
} from '../platform/table-defaults.ts';
import { storedRecordFields } from '../platform/versioned-record.ts';

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

export const addressSchema = z.lazy(() =>
  z.object({
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
    ...ownerColumns,
    ...networkColumn,
  }),
);
export type Address = z.infer<typeof addressSchema>;

export const addressShape = /* @__PURE__ */ ownedShape<Address>({
  kind: 'ADDR',
  read: storedReader(addressSchema),
  ownerOf: ownerOfRecord,
  listFields: ({ type, isPartial }) => ({ t: type, c: isPartial ? 'partial' : 'full' }),
});

export const addressRecord: RecordKind<Address> = {
  resource: 'address',
  readScope: 'customers:read',
  key: (id) => recordKey('ADDR', id),
  parse: (item) => addressShape.parse(item),
  ownedBy: ownerIdsOf,
  provesGuest: guestCreationOf,
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

/** The address as events show it, such as for an invoice. */
export const eventAddressView = (address: Address) => ({
  id: address.id,
  country: address.country,
  line1: address.line1 ?? null,
  line2: address.line2 ?? null,
  city: address.city ?? null,
  state: address.state ?? null,
  postal_code: address.postalCode ?? null,
  name: address.name ?? null,
  is_business: address.isBusiness,
  business_name: address.businessName ?? null,
  tax_id: address.taxId ?? null,
  tax_id_type: address.taxIdType ?? null,
});

/** The type of an address. An owner has one default address per type. */
type AddressType = Address['type'];

const slotFor = (owner: Owner, type: AddressType): DefaultSlot => ({ owner, kind: 'ADDR', variant: type });

export const addressDefaultSlot = (address: Address): DefaultSlot => {
  const owner = ownerOfRecord(address);
  if (!owner) throw new Error('the address has no owner');
  return slotFor(owner, address.type);
};

export const isDefaultAddress = async (table: Table, address: Address): Promise<boolean> =>
  (await readDefault(table, addressDefaultSlot(address))) === address.id;

interface Pointer {
  readonly slot: DefaultSlot;
  readonly type: AddressType;
  readonly id: string;
}

/** Reads an owner's default pointers of these types in one request. */
export const readPointers = async (
  table: Table,
  owner: Owner,
  types: readonly AddressType[],
): Promise<readonly Pointer[]> => {
  const slots = types.map((type) => ({ type, slot: slotFor(owner, type) }));
  const items = await table.getMany(
    slots.map(({ slot }) => defaultKey(slot)),
    { consistent: true },
  );
  return slots.flatMap(({ slot, type }, index) => {
    const id = defaultIdOf(items[index]);
    return id === undefined ? [] : [{ slot, type, id }];
  });
};

/**
 * Checks the default addresses. If a default address no longer exists or has another type, makes the newest remaining
 * address the default.
 * @param known ids that need no read
 * @returns the ids of the default addresses
 */
export const followPointers = async (
  table: Table,
  pointers: readonly Pointer[],
  known: ReadonlySet<string>,
): Promise<ReadonlySet<string>> => {
  const unchecked = pointers.filter(({ id }) => !known.has(id));
  const items = await table.getMany(
    unchecked.map(({ id }) => addressRecord.key(id)),
    { consistent: true },
  );
  const dangling = unchecked.filter(({ type }, index) => {
    const item = items[index];
    return (item && addressRecord.parse(item))?.type !== type;
  });
  const promoted = await Promise.all(dangling.map(({ slot, id }) => promoteNewest(table, slot, { id })));
  const valid = pointers.filter((pointer) => !dangling.includes(pointer)).map(({ id }) => id);
  return new Set([...valid, ...promoted.filter((id) => id !== undefined)]);
};

/** Makes the address the default of its owner and type. Changes only the pointer, so the last request wins. */
export const setDefaultAddress = async (
  deps: { readonly table: Table },
  { record }: ApiRequest<unknown, unknown, unknown, Address>,
): Promise<Reply> => {
  await setDefault(deps.table, addressDefaultSlot(record), record.id);
  return { data: addressView(record, true) };
};
