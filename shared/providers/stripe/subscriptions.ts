/**
 * @module Subscriptions billed by Stripe Billing. Every call expands the newest invoice. The open invoices are read
 * again with their intents, because Stripe expands four levels and one call would need five.
 */

import type Stripe from 'stripe';
import type { Outcome } from '../../core/outcome.ts';
import { cutText } from '../../core/text.ts';
import type { CallOptions } from '../payment-port.ts';
import { BRIDGE_MARK, CHANGE_MARK } from '../subscription-payloads.ts';
import type {
  NewPrice,
  NewProviderSubscription,
  ProviderInvoice,
  ProviderSubscription,
  SubscriptionsPort,
} from '../subscription-port.ts';
import { afterChange } from '../vendor-failures.ts';
import { stripeAmounts } from './currencies.ts';
import { INVALID_REQUEST, type StripeCall } from './outcome.ts';
import { MOST_LISTED, owedInvoices, PAGE } from './owed-invoices.ts';
import { readStripePricing, WITH_DISCOUNTS } from './pricing.ts';
import { ensureProduct } from './products.ts';
import { readStripeSubscription } from './subscription-report.ts';

export const stripeSubscriptions = (stripe: Stripe, call: StripeCall, descriptor: string): SubscriptionsPort => {
  const billing = openBilling(stripe, call, descriptor);
  return {
    bills: ({ unit, count }) => count <= MOST_AT_ONCE[unit],
    find: billing.find,
    findOurs: async ({ customerId: customer, ourSubscriptionId, createdSince }) => {
      const list = (wanted: Stripe.SubscriptionListParams) =>
        call(
          () => stripe.subscriptions.list({ ...wanted, limit: PAGE }).autoPagingToArray({ limit: MOST_LISTED }),
          (all) =>
            all
              .map((one) => ({ ...readStripeSubscription(one), owed: [] }))
              .filter((one) => one.ourSubscriptionId === ourSubscriptionId),
        );
      const found = await list({ customer });
      const isGone = found.kind === 'refused' && found.reason === 'resource_missing';
      if (!isGone) return found;
      const created = { gte: createdSince };
      // Stripe documents only for the status `canceled` that a list includes subscriptions of deleted customers.
      const canceled = await list({ status: 'canceled', created });
      if (canceled.kind !== 'done') return canceled;
      const expired = await list({ status: 'incomplete_expired', created });
      return expired.kind === 'done' ? { kind: 'done', value: [...canceled.value, ...expired.value] } : expired;
    },
    findInvoice: billing.owed.find,
    findPaid: billing.owed.listPaid,
    create: (input) => create(billing, input),
    changeMethod: (input) => changeMethod(billing, input),
    adopt: ({ ourSubscriptionId, methodId, ...input }) =>
      billing.update(input, {
        metadata: { subscription_id: ourSubscriptionId },
        ...(methodId !== undefined && { default_payment_method: methodId }),
      }),
    payOwed: async (input) =>
      payOwed(billing, await billing.find(input.subscriptionId), { ...input, isAttended: false }),
    findPricing: (id) => call(() => stripe.subscriptions.retrieve(id, WITH_DISCOUNTS), readStripePricing),
    changePrice: (input) => changePrice(billing, input),
    scheduleCancel: (input) => scheduleCancel(billing, input),
    cancel: (input) => cancel(billing, input),
    pause: async (input) => {
      const paused = await billing.update(input, { pause_collection: { behavior: 'void' } });
      return input.dropsUnpaid
        ? dropOwed(billing, paused, input)
        : collect(billing, paused, { ...input, collects: false });
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

/** The longest interval that Stripe accepts, which is three years. */
const MOST_AT_ONCE: Readonly<Record<NewProviderSubscription['unit'], number>> = {
  day: 1_095,
  week: 156,
  month: 36,
  year: 3,
};

const WITH_INVOICE = { expand: ['latest_invoice.payments'] };

type Found = Outcome<ProviderSubscription>;
type Answered = Stripe.Response<Stripe.Subscription>;
type OfSubscription = CallOptions & { readonly subscriptionId: string };
type Billing = ReturnType<typeof openBilling>;

/** The SDK's types declare the headers as a plain object, but its fetch client returns `Headers`. */
const headerOf = (headers: object, name: string): unknown =>
  'get' in headers && typeof headers.get === 'function' ? headers.get(name) : undefined;

const openBilling = (stripe: Stripe, call: StripeCall, descriptor: string) => {
  const owed = owedInvoices(stripe, call);

  const find = (subscriptionId: string): Promise<Found> =>
    read(() => stripe.subscriptions.retrieve(subscriptionId, WITH_INVOICE));

  const read = async (send: () => Promise<Answered>): Promise<Found> => {
    const answered = await call(send, (subscription) => ({
      isOld: headerOf(subscription.lastResponse.headers, 'idempotent-replayed') === 'true',
      hasOneInvoice: hasOneInvoice(subscription),
      subscription: readStripeSubscription(subscription),
    }));
    if (answered.kind !== 'done') return answered;
    const { isOld, hasOneInvoice: isFirst, subscription } = answered.value;
    // A used idempotency key returns the first response again, which may be outdated.
    if (isOld) return afterChange(await find(subscription.subscriptionId));
    return afterChange(await withOwed(subscription, isFirst));
  };

  /** Reads the open invoices and the newest one with their intents. */
  const withOwed = async (subscription: Unread, isFirst: boolean): Promise<Found> => {
    const { subscriptionId, latestInvoice: newest } = subscription;
    const listed = isFirst ? NONE : await owed.list(subscriptionId);
    if (listed.kind !== 'done') return listed;
    const isListed = listed.value.find(({ invoiceId }) => invoiceId === newest?.invoiceId);
    const isRead = newest === undefined || newest.status === 'succeeded' || isListed;
    const found = isRead ? undefined : await owed.find(newest.invoiceId);
    if (found && found.kind !== 'done') return found;
    const latestInvoice = isListed ?? found?.value ?? newest;
    const isOwed = found !== undefined && (found.value.isOpen || found.value.status === 'pending');
    const all = isOwed ? [...listed.value, found.value] : listed.value;
    return { kind: 'done', value: { ...subscription, status: statusBy(subscription, all), latestInvoice, owed: all } };
  };

  const update = (
    { subscriptionId, idempotencyKey }: OfSubscription,
    changes: Stripe.SubscriptionUpdateParams,
  ): Promise<Found> =>
    read(() => stripe.subscriptions.update(subscriptionId, { ...changes, ...WITH_INVOICE }, { idempotencyKey }));

  return { stripe, call, descriptor, read, find, owed, update };
};

type Unread = Omit<ProviderSubscription, 'owed'>;

const NONE = { kind: 'done', value: [] } as const;

/** True if the subscription has only the invoice of its creation. */
const hasOneInvoice = ({ latest_invoice: newest }: Stripe.Subscription): boolean =>
  newest === null || (typeof newest === 'object' && newest.billing_reason === 'subscription_create');

/** Stripe reports a subscription as active once its newest invoice is paid, even if an older one is still unpaid. */
const statusBy = ({ status }: Unread, owed: readonly ProviderInvoice[]): ProviderSubscription['status'] =>
  status === 'active' && owed.some((invoice) => invoice.status === 'failed') ? 'past_due' : status;

/** Stripe creates the price with the subscription, but the product needs a separate call. */
const create = async (billing: Billing, input: NewProviderSubscription): Promise<Found> => {
  const { stripe, read } = billing;
  const { idempotencyKey } = input;
  const amount = stripeAmounts.toProvider(input);
  if (amount === undefined) return stripeAmounts.refused(input);
  const product = await ensureProduct(billing, input);
  if (product.kind !== 'done') return product;
  const wanted = { ...subscriptionOf(input, { product: product.value, amount }), ...WITH_INVOICE };
  return endIfDeclined(billing, await read(() => stripe.subscriptions.create(wanted, { idempotencyKey })), input);
};

/**
 * Cancels the incomplete subscription that a declined first charge leaves at Stripe, because its invoice could still be
 * paid. An invoice that waits for the payer's authentication is not declined.
 */
const endIfDeclined = async (billing: Billing, created: Found, { idempotencyKey }: CallOptions): Promise<Found> => {
  if (created.kind !== 'done' || !created.value.isIncomplete) return created;
  const { subscriptionId, latestInvoice } = created.value;
  if (latestInvoice?.status !== 'failed') return created;
  const canceled = await cancel(billing, { subscriptionId, idempotencyKey: `${idempotencyKey}:end` });
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
    items: [{ price_data: priceOf(input, { product, amount }) }],
    ...(input.isAttended
      ? { payment_behavior: 'allow_incomplete' as const }
      : { payment_behavior: 'error_if_incomplete' as const, off_session: true }),
    metadata: {
      subscription_id: input.ourSubscriptionId,
      ...(input.isBridge && input.trialEnd !== undefined && { [BRIDGE_MARK]: String(input.trialEnd) }),
    },
    ...(description && { description }),
    ...(input.trialEnd !== undefined && {
      trial_end: input.trialEnd,
      trial_settings: { end_behavior: { missing_payment_method: 'pause' } },
    }),
  };
};

const MAX_DESCRIPTION_LENGTH = 500;
const nameOf = ({ description }: NewProviderSubscription): string | undefined =>
  cutText(description ?? '', MAX_DESCRIPTION_LENGTH) || undefined;

const changeMethod = async (billing: Billing, input: Paying): Promise<Found> =>
  payOwed(billing, refusedMethod(await billing.update(input, { default_payment_method: input.methodId })), input);

/** Replaces the price of the subscription's item. Stripe charges the new price from the next renewal on. */
const changePrice = async (
  billing: Billing,
  input: NewPrice,
): Promise<Outcome<{ readonly subscriptionId: string }>> => {
  const { stripe, call } = billing;
  const { subscriptionId, idempotencyKey, trialEnd } = input;
  const amount = stripeAmounts.toProvider(input);
  if (amount === undefined) return stripeAmounts.refused(input);
  const product = await ensureProduct(billing, input);
  if (product.kind !== 'done') return product;
  const found = input.dropsUnpaid && (await billing.find(subscriptionId));
  const dropped = found && (await dropOwed(billing, found, { idempotencyKey: `${idempotencyKey}:drop` }));
  if (dropped && dropped.kind !== 'done') return dropped;
  const item = await call(
    () => stripe.subscriptions.retrieve(subscriptionId),
    ({ items }) => items.data[0]?.id ?? '',
  );
  if (item.kind !== 'done') return item;
  const price_data = priceOf(input, { product: product.value, amount });
  const changes: Stripe.SubscriptionUpdateParams = {
    items: [{ id: item.value, price_data, quantity: 1 }],
    proration_behavior: 'none',
    metadata: {
      [CHANGE_MARK]: input.changeId,
      ...(input.isBridge && typeof trialEnd === 'number' && { [BRIDGE_MARK]: String(trialEnd) }),
    },
    ...(trialEnd !== undefined && { trial_end: trialEnd }),
  };
  return call(
    () => stripe.subscriptions.update(subscriptionId, changes, { idempotencyKey }),
    ({ id }) => ({ subscriptionId: id }),
  );
};

const priceOf = (
  { currency, unit, count }: Pick<NewPrice, 'currency' | 'unit' | 'count'>,
  { product, amount }: { readonly product: string; readonly amount: number },
) => ({
  currency: currency.toLowerCase(),
  product,
  unit_amount: amount,
  recurring: { interval: unit, interval_count: count },
});

type Paying = OfSubscription & { readonly methodId: string; readonly isAttended: boolean };

/** Pays the open invoices of a past-due subscription. */
const payOwed = async ({ owed, find }: Billing, found: Found, input: Paying): Promise<Found> => {
  if (found.kind !== 'done' || found.value.status !== 'past_due' || found.value.owed.length === 0) return found;
  const paid = await owed.pay(found.value.owed, input);
  if (paid.kind !== 'done') return paid;
  // After a decline, or if an invoice was already paid, the invoices show the result.
  return withSettled(afterChange(await find(input.subscriptionId)), paid.value);
};

/** Schedules or withdraws a cancellation. A withdrawal also clears a date set in Stripe's customer portal. */
const scheduleCancel = async (
  { update }: Billing,
  input: OfSubscription & { readonly cancel: boolean },
): Promise<Found> => {
  const changed = await update(input, { cancel_at_period_end: input.cancel });
  if (input.cancel || changed.kind !== 'done' || changed.value.cancelAt === null) return changed;
  const target = { ...input, idempotencyKey: `${input.idempotencyKey}:cancel_at` };
  return afterChange(await update(target, { cancel_at: '' }));
};

/** Adds the invoices that the call has paid or voided. */
const withSettled = (found: Found, settled: readonly ProviderInvoice[]): Found => {
  if (found.kind !== 'done') return found;
  const isLeft = ({ invoiceId }: ProviderInvoice) => settled.every((one) => one.invoiceId !== invoiceId);
  return { kind: 'done', value: { ...found.value, owed: [...settled, ...found.value.owed.filter(isLeft)] } };
};

/** Names `payment_method` as the refused parameter, because Stripe names no parameter for a detached method. */
const refusedMethod = (changed: Found): Found =>
  changed.kind === 'refused' && changed.reason === INVALID_REQUEST
    ? { ...changed, parameter: changed.parameter ?? 'payment_method' }
    : changed;

/** Cancels the subscription and voids its unpaid invoices, which the payer could still pay with a client secret. */
const cancel = async (
  { stripe, call, owed }: Billing,
  { subscriptionId, idempotencyKey }: OfSubscription,
): Promise<Outcome<Pick<ProviderSubscription, 'subscriptionId' | 'owed'>>> => {
  const nothingOwed = { subscriptionId, owed: [] };
  const canceled = await call(() => stripe.subscriptions.cancel(subscriptionId, NEWEST), mayOwe);
  const isGone = canceled.kind === 'refused' && canceled.reason === 'resource_missing';
  if (canceled.kind !== 'done' && !isGone) return canceled;
  if (canceled.kind === 'done' && !canceled.value.owes) return { kind: 'done', value: nothingOwed };
  const left = await owed.list(subscriptionId);
  if (isGone && left.kind === 'refused') return { kind: 'done', value: nothingOwed };
  const voided = left.kind === 'done' ? await owed.drop(left.value, { idempotencyKey }) : left;
  return voided.kind === 'done' ? { kind: 'done', value: { subscriptionId, owed: voided.value } } : afterChange(voided);
};

const NEWEST = { expand: ['latest_invoice'] };

const mayOwe = (subscription: Stripe.Subscription): { readonly owes: boolean } => {
  const { latest_invoice: newest } = subscription;
  const isOpen = typeof newest === 'object' && newest?.status === 'open';
  return { owes: isOpen || !hasOneInvoice(subscription) };
};

/** Voids the owed invoices and reads the status again, because the newest invoice that is not void decides it. */
const dropOwed = async (
  { owed, find }: Billing,
  held: Found,
  options: CallOptions & { readonly except?: string | undefined },
): Promise<Found> => {
  const left = held.kind === 'done' ? held.value.owed.filter(({ invoiceId }) => invoiceId !== options.except) : [];
  if (held.kind !== 'done' || left.length === 0) return held;
  const voided = await owed.drop(left, options);
  if (voided.kind !== 'done') return voided;
  return withSettled(afterChange(await find(held.value.subscriptionId)), voided.value);
};

/** A subscription that Stripe paused at the end of a trial without a method needs Stripe's resume endpoint. */
const resume = async ({ stripe, read, update }: Billing, input: OfSubscription): Promise<Found> => {
  const resumed = await update(input, { pause_collection: '' });
  if (resumed.kind !== 'done' || resumed.value.status !== 'paused') return resumed;
  const options = { idempotencyKey: `${input.idempotencyKey}:resume` };
  const answered = await read(() => stripe.subscriptions.resume(input.subscriptionId, WITH_INVOICE, options));
  return answered.kind === 'not_done' ? afterChange(answered) : answered;
};

/** Starts and charges a new period, and voids the invoices from before the pause. */
const resumeInNewPeriod = async (billing: Billing, input: OfSubscription): Promise<Found> => {
  const { stripe, call, find, update } = billing;
  const current = await call(
    () => stripe.subscriptions.retrieve(input.subscriptionId),
    ({ status, pause_collection }) => ({ status, holds: pause_collection !== null }),
  );
  if (current.kind !== 'done') return current;
  if (current.value.status === 'paused') return resume(billing, input);
  if (!current.value.holds) return find(input.subscriptionId);
  const started = await update(input, {
    pause_collection: '',
    billing_cycle_anchor: { type: 'now' },
    proration_behavior: 'none',
    payment_behavior: 'error_if_incomplete',
    off_session: true,
  });
  const except = started.kind === 'done' ? started.value.latestInvoice?.invoiceId : undefined;
  return dropOwed(billing, started, { ...input, except });
};

/** Sets whether Stripe collects the open invoices, because a pause stops only later invoices. */
const collect = async (
  { owed }: Billing,
  changed: Found,
  options: CallOptions & { readonly collects: boolean },
): Promise<Found> => {
  if (changed.kind !== 'done') return changed;
  const set = await owed.setCollection(changed.value.owed, options);
  return set.kind === 'done' ? changed : set;
};
