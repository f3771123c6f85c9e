/** @module Records each invoice of a billing provider as one payment, collected by the provider. */

import { isHardDecline } from '../../core/decline-advice.ts';
import { subscriptionPaymentId } from '../../core/ids.ts';
import { epochSeconds, instant, iso, SECOND_MS } from '../../core/time.ts';
import type { PeriodPayment } from '../../payments/collect-payment.ts';
import type { VisiblePayment } from '../../payments/payment.ts';
import {
  cancelUncollected,
  type InvoiceRequest,
  type InvoiceResult,
  recordInvoice,
} from '../../payments/record-invoice.ts';
import { findAlias } from '../../platform/alias.ts';
import type { InvoicePrices, ProviderInvoice, ProviderSubscription } from '../../providers/subscription-port.ts';
import { unansweredError } from '../../providers/unwrap.ts';
import type { BillingDeps } from '../billing/biller.ts';
import { periodPaidBy, unpaidPeriod } from '../billing/paid-period.ts';
import { periodPaymentRequest } from '../billing/periods.ts';
import { periodPaymentId } from '../billing/subscription-charge.ts';
import type { PaidPeriod } from '../record/paid-period-record.ts';
import type { Subscription } from '../record/subscription.ts';
import { requireAnswer, subscriptionsPortOf } from './provider-biller.ts';
import type { SubscriptionReport } from './provider-report.ts';

/** Every invoice in a response, with the owed invoices oldest first, then the newest invoice. */
export const invoicesOf = ({
  owed,
  latestInvoice: newest,
}: Pick<ProviderSubscription, 'owed' | 'latestInvoice'>): readonly ProviderInvoice[] =>
  newest && owed.every(({ invoiceId }) => invoiceId !== newest.invoiceId) ? [...owed, newest] : owed;

/**
 * The provider's next attempt to collect the invoice. A hard decline stops retries, because the subscription then waits
 * for another card.
 */
export const nextAttemptAt = ({
  failureCode,
  decline,
  nextAttempt,
}: ProviderInvoice): ProviderInvoice['nextAttempt'] =>
  failureCode !== undefined && isHardDecline(failureCode, decline) ? null : nextAttempt;

/** The earliest planned retry of the owed invoices. */
export const nextRetryAt = (
  answer: Pick<ProviderSubscription, 'owed' | 'latestInvoice'>,
): ProviderInvoice['nextAttempt'] => {
  const open = answer.owed.filter(({ isOpen }) => isOpen);
  const tries = (open.length > 0 ? open : invoicesOf(answer)).map(nextAttemptAt);
  const planned = tries.filter((at) => typeof at === 'number');
  return planned.length > 0 ? Math.min(...planned) : tries.at(-1);
};

interface RecordedInvoices extends Pick<SubscriptionReport, 'paidUntil' | 'paidPeriod' | 'isPaid'> {
  readonly owed: Subscription['owed'];
  readonly latestPaymentId: string | undefined;
}

/** Records a response's invoices, and owed invoices missing from it, because their events may be lost. */
export const recordInvoices = async (
  deps: BillingDeps,
  subscription: Subscription,
  answer: Pick<ProviderSubscription, 'owed' | 'latestInvoice'>,
): Promise<RecordedInvoices> => {
  const named = invoicesOf(answer);
  const owed: { invoiceId: string; paymentId: string }[] = [];
  const paid: PaidInvoice[] = [];
  let latestPaymentId: string | undefined;
  const unreported = await findUnreported(deps, subscription, named);
  const settled = await findSettled(deps, subscription, [...unreported, ...named]);
  for (const read of [...settled, ...unreported, ...named]) {
    const invoice = await withPayer(deps, subscription, read);
    const recorded = await recordInvoicePayment(deps, subscription, invoice);
    // The invoice is paid without a payment here. Its amount was 0, or the payer paid outside the provider.
    if (recorded.kind === 'nothing' && invoice.status === 'succeeded') paid.push({ invoice });
    if (recorded.kind !== 'payment') continue;
    const { id: paymentId, status } = recorded.payment;
    if (status === 'succeeded') paid.push({ invoice, payment: recorded.payment });
    else if (invoice.isOpen) owed.push({ invoiceId: invoice.invoiceId, paymentId });
    if (invoice.invoiceId === answer.latestInvoice?.invoiceId) latestPaymentId = paymentId;
  }
  return {
    owed: owed.length > 0 ? owed : undefined,
    latestPaymentId,
    isPaid: paid.length > 0,
    ...paidByInvoices(subscription, paid, answer.latestInvoice),
  };
};

