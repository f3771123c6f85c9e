/**
 * @module The commands that work with a service key. They call the API, so they need no AWS credentials and no secret
 * of a provider, and may do only what the scopes of the key permit.
 */

import { randomUUID } from 'node:crypto';
import * as z from 'zod';
import { refundableDespiteDispute } from '../../../shared/core/money.ts';
import { disputeViewSchema } from '../../../shared/payments/dispute.ts';
import { refundViewSchema } from '../../../shared/payments/refunds/refund.ts';
import { timelineSchema } from '../../../shared/queries/payment-timeline.ts';
import { subscriptionTimelineSchema } from '../../../shared/queries/subscription-timeline.ts';
import { changePreviewSchema } from '../../../shared/subscriptions/record/plan-change-view.ts';
import type { ChangeTime } from '../../../shared/subscriptions/record/subscription-requests.ts';
import { type CaptureOptions, heldSchema, reportHold } from '../commands/holds.ts';
import { type RefundOptions, reportPlan, reportRefund } from '../commands/refund.ts';
import type { Report } from '../commands/report.ts';
import { reportPayment, reportSubscription } from '../commands/timeline.ts';
import type { Api } from '../installation/api.ts';
import { NotReachable } from '../installation/control.ts';
import { reportPreview } from './preview.ts';

const paymentSchema = z.object({
  id: z.string(),
  status: z.string(),
  total_cents: z.int(),
  refundable_cents: z.int(),
  captured_cents: z.int(),
  refunded_cents: z.int(),
  disputed_cents: z.int(),
  lost_cents: z.int(),
  currency: z.string(),
  provider_id: z.string(),
  provider_payment_id: z.string().nullish(),
});
type Payment = z.output<typeof paymentSchema>;

const subscriptionSchema = z.object({
  id: z.string(),
  status: z.string(),
  total_cents: z.int(),
  currency: z.string(),
  billing_interval: z.string(),
  provider_id: z.string(),
  billing_owner: z.string(),
  user_id: z.string().nullish(),
  organization_id: z.string().nullish(),
});
type Subscription = z.output<typeof subscriptionSchema>;

const foundSchema = z.array(
  z.object({ id: z.string(), provider_payment_id: z.string().nullish(), provider_intent_id: z.string().nullish() }),
);

/** The payment with this id, ours or its provider's. @throws NotReachable */
const findPayment = async (api: Api, id: string): Promise<Payment> => {
  const ours = id.startsWith('pay_') ? id : await ourIdOf(api, id);
  return paymentSchema.parse((await api.get(`/payments/${encodeURIComponent(ours)}`)).data);
};

/** A search also finds payments by words that several payments may share, such as a reference code. */
const ourIdOf = async (api: Api, id: string): Promise<string> => {
  const { data } = await api.get(`/admin/payments?search=${encodeURIComponent(id)}`);
  const named = foundSchema
    .parse(data)
    .find((found) => found.provider_payment_id === id || found.provider_intent_id === id);
  if (named) return named.id;
  throw new NotReachable(`there is no payment ${id}`);
};

/** As `timeline` without a key, by the scopes payments:read and subscriptions:read; deliveries by webhooks:read. */
export const showTimelineByKey = async (api: Api, id: string): Promise<Report> => {
  if (id.startsWith('subs_')) {
    const path = pathOf(id);
    const subscription = await readSubscription(api, id);
    return reportSubscription(subscription, await readTimeline(api, path, subscriptionTimelineSchema));
  }
  const payment = await findPayment(api, id);
  const path = `/payments/${payment.id}`;
  return reportPayment({
    payment,
    refunds: z.array(refundViewSchema()).parse((await api.get(`${path}/refunds`)).data),
    disputes: z.array(disputeViewSchema()).parse((await api.get(`${path}/disputes`)).data),
    entries: await readTimeline(api, path, timelineSchema),
  });
};

const pathOf = (subscriptionId: string): string => `/subscriptions/${encodeURIComponent(subscriptionId)}`;

const readSubscription = async (api: Api, id: string): Promise<Subscription> =>
  subscriptionSchema.parse((await api.get(pathOf(id))).data);

interface Entry {
  readonly at: string;
}

/** The whole timeline, oldest first. Pages lead back from the newest entries. */
const readTimeline = async <T extends Entry>(api: Api, path: string, schema: z.ZodType<T[]>): Promise<T[]> => {
  const pages: T[][] = [];
  let cursor: string | null | undefined;
  do {
    const query = cursor ? `?cursor=${encodeURIComponent(cursor)}` : '';
    const { data, meta } = await api.get(`${path}/timeline${query}`);
    pages.push(schema.parse(data));
    cursor = meta?.next_cursor;
  } while (cursor);
  return pages.flat().sort((one, other) => (one.at < other.at ? -1 : Number(one.at > other.at)));
};

