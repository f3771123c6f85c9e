/**
 * @module Subscriptions and invoices in the interface's format, which is a subset of Stripe's. Newer versions of
 * Stripe moved the period to the subscription's items, and an invoice's subscription and intent to nested objects.
 * Each webhook endpoint has its own version, so the service reads both places.
 */

import * as z from 'zod';
import { wordTable } from './adapter.ts';
import type { EventInvoice, EventSubscription } from './subscription-port.ts';

const reference = z.nullish(z.union([z.string(), z.looseObject({ id: z.string() })]));
const metadata = z.nullish(z.record(z.string(), z.unknown()));
const seconds = z.nullish(z.int().check(z.nonnegative()));
const period = { current_period_start: seconds, current_period_end: seconds };

const item = z.looseObject({
  ...period,
  quantity: z.nullish(z.number()),
  price: z.nullish(z.looseObject({ unit_amount: z.nullish(z.int()), currency: z.nullish(z.string()) })),
});

const subscriptionSchema = z.looseObject({
  id: z.string(),
  status: z.nullish(z.string()),
  ...period,
  items: z.nullish(z.looseObject({ data: z.array(item) })),
  trial_end: seconds,
  cancel_at: seconds,
  cancel_at_period_end: z.nullish(z.boolean()),
  default_payment_method: reference,
  pause_collection: z.nullish(z.looseObject({})),
  metadata,
});

export const readEventSubscription = (object: unknown): EventSubscription | undefined => {
  const said = subscriptionSchema.safeParse(object).data;
  if (!said) return undefined;
  const [item] = said.items?.data ?? [];
  return {
    subscriptionId: said.id,
    ourSubscriptionId: ourIdIn(said.metadata),
    status: statusOf(said),
    currentPeriodStart: item?.current_period_start ?? said.current_period_start ?? undefined,
    currentPeriodEnd: item?.current_period_end ?? said.current_period_end ?? undefined,
    trialEnd: said.trial_end ?? undefined,
    isBridge: said.trial_end != null && said.metadata?.[BRIDGE_MARK] === String(said.trial_end),
    ...endOf(said),
    isUnpaid: said.status == null ? undefined : said.status === 'unpaid',
    price: priceOf(said),
    methodId: idOf(said.default_payment_method),
    changeId: textOf(said.metadata?.[CHANGE_MARK]),
  };
};

/** The metadata key that marks a trial over already paid time. Its value is the end of that trial. */
export const BRIDGE_MARK = 'paid_until';

/** The metadata key for our id of the last price change. */
export const CHANGE_MARK = 'plan_change';

const textOf = (value: unknown): string | undefined => (typeof value === 'string' ? value : undefined);

type SaidSubscription = z.infer<typeof subscriptionSchema>;

/**
 * The scheduled end, which either field may report. Stripe's customer portal sets `cancel_at` instead of
 * `cancel_at_period_end`.
 */
const endOf = ({
  cancel_at: at,
  cancel_at_period_end: atPeriodEnd,
}: SaidSubscription): Pick<EventSubscription, 'cancelAt' | 'cancelAtPeriodEnd'> => ({
  cancelAt: at,
  cancelAtPeriodEnd: typeof at === 'number' ? true : (atPeriodEnd ?? undefined),
});

/** The price in the currency units of the sender; undefined if an item has no fixed amount. */
const priceOf = ({ items }: SaidSubscription): EventSubscription['price'] => {
  const currency = items?.data[0]?.price?.currency?.toUpperCase();
  const amounts = (items?.data ?? []).map(({ price, quantity }) =>
    typeof price?.unit_amount === 'number' ? price.unit_amount * (quantity ?? 1) : Number.NaN,
  );
  const amountCents = amounts.reduce((sum, amount) => sum + amount, 0);
  return currency === undefined || Number.isNaN(amountCents) ? undefined : { amountCents, currency };
};

const STATUSES = wordTable<EventSubscription['status']>({
  trialing: 'trialing',
  active: 'active',
  past_due: 'past_due',
  unpaid: 'past_due',
  incomplete: 'past_due',
  canceled: 'canceled',
  incomplete_expired: 'canceled',
  paused: 'paused',
});