interface PaidInvoice {
  readonly invoice: ProviderInvoice;
  /** Undefined if nothing was due, or if the invoice was paid outside the provider. */
  readonly payment?: VisiblePayment;
}

const paidByInvoices = (
  subscription: Subscription,
  paid: readonly PaidInvoice[],
  newest: ProviderInvoice | undefined,
): Pick<SubscriptionReport, 'paidUntil' | 'paidPeriod'> => {
  const last = paid.toSorted((one, other) => one.invoice.periodEnd - other.invoice.periodEnd).at(-1);
  const paidUntil = last?.invoice.periodEnd;
  if (newest && isGivenUp(newest)) return { paidUntil, paidPeriod: unpaidPeriod(iso(newest.periodStart * SECOND_MS)) };
  return { paidUntil, paidPeriod: last && paidPeriodBy(subscription, last.invoice, last.payment) };
};

/** True if the provider has written off or voided the invoice. */
const isGivenUp = ({ status, isOpen }: ProviderInvoice): boolean => status === 'failed' && !isOpen;

/**
 * How the period of a paid invoice was paid. The payer's balance at the provider and money paid outside it count as
 * paid.
 */
export const paidPeriodBy = (
  subscription: Subscription,
  invoice: ProviderInvoice,
  payment: VisiblePayment | undefined,
): PaidPeriod => {
  const { amountCents, totalCents = amountCents, prices, periodStart, periodEnd } = invoice;
  const { openedBy } = subscription;
  if (openedBy?.invoice === invoice.invoiceId) return openingPeriod(subscription, openedBy, periodStart);
  const period = { start: iso(periodStart * SECOND_MS), end: iso(periodEnd * SECOND_MS) };
  const { taxCents, discountCents } =
    totalCents === subscription.totalCents ? subscription : partsBeforeBalance(totalCents, prices);
  const price = { totalCents, taxCents, discountCents };
  return payment
    ? periodPaidBy(period, price, { id: payment.id, cents: Math.min(totalCents, payment.totalCents) })
    : { start: period.start, ...price, payments: [] };
};

/** The current period at the import, with the amount paid for it. Its discount counts in proportion. */
export const openingPeriod = (
  { totalCents, discountCents }: Pick<Subscription, 'totalCents' | 'discountCents'>,
  { paidCents }: NonNullable<Subscription['openedBy']>,
  periodStart: number,
): PaidPeriod => ({
  start: iso(periodStart * SECOND_MS),
  totalCents: paidCents,
  taxCents: 0,
  discountCents: totalCents === 0 ? 0 : Math.round((discountCents * paidCents) / totalCents),
  payments: [],
});

/** True if the invoice was collected before the subscription was imported. */
const wasPaidBefore = (
  { importedAt, openedBy }: Subscription,
  { invoiceId, status, paidAt }: ProviderInvoice,
): boolean => {
  if (importedAt === undefined || status !== 'succeeded') return false;
  return openedBy?.invoice === invoiceId || (paidAt !== undefined && paidAt < epochSeconds(instant(importedAt)));
};

