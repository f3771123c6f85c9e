/**
 * @module Idempotency-Key for POSTs that create no record. One conditional write claims the key's item, which keeps the
 * status and body of a 2xx or 402 for 24 h. If the first function's time-out passes without a response, a retry may
 * claim the key. A response with an unknown outcome is not kept, because the record will show the outcome.
 */

import { DomainError } from '../core/errors.ts';
import { fingerprint } from '../core/ids.ts';
import { DAY_MS, epochSeconds, type Instant, instant, type Now, SECOND_MS } from '../core/time.ts';
import { type KeyedCommand, keptOfResponse } from '../platform/command-end.ts';
import type { Clause } from '../platform/expression.ts';
import { idempotencyKey } from '../platform/keys.ts';
import type { Table } from '../platform/table.ts';

const GRACE_SECONDS = 5;

export interface KeptAnswer {
  readonly status: number;
  readonly body: unknown;
}

export interface IdempotentRequest {
  readonly scope: string;
  readonly requestHash: string;
  /** Set if an earlier request under the key got a response that lacked the command's outcome. */
  readonly isRepeat?: true;
}

/** The state of a key after a response without the command's outcome. */
export const LEFT_OPEN = 'left open';

/** The content of a key's item after a response; undefined frees the key. */
type Kept = KeptAnswer | typeof LEFT_OPEN | undefined;

/** Decides what the key's item keeps of a response. */
export const keptAs = (
  command: KeyedCommand | undefined,
  { status, body, isOpen }: KeptAnswer & { readonly isOpen?: boolean | undefined },
): Kept => {
  const kept = keptOfResponse(command, { status, isOpen });
  if (kept === 'response') return { status, body };
  return kept === 'left open' ? LEFT_OPEN : undefined;
};

/**
 * The mark of a command's Idempotency-Key and body. The record stores the mark so that a repeat recognizes its command.
 */
export const keyMark = (request: IdempotentRequest | undefined): string | undefined =>
  request && `${request.scope.slice(0, 16)}${request.requestHash.slice(0, 16)}`;

/** The stored mark and the time of the claim. */
interface ClaimedUnder {
  readonly key?: string | undefined;
  readonly at?: string | undefined;
}

/**
 * True if the request repeats the command in the record, which an earlier request under the same key claimed. After 24
 * h the key counts as new, unless the key's item marks the request as a repeat.
 */
export const isUnderKey = (
  { key, at }: ClaimedUnder,
  request: IdempotentRequest | undefined,
  now: Instant,
): boolean => {
  if (request === undefined || key !== keyMark(request)) return false;
  return request.isRepeat === true || (at !== undefined && now < instant(at) + DAY_MS);
};

export const REPLAYED = { 'idempotent-replayed': 'true' } as const;

/** The header of a response to a repeat under the same key. */
export const replayedFor = (request: IdempotentRequest | undefined): { readonly headers?: typeof REPLAYED } =>
  request?.isRepeat ? { headers: REPLAYED } : {};

/**
 * Without a credential, an e-mail and the key alone give access to the stored response, so the key must be hard to
 * guess.
 */
const SOLE_KEY_CHARACTERS = 20;

const LONGEST_KEY = 255;

/** @param isSole true if the caller presents no credential @throws DomainError IDEMPOTENCY_KEY_INVALID */
export const checkKey = (key: string, isSole = false): string => {
  if (key.length > LONGEST_KEY || !/^[\x21-\x7e](?:[\x20-\x7e]{0,253}[\x21-\x7e])?$/.test(key))
    throw new DomainError('IDEMPOTENCY_KEY_INVALID');
  if (isSole && key.length < SOLE_KEY_CHARACTERS) {
    const message = `Without a session or guest token, Idempotency-Key must have at least ${SOLE_KEY_CHARACTERS} characters`;
    throw new DomainError('IDEMPOTENCY_KEY_INVALID', { message });
  }
  return key;
};

