/**
 * @module Records the payment of an invoice that the provider collects. The service never charges the payment itself.
 * Repeated and unordered reports move the payment only forward.
 */

import { DomainError } from '../core/errors.ts';
import { iso } from '../core/time.ts';
import { putAlias } from '../platform/alias.ts';
import type { ProviderInvoice } from '../providers/subscription-port.ts';
import type { CollectDeps, PeriodPayment } from './collect-payment.ts';
import { isVisiblePayment, type Payment, type VisiblePayment } from './payment.ts';
import { findMismatch } from './payment-amounts.ts';
import { isAhead } from './payment-states.ts';
import { type PaymentCommit, type PaymentStore, paymentStore } from './payment-store.ts';
import { advancePayment } from './payment-versions.ts';

type ProviderInvoicePayment = ProviderInvoice & { readonly intentId: string };

export type InvoiceResult =
  | { readonly kind: 'payment'; readonly payment: VisiblePayment }
  /** The payment's id is taken by another invoice, so nothing is stored. */
  | { readonly kind: 'taken' }
  /** The invoice's amount or currency differs from the expected amount or currency, so nothing is stored. */
  | { readonly kind: 'mismatch'; readonly reason: string };

export interface InvoiceRequest {
  readonly wanted: PeriodPayment;
  readonly invoice: ProviderInvoicePayment;
  /** The charged method; undefined if unknown or unpaid. `paymentMethodId` is set only for a saved method. */
  readonly paidWith?: Pick<Payment, 'methodRef' | 'paymentMethodId'> | undefined;
  /** True if the invoice is older than the import of its subscription. Its payment then publishes no events. */
  readonly isImported: boolean;
  /** Writes our id to the provider's intent, before the payment is stored. */
  readonly label: () => Promise<void>;
}

export const recordInvoice = async (
  deps: CollectDeps,
  { wanted, invoice, paidWith, isImported, label }: InvoiceRequest,
): Promise<InvoiceResult> => {
  const store = paymentStore(deps.table, deps.now);
  const cause = isImported ? 'import' : 'event';
  const fresh = paymentOf(deps, { ...wanted, ...paidWith }, { invoice, cause });
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
    if (!found) {
      alarmOf(deps, fresh);
      return { kind: 'payment', payment: fresh };
    }
  }
  if (!isVisiblePayment(found)) throw new DomainError('VERSION_CONFLICT');
  if (isOfAnother(found, invoice)) return { kind: 'taken' };
  return { kind: 'payment', payment: await advanceByInvoice({ deps, store, paidWith }, found, invoice) };
};

/** True if the payment was paid by another invoice of the period, or recorded with the amount of another invoice. */
const isOfAnother = (found: VisiblePayment, { invoiceId, status, amountCents }: ProviderInvoicePayment): boolean =>
  found.providerInvoiceId !== invoiceId &&
  ((found.status === 'succeeded' && status === 'succeeded') || found.totalCents !== amountCents);

const alarmOf = ({ log }: CollectDeps, { id, providerId, anomaly }: VisiblePayment): void => {
  if (anomaly) log.error('payment anomaly', { payment_id: id, provider: providerId, reason: anomaly });
};

const advanceByInvoice = async (
  { deps, store, paidWith }: Recording,
  found: VisiblePayment,
  { status, isVoid, failureCode, decline, attempts, clientSecret }: ProviderInvoicePayment,
): Promise<VisiblePayment> => {
  const facts: Partial<Payment> = {
    ...(status === 'failed' && { failureCode: failureCode ?? 'do_not_honor', decline }),
    ...(status === 'succeeded' && paidWith),
    ...(clientSecret && { clientSecret }),
  };
  const { record } = await store.change(found, (current) => {
    if (current.status === 'succeeded' && status === 'succeeded') return correctMethod(deps, current, paidWith);
    if (isVoid) return cancelVoid(deps, current);
    const failsAgain = status === 'failed' && current.status === 'failed' && attempts > current.attempt;
    if (!failsAgain && !isAhead(current.status, status)) return undefined;
    const attempt = Math.max(attempts, current.attempt);
    return {
      next: advancePayment(current, { to: status, now: deps.now(), cause: 'event' }, { ...facts, attempt }),
      by: 'invoice',
    };
  });
  return record;
};

interface Recording extends Pick<InvoiceRequest, 'paidWith'> {
  readonly deps: CollectDeps;
  readonly store: PaymentStore;
}

/** Cancels the payment of an invoice that was paid outside the provider. The provider has canceled the intent. */
export const cancelUncollected = async (deps: CollectDeps, id: string, invoiceId: string): Promise<void> => {
  const store = paymentStore(deps.table, deps.now);
  const found = await store.load(id);
  if (!found || !isVisiblePayment(found) || found.providerInvoiceId !== invoiceId) return;
  await store.change(found, (current) => cancelVoid(deps, current));
};

/**
 * Cancels the payment, as the event of the intent's cancellation does. The provider has canceled the intent together
 * with the invoice.
 */
const cancelVoid = ({ now }: CollectDeps, current: VisiblePayment): VisiblePayment | undefined =>
  isAhead(current.status, 'canceled')
    ? advancePayment(current, { to: 'canceled', now: now(), cause: 'event' })
    : undefined;

/** Adds the charged method, if an earlier event of the payment lacked it. */
const correctMethod = (
  { now }: CollectDeps,
  current: VisiblePayment,
  paidWith: InvoiceRequest['paidWith'],
): PaymentCommit | undefined => {
  if (paidWith === undefined || current.methodRef === paidWith.methodRef) return undefined;
  const next = advancePayment(current, { to: 'succeeded', now: now(), cause: 'event' }, paidWith);
  return { next, by: 'invoice' };
};

const paymentOf = (
  deps: CollectDeps,
  wanted: PeriodPayment,
  { invoice, cause }: { readonly invoice: ProviderInvoicePayment; readonly cause: 'event' | 'import' },
): VisiblePayment => {
  const at = iso(deps.now());
  const unseen: Payment = {
    ...wanted,
    version: 0,
    status: 'creating',
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
  // A void invoice makes a canceled payment. The event of the canceled intent came before this payment existed and had
  // no effect.
  const to = invoice.isVoid ? 'canceled' : invoice.status;
  return advancePayment(unseen, { to, now: deps.now(), cause }, { decline: invoice.decline });
};
