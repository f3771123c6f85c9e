import * as z from 'zod';
import type { Standings } from '../access/standing.ts';
import { DISPUTE_STATUSES, REFUND_REASONS, REFUND_STATUSES } from '../core/money-back.ts';
import { DECLINE_CODES } from '../core/outcome.ts';
import type { Reply } from '../http/reply.ts';
import type { ApiRequest } from '../http/request.ts';
import { CAUSES, PAYMENT_STATUSES, paymentSchema, type VisiblePayment } from '../payments/record/payment.ts';
import type { Item, Table } from '../table/table.ts';
import {
  changeEntry,
  changeFields,
  LOG_ENTRIES,
  type LoggedEntry,
  readTimeline,
  shownEntries,
  type Timeline,
  versionFields,
} from './timeline.ts';

/** The history of a payment: see `timeline.ts`. */
/** The refund or dispute that the version changed, as it was then. */
const changedRefund = z.object({
  id: z.string(),
  amount_cents: z.int(),
  status: z.enum(REFUND_STATUSES),
  reason: z.enum(REFUND_REASONS).nullable(),
});
const changedDispute = z.object({
  id: z.string(),
  amount_cents: z.int(),
  status: z.enum(DISPUTE_STATUSES),
  reason: z.string().nullable(),
  evidence_due_by: z.string().nullable(),
});
const change = z.object({
  ...changeFields,
  status: z.enum(PAYMENT_STATUSES),
  cause: z.enum(CAUSES).nullable(),
  /** The number of the attempt to charge; 0 before the first. */
  attempt: z.int(),
  failure_code: z.enum(DECLINE_CODES).optional(),
  anomaly: z.string().optional(),
  refund: changedRefund.optional(),
  dispute: changedDispute.optional(),
});
type PaymentChange = z.infer<typeof change>;
export type TimelineEntry = PaymentChange | LoggedEntry;
export const timelineSchema = z.array(z.discriminatedUnion('kind', [change, ...LOG_ENTRIES]));

export const paymentTimeline = async (
  { table, standings }: { readonly table: Table; readonly standings: Standings },
  { record, caller }: Pick<ApiRequest<unknown, unknown, unknown, VisiblePayment>, 'record' | 'caller'>,
): Promise<Reply> => {
  const shown = await shownEntries(standings, { caller, owner: record }, timelineOf(table, record.id));
  return {
    data: shown.entries,
    meta: { payment_id: record.id, status: record.status, is_complete: shown.isComplete },
  };
};

export const timelineOf = (table: Table, paymentId: string): Promise<Timeline<PaymentChange>> =>
  readTimeline(table, { kind: 'PAY', id: paymentId }, entryOfVersion);

const versionItem = z.object({
  ...versionFields,
  status: z.enum(PAYMENT_STATUSES),
  cause: z.enum(CAUSES).optional(),
  attempt: z.int(),
  failureCode: z.enum(DECLINE_CODES).optional(),
  anomaly: z.string().optional(),
  refund: paymentSchema.shape.refund,
  dispute: paymentSchema.shape.dispute,
});
type VersionItem = z.infer<typeof versionItem>;

const entryOfVersion = (item: Item): PaymentChange => {
  const version = versionItem.parse(item);
  const { status, cause, attempt, failureCode, anomaly, actor, requestId } = version;
  return {
    ...changeEntry(version),
    ...{ status, cause: cause ?? null, attempt },
    ...(failureCode && { failure_code: failureCode }),
    ...(anomaly && { anomaly }),
    ...moneyBackOf(version),
    actor: actor ?? null,
    request_id: requestId ?? null,
  };
};

const moneyBackOf = ({ refund, dispute }: Pick<VersionItem, 'refund' | 'dispute'>) => ({
  ...(refund && { refund: { ...nameOf(refund), status: refund.status, reason: refund.reason ?? null } }),
  ...(dispute && {
    dispute: {
      ...nameOf(dispute),
      status: dispute.status,
      reason: dispute.reason ?? null,
      evidence_due_by: dispute.evidenceDueBy ?? null,
    },
  }),
});

const nameOf = ({ id, amountCents }: { readonly id: string; readonly amountCents: number }) => ({
  id,
  amount_cents: amountCents,
});
