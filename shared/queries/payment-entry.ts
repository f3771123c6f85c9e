/**
 * @module The entries of the list of all payments. Each payment has one, in the partitions of its UTC day of creation
 * and shard, of its user or guest, and of its organization. `project-changes` replaces it after each change, never by
 * an older version, so a replay in any order ends the same.
 */

import { fingerprint } from '../core/ids.ts';
import { isShown, type Payment, type VisiblePayment } from '../payments/payment.ts';
import { refundStatusOf } from '../payments/payment-view.ts';
import {
  guestEntriesPartition,
  organizationEntriesPartition,
  paymentEntryKey,
  recordKey,
  userEntriesPartition,
} from '../platform/keys.ts';
import type { Item, Table } from '../platform/table.ts';

/** The entry of a payment. It holds no name, e-mail address or free text, because exact searches compare hashes. */
export const paymentEntry = (payment: VisiblePayment, lastFour: string | undefined): Item => {
  const key = paymentEntryKey(payment.createdAt, payment.id);
  const owner = ownerEntries(payment);
  return {
    ...key,
    sort: key.sk,
    ...(owner !== undefined && { owner }),
    ...(payment.organizationId && { project: organizationEntriesPartition(payment.organizationId) }),
    v: payment.version,
    f: {
      s: payment.status,
      p: payment.providerId,
      c: payment.currency,
      a: payment.totalCents,
      u: payment.userId,
      o: payment.organizationId,
      r: refundStatusOf(payment),
      d: payment.openDisputes !== undefined && payment.openDisputes.length > 0,
      l: lastFour,
      k: payment.referenceCode && referenceHash(payment.referenceCode),
    },
  };
};

/** The hash of a reference code, ignoring case. */
export const referenceHash = (code: string): string => fingerprint(code.trim().toLowerCase()).slice(0, 16);

const ownerEntries = ({ userId, guestEmail }: Payment): string | undefined => {
  if (userId !== undefined) return userEntriesPartition(userId);
  return guestEmail === undefined ? undefined : guestEntriesPartition(guestEmail);
};

/** Writes the entries of changed payments. A payment that its readers do not see yet has no entry. */
export const writePaymentEntries = async (table: Table, changed: readonly Payment[]): Promise<void> => {
  const newest = new Map<string, VisiblePayment>();
  for (const payment of changed) {
    const known = newest.get(payment.id);
    if (isShown(payment) && (known === undefined || known.version < payment.version)) newest.set(payment.id, payment);
  }
  const payments = [...newest.values()];
  const lastFour = await lastFourOf(table, payments);
  await Promise.all(
    payments.map((payment) =>
      table.put(paymentEntry(payment, lastFour.get(payment.id)), [
        { any: [{ absent: true }, { atMost: ['v', payment.version] }] },
      ]),
    ),
  );
};

/** The last four digits of methods. A deleted method's digits come from the existing entry. */
const lastFourOf = async (table: Table, payments: readonly VisiblePayment[]): Promise<ReadonlyMap<string, string>> => {
  const paidBy = payments.flatMap(({ id, createdAt, paymentMethodId: method }) =>
    method === undefined ? [] : [{ id, keys: [recordKey('PM', method), paymentEntryKey(createdAt, id)] }],
  );
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
