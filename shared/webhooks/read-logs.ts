/** @module Reads the webhook log, and shows its entries as payers and the merchant may see them. */

import * as z from 'zod';
import { type Audience, audienceOf } from '../access/audience.ts';
import { LOG_STATUSES, type LogRecord, type LogStatus, logPartitions, logRecordOf } from '../event-log/log-entry.ts';
import { timestamp } from '../http/fields.ts';
import { type OffsetPage, offsetReply, runList } from '../http/paging.ts';
import type { ApiRequest, Reply } from '../http/request.ts';
import { CANONICAL_EVENTS } from '../platform/bus-event.ts';
import type { Clause } from '../platform/expression.ts';
import { logKey } from '../platform/keys.ts';
import type { Table } from '../platform/table.ts';
import { listTogetherCounted } from '../platform/totals.ts';
import { type LogAccessDeps, logScopeOf, requireVisible } from './log-access.ts';

export interface LogDeps extends LogAccessDeps {
  readonly table: Table;
}

export interface LogsQuery extends OffsetPage {
  readonly provider?: string | undefined;
  readonly event_type?: string | undefined;
  readonly status?: LogStatus | undefined;
}

/** Lists the log entries, newest first. The cost of a page does not grow with the number of entries. */
export const listLogs = async (deps: LogDeps, { caller, query }: ApiRequest<unknown, LogsQuery>): Promise<Reply> => {
  const { index, partitions } = logPartitions(await logScopeOf(deps, caller), query.status);
  return runList(deps.table, {
    findPage: () =>
      listTogetherCounted(deps.table, partitions, {
        index,
        filter: filterOf(query),
        offset: query.offset,
        limit: query.limit,
      }),
    recordOf: logRecordOf,
    viewsOf: (records) => records.map((record) => listedViewOfLog(record, audienceOf(caller, 'webhooks:read'))),
    replyOf: (views, listed, total) => offsetReply(views, { listed, page: query, total }),
  });
};

const filterOf = ({ provider, event_type: eventType }: LogsQuery): readonly Clause[] => [
  ...(provider === undefined ? [] : [{ equals: ['f.p', provider] as const }]),
  ...(eventType === undefined ? [] : [{ equals: ['f.e', eventType] as const }]),
];

export const getLog = async (deps: LogDeps, request: ApiRequest<{ id: string }>): Promise<Reply> => ({
  data: viewOfLog(await logFor(deps, request), audienceOf(request.caller, 'webhooks:read')),
});

/** @returns the entry in the path @throws DomainError RESOURCE_NOT_FOUND if this caller may not see it */
export const logFor = async (
  deps: LogDeps,
  { caller, params }: Pick<ApiRequest<{ id: string }>, 'caller' | 'params'>,
): Promise<LogRecord> => {
  const item = await deps.table.get(logKey(params.id));
  return requireVisible(deps, caller, item && logRecordOf(item));
};

/** A log entry as callers see it. */
export const logView = z
  .object({
    id: z.string().describe('Id of the entry, `log_…`.'),
    provider: z.string().meta({ description: 'The provider slot that the event is about.', examples: ['provider_a'] }),
    event_type: z.string().meta({
      description: 'The event, as a canonical name, or as the slot and the name that the provider gave it.',
      examples: ['payment.succeeded'],
    }),
    status: z.enum(LOG_STATUSES).describe('Whether the attempt succeeded.'),
    direction: z
      .enum(['inbound', 'outbound'])
      .describe('`inbound`: an event of a provider; `outbound`: a delivery to one of your targets.'),
    attempt: z.int().describe('The number of the attempt, from 1.'),
    target: z
      .string()
      .nullable()
      .meta({ description: 'The target of a delivery; null for inbound events.', examples: ['WEBHOOK_1'] }),
    event_id: z.string().describe("The event's id: `msg_…` for deliveries, the provider's own for inbound events."),
    payload: z.unknown().meta({
      description:
        'The received or sent body, without secrets. An event of a provider is `{id, type, provider, data: {object: {id, amount, currency, status}}, created}`; the merchant sees it as received. In lists a payload over 16 KB is `{left_out, bytes}`.',
    }),
    response: z.unknown().meta({
      description:
        "The result of the attempt: the outcome, the status or the reason. The merchant also sees the beginning of the target's response.",
    }),
    created_at: timestamp.describe('When the attempt was made.'),
    next_attempt_at: timestamp
      .nullable()
      .describe('The planned time of the retry; null after a success, after the last attempt and for inbound events.'),
  })
  .meta({
    id: 'WebhookLog',
    description: 'One attempt: an event that a provider sent, or a delivery to a target.',
  });

export type LogView = z.infer<typeof logView>;

const viewOfLog = (record: LogRecord, audience: Audience): LogView => ({
  id: record.id,
  provider: record.provider,
  event_type: record.eventType,
  status: record.status,
  direction: record.direction,
  attempt: record.attempt,
  target: record.target ?? null,
  event_id: record.eventId,
  payload: audience === 'staff' ? record.payload : payersPayload(record),
  response: audience === 'staff' ? record.response : payersResponse(record),
  created_at: record.createdAt,
  next_attempt_at: record.nextAttemptAt ?? null,
});

/**
 * The payload for payers. A delivery of a canonical event shows its payload, because canonical events are meant for
 * outside readers. A delivery of a provider's event shows no payload. An inbound event is shown in the interface's
 * shape.
 */
const payersPayload = ({ direction, eventId, eventType, provider, payload, shown }: LogRecord): unknown => {
  if (direction === 'outbound') return CANONICAL_EVENTS.some((name) => name === eventType) ? payload : {};
  const { created, ...object } = shown ?? {};
  return { id: eventId, type: eventType, provider, data: { object }, created: created ?? null };
};

/** The result for payers. The other fields of a result, such as the target's own body, are for staff. */
const payersResponse = ({ response }: LogRecord): unknown => payersResponseSchema.safeParse(response).data ?? {};

const payersResponseSchema = z.object({
  outcome: z.string().optional(),
  reason: z.string().optional(),
  payment_id: z.string().optional(),
  status: z.string().optional(),
  http_status: z.int().optional(),
  error: z.string().optional(),
  duration_ms: z.number().optional(),
});

/**
 * The maximum size of a payload in a list, in bytes. A hundred payloads of the largest events would exceed the size
 * limit of a response.
 */
const LARGEST_LISTED = 16 * 1_024;

/** A log entry in a list, with a large payload replaced by its size. */
const listedViewOfLog = (record: LogRecord, audience: Audience): LogView => {
  const view = viewOfLog(record, audience);
  const bytes = Buffer.byteLength(JSON.stringify(view.payload) ?? '');
  return bytes <= LARGEST_LISTED ? view : { ...view, payload: { left_out: true, bytes } };
};
