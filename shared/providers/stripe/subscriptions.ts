import type Stripe from 'stripe';
import type { Outcome } from '../../core/outcome.ts';
import type { CallOptions } from '../port/payments.ts';
import type {
  NewProviderSubscription,
  ProviderInvoice,
  ProviderSubscription,
  SubscriptionsPort,
} from '../port/subscriptions.ts';
import { afterChange } from '../wire/failures.ts';
import { stripeAmounts } from './currencies.ts';
import type { StripeCall } from './outcome.ts';
import { ensureProduct } from './products.ts';
import { readStripeInvoice, readStripeSubscription } from './subscription-report.ts';

/**
 * Stripe Billing. Every call expands the newest invoice. An invoice that is still open is read again with its intent, which
 * has the reason why it is unpaid (Stripe expands four levels; one call would need five).
 */
export const stripeSubscriptions = (stripe: Stripe, call: StripeCall, descriptor: string): SubscriptionsPort => {
  const billing = openBilling(stripe, call, descriptor);
  return {
    bills: ({ unit, count }) => count <= MOST_AT_ONCE[unit],
    find: billing.find,
    findOurs: async ({ customerId: customer, ourSubscriptionId, createdSince }) => {
      const list = (wanted: Stripe.SubscriptionListParams) =>
        call(
          () => stripe.subscriptions.list({ ...wanted, limit: PAGE }).autoPagingToArray({ limit: MOST_LISTED }),
          (all) => all.map(readStripeSubscription).filter((one) => one.ourSubscriptionId === ourSubscriptionId),
        );
      const found = await list({ customer });
      const isGone = found.kind === 'refused' && found.reason === 'resource_missing';
      if (!isGone) return found;
      const created = { gte: createdSince };
      // Only of canceled ones does Stripe say that a list has those of deleted customers.
      const canceled = await list({ status: 'canceled', created });
      if (canceled.kind !== 'done') return canceled;
      const expired = await list({ status: 'incomplete_expired', created });
      return expired.kind === 'done' ? { kind: 'done', value: [...canceled.value, ...expired.value] } : expired;
    },
    findInvoice: billing.findInvoice,
    create: (input) => create(billing, input),
    changeMethod: (input) => changeMethod(billing, input),
    scheduleCancel: (input) => billing.update(input, { cancel_at_period_end: input.cancel }),
    cancel: (input) => cancel(billing, input),
    pause: async (input) => {
      const paused = await billing.update(input, { pause_collection: { behavior: 'void' } });
      const held = await collect(billing, paused, { ...input, collects: false });
      return input.dropsUnpaid ? dropUnpaid(billing, held) : held;
    },
    resume: async (input) =>
      input.inNewPeriod
        ? resumeInNewPeriod(billing, input)
        : collect(billing, await resume(billing, input), { ...input, collects: true }),

    labelPayment: ({ intentId, paymentId, idempotencyKey }) =>
      call(
        () => stripe.paymentIntents.update(intentId, { metadata: { payment_id: paymentId } }, { idempotencyKey }),
        ({ id }) => ({ intentId: id }),
      ),
  };
};

/** Three years. */
const MOST_AT_ONCE: Readonly<Record<NewProviderSubscription['unit'], number>> = {
  day: 1_095,
  week: 156,
  month: 36,
  year: 3,
};

const PAGE = 100;
const MOST_LISTED = 10_000;

const WITH_INVOICE = { expand: ['latest_invoice.payments'] };
const WITH_INTENT = { expand: ['payments.data.payment.payment_intent'] };

type Found = Outcome<ProviderSubscription>;
type Answered = Stripe.Response<Stripe.Subscription>;
type OfSubscription = CallOptions & { readonly subscriptionId: string };
type Billing = ReturnType<typeof openBilling>;

/** By its types the SDK returns headers as an object; its fetch client returns those of the answer. */
const headerOf = (headers: object, name: string): unknown =>
  'get' in headers && typeof headers.get === 'function' ? headers.get(name) : undefined;