/** Equal JSON values give the same text, whatever the order of their keys. */
export const canonicalJson = (value: unknown): string =>
  JSON.stringify(value, (_, inner) =>
    typeof inner === 'object' && inner !== null && !Array.isArray(inner)
      ? Object.fromEntries(Object.entries(inner).sort(([a], [b]) => (a < b ? -1 : 1)))
      : inner,
  ) ?? '';

export interface KeyScope {
  readonly principal: string;
  /** Method and path of the endpoint. */
  readonly route: string;
  readonly params: unknown;
  readonly key: string;
}

/** The same key has a different scope for another principal, route or path parameters. */
export const idempotencyScope = ({ principal, route, params, key }: KeyScope): string =>
  fingerprint(principal, route, canonicalJson(params), key).slice(0, 40);

export const inProgressError = (retryAfterSeconds: number): DomainError =>
  new DomainError('IDEMPOTENCY_IN_PROGRESS', { retryAfterSeconds });

export const keyReusedError = (): DomainError => new DomainError('IDEMPOTENCY_KEY_REUSED');

/**
 * Claims the key, unless it keeps a response. @returns the kept response; LEFT_OPEN if the claim is for a repeat of a
 * command with an open outcome; undefined for a first request, or if the first request ended without a response
 */
export const claimKey = async (
  deps: { readonly table: Table; readonly now: Now },
  request: IdempotentRequest,
  timeoutSeconds: number,
): Promise<Kept> => {
  const key = idempotencyKey(request.scope);
  const seconds = epochSeconds(deps.now());
  const busyUntil = seconds + timeoutSeconds + GRACE_SECONDS;
  const claim = { ...key, hash: request.requestHash, busyUntil, ttl: seconds + DAY_MS / SECOND_MS };
  const isSame: Clause = { equals: ['hash', request.requestHash] };
  const isOver: Clause = { atMost: ['busyUntil', seconds] };
  const abandoned: Clause = { every: [isOver, isSame, { lacks: 'isOpen' }] };
  const claimed = await deps.table.put(claim, [{ any: [{ absent: true }, abandoned] }]);
  if (claimed.ok) return undefined;
  const found = claimed.found;
  if (found?.['hash'] !== request.requestHash) throw keyReusedError();
  if (found['isOpen'] === true) {
    const isFree: Clause = { any: [{ lacks: 'busyUntil' }, isOver] };
    const repeat = { ...claim, isOpen: true };
    if ((await deps.table.put(repeat, [{ equals: ['isOpen', true] }, isSame, isFree])).ok) return LEFT_OPEN;
    throw inProgressError(Number(found['busyUntil'] ?? busyUntil) - seconds);
  }
  if (found['status'] === undefined) throw inProgressError(Number(found['busyUntil']) - seconds);
  return { status: Number(found['status']), body: JSON.parse(String(found['body'])) };
};

/**
 * Stores a 2xx or 402 response, or the fact that the outcome is open. Any other result frees the key for a retry, but a
 * repeat remains marked as a repeat.
 */
export const settleKey = async (
  deps: { readonly table: Table },
  request: IdempotentRequest,
  answer: Kept,
): Promise<void> => {
  const key = idempotencyKey(request.scope);
  if (answer === undefined && !request.isRepeat) {
    await deps.table.expire(key, [{ equals: ['hash', request.requestHash] }, { lacks: 'status' }]);
    return;
  }
  const isSame: Clause = { equals: ['hash', request.requestHash] };
  const changes =
    answer === undefined || answer === LEFT_OPEN
      ? { set: { isOpen: true }, remove: ['busyUntil'] }
      : { set: { status: answer.status, body: JSON.stringify(answer.body) }, remove: ['busyUntil', 'isOpen'] };
  await deps.table.update(key, changes, [isSame, ...(answer === undefined ? [{ lacks: 'status' }] : [])]);
};
