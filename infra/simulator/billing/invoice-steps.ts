/**
 * @module Steps of an invoice outside its collection. The account's owner finalizes a draft, writes an invoice off, or
 * marks it as paid elsewhere. Due work also finalizes drafts.
 */

import type { LedgerInvoice } from '../ledger/billing-documents.ts';
import { cancelLedgerPayment } from '../ledger/payments.ts';
import type { Unit } from '../ledger/unit.ts';
import { applyBalance } from './billing.ts';
import { collectInvoice, pay } from './invoices.ts';
import { followInvoices } from './subscription-end.ts';

/** Opens a draft. An invoice of 0 is paid immediately. With `collects`, any other invoice is charged. */
export const finalizeInvoice = (unit: Unit, draft: LedgerInvoice, collects: boolean): LedgerInvoice => {
  const invoice = unit.documents.invoices.put({ ...draft, ...applyBalance(unit, draft), status: 'open', collects });
  unit.announce({ kind: 'invoice.finalized', invoice });
  if (invoice.amount === 0) return pay(unit, invoice);
  return collects ? collectInvoice(unit, invoice, { attempt: undefined }).invoice : invoice;
};

/** Finalizes a renewal's draft at the end of its draft time, or a draft an hour after collection was turned on. */
export const finalizeWhenDue = (unit: Unit, invoiceId: string): void => {
  const invoice = unit.documents.invoices.get(unit.slot, invoiceId);
  if (invoice?.status === 'draft' && invoice.collects) finalizeInvoice(unit, invoice, true);
};

/** Marks an open invoice as uncollectible. The customer can still pay it. */
export const markUncollectible = (unit: Unit, invoice: LedgerInvoice): LedgerInvoice => {
  const marked = unit.documents.invoices.put({
    ...invoice,
    status: 'uncollectible',
    uncollectibleAt: unit.at,
    collects: false,
    nextAttemptAt: null,
  });
  unit.announce({ kind: 'invoice.marked_uncollectible', invoice: marked });
  followInvoices(unit, invoice.subscriptionId);
  return marked;
};

/**
 * Marks an invoice as paid elsewhere, and cancels its waiting payment. Expects an open or uncollectible invoice without
 * a running charge.
 */
export const payElsewhere = (unit: Unit, invoice: LedgerInvoice): LedgerInvoice => {
  const payment = unit.documents.payments.get(unit.slot, invoice.paymentId ?? '');
  if (payment?.status.startsWith('requires_')) cancelLedgerPayment(unit, payment, 'automatic');
  return pay(unit, { ...invoice, paidElsewhere: true });
};
