/**
 * @module The steps of an invoice that need no charge: its owner finalizes a draft, writes the invoice off, or says that
 * it was paid elsewhere.
 */

import type { LedgerInvoice } from '../ledger/billing-documents.ts';
import { cancelLedgerPayment } from '../ledger/payments.ts';
import type { Unit } from '../ledger/unit.ts';
import { applyBalance } from './billing.ts';
import { collectInvoice, pay } from './invoices.ts';
import { followInvoices } from './subscription-end.ts';

/** A draft becomes open. An invoice without an amount is paid immediately; `collects` charges any other. */
export const finalizeInvoice = (unit: Unit, draft: LedgerInvoice, collects: boolean): LedgerInvoice => {
  const invoice = unit.documents.invoices.put({ ...draft, ...applyBalance(unit, draft), status: 'open', collects });
  unit.announce({ kind: 'invoice.finalized', invoice });
  if (invoice.amount === 0) return pay(unit, invoice);
  return collects ? collectInvoice(unit, invoice, { attempt: undefined }).invoice : invoice;
};

/** Runs an hour after automatic collection of a draft was turned on. */
export const finalizeWhenDue = (unit: Unit, invoiceId: string): void => {
  const invoice = unit.documents.invoices.get(unit.slot, invoiceId);
  if (invoice?.status === 'draft' && invoice.collects) finalizeInvoice(unit, invoice, true);
};

/** The invoice is open. Its customer can still pay it. */
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

/** The invoice is open or uncollectible, and no payment of it is under way. Its payment is canceled. */
export const payElsewhere = (unit: Unit, invoice: LedgerInvoice): LedgerInvoice => {
  const payment = unit.documents.payments.get(unit.slot, invoice.paymentId ?? '');
  if (payment?.status.startsWith('requires_')) cancelLedgerPayment(unit, payment, 'automatic');
  return pay(unit, { ...invoice, paidElsewhere: true });
};