const partsBeforeBalance = (
  totalCents: number,
  prices: ProviderInvoice['prices'],
): Pick<InvoicePrices, 'taxCents' | 'discountCents'> =>
  prices
    ? { taxCents: prices.taxCents, discountCents: Math.max(0, prices.subtotalCents + prices.taxCents - totalCents) }
    : { taxCents: 0, discountCents: 0 };

/**
 * Adds the paying method to an invoice that was paid after dunning. The payer may have used another method, and a read
 * of the subscription omits the paying method of the newest invoice.
 */
const withPayer = async (
  deps: BillingDeps,
  subscription: Subscription,
  invoice: ProviderInvoice,
): Promise<ProviderInvoice> => {
  const isRecovery = subscription.status === 'past_due' && invoice.status === 'succeeded';
  if (!isRecovery || invoice.intentId === undefined || invoice.methodId !== undefined) return invoice;
  const found = await (await subscriptionsPortOf(deps, subscription)).findInvoice(invoice.invoiceId);
  return requireAnswer(found, subscription);
};

const findSettled = async (
  deps: BillingDeps,
  subscription: Subscription,
  named: readonly ProviderInvoice[],
): Promise<readonly ProviderInvoice[]> => {
  const ids = (subscription.owed ?? []).map(({ invoiceId }) => invoiceId);
  const missing = ids.filter((id) => named.every(({ invoiceId }) => invoiceId !== id));
  const found: ProviderInvoice[] = [];
  for (const id of missing) {
    const invoice = await (await subscriptionsPortOf(deps, subscription)).findInvoice(id);
    if (invoice.kind !== 'refused') found.push(requireAnswer(invoice, subscription));
  }
  return found;
};

/**
 * True if an event's period starts after the known period's start, but not at that period's end. Either the schedule
 * was changed at the provider, or periods in between were never reported. The provider must then be read for their
 * charges.
 */
export const skipsTime = (
  { currentPeriodStart, currentPeriodEnd }: Subscription,
  periodStart: number | undefined,
): boolean =>
  periodStart !== undefined &&
  periodStart > epochSeconds(instant(currentPeriodStart)) &&
  periodStart !== epochSeconds(instant(currentPeriodEnd));

/** Finds paid invoices with possibly lost events. A creation has no earlier invoice, so the search is skipped. */
const findUnreported = async (
  deps: BillingDeps,
  subscription: Subscription,
  named: readonly ProviderInvoice[],
): Promise<readonly ProviderInvoice[]> => {
  const newest = named.at(-1);
  const createdSince = epochSeconds(instant(subscription.currentPeriodStart));
  if (!newest || newest.reason === 'create' || newest.periodStart <= createdSince) return [];
  const port = await subscriptionsPortOf(deps, subscription);
  const asked = { subscriptionId: newest.subscriptionId, createdSince };
  const paid = requireAnswer(await port.findPaid(asked), subscription);
  const others = paid.filter((one) => named.every(({ invoiceId }) => invoiceId !== one.invoiceId));
  // Omit invoices of 0, such as a trial's invoice, whose period ends at the trial's first planned end.
  return others.filter(({ amountCents }) => amountCents > 0);
};

type InvoicePayment =
  | Exclude<InvoiceResult, { readonly kind: 'taken' }>
  /** The invoice is 0, was paid outside the provider, or was paid before the import. */
  | { readonly kind: 'nothing' };

/**
 * Records an invoice as a payment, with an id derived from subscription and period. A second paid invoice of a period
 * gets its own payment.
 */
