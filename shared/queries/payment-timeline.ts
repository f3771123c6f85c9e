import * as z from 'zod';
import type { Caller } from '../access/caller.ts';
import type { Standings } from '../access/standing.ts';
import { DISPUTE_STATUSES, REFUND_REASONS, REFUND_STATUSES } from '../core/money-back.ts';
import { DECLINE_CODES } from '../core/outcome.ts';
import { timestamp } from '../http/fields.ts';
import type { Reply } from '../http/reply.ts';
import type { ApiRequest } from '../http/request.ts';
import { actorSchema } from '../payments/record/actor.ts';
import { CAUSES, PAYMENT_STATUSES, paymentSchema, type VisiblePayment } from '../payments/record/payment.ts';
import { HISTORY_PREFIX, paymentKey } from '../table/keys.ts';
import type { Item, Table } from '../table/table.ts';
import { mayReadLogOf } from '../webhooks/logs/access.ts';

/**
 * The history of a payment, oldest first: its versions with their causes, the provider's events with their results, and
 * the attempts to deliver its events to targets. Versions are kept for ever, the rest for 90 days, as in the webhook log.
 */
/** The refund or dispute that the version changed, as it was then. */
const changedRefund = z.object({
  id: z.string().describe('Names the refund, `ref_…`.'),
  amount_cents: z.int().describe('What goes back, in minor units.'),
  status: z.enum(REFUND_STATUSES).describe('The status of the refund after the change.'),
  reason: z.enum(REFUND_REASONS).nullable().describe('Why the payment was refunded; null if no reason was given.'),
});
const changedDispute = z.object({
  id: z.string().describe('Names the dispute, `dsp_…`.'),
  amount_cents: z.int().describe('What the payer asks back, in minor units.'),
  status: z.enum(DISPUTE_STATUSES).describe('The status of the dispute after the change.'),
  reason: z.string().nullable().describe("The provider's word; null if it gives none."),
  evidence_due_by: timestamp.nullable().describe('Until when the provider takes evidence; null if it names no date.'),
});
const madeBy = {
  actor: actorSchema
    .nullable()
    .describe('On whose behalf the entry was made; null for a version that is older than the field.'),
  request_id: z
    .string()
    .nullable()
    .describe("The id of the HTTP request, the provider's event or the queue's message that made the entry."),
};
const at = timestamp.describe('When the entry was made; entries are sorted by it.');
const change = z
  .object({
    kind: z.literal('change').describe('Marks a version of the payment.'),
    at,
    version: z.int().describe('The number of the version, from 1.'),
    status: z.enum(PAYMENT_STATUSES).describe('The status of the payment in this version.'),
    cause: z
      .enum(CAUSES)
      .nullable()
      .describe('What led to the version: a request, an answer or event of the provider, or work of the service.'),
    attempt: z.int().describe('The number of the attempt to charge; 0 before the first.'),
    failure_code: z.enum(DECLINE_CODES).optional().describe('Why the attempt was declined; absent if it was not.'),
    anomaly: z
      .string()
      .optional()
      .describe('How a report of the provider contradicts the record; absent without a contradiction.'),
    refund: changedRefund.optional().describe('The refund that the version changed, as it was then.'),
    dispute: changedDispute.optional().describe('The dispute that the version changed, as it was then.'),
    ...madeBy,
  })
  .meta({ id: 'TimelineChange', description: 'A version of the payment. Versions are kept for ever.' });
const logged = {
  at,
  ...madeBy,
  event_type: z.string().describe('The name of the event, such as `payment.succeeded`.'),
  event_id: z.string().describe('Names the event: at the provider, or as `webhook-id` at the target.'),
  log_id: z.string().describe('Names the entry of the webhook log, for `GET /webhooks/logs/{id}`.'),
  reason: z.string().nullable().describe('Why the event was ignored or failed; null if it was not.'),
};
const providerEvent = z
  .object({
    kind: z.literal('provider_event').describe('Marks an event that the provider sent.'),
    outcome: z.string().describe('What the service did with the event, such as `applied` or `ignored`.'),
    ...logged,
  })
  .meta({ id: 'TimelineProviderEvent', description: 'An event of the provider about the payment. Kept for 90 days.' });
const delivery = z
  .object({
    kind: z.literal('delivery').describe('Marks an attempt to deliver an event.'),
    target: z.string().describe('The webhook target, by the name of its node.'),
    status: z.enum(['success', 'failed']).describe('`success` if the target answered 2xx in time.'),
    attempt: z.int().describe('The number of the attempt to deliver the event to this target, from 1.'),
    http_status: z.int().nullable().describe("The status of the target's answer; null without an answer."),
    ...logged,
  })
  .meta({
    id: 'TimelineDelivery',
    description: 'An attempt to deliver an event of the payment to a target. Kept for 90 days.',
  });