/** Stripe does not change the status when collection is paused. The service reports such a subscription as paused. */
const statusOf = (said: SaidSubscription): EventSubscription['status'] => {
  const status = STATUSES.get(said.status ?? '');
  return said.pause_collection && status !== 'canceled' ? 'paused' : status;
};

const ofSubscription = z.nullish(z.looseObject({ subscription: reference, metadata }));
const listOf = <T extends z.ZodType>(item: T) => z.nullish(z.looseObject({ data: z.array(item) }));

const invoiceSchema = z.looseObject({
  id: z.string(),
  status: z.nullish(z.string()),
  amount_due: z.nullish(z.int()),
  amount: z.nullish(z.int()),
  billing_reason: z.nullish(z.string()),
  currency: z.nullish(z.string()),
  attempt_count: z.nullish(z.int().check(z.nonnegative())),
  next_payment_attempt: seconds,
  created: seconds,
  status_transitions: z.nullish(z.looseObject({ paid_at: seconds })),
  subscription: reference,
  subscription_details: ofSubscription,
  parent: z.nullish(z.looseObject({ subscription_details: ofSubscription })),
  payment_intent: reference,
  payments: listOf(z.looseObject({ payment: z.looseObject({ payment_intent: reference }) })),
  lines: listOf(z.looseObject({ period: z.nullish(z.looseObject({ start: seconds, end: seconds })) })),
  metadata,
});

export const readEventInvoice = (object: unknown): EventInvoice | undefined => {
  const said = invoiceSchema.safeParse(object).data;
  if (!said) return undefined;
  const details = said.parent?.subscription_details ?? said.subscription_details;
  const [payment] = said.payments?.data ?? [];
  // The invoice's own period is the previous period. Only the line of the invoice has the paid period.
  const paidFor = said.lines?.data.at(-1)?.period;
  return {
    invoiceId: said.id,
    intentId: idOf(payment?.payment.payment_intent ?? said.payment_intent),
    subscriptionId: idOf(details?.subscription ?? said.subscription),
    ourSubscriptionId: ourIdIn(details?.metadata) ?? ourIdIn(said.metadata),
    status: invoiceStatus(said.status, said.attempt_count ?? 0),
    ...openOrVoid(said.status),
    amountCents: said.amount_due ?? said.amount ?? undefined,
    reason: REASONS.get(said.billing_reason ?? ''),
    currency: said.currency?.toUpperCase(),
    periodStart: paidFor?.start ?? undefined,
    periodEnd: paidFor?.end ?? undefined,
    createdAt: said.created ?? undefined,
    paidAt: said.status_transitions?.paid_at ?? undefined,
    attempts: said.attempt_count ?? undefined,
    failureCode: undefined,
    nextAttempt: said.next_payment_attempt,
  };
};

const openOrVoid = (status: string | null | undefined): Pick<EventInvoice, 'isOpen' | 'isVoid'> => ({
  ...(status === 'open' && { isOpen: true }),
  ...(status === 'void' && { isVoid: true }),
});

const REASONS = wordTable<EventInvoice['reason']>({
  subscription_create: 'create',
  subscription_cycle: 'cycle',
  subscription_update: 'change',
});

const INVOICE_STATUSES = wordTable<EventInvoice['status']>({
  paid: 'succeeded',
  draft: 'pending',
  void: 'failed',
  uncollectible: 'failed',
  succeeded: 'succeeded',
  failed: 'failed',
  processing: 'processing',
  pending: 'pending',
});

const invoiceStatus = (status: string | null | undefined, attempts: number): EventInvoice['status'] => {
  if (status === 'open') return attempts > 0 ? 'failed' : 'pending';
  return INVOICE_STATUSES.get(status ?? '');
};

const idOf = (said: z.infer<typeof reference>): string | undefined => (typeof said === 'string' ? said : said?.id);

const ourIdIn = (said: z.infer<typeof metadata>): string | undefined => {
  const id = said?.['subscription_id'];
  return typeof id === 'string' && id !== '' ? id : undefined;
};