/** As `reconcile` without a key, by the scope payments:operate. The service reads the payment at its provider. */
export const reconcileByKey = async (api: Api, id: string): Promise<Report> => {
  const payment = await findPayment(api, id);
  if (!payment.provider_payment_id) throw new NotReachable(`${payment.id} was never sent to its provider`);
  const path = `/payments/sync/${encodeURIComponent(payment.provider_payment_id)}`;
  const after = paymentSchema.parse((await api.post(path, {}, randomUUID())).data);
  const outcome = after.status === payment.status ? 'same' : 'stored';
  return {
    json: { payment_id: payment.id, before: payment.status, after: after.status, outcome },
    lines: [`${payment.id}: ${payment.status} -> ${after.status} (${outcome})`],
    exitCode: 0,
  };
};

/** As `refund` without a key, by the scopes payments:read and refunds:write. */
export const refundByKey = async (api: Api, id: string, options: RefundOptions): Promise<Report> => {
  const payment = await findPayment(api, id);
  const { amount, reason, despiteDispute } = options;
  if (options.dryRun) return planRefund(payment, options);
  const body = {
    ...(amount !== undefined && { amount_cents: amount }),
    ...(reason !== undefined && { reason }),
    ...(despiteDispute !== undefined && { despite_dispute: despiteDispute }),
  };
  const made = refundViewSchema().parse((await api.post(`/payments/${payment.id}/refunds`, body, randomUUID())).data);
  return reportRefund(made, await findPayment(api, payment.id), made.created_by ?? 'the key');
};

/** As `capture` without a key, by the scopes payments:read and payments:capture. */
export const captureByKey = async (api: Api, id: string, { amount }: CaptureOptions): Promise<Report> => {
  const payment = await findPayment(api, id);
  const body = amount === undefined ? {} : { amount_cents: amount };
  return reportHold(heldSchema.parse((await api.post(`/payments/${payment.id}/capture`, body, randomUUID())).data));
};

/** As `release` without a key, by the same scopes. The route would cancel a payment that is not held. @throws NotReachable */
export const releaseByKey = async (api: Api, id: string): Promise<Report> => {
  const payment = await findPayment(api, id);
  if (payment.status !== 'requires_capture' && payment.status !== 'canceled') {
    throw new NotReachable(`INVALID_STATE: ${payment.id} is ${payment.status}, so nothing is held`);
  }
  const path = `/payments/intents/${payment.id}/cancel`;
  return reportHold(heldSchema.parse((await api.post(path, {}, randomUUID())).data));
};

/** The API has no dry run, so only the remaining amount is checked. */
const planRefund = (payment: Payment, { amount, reason, despiteDispute }: RefundOptions): Report => {
  const left = despiteDispute ? refundableDespiteDispute(payment) : payment.refundable_cents;
  const amountCents = amount ?? left;
  if (left === 0 || amountCents > left) {
    throw new NotReachable(`${payment.id} is ${payment.status}, and ${left} minor units are left to refund`);
  }
  return reportPlan({ ...payment, refundable_cents: left }, { amountCents, reason });
};

export interface PlanOptions {
  readonly product?: string | undefined;
  readonly quantity?: number | undefined;
  readonly when?: ChangeTime | undefined;
}

/** What a change of the plan would cost its payer, by the scopes subscriptions:read and subscriptions:write. */
export const previewChangeByKey = async (api: Api, id: string, options: PlanOptions): Promise<Report> => {
  const { product, quantity, when } = options;
  const body = {
    ...(product !== undefined && { product_id: product }),
    ...(quantity !== undefined && { quantity }),
    ...(when !== undefined && { when }),
  };
  const payer = payerOf(await readSubscription(api, id));
  return reportPreview(changePreviewSchema().parse((await api.ask(`${pathOf(id)}/change/preview`, body, payer)).data));
};

/** As the header X-Act-For names the payer. @throws NotReachable for a guest, for whom no key can act */
const payerOf = ({ id, organization_id: organization, user_id: user }: Subscription): string => {
  if (organization) return `organization:${organization}`;
  if (user) return `user:${user}`;
  throw new NotReachable(`${id} is a guest's, and no key acts for a guest`);
};
