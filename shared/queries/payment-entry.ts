/** @module The entries of the list of all payments. */

import { openDisputesOf } from '../payments/money-account.ts';
import { isShown, type Payment, type VisiblePayment } from '../payments/payment.ts';
import { refundStatusOf } from '../payments/payment-view.ts';
import { isMethodErased } from '../payments/recorded-facts.ts';
import { entryKey, recordKey, WORD_ITEMS } from '../platform/keys.ts';
import type { Item, Table } from '../platform/table.ts';
import { listEntry, putEntries, type Words, wordEntry } from './list-entry.ts';

/** The list entry and the word items of a payment. */
const PARTS = ['ENTRY', ...WORD_ITEMS] as const;
type Part = (typeof PARTS)[number];

/** @param savedDigits the last four digits of the saved method, for a payment without method details */
export const paymentEntries = (
  payment: VisiblePayment,
  savedDigits: string | undefined,
  parts: readonly Part[] = PARTS,
): readonly Item[] =>
  parts.flatMap((part) => {
    if (part === 'ENTRY') return [entryOf(payment, savedDigits)];
    const words = wordsOf(payment, savedDigits)[part];
    return words ? [wordEntry('PAY', payment, { of: part, ...words })] : [];
  });

const entryOf = (payment: VisiblePayment, savedDigits: string | undefined): Item =>
  listEntry('PAY', payment, {
    c: payment.currency,
    a: payment.totalCents,
    r: refundStatusOf(payment),
    d: openDisputesOf(payment).length > 0,
    l: digitsOf(payment, savedDigits),
    b: payment.details?.cardBrand,
    w: payment.details?.walletType,
    x: payment.failureCode,
    h: endOfHold(payment),
  });

const digitsOf = ({ details }: Payment, savedDigits: string | undefined): string | undefined =>
  details ? details.lastFour : savedDigits;

const wordsOf = (
  payment: Payment,
  savedDigits?: string,
): Readonly<Record<(typeof WORD_ITEMS)[number], Pick<Words, 'owner' | 'project'> | undefined>> => {
  const { details, attemptRef, providerPaymentId, referenceCode } = payment;
  // The payment's own provider id is left out, because its alias finds it.
  const charge = attemptRef === providerPaymentId ? undefined : attemptRef;
  const isKnown = details !== undefined || attemptRef !== undefined;
  return {
    PEOPLE: { owner: digitsOf(payment, savedDigits), project: referenceCode },
    PROVIDER: isKnown ? { owner: details?.fingerprint, project: charge } : undefined,
  };
};

/** The end of the payment's hold at the provider; undefined without a hold or without a known end. */
export const endOfHold = ({ status, captureBefore }: Payment): string | undefined =>
  status === 'requires_capture' ? captureBefore : undefined;

/** A change that the stream reports. */
export interface ProjectedChange {
  readonly before: Payment | undefined;
  readonly after: Payment;
}

/** Writes the entries of changed payments, and replaces changed words. An unpublished payment has no entry. */
export const writePaymentEntries = async (table: Table, changes: readonly ProjectedChange[]): Promise<void> => {
  const newest = new Map<string, { readonly payment: VisiblePayment; readonly parts: readonly Part[] }>();
  for (const change of changes) {
    const { after } = change;
    if (!isShown(after)) continue;
    const known = newest.get(after.id);
    const payment = known && known.payment.version > after.version ? known.payment : after;
    const parts = PARTS.filter((part) => known?.parts.includes(part) === true || replaces(change, part));
    newest.set(after.id, { payment, parts });
  }
  const written = [...newest.values()].filter(({ parts }) => parts.length > 0);
  const saved = await savedDigitsOf(
    table,
    written.map(({ payment }) => payment),
  );
  await putEntries(
    table,
    written.flatMap(({ payment, parts }) => paymentEntries(payment, saved.get(payment.id), parts)),
  );
};

/**
 * True for the entry of each new version, and for changed words. Words with a saved method's digits are always written,
 * because the digits may change without the payment.
 */
const replaces = ({ before, after }: ProjectedChange, part: Part): boolean => {
  if (before === undefined || !isShown(before)) return true;
  if (part === 'ENTRY') return before.version !== after.version;
  if (part === 'PEOPLE' && [before, after].some(hasSavedDigits)) return true;
  return JSON.stringify(wordsOf(before)[part]) !== JSON.stringify(wordsOf(after)[part]);
};

const hasSavedDigits = ({ details, paymentMethodId }: Payment): boolean =>
  details === undefined && paymentMethodId !== undefined;

/**
 * The last four digits of saved methods, for payments without method details. If the method was deleted, the digits
 * come from the existing entry, unless the method's holder was erased.
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