const openBilling = (stripe: Stripe, call: StripeCall, descriptor: string) => {
  const findInvoice = (invoiceId: string): Promise<Outcome<ProviderInvoice>> =>
    call(() => stripe.invoices.retrieve(invoiceId, WITH_INTENT), readStripeInvoice);

  const find = (subscriptionId: string): Promise<Found> =>
    read(() => stripe.subscriptions.retrieve(subscriptionId, WITH_INVOICE));

  const read = async (send: () => Promise<Answered>): Promise<Found> => {
    const answered = await call(send, (subscription) => ({
      isOld: headerOf(subscription.lastResponse.headers, 'idempotent-replayed') === 'true',
      subscription: readStripeSubscription(subscription),
    }));
    if (answered.kind !== 'done') return answered;
    const { isOld, subscription } = answered.value;
    // A used key returns the first answer again, which may be outdated.
    if (isOld) return afterChange(await find(subscription.subscriptionId));
    const newest = subscription.latestInvoice;
    if (!newest || newest.status === 'succeeded') return { kind: 'done', value: subscription };
    const invoice = await findInvoice(newest.invoiceId);
    if (invoice.kind !== 'done') return afterChange(invoice);
    return { kind: 'done', value: { ...subscription, latestInvoice: invoice.value } };
  };

  const update = (
    { subscriptionId, idempotencyKey }: OfSubscription,
    changes: Stripe.SubscriptionUpdateParams,
  ): Promise<Found> =>
    read(() => stripe.subscriptions.update(subscriptionId, { ...changes, ...WITH_INVOICE }, { idempotencyKey }));

  return { stripe, call, descriptor, read, find, findInvoice, update };
};

/** Stripe creates the price with the subscription, but the product needs a call of its own. */
const create = async (billing: Billing, input: NewProviderSubscription): Promise<Found> => {
  const { stripe, read } = billing;
  const { idempotencyKey } = input;
  const amount = stripeAmounts.toProvider(input);
  if (amount === undefined) return stripeAmounts.refused(input);
  const product = await ensureProduct(billing, input);
  if (product.kind !== 'done') return product;
  const wanted = { ...subscriptionOf(input, { product: product.value, amount }), ...WITH_INVOICE };
  return endIfDeclined(billing, await read(() => stripe.subscriptions.create(wanted, { idempotencyKey })));
};

/**
 * After a declined first charge, Stripe has an incomplete subscription, whose invoice could still be paid: it is canceled.
 * An invoice that waits for the payer's authentication is not declined.
 */
const endIfDeclined = async (billing: Billing, created: Found): Promise<Found> => {
  if (created.kind !== 'done' || !created.value.isIncomplete) return created;
  const { subscriptionId, latestInvoice } = created.value;
  if (latestInvoice?.status !== 'failed') return created;
  const canceled = await cancel(billing, { subscriptionId });
  if (canceled.kind !== 'done') return { kind: 'unknown', reason: 'error' };
  return { kind: 'declined', code: latestInvoice.failureCode ?? 'do_not_honor', attemptRef: undefined };
};

/** A trial that ends without a method pauses the subscription. */
const subscriptionOf = (
  input: NewProviderSubscription,
  { product, amount }: { readonly product: string; readonly amount: number },
): Stripe.SubscriptionCreateParams => {
  const description = nameOf(input);
  return {
    customer: input.customerId,
    default_payment_method: input.methodId,
    items: [
      {
        price_data: {
          currency: input.currency.toLowerCase(),
          product,
          unit_amount: amount,
          recurring: { interval: input.unit, interval_count: input.count },
        },
      },
    ],
    ...(input.isAttended
      ? { payment_behavior: 'allow_incomplete' as const }
      : { payment_behavior: 'error_if_incomplete' as const, off_session: true }),
    metadata: { subscription_id: input.ourSubscriptionId },
    ...(description && { description }),
    ...(input.trialEnd !== undefined && {
      trial_end: input.trialEnd,
      trial_settings: { end_behavior: { missing_payment_method: 'pause' } },
    }),
  };
};

const MAX_DESCRIPTION_LENGTH = 500;
const nameOf = ({ description }: NewProviderSubscription): string | undefined =>
  description?.slice(0, MAX_DESCRIPTION_LENGTH).toWellFormed() || undefined;

const changeMethod = async (
  { stripe, call, find, update }: Billing,
  input: OfSubscription & { readonly methodId: string; readonly isAttended: boolean },
): Promise<Found> => {
  const { subscriptionId, methodId, idempotencyKey } = input;
  const changed = refusedMethod(await update(input, { default_payment_method: methodId }));
  const unpaid = changed.kind === 'done' && changed.value.status === 'past_due' && unpaidOf(changed.value);
  if (!unpaid) return changed;
  const tried = await call(
    () =>
      stripe.invoices.pay(
        unpaid.invoiceId,
        { payment_method: methodId, off_session: !input.isAttended },
        { idempotencyKey: `${idempotencyKey}:pay` },
      ),
    ({ id }) => id,
  );
  if (tried.kind === 'unknown' || tried.kind === 'not_done') return afterChange(tried);
  // Declined, or paid already: the method is changed in both cases, and the invoice has the result.
  return afterChange(await find(subscriptionId));
};

/** Stripe names no parameter if it refuses a detached method; the call sends only the method. */
const refusedMethod = (changed: Found): Found =>
  changed.kind === 'refused' && changed.reason === 'StripeInvalidRequestError'
    ? { ...changed, parameter: changed.parameter ?? 'payment_method' }
    : changed;

