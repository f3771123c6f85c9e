import { DomainError } from '../../core/errors.ts';
import type { DeclineCode } from '../../core/outcome.ts';
import { iso } from '../../core/time.ts';
import { putAlias } from '../../table/alias.ts';
import { findMismatch } from '../record/amounts.ts';
import { isVisiblePayment, type Payment, type VisiblePayment } from '../record/payment.ts';
import { isAhead } from '../record/states.ts';
import { type PaymentStore, paymentStore } from '../record/store.ts';
import { advance } from '../record/versions.ts';
import type { CollectDeps, PeriodPayment } from './collect.ts';

/** What a provider says of an invoice that it collects by itself. */
export interface ProviderInvoicePayment {
  readonly invoiceId: string;
  readonly intentId: string;
  readonly status: 'succeeded' | 'failed' | 'processing' | 'pending';
  readonly amountCents: number;
  readonly currency: string;
  readonly attempts: number;
  readonly failureCode: DeclineCode | undefined;
}

export type InvoiceResult =
  | { readonly kind: 'payment'; readonly payment: VisiblePayment }
  /** It contradicts what is to be paid: nothing is stored. */
  | { readonly kind: 'mismatch'; readonly reason: string };

const RECORD_TRIES = 5;

/**
 * The payment of a provider's own invoice: mirrored, never charged here. Told in any order and however often, it only
 * moves further on. @param label leaves our id with the provider's intent, before the payment is there.
 */
export const recordInvoice = async (
  deps: CollectDeps,
  wanted: PeriodPayment,
  invoice: ProviderInvoicePayment,
  label: () => Promise<void>,
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
  return { kind: 'payment', payment: await moveFurther(deps, store, found, invoice) };
};

const moveFurther = async (
  deps: CollectDeps,
  store: PaymentStore,
  found: Payment,
  { status, failureCode, attempts }: ProviderInvoicePayment,
): Promise<VisiblePayment> => {
  let current: Payment | undefined = found;
  for (let tries = 0; tries < RECORD_TRIES; tries += 1) {
    if (!current || !isVisiblePayment(current)) break;
    const failsAgain = status === 'failed' && current.status === 'failed' && attempts > current.attempt;
    if (!failsAgain && !isAhead(current.status, status)) return current;
    const failure = status === 'failed' ? { failureCode: failureCode ?? ('do_not_honor' as const) } : {};
    const facts = { ...failure, attempt: Math.max(attempts, current.attempt) };
    const next: VisiblePayment = advance(current, status, deps.now(), 'event', facts);
    const committed = await store.commit(current, next);
    if (committed.ok) return next;
    current = committed.found;
  }
  throw new DomainError('VERSION_CONFLICT');
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
  };
  return advance(unseen, invoice.status, deps.now(), 'event');
};
