/** @module Delivers events to webhook targets. Delivery is at least once. Each attempt has one log entry. */

import * as z from 'zod';
import { errorFields, type Log } from '../core/logger.ts';
import { instant, iso, MINUTE_MS, SECOND_MS } from '../core/time.ts';
import { type Delivery, deliveryItem, deliveryOf, subjectOfDelivery } from '../event-log/delivery.ts';
import { namesErased, tellsOfErased, withoutPersonText } from '../event-log/erased-events.ts';
import { writeLog } from '../event-log/log-entry.ts';
import { storedEventOf } from '../event-log/stored-event.ts';
import type { Handled, Receive } from '../platform/consumers.ts';
import { providerEventKey } from '../platform/keys.ts';
import type { Queues } from '../platform/queues.ts';
import {
  ATTEMPT_OUTCOMES,
  type Attempt,
  type AttemptDeps,
  type Attempted,
  logAttempt,
  postDelivery,
} from './delivery-attempt.ts';
import { postResponseSchema } from './post-webhook.ts';
import { mayPostpone, type Postponed, postpone, postponedOf, secondsAsked } from './postpone.ts';
import { endWait, LONGEST_IN_QUEUE_SECONDS, type Wait, waitLong } from './waiting-delivery.ts';
import type { Target } from './webhook-targets.ts';

export interface DeliverDeps extends AttemptDeps {
  readonly targets: () => Promise<readonly Target[]>;
  readonly queues: Pick<Queues, 'send'>;
  readonly retryPlan: RetryPlan;
  readonly log: Log;
}

/**
 * Makes one attempt of one delivery. The queue delivers a failed message again, after 5, 10 and 20 s by default, then
 * moves it to the dead-letter queue. A wait of more than 15 minutes is due work. A busy target gets the event after its
 * requested wait. Before the message is done, the result of a POST is in the log or in the queue. So a refused log
 * entry causes no second POST, but a crash before that write does, because delivery is at least once.
 */
export const deliverWebhook = async (deps: DeliverDeps, message: unknown, receive: Receive): Promise<Handled> => {
  const delivery = deliveryOf(message);
  const { notLogged, isReplay = false } = messageSchema.parse(message);
  if (notLogged) return logLater(deps, { delivery, notLogged, receive });
  const postponed = postponedOf(message);
  const number = postponed.attempts + receive.count;
  const wasTried = isReplay || number > 1 || postponed.times > 0;
  const target = (await deps.targets()).find(({ name }) => name === delivery.target);
  if (!target) return drop(deps, { delivery, receive, wasTried, reason: 'target no longer configured' });
  // All attempts have been made. Each further receive moves the message towards its dead-letter queue.
  if (number > 1 + retriesOf(deps.retryPlan)) return { retryAfterSeconds: 0 };
  const { body, isErased } = (await contentOf(deps, delivery)) ?? {};
  if (!body) return drop(deps, { delivery, receive, wasTried, reason: 'event no longer kept' });
  const isKept = await keepBody(deps, isErased ? withBody(delivery, body) : delivery);
  const attempt: Attempt = {
    delivery,
    target,
    body,
    number,
    messageId: receive.messageId,
    about: subjectOfDelivery(delivery),
    sourceId: sourceIdOf(delivery),
  };
  const attempted = await postDelivery(deps, attempt);
  const next = nextAttempt(deps, attempted, { postponed, number });
  await logOrQueue(deps, delivery, { attempt, attempted: { ...attempted, nextAt: next && iso(next.until) } });
  deps.log.info('webhook delivered', {
    event_id: delivery.id,
    event_type: delivery.event,
    target: target.name,
    attempt: number,
    outcome: attempted.outcome,
  });
  if (attempted.outcome === 'failed') return goOn(deps, delivery, next);
  if (isKept ?? wasTried) await endWait(deps.table, delivery);
  return 'done';
};

/** @returns true if an earlier attempt stored the delivery; undefined if the stored provider event has the body */
const keepBody = async ({ table, now }: DeliverDeps, delivery: Delivery): Promise<boolean | undefined> => {
  if (!('body' in delivery.content)) return undefined;
  const { ok: isNew } = await table.put(deliveryItem(delivery, now()), [{ absent: true }]);
  return !isNew;
};

