/** @module One log entry per webhook attempt, inbound or outbound, redacted when written and kept for 90 days. */

import * as z from 'zod';
import { plainId } from '../core/ids.ts';
import { redact } from '../core/redaction.ts';
import { DAY_MS, epochSeconds, instant } from '../core/time.ts';
import type { Clause } from '../platform/expression.ts';
import { type Historic, historyLogKey, type Key, listSort, logKey, shardOf } from '../platform/keys.ts';
import type { Item, Table } from '../platform/table.ts';
import { packedPayload, payloadOf } from './packed-payload.ts';

export const LOG_STATUSES = ['success', 'failed'] as const;
export type LogStatus = (typeof LOG_STATUSES)[number];

/** A provider's event in the API's form, with amounts in minor units and currencies in lower case. */
const shownEventSchema = z.object({
  id: z.string(),
  amount: z.number().optional(),
  currency: z.string().optional(),
  status: z.string().optional(),
  /** Unix seconds. */
  created: z.int(),
});
export type ShownEvent = z.infer<typeof shownEventSchema>;

export interface LogEntry {
  readonly provider: string;
  readonly eventType: string;
  readonly eventId: string;
  readonly status: LogStatus;
  readonly direction: 'inbound' | 'outbound';
  /** Counted from 1. */
  readonly attempt: number;
  readonly target?: string | undefined;
  /** The queue message of an outbound attempt. A redriven or replayed message restarts its attempts at 1. */
  readonly messageId?: string | undefined;
  readonly payload: unknown;
  /** The payload of an inbound event as payers see it, in the API's form. */
  readonly shown?: ShownEvent | undefined;
  readonly response: unknown;
  readonly createdAt: string;
  /** The time of a failed delivery's next attempt; absent after the last attempt. */
  readonly nextAttemptAt?: string | undefined;
  /** The owner. The user, or members of the organization, may read the entry. */
  readonly organizationId?: string | undefined;
  readonly userId?: string | undefined;
  /** The event's record. Its timeline shows the entry. */
  readonly about?: Historic | undefined;
  /** The provider's id of an event forwarded unchanged. A replay sends the stored event again. */
  readonly sourceId?: string | undefined;
  /** The trace to continue in a replay of a forwarded event. */
  readonly traceparent?: string | undefined;
}

/**
 * Writes a log entry, and a timeline entry if the entry is about a record. Each attempt has its own key, so a repeated
 * write changes nothing, and a success is never overwritten.
 */
export const writeLog = async (table: Table, entry: LogEntry): Promise<void> => {
  const items = [logItem(entry), ...(entry.about === undefined ? [] : [historyItem(entry, entry.about)])];
  await Promise.all(items.map((item) => table.put(item, [UNLESS_SUCCESS])));
};

const UNLESS_SUCCESS: Clause = { any: [{ absent: true }, { differs: ['status', 'success'] }] };

const KEPT_MS = 90 * DAY_MS;

export const logItem = (entry: LogEntry): Item => {
  const id = idOf(entry);
  const { provider, eventType, eventId, status, direction, attempt, target, createdAt } = entry;
  const scope = scopeOf(entry);
  return {
    ...logKey(id),
    id,
    provider,
    eventType,
    eventId,
    status,
    direction,
    attempt,
    target,
    payload: packedPayload(redact(entry.payload)),
    shown: entry.shown,
    response: redact(entry.response),
    createdAt,
    nextAttemptAt: entry.nextAttemptAt,
    organizationId: entry.organizationId,
    userId: entry.userId,
    ...(entry.sourceId !== undefined && { sourceId: entry.sourceId, traceparent: entry.traceparent }),
    sort: listSort(createdAt, id),
    f: { p: provider, e: eventType },
    project: partitionOf(EVERYBODY, status, shardOf(id, SHARDS_OF_ALL)),
    ...(scope !== undefined && { owner: partitionOf(scope, status, shardOf(id, SHARDS_OF_OWNER)) }),
    ttl: epochSeconds(instant(createdAt) + KEPT_MS),
  };
};

