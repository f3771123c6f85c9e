/**
 * @module Finds a guest by guest_id, for a service key that acts for the guest. Items under the guest_id lead to the
 * guest's customers, default method, and newest payment and address created by a key. The e-mail address comes from
 * these records, so an erased guest is unknown.
 */

import { PROVIDER_SLOTS } from '../core/settings.ts';
import { type Key, ownerCustomerKey, recordKey } from '../platform/keys.ts';
import type { Item, Table } from '../platform/table.ts';
import { type DefaultSlot, defaultIdOf, defaultKey, ownerKeyOf, setDefault } from '../platform/table-defaults.ts';
import type { Caller } from './caller.ts';

const LEADING_KINDS = ['PAY', 'PM', 'ADDR'] as const;
type LeadingKind = (typeof LEADING_KINDS)[number];

const slotOf = (guestId: string, kind: LeadingKind): DefaultSlot => ({
  owner: { kind: 'guest', guestId, email: '' },
  kind,
});

/** The guest's e-mail address; undefined if no record has the guest_id. */
export const findGuest = async (
  table: Pick<Table, 'getMany'>,
  guestId: string,
): Promise<{ readonly email: string } | undefined> => {
  const ownerKey = ownerKeyOf(slotOf(guestId, 'PAY').owner);
  const items = await table.getMany(
    [
      ...LEADING_KINDS.map((kind) => defaultKey(slotOf(guestId, kind))),
      ...PROVIDER_SLOTS.map((slot) => ownerCustomerKey(ownerKey, slot)),
    ],
    { consistent: true },
  );
  const ids = items.map((item, index) => (index < LEADING_KINDS.length ? defaultIdOf(item) : customerIdOf(item)));
  const keys = ids.flatMap((id, index): Key[] =>
    id === undefined ? [] : [recordKey(LEADING_KINDS[index] ?? 'CUS', id)],
  );
  const records = keys.length === 0 ? [] : await table.getMany(keys, { consistent: true });
  const email = records.map((record) => record && emailOfGuest(record, guestId)).find((found) => found !== undefined);
  return email === undefined ? undefined : { email };
};

const customerIdOf = (item: Item | undefined): string | undefined => {
  const id = item?.['customerId'];
  return typeof id === 'string' ? id : undefined;
};

const emailOfGuest = (record: Item, guestId: string): string | undefined => {
  const { guestId: found, guestEmail, userId, organizationId } = record;
  const isGuests = found === guestId && userId === undefined && organizationId === undefined;
  return isGuests && typeof guestEmail === 'string' ? guestEmail : undefined;
};

/** Makes a guest findable by guest_id when a service key creates a record for the guest. */
export const noteGuest = async (
  { table }: { readonly table: Table },
  caller: Caller,
  { id, guestId, kind }: { readonly id: string; readonly guestId?: string | undefined; readonly kind: LeadingKind },
): Promise<void> => {
  if (caller.kind !== 'guest' || !caller.key || guestId === undefined) return;
  await setDefault(table, slotOf(guestId, kind), id);
};
