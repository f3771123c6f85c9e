import type Stripe from 'stripe';
import type { Outcome } from '../../core/outcome.ts';
import type { CallOptions } from '../port/call-options.ts';
import type {
  CreateNativeSubscription,
  NativeSubscriptions,
  ProviderInvoice,
  ProviderSubscription,
} from '../port/subscriptions.ts';
import { afterChange } from '../wire/failures.ts';
import { stripeAmounts } from './currencies.ts';
import type { StripeCall } from './outcome.ts';
import { readStripeInvoice, readStripeSubscription } from './subscription-report.ts';

/**
 * Stripe Billing. Every answer is asked for with its newest invoice; one that is still open is read again with its
 * intent, which alone knows why nobody has paid it (Stripe expands four levels, not the five that it would take).
 */
export const stripeSubscriptions = (stripe: Stripe, call: StripeCall): NativeSubscriptions => {
  const billing = openBilling(stripe, call);
  return {
    bills: ({ unit, count }) => count <= MOST_AT_ONCE[unit],
    find: billing.find,
    findOurs: ({ customerId: customer, ourSubscriptionId }) =>
      call(
        () => stripe.subscriptions.list({ customer, limit: PAGE }).autoPagingToArray({ limit: MOST_OF_A_CUSTOMER }),
        (found) => found.map(readStripeSubscription).filter((one) => one.ourSubscriptionId === ourSubscriptionId),
      ),
    findInvoice: billing.findInvoice,
    create: (input) => create(billing, input),
    changeMethod: (input) => changeMethod(billing, input),
    scheduleCancel: (input) => billing.update(input, { cancel_at_period_end: input.cancel }),
    cancel: (input) => cancel(billing, input),
    pause: async (input) => {
      const paused = await billing.update(input, { pause_collection: { behavior: 'void' } });
      return collect(billing, paused, { ...input, collects: false });
    },
    resume: async (input) =>
      input.anew
        ? resumeAnew(billing, input)
        : collect(billing, await resume(billing, input), { ...input, collects: true }),

    labelPayment: ({ intentId, paymentId, idempotencyKey }) =>
      call(
        () => stripe.paymentIntents.update(intentId, { metadata: { payment_id: paymentId } }, { idempotencyKey }),
        ({ id }) => ({ intentId: id }),
      ),
  };
};

/** Three years. */
const MOST_AT_ONCE: Readonly<Record<CreateNativeSubscription['unit'], number>> = {
  day: 1_095,
  week: 156,
  month: 36,
  year: 3,
};

const PAGE = 100;
const MOST_OF_A_CUSTOMER = 10_000;

const WITH_INVOICE = { expand: ['latest_invoice.payments'] };
const WITH_INTENT = { expand: ['payments.data.payment.payment_intent'] };

type Found = Outcome<ProviderSubscription>;
type Answered = Stripe.Response<Stripe.Subscription>;
type OfSubscription = CallOptions & { readonly subscriptionId: string };
type Billing = ReturnType<typeof openBilling>;

const openBilling = (stripe: Stripe, call: StripeCall) => {
  const findInvoice = (invoiceId: string): Promise<Outcome<ProviderInvoice>> =>
    call(() => stripe.invoices.retrieve(invoiceId, WITH_INTENT), readStripeInvoice);

  const find = (subscriptionId: string): Promise<Found> =>
    read(() => stripe.subscriptions.retrieve(subscriptionId, WITH_INVOICE));

  const read = async (send: () => Promise<Answered>): Promise<Found> => {
    const answered = await call(send, (subscription) => ({
      // A client of the SDK's own names them in an object, the fetch client hands on the real ones.
      isOld: new Headers(subscription.lastResponse.headers).get('idempotent-replayed') === 'true',
      subscription: readStripeSubscription(subscription),
    }));
    if (answered.kind !== 'done') return answered;
    const { isOld, subscription } = answered.value;
    // A key that was used before answers as it did then.
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

  return { stripe, call, read, find, findInvoice, update };
};

/** Stripe makes a price in passing, but no product. */
const create = async ({ stripe, call, read }: Billing, input: CreateNativeSubscription): Promise<Found> => {
  const { idempotencyKey } = input;
  const amount = stripeAmounts.toProvider(input);
  if (amount === undefined) return stripeAmounts.refused(input);
  const product = await call(
    () =>
      stripe.products.create(
        { name: nameOf(input) ?? 'Subscription', metadata: { subscription_id: input.ourSubscriptionId } },
        { idempotencyKey: `${idempotencyKey}:product` },
      ),
    ({ id }) => id,
  );
  if (product.kind !== 'done') return product;
  const wanted = { ...subscriptionOf(input, { product: product.value, amount }), ...WITH_INVOICE };
  return read(() => stripe.subscriptions.create(wanted, { idempotencyKey }));
};

/** A first charge that fails leaves nothing; a trial that ends without a method asks nobody for money. */
const subscriptionOf = (
  input: CreateNativeSubscription,
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
    off_session: true,
    payment_behavior: 'error_if_incomplete',
    metadata: { subscription_id: input.ourSubscriptionId },
    ...(description && { description }),
    ...(input.trialEnd !== undefined && {
      trial_end: input.trialEnd,
      trial_settings: { end_behavior: { missing_payment_method: 'pause' } },
    }),
  };
};

