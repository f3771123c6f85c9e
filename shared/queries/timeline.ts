/**
 * @module A record's timeline, oldest first: its versions, the provider's events, and the deliveries to targets.
 * Versions are kept as long as the record, other entries for 90 days, as in the webhook log.
 */

import * as z from 'zod';
import { actorFor, audienceOf } from '../access/audience.ts';
import { isMemberCaller, mayAsMerchant } from '../access/caller.ts';
import type { Owned } from '../access/record-kind.ts';
import type { Standings } from '../access/standing.ts';
import { actorSchema, type ShownActor, shownActorSchema } from '../core/actor.ts';
import { timestamp } from '../http/fields.ts';
import { wholeNumberParameter } from '../http/paging.ts';
import type { ApiRequest, Reply } from '../http/request.ts';
import type { PartitionQuery } from '../platform/connection.ts';
import { decodePlace, encodePlace } from '../platform/cursor.ts';
import { HISTORY, HISTORY_LOG, HISTORY_VERSIONS, type Historic, recordKey, versionOf } from '../platform/keys.ts';
import type { Item, Table } from '../platform/table.ts';
import { mayReadLogOf } from '../webhooks/log-access.ts';
import { cursorMeta } from './list-meta.ts';
import { cursorParameter } from './parameters.ts';

const madeBy = {
  actor: shownActorSchema.nullable().describe('Who made the change; null for versions older than this field.'),
  request_id: z
    .string()
    .nullable()
    .describe("The id of the HTTP request, the provider's event or the queue's message that made the entry."),
};
const at = timestamp.describe('When the entry was made; entries are sorted by it.');
export const changeFields = {
  kind: z.literal('change').describe('Marks a version of the record.'),
  at,
  version: z.int().describe('The number of the version, from 1.'),
  ...madeBy,
};
const logged = {
  at,
  ...madeBy,
  event_type: z.string().describe('The name of the event, such as `payment.succeeded`.'),
  event_id: z.string().describe('Id of the event at the provider, or `webhook-id` at the target.'),
  log_id: z.string().describe('Id of the entry of the webhook log, for `GET /webhooks/logs/{id}`.'),
  reason: z.string().nullable().describe('Why the event was ignored or failed; null if it was not.'),
};
const providerEvent = z
  .object({
    kind: z.literal('provider_event').describe('Marks an event that the provider sent.'),
    outcome: z.string().describe('The result of the event, such as `applied` or `ignored`.'),
    ...logged,
  })
  .meta({ id: 'TimelineProviderEvent', description: 'An event of the provider about the record. Kept for 90 days.' });
const delivery = z
  .object({
    kind: z.literal('delivery').describe('Marks an attempt to deliver an event.'),
    target: z.string().describe('The webhook target, by the name of its node.'),
    status: z.enum(['success', 'failed']).describe('`success` if the target returned 2xx in time.'),
    attempt: z.int().describe('The number of the attempt to deliver the event to this target, from 1.'),
    http_status: z.int().nullable().describe('The HTTP status that the target returned; null without a response.'),
    next_attempt_at: timestamp
      .nullable()
      .describe('The planned time of the retry; null after a success or the last attempt.'),
    ...logged,
  })
  .meta({
    id: 'TimelineDelivery',
    description: 'An attempt to deliver an event about the record to a target. Kept for 90 days.',
  });
/** The kinds of entries from the webhook log. */
export const LOG_ENTRIES = [providerEvent, delivery] as const;
export type LoggedEntry = z.infer<(typeof LOG_ENTRIES)[number]>;

interface ChangeEntry {
  readonly kind: 'change';
  readonly actor: ShownActor | null;
  readonly at: string;
  readonly version: number;
}

/**
 * The maximum number of versions, and of log entries, on a page without a limit. Only records with years of billing,
 * hundreds of changes, or weeks of failures have more entries.
 */
const MAX_ENTRIES = 500;
const MAX_LIMIT = 100;

