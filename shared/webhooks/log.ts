import { derivedId, fingerprint } from '../core/ids.ts';
import { DAY, epochSeconds, instant, utcDay } from '../core/time.ts';
import { redacted } from '../observability/redaction.ts';
import { listSort, logKey } from '../table/keys.ts';
import type { Item } from '../table/table.ts';

/** One entry an attempt, inbound or outbound, redacted as it is written, kept 90 days. */
export interface LogEntry {
  readonly provider: string;
  readonly eventType: string;
  readonly eventId: string;
  readonly status: 'success' | 'failed';
  readonly direction: 'inbound' | 'outbound';
  /** Counted from 1. */
  readonly attempt: number;
  readonly target?: string | undefined;
  /** The message that carried an outbound attempt: one that comes anew (redriven, replayed) counts its attempts anew. */
  readonly messageId?: string | undefined;
  readonly payload: unknown;
  readonly response: unknown;
  readonly createdAt: string;
  /** Who may see it, beside platform admins. */
  readonly organizationId?: string | undefined;
  readonly userId?: string | undefined;
}

const KEPT_MS = 90 * DAY;
const LOG_SHARDS = 4;

/** The scope of all entries lives in the `project` index, an owner's in the `owner` index. */
const logPartition = (scope: string, day: string, shard: number): string => `LOG#${scope}#${day}#${shard}`;

export const logItem = (entry: LogEntry): Item => {
  const id = derivedId(
    'log',
    entry.direction,
    entry.provider,
    entry.eventId,
    entry.target ?? '',
    entry.messageId ?? '',
    String(entry.attempt),
  );
  const day = utcDay(entry.createdAt);
  const shard = Number.parseInt(fingerprint(id).slice(0, 4), 16) % LOG_SHARDS;
  const scope = entry.organizationId
    ? `ORG#${entry.organizationId}`
    : entry.userId
      ? `USER#${entry.userId}`
      : undefined;
  return {
    ...logKey(id),
    id,
    provider: entry.provider,
    eventType: entry.eventType,
    eventId: entry.eventId,
    status: entry.status,
    direction: entry.direction,
    attempt: entry.attempt,
    target: entry.target,
    payload: redacted(entry.payload),
    response: redacted(entry.response),
    createdAt: entry.createdAt,
    organizationId: entry.organizationId,
    userId: entry.userId,
    sort: listSort(entry.createdAt, id),
    f: { p: entry.provider, e: entry.eventType, s: entry.status },
    project: logPartition('ALL', day, shard),
    ...(scope && { owner: logPartition(scope, day, 0) }),
    ttl: epochSeconds(instant(entry.createdAt) + KEPT_MS),
  };
};