const MAX_DESCRIPTION_LENGTH = 500;
const nameOf = ({ description }: CreateNativeSubscription): string | undefined =>
  description?.slice(0, MAX_DESCRIPTION_LENGTH).toWellFormed() || undefined;

const changeMethod = async (
  { stripe, call, find, update }: Billing,
  input: OfSubscription & { readonly methodId: string },
): Promise<Found> => {
  const { subscriptionId, methodId, idempotencyKey } = input;
  const changed = refusedMethod(await update(input, { default_payment_method: methodId }));
  const unpaid = changed.kind === 'done' && changed.value.status === 'past_due' && unpaidOf(changed.value);
  if (!unpaid) return changed;
  const tried = await call(
    () =>
      stripe.invoices.pay(
        unpaid.invoiceId,
        { payment_method: methodId, off_session: true },
        { idempotencyKey: `${idempotencyKey}:pay` },
      ),
    ({ id }) => id,
  );
  if (tried.kind === 'unknown' || tried.kind === 'not_done') return afterChange(tried);
  // Declined, or paid meanwhile: the method is changed either way, and the invoice says what became of it.
  return afterChange(await find(subscriptionId));
};

/** Stripe names no parameter where it refuses a method that was detached: the call sends nothing but the method. */
const refusedMethod = (changed: Found): Found =>
  changed.kind === 'refused' && changed.reason === 'StripeInvalidRequestError'
    ? { ...changed, parameter: changed.parameter ?? 'payment_method' }
    : changed;

const unpaidOf = ({ latestInvoice }: ProviderSubscription): ProviderInvoice | undefined =>
  latestInvoice && ['failed', 'pending'].includes(latestInvoice.status) ? latestInvoice : undefined;

/** Stripe stops by itself to collect what is unpaid of it. */
const cancel = async (
  { stripe, call }: Billing,
  { subscriptionId }: OfSubscription,
): Promise<Outcome<{ readonly subscriptionId: string }>> => {
  const outcome = await call(
    () => stripe.subscriptions.cancel(subscriptionId),
    ({ id }) => ({ subscriptionId: id }),
  );
  const isGone = outcome.kind === 'refused' && outcome.reason === 'resource_missing';
  return isGone ? { kind: 'done', value: { subscriptionId } } : outcome;
};

/** One that Stripe itself paused, for want of a method at the end of its trial, is told in words of its own. */
const resume = async ({ stripe, read, update }: Billing, input: OfSubscription): Promise<Found> => {
  const resumed = await update(input, { pause_collection: '' });
  if (resumed.kind !== 'done' || resumed.value.status !== 'paused') return resumed;
  const options = { idempotencyKey: `${input.idempotencyKey}:resume` };
  const answered = await read(() => stripe.subscriptions.resume(input.subscriptionId, WITH_INVOICE, options));
  return answered.kind === 'not_done' ? afterChange(answered) : answered;
};

/** What was owed before it was paused is not asked for any more. */
const resumeAnew = async (billing: Billing, input: OfSubscription): Promise<Found> => {
  const { stripe, call, find, update } = billing;
  const stands = await call(
    () => stripe.subscriptions.retrieve(input.subscriptionId),
    ({ status, pause_collection }) => ({ status, holds: pause_collection !== null }),
  );
  if (stands.kind !== 'done') return stands;
  if (stands.value.status === 'paused') return resume(billing, input);
  if (!stands.value.holds) return find(input.subscriptionId);
  return update(input, {
    pause_collection: '',
    billing_cycle_anchor: { type: 'now' },
    proration_behavior: 'none',
    payment_behavior: 'error_if_incomplete',
    off_session: true,
  });
};

/** Whether Stripe goes on to collect what is still unpaid: to pause stops only what comes after it. */
const collect = async (
  { stripe, call }: Billing,
  changed: Found,
  { collects, idempotencyKey }: CallOptions & { readonly collects: boolean },
): Promise<Found> => {
  const unpaid = changed.kind === 'done' ? unpaidOf(changed.value) : undefined;
  if (!unpaid) return changed;
  const options = { idempotencyKey: `${idempotencyKey}:invoice` };
  const told = await call(
    () => stripe.invoices.update(unpaid.invoiceId, { auto_advance: collects }, options),
    ({ id }) => id,
  );
  // A refusal: it is open no more.
  return told.kind === 'unknown' || told.kind === 'not_done' ? afterChange(told) : changed;
};
