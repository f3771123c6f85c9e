/**
 * @module The requests of the hosted page. Each request sends the token, and the service decides what the token allows.
 */

import { site } from './site.ts';
import type { PageState } from './state.ts';

/** A refusal of the service. With status 0 there was no response, so the outcome is unknown. */
export class Refusal extends Error {
  readonly status: number;
  readonly code: string;
  readonly details: unknown;

  constructor(status: number, { code = '', details }: { readonly code?: string; readonly details?: unknown } = {}) {
    super(`${status} ${code}`);
    this.status = status;
    this.code = code;
    this.details = details;
  }
}

const NOT_FOUND = 404;
const TOO_MANY = 429;
const CONFLICT = 409;
const SERVER_ERROR = 500;

export const isGone = (reason: unknown): boolean => reason instanceof Refusal && reason.status === NOT_FOUND;
export const isTooMany = (reason: unknown): boolean => reason instanceof Refusal && reason.status === TOO_MANY;

const isLost = (reason: unknown): boolean => reason instanceof Refusal && reason.status === 0;

/** True if the request may have taken effect, or if a request under the same key is in progress. */
export const isUnknown = (reason: unknown): boolean =>
  !(reason instanceof Refusal) || reason.status === 0 || reason.status === CONFLICT || reason.status >= SERVER_ERROR;

type Body = Readonly<Record<string, string | number | undefined>>;

interface Ask {
  readonly token: string;
  readonly path: string;
  readonly body?: Body;
  readonly key?: string;
}

/** @throws Refusal */
const ask = async <Answer>({ token, path, body, key }: Ask): Promise<Answer> => {
  const response = await fetch(`${site.basePath}/pay/${path}`, {
    cache: 'no-store',
    headers: {
      'x-link-token': token,
      ...(body && { 'content-type': 'application/json' }),
      ...(key !== undefined && { 'idempotency-key': key }),
    },
    ...(body && { method: 'POST', body: JSON.stringify(body) }),
  }).catch(() => {
    throw new Refusal(0);
  });
  const answer = await response.json().catch(() => {
    throw new Refusal(response.ok ? 0 : response.status);
  });
  if (!response.ok) throw new Refusal(response.status, answer);
  return answer as Answer;
};

export const readState = (token: string): Promise<PageState> => ask({ token, path: 'state' });

const AGAIN_MS = 1_000;

/** Retries a command with a lost response once under its key, so it takes effect once. @throws Refusal */
export const postState = async (
  token: string,
  path: 'confirm' | 'method' | 'cancel' | 'keep',
  body: Body = {},
): Promise<PageState> => {
  const command = { token, path, body, key: crypto.randomUUID() };
  try {
    return await ask(command);
  } catch (reason) {
    if (!isLost(reason)) throw reason;
    await new Promise((resolve) => setTimeout(resolve, AGAIN_MS));
    return ask(command);
  }
};

export type Started = PageState & { readonly token: string };

export const startPayment = (token: string, body: Body, key: string): Promise<Started> =>
  ask({ token, path: 'start', body, key });
