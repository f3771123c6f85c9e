/**
 * @module Counts the payments of payment links, once each, from the changes of the payments. A batch may repeat, and
 * changes of different records may come in any order.
 */

import type { DynamoDBRecord } from 'aws-lambda';
import { countPlace, type Placed, type PlaceState } from '../payment-links/link-places.ts';
import { type Payment, paymentOf } from '../payments/payment.ts';
import { changeOf, removedItem } from '../platform/stream-images.ts';
import type { Table } from '../platform/table.ts';

export const settleLinkPlaces = async (
  { table }: { readonly table: Table },
  records: readonly DynamoDBRecord[],
): Promise<void> => {
  for (const record of records) {
    const { before, after } = changeOf(record) ?? { before: removedItem(record), after: undefined };
    const payment = after ?? before;
    const decided = payment && placeOf(paymentOf(payment), after === undefined);
    if (decided) await countPlace(table, decided, decided.state);
  }
};

interface Decided extends Placed {
  readonly state: PlaceState;
}

/** @param isRemoved true if this is the last version of a removed payment */
const placeOf = ({ id, status, paymentLink: use }: Payment, isRemoved: boolean): Decided | undefined => {
  if (!use) return undefined;
  const placed = { paymentId: id, use };
  if (status === 'succeeded') return { ...placed, state: 'succeeded' };
  if (isRemoved || status === 'canceled') return { ...placed, state: 'canceled' };
  // Readers do not see the payment yet. With `max_payments`, its create has already counted the place.
  return status === 'creating' ? undefined : { ...placed, state: 'open' };
};
