/** @module Makes one attempt to deliver an event to a target, with the signed POST, its outcome, and its log entry. */

import { Webhook } from 'standardwebhooks';
import { epochSeconds, type Instant, iso, type Now } from '../core/time.ts';
import { currentSpan, traceparentOf } from '../core/trace.ts';
import type { Delivery } from '../event-log/delivery.ts';
import { type LogEntry, writeLog } from '../event-log/log-entry.ts';
import { newSpan } from '../platform/doors.ts';
import type { Historic } from '../platform/keys.ts';
import type { Table } from '../platform/table.ts';
import { chatMessage } from './chat.ts';
import type { Post, PostResponse } from './post-webhook.ts';
import type { Target } from './webhook-targets.ts';

export interface AttemptDeps {
  readonly table: Table;
  readonly post: Post;
  readonly now: Now;
}

export interface Attempt {
  readonly delivery: Omit<Delivery, 'content'>;
  readonly target: Target;
  /** The event, byte for byte. */
  readonly body: Buffer;
  /** Counted from 1. */
  readonly number: number;
  readonly messageId: string;
  /** True for a test event. A header marks it too, so no target treats it as a real event. */
  readonly isTest?: boolean;
  /** The record that the event is about. */
  readonly about?: Historic | undefined;
  /** The provider's id of an event that is sent as received. */
  readonly sourceId?: string | undefined;
}

type LoggedAttempt = Omit<Attempt, 'target'> & { readonly target: Pick<Target, 'format'> };

/** `gone` means that the target returned 410, so the event is not delivered again. */
export const ATTEMPT_OUTCOMES = ['delivered', 'failed', 'gone'] as const;
export type AttemptOutcome = (typeof ATTEMPT_OUTCOMES)[number];

export interface Attempted {
  readonly outcome: AttemptOutcome;
  readonly answer: PostResponse;
  /** ISO time of the end of the attempt. */
  readonly at: string;
  /** ISO time of the next attempt. Absent after a success and after the last attempt. */
  readonly nextAt?: string | undefined;
}

const GONE = 410;

/** Sends one signed POST of an event to a target. The caller logs it by `logAttempt`. */
export const postDelivery = async (deps: Omit<AttemptDeps, 'table'>, attempt: Attempt): Promise<Attempted> => {
  const { delivery, target } = attempt;
  const sent = sentBody(attempt);
  const answer = await deps.post({
    url: target.url,
    headers: {
      'content-type': 'application/json',
      'user-agent': 'payments-webhooks',
      'webhook-event': headerText(delivery.event),
      ...(attempt.isTest && { 'webhook-test': 'true' }),
      ...traceHeaders(),
      ...signedHeaders({ id: delivery.id, at: deps.now(), body: sent, secrets: target.secrets }),
    },
    body: sent,
  });
  return { outcome: outcomeOf(answer), answer, at: iso(deps.now()) };
};

/**
 * The trace headers, which continue the trace of the running work. The ids are random. Only a test event has a
 * tracestate, from the request that sent it.
 */
const traceHeaders = (): Readonly<Record<string, string>> => {
  const span = currentSpan() ?? newSpan(undefined);
  return { traceparent: traceparentOf(span), ...(span.state !== undefined && { tracestate: span.state }) };
};

/** Writes the attempt's log entry. A repeated call writes no second entry. */
export const logAttempt = (table: Table, attempt: LoggedAttempt, attempted: Attempted): Promise<void> =>
  writeLog(table, entryOf(attempt, attempted));

const sentBody = ({ delivery, target, body }: LoggedAttempt): Buffer =>
  target.format === 'chat' ? chatBody(delivery.event, body) : body;

/** Any 2xx is a success. A redirect is a failure. */
const outcomeOf = (answer: PostResponse): AttemptOutcome => {
  if (answer.kind === 'failed') return 'failed';
  if (answer.status === GONE) return 'gone';
  return answer.status >= 200 && answer.status < 300 ? 'delivered' : 'failed';
};

const chatBody = (event: string, body: Buffer): Buffer =>
  Buffer.from(JSON.stringify(chatMessage(event, parsedOrText(body.toString('utf8')))));

/** Replaces characters of a provider's event name that a header must not contain. */
const headerText = (text: string): string => text.replaceAll(/[^\x21-\x7e]/g, '?');

const entryOf = (attempt: LoggedAttempt, { outcome, answer, at, nextAt }: Attempted): LogEntry => ({
  provider: attempt.delivery.provider,
  eventType: attempt.delivery.event,
  eventId: attempt.delivery.id,
  status: outcome === 'delivered' ? 'success' : 'failed',
  direction: 'outbound',
  attempt: attempt.number,
  target: attempt.delivery.target,
  messageId: attempt.messageId,
  payload: parsedOrText(sentBody(attempt).toString('utf8')),
  response: responseOf(answer),
  createdAt: at,
  nextAttemptAt: nextAt,
  organizationId: attempt.delivery.organizationId,
  userId: attempt.delivery.userId,
  about: attempt.about,
  sourceId: attempt.sourceId,
  traceparent: attempt.delivery.traceparent,
});

const responseOf = (answer: PostResponse): Readonly<Record<string, unknown>> =>
  answer.kind === 'answered'
    ? { http_status: answer.status, body: parsedOrText(answer.body), duration_ms: answer.durationMs }
    : { error: answer.reason, detail: answer.detail, duration_ms: answer.durationMs };

/** Parses JSON, so that redaction finds secrets by their names. */
const parsedOrText = (text: string): unknown => {
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
};

interface Signed {
  /** The event id in the header, the same for every retry and replay. */
  readonly id: string;
  /** The time of this attempt. */
  readonly at: Instant;
  readonly body: Buffer;
  readonly secrets: readonly string[];
}

/** The headers of the Standard Webhooks scheme. */
export const signedHeaders = ({ id, at, body, secrets }: Signed): Readonly<Record<string, string>> => ({
  'webhook-id': id,
  'webhook-timestamp': String(epochSeconds(at)),
  ...(secrets.length > 0 && {
    'webhook-signature': secrets.map((secret) => new Webhook(secret).sign(id, new Date(at), body)).join(' '),
  }),
});