const responseSchema = z.object({
  outcome: z.string().optional(),
  reason: z.string().optional(),
  http_status: z.int().optional(),
  error: z.string().optional(),
});

/** The entry in a timeline, without payload and owner. */
const historyItem = (entry: LogEntry, about: Historic): Item => {
  const { eventType, eventId, status, direction, attempt, target, createdAt, messageId } = entry;
  const logId = idOf(entry);
  const { outcome, reason, http_status: httpStatus, error } = responseSchema.parse(entry.response);
  return {
    ...historyLogKey(about, logId),
    ...{ logId, at: createdAt, direction, eventType, eventId, status, attempt },
    ...{ target, outcome, reason: reason ?? error, httpStatus, messageId, nextAttemptAt: entry.nextAttemptAt },
    ...(direction === 'inbound' && { provider: entry.provider }),
    ttl: epochSeconds(instant(createdAt) + KEPT_MS),
  };
};

type Attempt = Pick<LogEntry, 'direction' | 'provider' | 'eventId' | 'target' | 'messageId' | 'attempt'>;

const idOf = ({ direction, provider, eventId, target, messageId, attempt }: Attempt): string =>
  plainId('log', direction, provider, eventId, target ?? '', messageId ?? '', String(attempt));

/** The key of an inbound event's only log entry. The entry is written once the event is applied or given up. */
export const inboundLogKey = ({ provider, eventId }: Pick<LogEntry, 'provider' | 'eventId'>): Key =>
  logKey(idOf({ direction: 'inbound', provider, eventId, attempt: 1 }));

const logRecordSchema = z.object({
  id: z.string(),
  provider: z.string(),
  eventType: z.string(),
  eventId: z.string(),
  status: z.enum(LOG_STATUSES),
  direction: z.enum(['inbound', 'outbound']),
  attempt: z.int(),
  target: z.string().optional(),
  payload: z.unknown().transform(payloadOf),
  shown: shownEventSchema.optional(),
  response: z.unknown(),
  createdAt: z.string(),
  nextAttemptAt: z.string().optional(),
  organizationId: z.string().optional(),
  userId: z.string().optional(),
  sourceId: z.string().optional(),
  traceparent: z.string().optional(),
});
export type LogRecord = z.infer<typeof logRecordSchema>;

export const logRecordOf = (item: Item): LogRecord => logRecordSchema.parse(item);

/** The entries that a caller may list: all (the merchant), an organization's, or the user's own. */
export type LogScope =
  | { readonly kind: 'everybody' }
  | { readonly kind: 'organization'; readonly organizationId: string }
  | { readonly kind: 'user'; readonly userId: string };

/** The partitions with the entries of a scope, each ordered by time. */
export const logPartitions = (
  scope: LogScope,
  status: LogStatus | undefined,
): { readonly index: 'owner' | 'project'; readonly partitions: readonly string[] } => {
  const statuses = status === undefined ? LOG_STATUSES : [status];
  const partitionsOf = (name: string, count: number): readonly string[] =>
    statuses.flatMap((one) => Array.from({ length: count }, (_, shard) => partitionOf(name, one, shard)));
  if (scope.kind === 'everybody') return { index: 'project', partitions: partitionsOf(EVERYBODY, SHARDS_OF_ALL) };
  const name = scopeOf(scope.kind === 'user' ? { userId: scope.userId } : { organizationId: scope.organizationId });
  return { index: 'owner', partitions: partitionsOf(name ?? '', SHARDS_OF_OWNER) };
};

/**
 * The number of partitions per status for one owner, because an index partition accepts only 1,000 writes per second.
 */
const SHARDS_OF_OWNER = 4;
const SHARDS_OF_ALL = 16;
const EVERYBODY = 'ALL';

/** Each status has its own partitions, so a query for failures reads no successes. */
const partitionOf = (scope: string, status: LogStatus, shard: number): string => `LOG#${scope}#${status}#${shard}`;

const scopeOf = ({ organizationId, userId }: Pick<LogEntry, 'organizationId' | 'userId'>): string | undefined => {
  if (organizationId !== undefined) return `ORG#${organizationId}`;
  return userId === undefined ? undefined : `USER#${userId}`;
};
