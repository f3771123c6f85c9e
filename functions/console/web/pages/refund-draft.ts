/**
 * @module Stores a sent refund with an unknown outcome and its Idempotency-Key while the tab is open. Sending it again
 * then makes no second refund.
 */

import type { Problem } from '../api/problem.ts';
import { session } from '../api/session.ts';
import type { Refund } from '../api/types.ts';

export type Reason = NonNullable<Refund['reason']>;
export const REASONS: readonly Reason[] = ['requested_by_customer', 'duplicate', 'fraudulent', 'other'];

export interface RefundDraft {
  readonly amount: string;
  readonly reason: Reason | '';
}

export interface SentRefund extends RefundDraft {
  readonly key: string;
  /** True if a dispute was open and the user chose to refund anyway. */
  readonly despiteDispute: boolean;
  /** The time of the first request, epoch ms. */
  readonly sentAt: number;
}

/** The service keeps a key for 24 hours. A retry after that would make a second refund. */
const REPEATABLE_MS = 23 * 3_600_000;

export const isRepeatable = ({ sentAt }: SentRefund, now: number): boolean => now < sentAt + REPEATABLE_MS;

/** The drafts are stored per user, because a key is valid for one user only. */
const placeOf = (paymentId: string): string => `payments-console-refund-${session.value?.userId ?? ''}-${paymentId}`;

const isRecord = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === 'object' && value !== null;

export const sentRefund = (paymentId: string): SentRefund | undefined => {
  const text = sessionStorage.getItem(placeOf(paymentId));
  const value: unknown = text === null ? undefined : JSON.parse(text);
  if (!isRecord(value)) return undefined;
  const reason = REASONS.find((one) => one === value['reason']) ?? '';
  const despiteDispute = value['despiteDispute'] === true;
  const sentAt = Number(value['sentAt'] ?? 0);
  return { key: String(value['key']), amount: String(value['amount']), reason, despiteDispute, sentAt };
};

export const keepSentRefund = (paymentId: string, sent: SentRefund): void =>
  sessionStorage.setItem(placeOf(paymentId), JSON.stringify(sent));

/** Removes this draft. A newer draft of the same payment stays. */
export const dropSentRefund = (paymentId: string, { key }: SentRefund): void => {
  if (sentRefund(paymentId)?.key === key) sessionStorage.removeItem(placeOf(paymentId));
};

const UNDECIDED: readonly string[] = ['IDEMPOTENCY_IN_PROGRESS', 'IDEMPOTENCY_KEY_REUSED'];
/**
 * Refusals after the lookup of the key. They prove that no request with the key made a refund. Earlier refusals, such
 * as 403 or 429, prove nothing.
 */
const AFTER_THE_KEY: readonly string[] = [
  'VALIDATION_ERROR',
  'REFUND_EXCEEDS_PAYMENT',
  'INVALID_STATE',
  'PAYMENT_DISPUTED',
];

/** The support limit from the API's refusal; undefined for any other problem. */
export const limitIn = ({ details }: Problem): number | undefined =>
  isRecord(details) && typeof details['limit_cents'] === 'number' ? details['limit_cents'] : undefined;

/**
 * True if the refund may have been made.
 * @param wasUnknown true if an earlier request of this refund still has no definite response
 */
export const isOutcomeUnknown = (problem: Problem, wasUnknown: boolean): boolean => {
  const { status, code, details } = problem;
  // The provider refused this refund, so it has failed.
  if (code === 'PROVIDER_ERROR' && isRecord(details) && 'refund_id' in details) return false;
  const isRefusal = status >= 400 && status < 500;
  if (!isRefusal || UNDECIDED.includes(code)) return true;
  return wasUnknown && !AFTER_THE_KEY.includes(code) && limitIn(problem) === undefined;
};
