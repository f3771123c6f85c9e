/**
 * @module The owed invoices of a Stripe subscription are all its open invoices, because Stripe collects an open invoice
 * until the invoice is paid or void. Every operation that stops, pays or moves a subscription reads the owed invoices
 * here.
 */

import type Stripe from 'stripe';
import type { Outcome } from '../../core/outcome.ts';
import type { CallOptions } from '../payment-port.ts';
import type { ProviderInvoice } from '../subscription-port.ts';
import { afterChange } from '../vendor-failures.ts';
import type { StripeCall } from './outcome.ts';
import { readStripeInvoice } from './subscription-report.ts';

type Invoices = readonly ProviderInvoice[];

const WITH_INTENT = { expand: ['payments.data.payment.payment_intent'] };

export const PAGE = 100;
export const MOST_LISTED = 10_000;

export const owedInvoices = (stripe: Stripe, call: StripeCall) => {
  const find = (invoiceId: string): Promise<Outcome<ProviderInvoice>> =>
    call(() => stripe.invoices.retrieve(invoiceId, WITH_INTENT), readStripeInvoice);

  /**
   * The open invoices, oldest first. Each invoice is read separately, because Stripe expands a list only as far as the
   * id of the intent. Uncollectible invoices are left out, because the merchant has written them off.
   */
  const list = (subscriptionId: string): Promise<Outcome<Invoices>> =>
    search({ subscription: subscriptionId, status: 'open' });

  /** The paid invoices, oldest first. */
  const listPaid = ({ subscriptionId, createdSince }: PaidSince): Promise<Outcome<Invoices>> =>
    search({ subscription: subscriptionId, status: 'paid', created: { gte: createdSince } });

  const search = async (wanted: Stripe.InvoiceListParams): Promise<Outcome<Invoices>> => {
    const found = await call(
      () => stripe.invoices.list({ ...wanted, limit: PAGE }).autoPagingToArray({ limit: MOST_LISTED }),
      (newestFirst) => newestFirst.map(({ id }) => id).toReversed(),
    );
    return found.kind === 'done' ? each(found.value, find) : found;
  };

  const voidOne = async ({ invoiceId }: ProviderInvoice): Promise<Outcome<ProviderInvoice>> => {
    const voided = await call(
      () => stripe.invoices.voidInvoice(invoiceId),
      ({ id }) => id,
    );
    if (voided.kind === 'unknown' || voided.kind === 'not_done') return voided;
    // A refusal means that the invoice is not open. The invoice is read in any case, because a charge may still be in
    // progress.
    return find(invoiceId);
  };

  /** Voids the invoices and stops collecting drafts, so none can be paid. @returns the voided invoices, read again */
  const drop = async (owed: Invoices, options: CallOptions): Promise<Outcome<Invoices>> => {
    const held = await setCollection(owed.filter(isDraft), { ...options, collects: false });
    return held.kind === 'done' ? afterChange(await each(owed.filter(isFinal), voidOne)) : held;
  };

  /** Sets whether Stripe collects these invoices, because a pause of the subscription stops only later invoices. */
  const setCollection = async (
    owed: Invoices,
    { collects, idempotencyKey }: CallOptions & { readonly collects: boolean },
  ): Promise<Outcome<Invoices>> => {
    for (const { invoiceId } of owed) {
      const options = { idempotencyKey: `${idempotencyKey}:${invoiceId}` };
      const updated = await call(
        () => stripe.invoices.update(invoiceId, { auto_advance: collects }, options),
        ({ id }) => id,
      );
      // A refusal means that the invoice is no longer open.
      if (updated.kind === 'unknown' || updated.kind === 'not_done') return afterChange(updated);
    }
    return { kind: 'done', value: owed };
  };

  /** Pays the invoices with a method, in sequence, until one is declined. @returns the paid invoices */
  const pay = async (owed: Invoices, { methodId, isAttended, idempotencyKey }: Paying): Promise<Outcome<Invoices>> => {
    const paid: ProviderInvoice[] = [];
    for (const { invoiceId } of owed.filter(isPayable)) {
      const wanted = { payment_method: methodId, off_session: !isAttended, ...WITH_INTENT };
      const options = { idempotencyKey: `${idempotencyKey}:pay:${invoiceId}` };
      const tried = await call(() => stripe.invoices.pay(invoiceId, wanted, options), readStripeInvoice);
      if (tried.kind === 'unknown' || tried.kind === 'not_done') return afterChange(tried);
      if (tried.kind === 'declined') break;
      // A refusal means that the invoice is no longer open.
      if (tried.kind === 'done') paid.push(tried.value);
    }
    return { kind: 'done', value: paid };
  };

  return { find, list, listPaid, drop, setCollection, pay };
};

interface PaidSince {
  readonly subscriptionId: string;
  /** In epoch seconds. */
  readonly createdSince: number;
}

interface Paying extends CallOptions {
  readonly methodId: string;
  readonly isAttended: boolean;
}

const each = async <T, R>(
  items: readonly T[],
  run: (item: T) => Promise<Outcome<R>>,
): Promise<Outcome<readonly R[]>> => {
  const results: R[] = [];
  for (const item of items) {
    const outcome = await run(item);
    if (outcome.kind !== 'done') return outcome;
    results.push(outcome.value);
  }
  return { kind: 'done', value: results };
};

/** True for a draft, which has no intent. Stripe creates the intent when it finalizes the draft. */
const isDraft = ({ intentId, status }: ProviderInvoice): boolean => intentId === undefined && status === 'pending';
const isFinal = (invoice: ProviderInvoice): boolean => !isDraft(invoice);

const isPayable = (invoice: ProviderInvoice): boolean =>
  !isDraft(invoice) && (invoice.status === 'failed' || invoice.status === 'pending');