export const recordInvoicePayment = async (
  deps: BillingDeps,
  subscription: Subscription,
  invoice: ProviderInvoice,
): Promise<InvoicePayment> => {
  const { intentId, invoiceId } = invoice;
  if (intentId === undefined || invoice.amountCents === 0) return { kind: 'nothing' };
  if (wasPaidBefore(subscription, invoice)) return { kind: 'nothing' };
  const collected = { ...invoice, intentId };
  const periodId = periodPaymentId(subscription.id, iso(invoice.periodStart * SECOND_MS), 0);
  const ownId = subscriptionPaymentId(subscription.id, invoiceId);
  if (invoice.isPaidElsewhere) {
    for (const id of [periodId, ownId]) await cancelUncollected(deps, id, invoiceId);
    return { kind: 'nothing' };
  }
  const recorded = await recordAs(deps, subscription, { paymentId: periodId, invoice: collected });
  if (recorded.kind === 'payment') return recorded;
  const { id: subscription_id, providerId: provider } = subscription;
  const reason = recorded.kind === 'taken' ? 'two invoices of one period were paid' : recorded.reason;
  deps.log.error('subscription anomaly', { subscription_id, payment_id: periodId, provider, reason });
  if (recorded.kind === 'mismatch') return recorded;
  const further = await recordAs(deps, subscription, { paymentId: ownId, invoice: collected });
  return further.kind === 'taken' ? { kind: 'nothing' } : further;
};

const recordAs = async (
  deps: BillingDeps,
  subscription: Subscription,
  { paymentId, invoice }: { readonly paymentId: string; readonly invoice: InvoiceRequest['invoice'] },
): Promise<InvoiceResult> => {
  const port = await subscriptionsPortOf(deps, subscription);
  const label = async (): Promise<void> => {
    const target = { intentId: invoice.intentId, paymentId, idempotencyKey: `${paymentId}:label` };
    const labelled = await port.labelPayment(target);
    if (labelled.kind === 'unknown' || labelled.kind === 'not_done') {
      throw unansweredError(labelled, { payment_id: paymentId });
    }
  };
  const wanted = {
    ...periodPaymentRequest(subscription, paymentId),
    ...amountsOf(subscription, invoice),
    billingReason: invoice.reason && reasonOf(subscription, invoice.reason),
  };
  const isImported = isOlderThanImport(subscription, invoice);
  // An import only marks the subscription at the provider, so an older invoice is labeled only once it is paid.
  if (isImported && invoice.status === 'succeeded') await label();
  return recordInvoice(deps, {
    ...{ wanted, invoice, isImported, label: isImported ? async () => undefined : label },
    paidWith: await payerOf(deps, subscription, invoice),
  });
};

const isOlderThanImport = ({ importedAt }: Subscription, { createdAt }: Pick<ProviderInvoice, 'createdAt'>): boolean =>
  importedAt !== undefined && createdAt !== undefined && createdAt <= epochSeconds(instant(importedAt));

const AMOUNT_CHANGED = 'amount_changed_at_provider';

/** The invoice's amounts. A price, discount, tax or balance at the provider may differ from ours. */
const amountsOf = (
  { totalCents, currency }: Subscription,
  invoice: ProviderInvoice,
): Partial<Pick<PeriodPayment, 'subtotalCents' | 'taxCents' | 'discountCents' | 'totalCents' | 'anomaly'>> =>
  invoice.prices === undefined || invoice.currency !== currency || invoice.amountCents === totalCents
    ? {}
    : { ...invoice.prices, totalCents: invoice.amountCents, anomaly: AMOUNT_CHANGED };

/** An invoice for a new period of a paused subscription counts as a resumption. */
const reasonOf = (
  { status }: Subscription,
  reason: NonNullable<ProviderInvoice['reason']>,
): NonNullable<PeriodPayment['billingReason']> =>
  reason === 'change' && status === 'paused' ? 'subscription_resume' : `subscription_${reason}`;

const payerOf = async (
  { table }: BillingDeps,
  { providerId, methodRef, paymentMethodId }: Subscription,
  { status, methodId }: ProviderInvoice,
): Promise<InvoiceRequest['paidWith']> => {
  if (status !== 'succeeded' || methodId === undefined) return undefined;
  if (methodId === methodRef) return { methodRef, paymentMethodId };
  const alias = await findAlias(table, providerId, methodId);
  return { methodRef: methodId, paymentMethodId: alias?.kind === 'PM' ? alias.id : undefined };
};
