/**
 * @module Adds billing addresses to events of payments and subscriptions. An event shows the address at the time of the
 * event. Events of an erased record show no address, because the address may be removed after the record is blanked.
 */

import { addressRecord, eventAddressView } from '../customers/address.ts';
import { type BusEvent, withData } from '../platform/bus-event.ts';
import type { Item, Table } from '../platform/table.ts';

interface EventOfItem {
  readonly event: BusEvent;
  /** The record of the event, as stored. */
  readonly item: Item;
}

const addressIdOf = ({ billingAddressId, erasedAt }: Item): string | undefined =>
  typeof billingAddressId === 'string' && erasedAt === undefined ? billingAddressId : undefined;

/** Reads each address once per batch, and reads nothing if no record has an address. */
export const withAddresses = async <E extends EventOfItem>(
  table: Pick<Table, 'getMany'>,
  events: readonly E[],
): Promise<readonly E[]> => {
  const ids = [...new Set(events.flatMap(({ item }) => addressIdOf(item) ?? []))];
  if (ids.length === 0) return events;
  const items = await table.getMany(ids.map(addressRecord.key));
  const addresses = new Map(
    items.flatMap((item) => {
      const address = item && addressRecord.parse(item);
      return address ? [[address.id, eventAddressView(address)] as const] : [];
    }),
  );
  return events.map((one) => {
    const address = addresses.get(addressIdOf(one.item) ?? '');
    return address ? { ...one, event: withData(one.event, { billing_address: address }) } : one;
  });
};