const entrySchema = z.discriminatedUnion('kind', [change, providerEvent, delivery]);
export type TimelineEntry = z.infer<typeof entrySchema>;
export const timelineSchema = z.array(entrySchema);

/** More entries than a payment has, unless a target fails for weeks. */
const MAX_ENTRIES = 500;

export const paymentTimeline = async (
  { table, standings }: { readonly table: Table; readonly standings: Standings },
  { record, caller }: Pick<ApiRequest<unknown, unknown, unknown, VisiblePayment>, 'record' | 'caller'>,
): Promise<Reply> => {
  const [{ entries, isComplete }, withLog] = await Promise.all([
    timelineOf(table, record.id),
    maySeeLog(standings, caller, record),
  ]);
  return {
    data: withLog ? entries : entries.filter(({ kind }) => kind === 'change'),
    meta: { payment_id: record.id, status: record.status, is_complete: isComplete },
  };
};

/** Entries of the webhook log are for callers who may read the log now. */
const maySeeLog = async (standings: Standings, caller: Caller, payment: VisiblePayment): Promise<boolean> => {
  if (caller.kind !== 'session') return false;
  return mayReadLogOf(caller, payment, (organizationId) => standings.consistent(caller, organizationId));
};

export interface Timeline {
  readonly entries: readonly TimelineEntry[];
  /** Otherwise some deliveries are missing; versions are always complete. */
  readonly isComplete: boolean;
}

export const timelineOf = async (table: Table, paymentId: string): Promise<Timeline> => {
  const { items, next } = await table.queryItems({
    partition: paymentKey(paymentId).pk,
    from: HISTORY_PREFIX,
    to: `${HISTORY_PREFIX}~`,
    limit: MAX_ENTRIES,
  });
  const entries = items.map((item) => ('direction' in item ? entryOfLog(item) : entryOfVersion(item)));
  return { entries: entries.sort(inOrder), isComplete: next === undefined };
};

const RANK = { change: 0, provider_event: 1, delivery: 2 } as const;
const numberOf = (entry: TimelineEntry): number => {
  if (entry.kind === 'change') return entry.version;
  return entry.kind === 'delivery' ? entry.attempt : 0;
};
const inOrder = (one: TimelineEntry, other: TimelineEntry): number => {
  if (one.at !== other.at) return one.at < other.at ? -1 : 1;
  return RANK[one.kind] - RANK[other.kind] || numberOf(one) - numberOf(other);
};

const versionItem = z.object({
  sk: z.string(),
  at: z.string(),
  status: z.enum(PAYMENT_STATUSES),
  cause: z.enum(CAUSES).optional(),
  attempt: z.int(),
  failureCode: z.enum(DECLINE_CODES).optional(),
  anomaly: z.string().optional(),
  refund: paymentSchema.shape.refund,
  dispute: paymentSchema.shape.dispute,
  actor: actorSchema.optional(),
  requestId: z.string().optional(),
});
type VersionItem = z.infer<typeof versionItem>;

const entryOfVersion = (item: Item): TimelineEntry => {
  const { sk, at, status, cause, attempt, failureCode, anomaly, actor, requestId, ...rest } = versionItem.parse(item);
  return {
    ...{ kind: 'change', at, version: Number(sk.slice(HISTORY_PREFIX.length)), status, cause: cause ?? null, attempt },
    ...(failureCode && { failure_code: failureCode }),
    ...(anomaly && { anomaly }),
    ...moneyBackOf(rest),
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

const logItem = z.object({
  at: z.string(),
  logId: z.string(),
  direction: z.enum(['inbound', 'outbound']),
  eventType: z.string(),
  eventId: z.string(),
  status: z.enum(['success', 'failed']),
  attempt: z.int(),
  target: z.string().default(''),
  outcome: z.string().default('unknown'),
  reason: z.string().optional(),
  httpStatus: z.int().optional(),
  provider: z.string().optional(),
  messageId: z.string().optional(),
});

const entryOfLog = (item: Item): TimelineEntry => {
  const { at, logId, direction, eventType, eventId, status, attempt, target, ...rest } = logItem.parse(item);
  const madeBy = direction === 'inbound' ? ofProvider(rest.provider, eventId) : ofDelivery(rest.messageId);
  const common = {
    at,
    ...madeBy,
    event_type: eventType,
    event_id: eventId,
    log_id: logId,
    reason: rest.reason ?? null,
  };
  return direction === 'inbound'
    ? { kind: 'provider_event', outcome: rest.outcome, ...common }
    : { kind: 'delivery', target, status, attempt, http_status: rest.httpStatus ?? null, ...common };
};

const ofProvider = (provider: string | undefined, eventId: string) => ({
  actor: provider === undefined ? null : ({ type: 'provider', id: provider } as const),
  request_id: eventId,
});

const ofDelivery = (messageId: string | undefined) => ({
  actor: { type: 'system', id: 'webhook-delivery' } as const,
  request_id: messageId ?? null,
});
