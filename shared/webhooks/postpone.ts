/**
 * @module Postpones a delivery to a busy target, which responds with 429 or 503 and Retry-After. The target gets the
 * event again after that time, at least half a minute later. The first postponements use no attempt of the retry
 * schedule. The queue counts each receive of a message as an attempt, so the delivery continues as a new message, which
 * stores the number of scheduled attempts so far.
 */

import * as z from 'zod';
import { type Instant, MINUTE_MS, SECOND_MS } from '../core/time.ts';
import type { Delivery } from '../event-log/delivery.ts';
import type { Queues } from '../platform/queues.ts';
import { retryAfterSeconds } from '../platform/retry-after.ts';
import type { PostResponse } from './post-webhook.ts';

const postponedSchema = z.object({
  /** Number of postponements of the delivery. */
  times: z.int(),
  /** Scheduled attempts before this message. */
  attempts: z.int(),
});
export type Postponed = z.infer<typeof postponedSchema>;

const messageSchema = z.object({ postponed: postponedSchema.optional() });

export const postponedOf = (message: unknown): Postponed =>
  messageSchema.parse(message).postponed ?? { times: 0, attempts: 0 };

const SHORTEST_SECONDS = 30;
const LONGEST_SECONDS = (5 * MINUTE_MS) / SECOND_MS;
/** After this many postponements, each further busy response uses a scheduled attempt. */
const MOST_TIMES = 10;
const BUSY: readonly number[] = [429, 503];

/** The wait in seconds requested by a busy target, within bounds. Undefined without such a request. */
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
