/** @module Updates an address. Fields missing from the body stay. The result must satisfy the address rules. */

import { invalid } from '../core/errors.ts';
import { canonicalJson } from '../http/idempotency.ts';
import type { ApiRequest, Reply } from '../http/request.ts';
import { ownedRecord } from '../platform/owned-record.ts';
import type { StoreDeps } from '../platform/table.ts';
import { clearDefault, promoteNewest, setDefault } from '../platform/table-defaults.ts';
import { type Address, addressDefaultSlot, addressShape, addressView, isDefaultAddress } from './address.ts';
import type { UpdateAddressBody } from './address-requests.ts';
import { addressProblems } from './address-rules.ts';
import { isTaxIdValid } from './tax-id.ts';

/** The address as shown by a read. */
export const addressAsRead = async (
  { table }: Pick<StoreDeps, 'table'>,
  { record }: ApiRequest<unknown, unknown, unknown, Address>,
) => addressView(record, await isDefaultAddress(table, record));

export const updateAddress = async (
  deps: StoreDeps,
  { record: address, body }: ApiRequest<unknown, unknown, UpdateAddressBody, Address>,
): Promise<Reply> => {
  const changed = withChanges(address, body);
  const problems = addressProblems(changed);
  if (problems.length > 0) throw invalid(problems);
  const [next, isDefault] = await Promise.all([
    commit(deps, address, changed),
    body.is_default ?? isDefaultAddress(deps.table, changed),
  ]);
  if (next.type !== address.type) await promoteNewest(deps.table, addressDefaultSlot(address), address);
  if (body.is_default === true) await setDefault(deps.table, addressDefaultSlot(next), next.id);
  if (body.is_default === false) await clearDefault(deps.table, addressDefaultSlot(next), next.id);
  return { data: addressView(next, isDefault) };
};

const withChanges = (address: Address, body: UpdateAddressBody): Address => {
  const pick = <T>(sent: T | null | undefined, stored: T | undefined): T | undefined =>
    sent === undefined ? stored : (sent ?? undefined);
  const text = (sent: string | null | undefined, stored: string | undefined) => pick(sent, stored) || undefined;
  const changed = {
    ...address,
    country: body.country ?? address.country,
    line1: text(body.line1, address.line1),
    line2: text(body.line2, address.line2),
    city: text(body.city, address.city),
    state: text(body.state, address.state),
    postalCode: text(body.postal_code, address.postalCode),
    name: text(body.name, address.name),
    isPartial: body.is_partial ?? address.isPartial,
    isBusiness: body.is_business ?? address.isBusiness,
    businessName: text(body.business_name, address.businessName),
    taxId: pick(body.tax_id?.trim() === '' ? null : body.tax_id, address.taxId),
    taxIdType: pick(body.tax_id_type, address.taxIdType),
    type: body.type ?? address.type,
    alias: text(body.alias, address.alias),
  };
  return { ...changed, taxIdValid: isTaxIdValid(changed) };
};

const commit = async (deps: StoreDeps, address: Address, changed: Address): Promise<Address> => {
  if (canonicalJson(changed) === canonicalJson(address)) return address;
  return ownedRecord(deps, addressShape).revise(address, changed);
};
