/**
 * @module The first payment of each payer that succeeded, for the number of new payers. One item per payer names it, so
 * that a repeat of the stream finds the same payment.
 */

import { ownerOfRecord } from '../access/record-kind.ts';
import { payerOfDiscount } from '../discounts/redemption.ts';
import { type Key, payerKey } from '../platform/keys.ts';
import type { Item, Table, TransactionStep } from '../platform/table.ts';
import type { Payment } from './payment.ts';

const payerKeyOf = (payment: Payment): Key | undefined => {
  const owner = ownerOfRecord(payment);
  // An erased guest has no e-mail address by which another payment could name the same payer.
  const isNamed = owner && (owner.kind !== 'guest' || payment.guestEmail !== undefined);
  return isNamed ? payerKey(payerOfDiscount(owner)) : undefined;
};

const paymentIn = (item: Item | undefined): unknown => item?.['paymentId'];

/** Claims the payers of payments that have just succeeded. @returns the ids of the payments that are the first */
export const claimPayers = async (table: Table, paid: readonly Payment[]): Promise<ReadonlySet<string>> => {
  const named = paid.flatMap((payment) => {
    const key = payerKeyOf(payment);
    return key ? [{ id: payment.id, key }] : [];
  });
  const known = await table.getMany(
    named.map(({ key }) => key),
    { consistent: true },
  );
  const first = new Set<string>();
  for (const [index, { id, key }] of named.entries()) {
    const item = known[index] ?? (await claim(table, key, id));
    if (paymentIn(item) === id) first.add(id);
  }
  return first;
};

/** @returns the item of the payer, which another payment may have claimed meanwhile */
const claim = async (table: Table, key: Key, paymentId: string): Promise<Item | undefined> => {
  const item = { ...key, paymentId };
  const written = await table.put(item, [{ absent: true }]);
  return written.ok ? item : written.found;
};

/** @returns the step that forgets the payer of an erased payment; undefined if the payment is not the first */
export const forgetPayerStep = async (table: Table, payment: Payment): Promise<TransactionStep | undefined> => {
  const key = payerKeyOf(payment);
  const isFirst = key && paymentIn(await table.get(key)) === payment.id;
  return isFirst ? { delete: key, if: [{ equals: ['paymentId', payment.id] }] } : undefined;
};
