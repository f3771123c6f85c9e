/**
 * @module Finds each payer's first successful payment, to count new payers. One item per payer stores the payment's id,
 * so a repeated stream record finds the same payment.
 */

import { ownerOfRecord } from '../access/record-kind.ts';
import { payerOfDiscount } from '../discounts/redemption.ts';
import { type Key, payerKey } from '../platform/keys.ts';
import type { Item, Table, TransactionStep } from '../platform/table.ts';
import type { Payment } from './payment.ts';

const payerKeyOf = (payment: Payment): Key | undefined => {
  const owner = ownerOfRecord(payment);
  // An erased guest has no key. Without an e-mail address, no other payment can be matched to the guest.
  const isNamed = owner && (owner.kind !== 'guest' || payment.guestEmail !== undefined);
  return isNamed ? payerKey(payerOfDiscount(owner)) : undefined;
};

const paymentIn = (item: Item | undefined): unknown => item?.['paymentId'];

/** Claims the payers of newly successful payments. @returns the ids of the payers' first payments */
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

/** @returns the payer's item, which may name another, faster payment */
const claim = async (table: Table, key: Key, paymentId: string): Promise<Item | undefined> => {
  const item = { ...key, paymentId };
  const written = await table.put(item, [{ absent: true }]);
  return written.ok ? item : written.found;
};

/** @returns the step that removes the payer's item; undefined if the erased payment is not the payer's first */
export const forgetPayerStep = async (table: Table, payment: Payment): Promise<TransactionStep | undefined> => {
  const key = payerKeyOf(payment);
  const isFirst = key && paymentIn(await table.get(key)) === payment.id;
  return isFirst ? { delete: key, if: [{ equals: ['paymentId', payment.id] }] } : undefined;
};