export const timelineQuery = z.object({
  limit: wholeNumberParameter(1, MAX_LIMIT)
    .optional()
    .describe(
      'Entries per page, 1 to 100. Versions come before entries of the webhook log. If absent, up to 500 of each.',
    ),
  cursor: cursorParameter.describe(
    '`next_cursor` of the previous page. Pages go from the newest versions back to the first, and through the entries of the webhook log.',
  ),
});
type TimelineQuery = z.output<typeof timelineQuery>;

/** The timeline's meta, with fields of the record and of the page. */
export const timelineMeta = cursorMeta.extend({
  is_complete: z.boolean().describe('True if this page holds the whole timeline.'),
});

/** The start of a page, as a position in the versions and a position in the log. */
interface TimelinePosition {
  readonly versions: string;
  readonly log: string;
}

interface TimelinePage {
  /** The limit of the whole page. If absent, a page holds up to 500 versions and 500 log entries. */
  readonly limit?: number | undefined;
  readonly start?: TimelinePosition | undefined;
  /** False for callers who may not read the webhook log. */
  readonly withLog: boolean;
}

interface ItemPage {
  readonly items: readonly Item[];
  readonly next: TimelinePosition | undefined;
}

/**
 * Uses one query if the page contains the whole timeline. Otherwise reads versions (newest first) and log separately.
 */
const readPage = async (
  table: Table,
  partition: string,
  { limit: asked, start = BEGIN, withLog }: TimelinePage,
): Promise<ItemPage> => {
  const limit = asked ?? MAX_ENTRIES;
  if (start === BEGIN && withLog) {
    const all = await table.queryItems({ partition, limit, ...HISTORY });
    if (!all.next) return { items: all.items, next: undefined };
  }
  const ofVersions = { partition, ...HISTORY_VERSIONS, descending: true };
  const versions = await readPart(table, ofVersions, { limit, at: start.versions });
  const room = asked === undefined ? limit : limit - versions.items.length;
  const ofLog = { partition, ...HISTORY_LOG };
  const log = withLog ? await readPart(table, ofLog, { limit: room, at: start.log }) : { items: [], at: END };
  const isLast = versions.at === END && log.at === END;
  return {
    items: [...versions.items, ...log.items],
    next: isLast ? undefined : { versions: versions.at, log: log.at },
  };
};

interface Part {
  readonly limit: number;
  /** The last read sort key. Empty before the first entry, END after the last. */
  readonly at: string;
}

const END = '~';
const BEGIN: TimelinePosition = { versions: '', log: '' };

/** Reads one extra entry to detect whether more entries follow. */
const readPart = async (
  table: Table,
  range: PartitionQuery,
  { limit, at }: Part,
): Promise<Pick<Part, 'at'> & { readonly items: readonly Item[] }> => {
  if (at === END) return { items: [], at };
  const after = at === '' ? undefined : { pk: range.partition, sk: at };
  const { items, next } = await table.queryItems({ ...range, limit: limit + 1, after });
  const kept = items.slice(0, limit);
  const last = items.length > limit ? kept.at(-1) : next;
  if (items.length <= limit && !next) return { items, at: END };
  return { items: kept, at: last ? sortKeyOf(last) : at };
};

const sortKeyOf = (item: Item): string => z.object({ sk: z.string() }).parse(item).sk;

export interface TimelineDeps {
  readonly table: Table;
  readonly standings: Standings;
}

export type TimelineRequest<T> = Pick<ApiRequest<unknown, TimelineQuery, unknown, T>, 'record' | 'caller' | 'query'>;

type Shown = Pick<Owned, 'userId' | 'organizationId'> & { readonly id: string; readonly status: string };

interface Shape<C extends ChangeEntry> {
  /** The name of the meta field with the record's id. */
  readonly idName: string;
  readonly of: Historic;
  readonly changeOf: (item: Item) => C;
}