const sourceIdOf = ({ content }: Delivery): string | undefined => ('body' in content ? undefined : content.eventId);

/** The next attempt, by a new message after the wait requested by the target, or by the retry plan. */
interface Next extends Wait {
  readonly by: 'message' | 'plan';
  readonly seconds: number;
}

interface Position {
  readonly postponed: Postponed;
  readonly number: number;
}

/** The attempt after this one. Undefined after a success and after the last attempt. */
const nextAttempt = (
  { retryPlan, now }: DeliverDeps,
  { outcome, answer }: Attempted,
  { postponed: { times, attempts }, number }: Position,
): Next | undefined => {
  const at = now();
  const asked = secondsAsked(answer, at);
  if (asked !== undefined && mayPostpone({ times, attempts })) {
    const postponed = { times: times + 1, attempts: number - 1 };
    return { by: 'message', seconds: asked, until: at + asked * SECOND_MS, postponed };
  }
  if (outcome !== 'failed' || number > retriesOf(retryPlan)) return undefined;
  const seconds = Math.max(secondsUntilNext(retryPlan, number), asked ?? 0);
  return { by: 'plan', seconds, until: at + seconds * SECOND_MS, postponed: { times, attempts: number } };
};

/** A long wait, or a wait requested by the target, continues as a new message. A short wait keeps the same message. */
const goOn = async (deps: DeliverDeps, delivery: Delivery, next: Next | undefined): Promise<Handled> => {
  if (next === undefined) return { retryAfterSeconds: 0 };
  const { by, seconds, postponed } = next;
  if (by === 'message') await postpone(deps.queues, delivery, { ...postponed, delaySeconds: seconds });
  else if (seconds > LONGEST_IN_QUEUE_SECONDS) await waitLong(deps, delivery, next);
  else return { retryAfterSeconds: seconds };
  return 'done';
};

/** An attempt whose log entry could not be written. The queue keeps its result. */
const notLoggedSchema = z.object({
  number: z.int(),
  messageId: z.string(),
  attempted: z.object({
    outcome: z.enum(ATTEMPT_OUTCOMES),
    answer: postResponseSchema,
    at: z.string(),
    nextAt: z.string().optional(),
  }),
});
type NotLogged = z.infer<typeof notLoggedSchema>;

const messageSchema = z.object({ notLogged: notLoggedSchema.optional(), isReplay: z.boolean().optional() });

interface Made {
  readonly attempt: Attempt;
  readonly attempted: Attempted;
}

/** Logs an attempt. If the table refuses the entry, the queue keeps it. @throws if the queue refuses it too */
const logOrQueue = async (
  { table, queues, log }: DeliverDeps,
  delivery: Delivery,
  { attempt, attempted }: Made,
): Promise<void> => {
  try {
    await logAttempt(table, attempt, attempted);
  } catch (error) {
    const { number, messageId } = attempt;
    const notLogged: NotLogged = { number, messageId, attempted };
    await queues.send('webhook-delivery', [
      { body: JSON.stringify({ ...delivery, notLogged }), group: delivery.target },
    ]);
    log.warn('webhook log deferred', { event_id: delivery.id, target: delivery.target, ...errorFields(error) });
  }
};

interface LoggedLater {
  readonly delivery: Delivery;
  readonly notLogged: NotLogged;
  readonly receive: Receive;
}

/** Writes the log entry of an earlier attempt, and sends nothing. */
const logLater = async (deps: DeliverDeps, { delivery, notLogged, receive }: LoggedLater): Promise<Handled> => {
  const { number, messageId, attempted } = notLogged;
  const format = (await deps.targets()).find(({ name }) => name === delivery.target)?.format ?? 'event';
  const { body = Buffer.from('{}'), isErased } = (await contentOf(deps, delivery)) ?? {};
  const { answer } = attempted;
  const kept = isErased && answer.kind === 'answered' ? { ...attempted, answer: { ...answer, body: '' } } : attempted;
  const [about, sourceId] = [subjectOfDelivery(delivery), sourceIdOf(delivery)];
  try {
    await logAttempt(deps.table, { delivery, target: { format }, body, number, messageId, about, sourceId }, kept);
    return 'done';
  } catch (error) {
    deps.log.warn('webhook log deferred', { event_id: delivery.id, target: delivery.target, ...errorFields(error) });
    const seconds = secondsUntilNext(deps.retryPlan, receive.count);
    return { retryAfterSeconds: Math.min(seconds, LONGEST_IN_QUEUE_SECONDS) };
  }
};

