/** @module Creates an address, and makes it the default if requested. A replay does not change the default. */

import { noteGuest } from '../access/find-guest.ts';
import type { GuestTokens } from '../access/guest-token.ts';
import { guestTokenFields } from '../access/guest-token.ts';
import { ownerFieldsOf } from '../access/record-kind.ts';
import type { IdDeps } from '../core/keyed-ids.ts';
import { iso } from '../core/time.ts';
import { createOnce } from '../http/create-once.ts';
import type { ApiRequest, Reply } from '../http/request.ts';
import type { Owner } from '../platform/keys.ts';
import type { StoreDeps } from '../platform/table.ts';
import { setDefault } from '../platform/table-defaults.ts';
import { firstVersion, versionedRecord } from '../platform/versioned-record.ts';
import { type Address, addressDefaultSlot, addressShape, addressView, isDefaultAddress } from './address.ts';
import type { CreateAddressBody } from './address-requests.ts';
import { isTaxIdValid } from './tax-id.ts';

interface CreateDeps extends StoreDeps, IdDeps {
  readonly guestTokens: GuestTokens;
}

type CreateRequest = ApiRequest<unknown, unknown, CreateAddressBody>;

export const createAddress = async (deps: CreateDeps, request: CreateRequest): Promise<Reply> => {
  const { body, caller, owner, idempotency } = request;
  if (!owner) throw new Error('an address needs an owner');
  const { record, replayed } = await createOnce(deps, {
    store: versionedRecord(deps, addressShape),
    kind: 'address',
    idempotency,
    build: async (id) => newAddress(request, owner, { id, at: iso(deps.now()) }),
  });
  await noteGuest(deps, caller, { ...record, kind: 'ADDR' });
  if (body.is_default && !replayed) await setDefault(deps.table, addressDefaultSlot(record), record.id);
  const isDefault = replayed ? await isDefaultAddress(deps.table, record) : body.is_default;
  return {
    data: { ...addressView(record, isDefault), ...(await guestTokenFields(deps.guestTokens, caller, record)) },
    ...(replayed && { headers: { 'idempotent-replayed': 'true' } }),
  };
};

const newAddress = (
  { body, caller, idempotency }: CreateRequest,
  owner: Owner,
  { id, at }: { readonly id: string; readonly at: string },
): Address => {
  const address = {
    id,
    ...firstVersion(at, idempotency),
    country: body.country,
    line1: body.line1 || undefined,
    line2: body.line2 || undefined,
    city: body.city || undefined,
    state: body.state || undefined,
    postalCode: body.postal_code || undefined,
    name: body.name || undefined,
    isPartial: body.is_partial,
    isBusiness: body.is_business,
    businessName: body.business_name || undefined,
    taxId: body.tax_id?.trim() ? body.tax_id : undefined,
    taxIdType: body.tax_id_type ?? undefined,
    type: body.type,
    alias: body.alias || undefined,
    ...ownerFieldsOf(owner, caller),
  };
  return { ...address, taxIdValid: isTaxIdValid(address) };
};
