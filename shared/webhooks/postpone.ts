/**
 * @module Postpones a delivery whose target is busy. A target that responds with 429 or 503 and Retry-After gets the
 * event again after that time, outside the schedule of retries. The queue counts each receive of a message as an
 * attempt, so the delivery continues as a new message, which stores the number of scheduled attempts that were made
 * before.
 */

import * as z from 'zod';
import { type Instant, MINUTE_MS, SECOND_MS } from '../core/time.ts';
import type { Delivery } from '../event-log/delivery.ts';
import type { Queues } from '../platform/queues.ts';
import { retryAfterSeconds } from '../platform/retry-after.ts';
import type { PostResponse } from './post-webhook.ts';

const postponedSchema = z.object({
  /** The number of times that the delivery was postponed. */
  times: z.int(),
  /** Attempts of the schedule that were made before this message. */
  attempts: z.int(),
});
export type Postponed = z.infer<typeof postponedSchema>;

const messageSchema = z.object({ postponed: postponedSchema.optional() });

export const postponedOf = (message: unknown): Postponed =>
  messageSchema.parse(message).postponed ?? { times: 0, attempts: 0 };

const LONGEST_SECONDS = (5 * MINUTE_MS) / SECOND_MS;
/** One day of the longest waits. After that, a busy target counts as failed. */
const MOST_TIMES = 288;
const BUSY: readonly number[] = [429, 503];

/**
 * The seconds that the target asks to wait. Undefined if it gives no time, or the delivery was postponed too often.
 * Without a time, the target would get the event again and again without a pause.
 */
export const secondsAsked = (response: PostResponse, { times }: Postponed, now: Instant): number | undefined => {
  if (response.kind !== 'answered' || !BUSY.includes(response.status) || times >= MOST_TIMES) return undefined;
  const seconds = retryAfterSeconds(response.retryAfter, now);
  return seconds ? Math.min(seconds, LONGEST_SECONDS) : undefined;
};

export const postpone = (
  queues: Pick<Queues, 'send'>,
  delivery: Delivery,
  { delaySeconds, ...postponed }: Postponed & { readonly delaySeconds: number },
): Promise<void> =>
  queues.send('webhook-delivery', [
    { body: JSON.stringify({ ...delivery, postponed }), group: delivery.target, delaySeconds },
  ]);