/** Returns the entries visible to the caller. Only readers of the webhook log see log entries. */
export const timelineReply = async <C extends ChangeEntry>(
  { table, standings }: TimelineDeps,
  { record, caller, query }: TimelineRequest<Shown>,
  { idName, of, changeOf }: Shape<C>,
): Promise<Reply> => {
  const { limit = MAX_ENTRIES, cursor } = query;
  const list = recordKey(of.kind, of.id).pk;
  const start = cursor === undefined ? undefined : startOf(cursor, list);
  const withLog =
    mayAsMerchant(caller, 'webhooks:read') ||
    (isMemberCaller(caller) &&
      (await mayReadLogOf(caller, record, (organizationId) => standings.consistent(caller, organizationId))));
  const { items, next } = await readPage(table, list, { limit: query.limit, start, withLog });
  const entries = items.map((item) => ('direction' in item ? entryOfLog(item) : changeOf(item))).sort(inOrder);
  const audience = audienceOf(caller);
  const nextCursor = next && encodePlace([next.versions, next.log], list);
  return {
    data: entries.map((entry) => ({ ...entry, actor: actorFor(audience, entry.actor) })),
    meta: {
      [idName]: record.id,
      status: record.status,
      is_complete: start === undefined && next === undefined,
      ...{ limit, has_more: next !== undefined, next_cursor: nextCursor ?? null },
    },
    ...(nextCursor !== undefined && {
      next: { ...(query.limit !== undefined && { limit: String(limit) }), cursor: nextCursor },
    }),
  };
};

/** @throws DomainError VALIDATION_ERROR if the text is not a cursor of this timeline */
const startOf = (cursor: string, list: string): TimelinePosition => {
  const [versions, log] = decodePlace(cursor, list, placeSchema);
  return { versions, log };
};

/** Accepts a position within a range of the history, and the positions before and after all entries. */
const within = ({ from, to }: { readonly from: string; readonly to: string }) =>
  z.string().refine((at) => at === '' || at === END || (at >= from && at <= to));
const placeSchema = z.tuple([within(HISTORY_VERSIONS), within(HISTORY_LOG)]);

const RANK = { change: 0, provider_event: 1, delivery: 2 } as const;
type Entry = ChangeEntry | LoggedEntry;
const numberOf = (entry: Entry): number => {
  if (entry.kind === 'change') return entry.version;
  return entry.kind === 'delivery' ? entry.attempt : 0;
};
const inOrder = (one: Entry, other: Entry): number => {
  if (one.at !== other.at) return one.at < other.at ? -1 : 1;
  return RANK[one.kind] - RANK[other.kind] || numberOf(one) - numberOf(other);
};

export const versionFields = {
  sk: z.string(),
  at: z.string(),
  actor: actorSchema.optional(),
  requestId: z.string().optional(),
};

/** The common fields of all version entries. */
export const changeEntry = ({ sk, at }: { readonly sk: string; readonly at: string }) =>
  ({ kind: 'change', at, version: versionOf(sk) }) as const;

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
  nextAttemptAt: z.string().optional(),
});

const entryOfLog = (item: Item): LoggedEntry => {
  const { at, logId, direction, eventType, eventId, status, attempt, target, ...rest } = logItem.parse(item);
  const maker = direction === 'inbound' ? ofProvider(rest.provider, eventId) : ofDelivery(rest.messageId);
  const common = {
    at,
    ...maker,
    event_type: eventType,
    event_id: eventId,
    log_id: logId,
    reason: rest.reason ?? null,
  };
  return direction === 'inbound'
    ? { kind: 'provider_event', outcome: rest.outcome, ...common }
    : {
        ...{ kind: 'delivery', target, status, attempt },
        http_status: rest.httpStatus ?? null,
        next_attempt_at: rest.nextAttemptAt ?? null,
        ...common,
      };
};

const ofProvider = (provider: string | undefined, eventId: string) => ({
  actor: provider === undefined ? null : ({ type: 'provider', id: provider } as const),
  request_id: eventId,
});

const ofDelivery = (messageId: string | undefined) => ({
  actor: { type: 'system', id: 'webhook-delivery' } as const,
  request_id: messageId ?? null,
});
