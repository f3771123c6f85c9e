/** @module The entries of the list of all payments. */

import { openDisputesOf } from '../payments/money-account.ts';
import { isShown, type Payment, type VisiblePayment } from '../payments/payment.ts';
import { refundStatusOf } from '../payments/payment-view.ts';
import { isMethodErased } from '../payments/recorded-facts.ts';
import { entryKey, recordKey } from '../platform/keys.ts';
import type { Item, Table } from '../platform/table.ts';
import { listEntry, putEntries, wordEntry } from './list-entry.ts';

/** @param savedDigits the last four digits of the payment's saved method, for a payment without details */
export const paymentEntries = (payment: VisiblePayment, savedDigits: string | undefined): readonly Item[] => {
  const { details, attemptRef } = payment;
  const digits = details ? details.lastFour : savedDigits;
  const entry = listEntry('PAY', payment, {
    c: payment.currency,
    a: payment.totalCents,
    r: refundStatusOf(payment),
    d: openDisputesOf(payment).length > 0,
    l: digits,
    b: details?.cardBrand,
    w: details?.walletType,
    x: payment.failureCode,
    h: endOfHold(payment),
  });
  const words = wordEntry('PAY', payment, { of: 'PEOPLE', owner: digits, project: payment.referenceCode });
  if (details === undefined && attemptRef === undefined) return [entry, words];
  // The alias of a payment's own id at the provider finds it too.
  const charge = attemptRef === payment.providerPaymentId ? undefined : attemptRef;
  return [entry, words, wordEntry('PAY', payment, { of: 'PROVIDER', owner: details?.fingerprint, project: charge })];
};

/** When the provider ends the payment's hold; undefined if nothing is held, or the provider names no time. */
export const endOfHold = ({ status, captureBefore }: Payment): string | undefined =>
  status === 'requires_capture' ? captureBefore : undefined;

/** Writes the entries of changed payments. A payment that its readers do not see yet has no entry. */
export const writePaymentEntries = async (table: Table, changed: readonly Payment[]): Promise<void> => {
  const newest = new Map<string, VisiblePayment>();
  for (const payment of changed) {
    const known = newest.get(payment.id);
    if (isShown(payment) && (known === undefined || known.version < payment.version)) newest.set(payment.id, payment);
  }
  const payments = [...newest.values()];
  const saved = await savedDigitsOf(table, payments);
  await putEntries(
    table,
    payments.flatMap((payment) => paymentEntries(payment, saved.get(payment.id))),
  );
};

/**
 * The last four digits of the saved methods of payments without details. A deleted method's digits come from the
 * existing entry, unless the holder of the method was erased.
 */
const savedDigitsOf = async (
  table: Table,
  payments: readonly VisiblePayment[],
): Promise<ReadonlyMap<string, string>> => {
  const paidBy = payments.flatMap((payment) => {
    const { id, createdAt, paymentMethodId: method, details } = payment;
    if (method === undefined || details !== undefined || isMethodErased(payment)) return [];
    return [{ id, keys: [recordKey('PM', method), entryKey('PAY', createdAt, id)] }];
  });
  if (paidBy.length === 0) return new Map();
  const items = await table.getMany(
    paidBy.flatMap(({ keys }) => keys),
    { consistent: true },
  );
  return new Map(
    paidBy.flatMap(({ id }, index): [string, string][] => {
      const [method, entry] = [items[2 * index], items[2 * index + 1]];
      const digits = method?.['lastFour'] ?? fieldOf(entry?.['f'], 'l');
      return typeof digits === 'string' ? [[id, digits]] : [];
    }),
  );
};

const fieldOf = (fields: unknown, name: string): unknown =>
  typeof fields === 'object' && fields !== null ? Reflect.get(fields, name) : undefined;
