import * as z from 'zod';
import { instant, iso, MINUTE, SECOND } from '../../core/time.ts';
import type { Handled, Receive } from '../../messaging/consumers.ts';
import type { Log } from '../../observability/logger.ts';
import { providerEventKey } from '../../table/keys.ts';
import { type Delivery, deliveryItem, deliveryOf, subjectOfDelivery } from '../record/delivery.ts';
import { namesErased, tellsOfErased, withoutPersonText } from '../record/erased.ts';
import { writeLog } from '../record/log-entry.ts';
import { storedEventOf } from '../record/stored-event.ts';
import { type AttemptDeps, type AttemptOutcome, attemptDelivery } from './attempt.ts';
import type { Target } from './targets.ts';

export interface DeliverDeps extends AttemptDeps {
  readonly targets: () => Promise<readonly Target[]>;
  readonly retryPlan: RetryPlan;
  readonly log: Log;
}

/**
 * One attempt of one delivery. The queue delivers a failed message again, after 5, 10 and 20 s by default, then moves
 * it to the dead-letter queue.
 */
export const deliverWebhook = async (deps: DeliverDeps, message: unknown, receive: Receive): Promise<Handled> => {
  const delivery = deliveryOf(message);
  const target = (await deps.targets()).find(({ name }) => name === delivery.target);
  if (!target) return drop(deps, { delivery, receive, reason: 'target no longer configured' });
  const stored = await bodyOf(deps, delivery);
  if (!stored) return drop(deps, { delivery, receive, reason: 'event no longer kept' });
  const isErased = await mayNameErased(deps, delivery, stored);
  const body = isErased ? Buffer.from(withoutPersonText(stored.toString('utf8'))) : stored;
  await deps.table.put(deliveryItem(isErased ? withBody(delivery, body) : delivery, deps.now()), [{ absent: true }]);
  const { id, event } = delivery;
  const { outcome } = await attemptDelivery(deps, {
    delivery,
    target,
    body,
    number: receive.count,
    messageId: receive.messageId,
    about: subjectOfDelivery(delivery),
  });
  deps.log.info('webhook delivered', {
    event_id: id,
    event_type: event,
    target: target.name,
    attempt: receive.count,
    outcome,
  });
  return handledOf(outcome, secondsUntilNext(deps.retryPlan, receive.count));
};

const handledOf = (outcome: AttemptOutcome, seconds: number): Handled =>
  outcome === 'failed' ? { retryAfterSeconds: seconds } : 'done';

/** The body to send; for a provider's event, the bytes as received. undefined: no longer kept. */
const bodyOf = async ({ table }: DeliverDeps, { content }: Delivery): Promise<Buffer | undefined> => {
  if ('body' in content) return Buffer.from(content.body);
  const item = await table.get(providerEventKey(content.providerId, content.eventId));
  return item && storedEventOf(item).raw;
};

/** A canonical event holds what its record held: a record that was erased since then has blanked its later events itself. */
const FRESH_MS = 2 * MINUTE;

const timed = z.object({ timestamp: z.string() });

/** Is the event about a person who was erased, and may it still hold personal data? */
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
  readonly reason: string;
}

/** Sends nothing, and logs the reason. */
const drop = async (deps: DeliverDeps, { delivery, receive, reason }: Dropped): Promise<Handled> => {
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
  });
  deps.log.warn('webhook dropped', { event_id: eventId, event_type: eventType, target: delivery.target, reason });
  return 'done';
};

/** A failed delivery is retried after the delay, which doubles with each retry. */
export interface RetryPlan {
  readonly retries: number;
  readonly delayMs: number;
}

/**
 * Whole seconds until the retry after attempt number `tries`, counted from 1. 0 after the last attempt: the queue then
 * moves the message to its dead-letter queue.
 */
export const secondsUntilNext = ({ retries, delayMs }: RetryPlan, tries: number): number =>
  tries > retries ? 0 : Math.ceil((delayMs * 2 ** (tries - 1)) / SECOND);