interface SentContent {
  readonly body: Buffer;
  readonly isErased: boolean;
}

/** The body to send, without personal data of an erased person. Undefined if the event is no longer kept. */
const contentOf = async (deps: DeliverDeps, delivery: Delivery): Promise<SentContent | undefined> => {
  const stored = await bodyOf(deps, delivery);
  if (!stored) return undefined;
  const isErased = await mayNameErased(deps, delivery, stored);
  return { body: isErased ? Buffer.from(withoutPersonText(stored.toString('utf8'))) : stored, isErased };
};

/** The event, or the received bytes of a provider's event. Undefined if the event is no longer kept. */
const bodyOf = async ({ table }: DeliverDeps, { content }: Delivery): Promise<Buffer | undefined> => {
  if ('body' in content) return Buffer.from(content.body);
  const item = await table.get(providerEventKey(content.providerId, content.eventId));
  return item && storedEventOf(item).raw;
};

/** A canonical event younger than this is not checked, because events of an erased record are already blank. */
const FRESH_MS = 2 * MINUTE_MS;

const timed = z.object({ timestamp: z.string() });

/** True if the event is about an erased person and may still hold personal data. */
const mayNameErased = async (
  { table, now }: DeliverDeps,
  { content, userId }: Delivery,
  raw: Buffer,
): Promise<boolean> => {
  const body = raw.toString('utf8');
  if (!('body' in content)) return namesErased(table, body);
  const { timestamp = '' } = timed.safeParse(JSON.parse(body)).data ?? {};
  const isFresh = now() - instant(timestamp) < FRESH_MS;
  return isFresh ? false : tellsOfErased(table, { body, timestamp, userId });
};

const withBody = (delivery: Delivery, body: Buffer): Delivery =>
  'body' in delivery.content ? { ...delivery, content: { body: body.toString('utf8') } } : delivery;

interface Dropped {
  readonly delivery: Delivery;
  readonly receive: Receive;
  /** True if an earlier attempt was made. The log entry can then be replayed. */
  readonly wasTried: boolean;
  readonly reason: string;
}

/** Sends nothing, and logs the reason. */
const drop = async (deps: DeliverDeps, { delivery, receive, wasTried, reason }: Dropped): Promise<Handled> => {
  const { id: eventId, event: eventType, content: _, ...rest } = delivery;
  await writeLog(deps.table, {
    ...rest,
    eventId,
    eventType,
    status: 'failed',
    direction: 'outbound',
    attempt: receive.count,
    messageId: receive.messageId,
    payload: {},
    response: { error: reason },
    createdAt: iso(deps.now()),
    about: subjectOfDelivery(delivery),
    sourceId: wasTried ? sourceIdOf(delivery) : undefined,
  });
  deps.log.warn('webhook dropped', { event_id: eventId, event_type: eventType, target: delivery.target, reason });
  return 'done';
};

/** A failed delivery is retried after each wait of the schedule, or after the delay, which doubles with each retry. */
export interface RetryPlan {
  readonly retries: number;
  readonly delayMs: number;
  /** In seconds. Empty to use `delayMs`. */
  readonly schedule: readonly number[];
}

const retriesOf = ({ retries, schedule }: RetryPlan): number => schedule.length || retries;

/**
 * The wait before the next try, in whole seconds. `tries` counts from 1. After the last retry it is 0, which moves the
 * message to the dead-letter queue.
 */
export const secondsUntilNext = (plan: RetryPlan, tries: number): number => {
  if (tries > retriesOf(plan)) return 0;
  return plan.schedule[tries - 1] ?? Math.ceil((plan.delayMs * 2 ** (tries - 1)) / SECOND_MS);
};