const unpaidOf = ({ latestInvoice }: ProviderSubscription): ProviderInvoice | undefined =>
  latestInvoice && ['failed', 'pending'].includes(latestInvoice.status) ? latestInvoice : undefined;

/**
 * Stripe itself stops collecting an unpaid invoice, but its payer could still pay it with its client secret: it is voided.
 * A repeated call voids it, too.
 */
const cancel = async (
  { stripe, call }: Billing,
  { subscriptionId }: Pick<OfSubscription, 'subscriptionId'>,
): Promise<Outcome<{ readonly subscriptionId: string }>> => {
  const ended = { subscriptionId };
  const canceled = await call(() => stripe.subscriptions.cancel(subscriptionId, NEWEST), unpaidInvoiceOf);
  const isGone = canceled.kind === 'refused' && canceled.reason === 'resource_missing';
  const left = isGone
    ? await call(() => stripe.subscriptions.retrieve(subscriptionId, NEWEST), unpaidInvoiceOf)
    : canceled;
  if (left.kind !== 'done') return isGone && left.kind === 'refused' ? { kind: 'done', value: ended } : left;
  const { openId } = left.value;
  if (openId === undefined) return { kind: 'done', value: ended };
  return voidInvoice({ stripe, call }, openId, ended);
};

/** @returns the result, once the invoice can no longer be paid */
const voidInvoice = async <T>(
  { stripe, call }: Pick<Billing, 'stripe' | 'call'>,
  invoiceId: string,
  result: T,
): Promise<Outcome<T>> => {
  const voided = await call(
    () => stripe.invoices.voidInvoice(invoiceId),
    () => result,
  );
  // A refusal means that the invoice is no longer open.
  return voided.kind === 'unknown' || voided.kind === 'not_done'
    ? afterChange(voided)
    : { kind: 'done', value: result };
};

const dropUnpaid = async (billing: Billing, held: Found): Promise<Found> => {
  const unpaid = held.kind === 'done' ? unpaidOf(held.value) : undefined;
  if (held.kind !== 'done' || !unpaid) return held;
  const voided = await voidInvoice(billing, unpaid.invoiceId, unpaid);
  return voided.kind === 'done' ? afterChange(await billing.find(held.value.subscriptionId)) : voided;
};

const NEWEST = { expand: ['latest_invoice'] };

const unpaidInvoiceOf = ({ latest_invoice: newest }: Stripe.Subscription): { readonly openId: string | undefined } => ({
  openId: newest !== null && typeof newest === 'object' && newest.status === 'open' ? newest.id : undefined,
});

/** A subscription that Stripe paused at the end of a trial without a method needs Stripe's resume endpoint. */
const resume = async ({ stripe, read, update }: Billing, input: OfSubscription): Promise<Found> => {
  const resumed = await update(input, { pause_collection: '' });
  if (resumed.kind !== 'done' || resumed.value.status !== 'paused') return resumed;
  const options = { idempotencyKey: `${input.idempotencyKey}:resume` };
  const answered = await read(() => stripe.subscriptions.resume(input.subscriptionId, WITH_INVOICE, options));
  return answered.kind === 'not_done' ? afterChange(answered) : answered;
};

/** Starts and charges a new period; amounts owed before the pause are not collected. */
const resumeInNewPeriod = async (billing: Billing, input: OfSubscription): Promise<Found> => {
  const { stripe, call, find, update } = billing;
  const current = await call(
    () => stripe.subscriptions.retrieve(input.subscriptionId),
    ({ status, pause_collection }) => ({ status, holds: pause_collection !== null }),
  );
  if (current.kind !== 'done') return current;
  if (current.value.status === 'paused') return resume(billing, input);
  if (!current.value.holds) return find(input.subscriptionId);
  return update(input, {
    pause_collection: '',
    billing_cycle_anchor: { type: 'now' },
    proration_behavior: 'none',
    payment_behavior: 'error_if_incomplete',
    off_session: true,
  });
};

/** Sets whether Stripe collects the open invoice: a pause stops only later invoices. */
const collect = async (
  { stripe, call }: Billing,
  changed: Found,
  { collects, idempotencyKey }: CallOptions & { readonly collects: boolean },
): Promise<Found> => {
  const unpaid = changed.kind === 'done' ? unpaidOf(changed.value) : undefined;
  if (!unpaid) return changed;
  const options = { idempotencyKey: `${idempotencyKey}:invoice` };
  const updated = await call(
    () => stripe.invoices.update(unpaid.invoiceId, { auto_advance: collects }, options),
    ({ id }) => id,
  );
  // A refusal means that the invoice is no longer open.
  return updated.kind === 'unknown' || updated.kind === 'not_done' ? afterChange(updated) : changed;
};
