import * as z from 'zod';
import { actorFor, audienceOf } from '../access/audience.ts';
import type { Owned } from '../access/record-kind.ts';
import type { Standings } from '../access/standing.ts';
import { actorSchema, type ShownActor, shownActorSchema } from '../core/actor.ts';
import { timestamp } from '../http/fields.ts';
import type { ApiRequest, Reply } from '../http/request.ts';
import { HISTORY, HISTORY_LOG, HISTORY_VERSIONS, type Historic, recordKey, versionOf } from '../table/keys.ts';
import type { Item, Table } from '../table/table.ts';
import { mayReadLogOf } from '../webhooks/logs/access.ts';

/**
 * The history of a record, oldest first: its versions with their causes, the provider's events with their results, and the
 * attempts to deliver its events to targets. Versions are kept as long as the record, the rest for 90 days, as in the webhook
 * log.
 */
const madeBy = {
  actor: shownActorSchema
    .nullable()
    .describe('On whose behalf the entry was made; null for a version that is older than the field.'),
  request_id: z
    .string()
    .nullable()
    .describe("The id of the HTTP request, the provider's event or the queue's message that made the entry."),
};
const at = timestamp.describe('When the entry was made; entries are sorted by it.');
/** The fields of every version. */
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
  .meta({ id: 'TimelineProviderEvent', description: 'An event of the provider about the record. Kept for 90 days.' });
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
    description: 'An attempt to deliver an event about the record to a target. Kept for 90 days.',
  });
/** The kinds of entries that come from the webhook log. */
export const LOG_ENTRIES = [providerEvent, delivery] as const;
export type LoggedEntry = z.infer<(typeof LOG_ENTRIES)[number]>;

interface ChangeEntry {
  readonly kind: 'change';
  readonly actor: ShownActor | null;
  readonly at: string;
  readonly version: number;
}

export interface Timeline<C extends ChangeEntry> {
  readonly entries: readonly (C | LoggedEntry)[];
  /** Otherwise the oldest of very many versions are missing, or some deliveries. */
  readonly isComplete: boolean;
}

/** More entries than a record has, unless it is billed for years or a target fails for weeks. */
const MAX_ENTRIES = 500;

/** One query; where the history has too many entries for it, the newest versions and the log in two more. */
export const readTimeline = async <C extends ChangeEntry>(
  table: Table,
  { kind, id }: Historic,
  changeOf: (item: Item) => C,
): Promise<Timeline<C>> => {
  const of = { partition: recordKey(kind, id).pk, limit: MAX_ENTRIES };
  const all = await table.queryItems({ ...of, ...HISTORY });
  const pages = all.next
    ? await Promise.all([
        table.queryItems({ ...of, ...HISTORY_VERSIONS, descending: true }),
        table.queryItems({ ...of, ...HISTORY_LOG }),
      ])
    : [all];
  const entries = pages
    .flatMap(({ items }) => items)
    .map((item) => ('direction' in item ? entryOfLog(item) : changeOf(item)));
  return { entries: entries.sort(inOrder), isComplete: pages.every(({ next }) => next === undefined) };
};

export interface TimelineDeps {
  readonly table: Table;
  readonly standings: Standings;
}

export type TimelineRequest<T> = Pick<ApiRequest<unknown, unknown, unknown, T>, 'record' | 'caller'>;

type Shown = Pick<Owned, 'userId' | 'organizationId'> & { readonly id: string; readonly status: string };

/**
 * The entries that the caller may see now: those of the webhook log only if the caller may read the log.
 * @param idName the field of the meta that names the record
 */
export const timelineReply = async <C extends ChangeEntry>(
  { standings }: TimelineDeps,
  { record, caller }: TimelineRequest<Shown>,
  { idName, timeline }: { readonly idName: string; readonly timeline: Promise<Timeline<C>> },
): Promise<Reply> => {
  const [{ entries, isComplete }, withLog] = await Promise.all([
    timeline,
    caller.kind === 'session' &&
      mayReadLogOf(caller, record, (organizationId) => standings.consistent(caller, organizationId)),
  ]);
  const audience = audienceOf(caller);
  return {
    data: entries
      .filter(({ kind }) => withLog || kind === 'change')
      .map((entry) => ({ ...entry, actor: actorFor(audience, entry.actor) })),
    meta: { [idName]: record.id, status: record.status, is_complete: isComplete },
  };
};

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

/** The stored fields of every version. */
export const versionFields = {
  sk: z.string(),
  at: z.string(),
  actor: actorSchema.optional(),
  requestId: z.string().optional(),
};

/** What the entries of all versions share. */
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
