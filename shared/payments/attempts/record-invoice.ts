import { DomainError } from '../../core/errors.ts';
import { iso } from '../../core/time.ts';
import type { ProviderInvoice } from '../../providers/port/subscriptions.ts';
import { putAlias } from '../../table/alias.ts';
import { findMismatch } from '../record/amounts.ts';
import { isVisiblePayment, type Payment, type VisiblePayment } from '../record/payment.ts';
import { isAhead } from '../record/states.ts';
import { type PaymentStore, paymentStore } from '../record/store.ts';
import { advancePayment } from '../record/versions.ts';
import type { CollectDeps, PeriodPayment } from './collect.ts';

/** An invoice that the provider collects by itself. */
type ProviderInvoicePayment = ProviderInvoice & { readonly intentId: string };

export type InvoiceResult =
  | { readonly kind: 'payment'; readonly payment: VisiblePayment }
  /** The payment of that id was paid with another invoice: nothing is stored. */
  | { readonly kind: 'taken' }
  /** The invoice contradicts the amount to be paid: nothing is stored. */
  | { readonly kind: 'mismatch'; readonly reason: string };

export interface InvoiceRequest {
  /** The payment to create, unless its id is taken. */
  readonly wanted: PeriodPayment;
  readonly invoice: ProviderInvoicePayment;
  /** Writes our id to the provider's intent, before the payment is stored. */
  readonly label: () => Promise<void>;
}

/**
 * Records the payment of an invoice that the provider collects: the service never charges it. Repeated and unordered
 * reports move the payment only forward.
 */
export const recordInvoice = async (
  deps: CollectDeps,
  { wanted, invoice, label }: InvoiceRequest,
): Promise<InvoiceResult> => {
  const store = paymentStore(deps.table, deps.now);
  const fresh = paymentOf(deps, wanted, invoice);
  const reason = findMismatch(fresh, invoice);
  if (reason) return { kind: 'mismatch', reason };
  let found = await store.load(wanted.id);
  if (!found) {
    await label();
    await putAlias(
      deps.table,
      { providerId: wanted.providerId, externalId: invoice.intentId },
      { kind: 'PAY', id: wanted.id },
    );
    found = await store.insertOrFind(fresh);
    if (!found) return { kind: 'payment', payment: fresh };
  }
  if (!isVisiblePayment(found)) throw new DomainError('VERSION_CONFLICT');
  if (isPaidByAnother(found, invoice)) return { kind: 'taken' };
  return { kind: 'payment', payment: await advanceByInvoice({ deps, store }, found, invoice) };
};

const isPaidByAnother = (found: VisiblePayment, { invoiceId, status }: ProviderInvoicePayment): boolean =>
  found.status === 'succeeded' && status === 'succeeded' && found.providerInvoiceId !== invoiceId;

const advanceByInvoice = async (
  { deps, store }: { readonly deps: CollectDeps; readonly store: PaymentStore },
  found: VisiblePayment,
  { status, failureCode, attempts, clientSecret }: ProviderInvoicePayment,
): Promise<VisiblePayment> => {
  const { record } = await store.change(found, (current) => {
    const failsAgain = status === 'failed' && current.status === 'failed' && attempts > current.attempt;
    if (!failsAgain && !isAhead(current.status, status)) return undefined;
    const failure = status === 'failed' ? { failureCode: failureCode ?? ('do_not_honor' as const) } : {};
    const facts = { ...failure, ...(clientSecret && { clientSecret }), attempt: Math.max(attempts, current.attempt) };
    return { next: advancePayment(current, { to: status, now: deps.now(), cause: 'event' }, facts), by: 'invoice' };
  });
  return record;
};

const paymentOf = (deps: CollectDeps, wanted: PeriodPayment, invoice: ProviderInvoicePayment): VisiblePayment => {
  const at = iso(deps.now());
  const unseen: Payment = {
    ...wanted,
    version: 0,
    status: invoice.status,
    createdAt: at,
    updatedAt: at,
    attempt: invoice.attempts,
    providerIntentId: invoice.intentId,
    providerPaymentId: invoice.intentId,
    providerInvoiceId: invoice.invoiceId,
    failureCode: invoice.failureCode ?? 'do_not_honor',
    clientSecret: invoice.clientSecret,
    nextAction: invoice.nextAction,
  };
  // The event about a canceled intent came before there was a payment.
  const to = invoice.isVoid ? 'canceled' : invoice.status;
  return advancePayment(unseen, { to, now: deps.now(), cause: 'event' });
};
