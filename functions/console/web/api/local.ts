/**
 * @module The control routes of the local host. A deployed service has no control routes, and a deployed console never
 * calls them.
 */

import { signal } from '@preact/signals';
import { Problem, problemOf, unreachable } from './problem.ts';
import { site } from './site.ts';

export const clockOffsetMs = signal(0);

const MS_PER_MINUTE = 60_000;

const ask = async (method: 'GET' | 'POST', path: string, body?: unknown): Promise<unknown> => {
  const response = await fetch(`/_local${path}`, {
    method,
    ...(body !== undefined && { body: JSON.stringify(body), headers: { 'content-type': 'application/json' } }),
  }).catch(() => {
    throw unreachable();
  });
  const answer: unknown = await response.json().catch(() => undefined);
  if (!response.ok) throw problemOf(response, answer);
  return answer;
};

const noteClock = (answer: unknown): void => {
  const now = typeof answer === 'object' && answer !== null && 'now' in answer ? answer.now : undefined;
  if (typeof now !== 'string') throw new Problem('The local host did not return its time.', { status: 200 });
  // Rounded to whole minutes, because a smaller difference is only the duration of the request.
  clockOffsetMs.value = Math.round((Date.parse(now) - Date.now()) / MS_PER_MINUTE) * MS_PER_MINUTE;
};

/** The service's time. On the local host it follows the moved clock. */
export const serviceNow = (): number => Date.now() + clockOffsetMs.value;

export const readClock = async (): Promise<void> => {
  if (site.isLocal) noteClock(await ask('GET', '/clock'));
};

/** Moves the clock forward and runs all due work. */
export const advanceClock = async (seconds: number): Promise<void> =>
  noteClock(await ask('POST', '/clock', { advance: seconds }));

/** Waits until all asynchronous work has finished. */
export const settle = async (): Promise<void> => {
  await ask('POST', '/settle');
};

/** The demo users of the local host, by their session IDs. */
export const DEMO_USERS: readonly { readonly sessionId: string; readonly about: string }[] = [
  { sessionId: 'demo-owner', about: 'Olivia, owner of the demo organization' },
  { sessionId: 'demo-member', about: 'Miles, member of the demo organization' },
  { sessionId: 'demo-admin', about: 'Ada, platform admin: sees all payments' },
  { sessionId: 'demo-support', about: 'Sam, support: sees all payments, may sync and cancel' },
  { sessionId: 'demo-finance', about: 'Fay, finance: sees all payments, may refund, capture and release' },
];
