/**
 * @module Postpones a delivery whose target is busy. A target that responds with 429 or 503 and Retry-After gets the
 * event again after that time, at least half a minute later and at first outside the schedule of retries. The queue
 * counts each receive of a message as an attempt, so the delivery continues as a new message, which stores the number of
 * scheduled attempts that were made before.
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

const SHORTEST_SECONDS = 30;
const LONGEST_SECONDS = (5 * MINUTE_MS) / SECOND_MS;
/** After that, each further response of a busy target uses an attempt of the schedule. */
const MOST_TIMES = 10;
const BUSY: readonly number[] = [429, 503];

/** The seconds that a busy target asks to wait, within bounds. Undefined if it names no time. */
export const secondsAsked = (response: PostResponse, now: Instant): number | undefined => {
  if (response.kind !== 'answered' || !BUSY.includes(response.status)) return undefined;
  const seconds = retryAfterSeconds(response.retryAfter, now);
  return seconds === undefined ? undefined : Math.min(Math.max(seconds, SHORTEST_SECONDS), LONGEST_SECONDS);
};

export const mayPostpone = ({ times }: Postponed): boolean => times < MOST_TIMES;

export const postpone = (
  queues: Pick<Queues, 'send'>,
  delivery: Delivery,
  { delaySeconds, ...postponed }: Postponed & { readonly delaySeconds: number },
): Promise<void> =>
  queues.send('webhook-delivery', [
    { body: JSON.stringify({ ...delivery, postponed }), group: delivery.target, delaySeconds },
  ]);
