/** @module Deletes addresses, and unlinks them from the methods and subscriptions that use them. */

import { type Address, addressDefaultSlot, addressShape, isDefaultAddress } from '../customers/address.ts';
import type { ApiRequest, Reply } from '../http/request.ts';
import { unlinkMethod } from '../payment-methods/method-store.ts';
import { ADDRESS_USES, type Key, keyOf, recordKey } from '../platform/keys.ts';
import { ownedRecord } from '../platform/owned-record.ts';
import type { StoreDeps } from '../platform/table.ts';
import { promoteNewest } from '../platform/table-defaults.ts';
import { unlinkSubscription } from '../subscriptions/record/linked-records.ts';

/** Unlinks the address from methods and subscriptions. Payments keep their address. */
export const unlinkAddress = async (deps: StoreDeps, addressId: string): Promise<void> => {
  const partition = recordKey('ADDR', addressId).pk;
  for await (const item of deps.table.eachItem({ partition, ...ADDRESS_USES, consistent: true })) {
    await unlinkUse(deps, addressId, keyOf(item));
  }
};

const unlinkUse = async (deps: StoreDeps, addressId: string, use: Key): Promise<void> => {
  const [kind = '', id = ''] = use.sk.split('#');
  await (kind === 'PM' ? unlinkMethod(deps, id, addressId) : unlinkSubscription(deps, id, addressId));
  await deps.table.remove(use);
};

/** Deletes an address after unlinking it. The newest remaining address replaces a deleted default. */
export const deleteAddress = async (
  deps: StoreDeps,
  { record }: ApiRequest<unknown, unknown, unknown, Address>,
): Promise<Reply> => {
  await removeAddress(deps, record);
  return { data: undefined };
};

export const removeAddress = async (deps: StoreDeps, record: Address): Promise<void> => {
  await unlinkAddress(deps, record.id);
  const [wasDefault] = await Promise.all([
    isDefaultAddress(deps.table, record),
    ownedRecord(deps, addressShape).remove(record),
  ]);
  // The call is repeated for methods and subscriptions that were linked during the removal.
  await unlinkAddress(deps, record.id);
  if (wasDefault) await promoteNewest(deps.table, addressDefaultSlot(record), { id: record.id, deletes: true });
};
