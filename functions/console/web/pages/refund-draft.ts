import type { Problem } from '../api/problem.ts';
import { session } from '../api/session.ts';
import type { Refund } from '../api/types.ts';

/**
 * A refund that was sent, and whose outcome is not known yet. It is kept with its Idempotency-Key for as long as the tab
 * is open, so that sending it again makes no second refund.
 */
export type Reason = NonNullable<Refund['reason']>;
export const REASONS: readonly Reason[] = ['requested_by_customer', 'duplicate', 'fraudulent', 'other'];

export interface RefundDraft {
  readonly amount: string;
  readonly reason: Reason | '';
}

export interface SentRefund extends RefundDraft {
  readonly key: string;
  /** A dispute was open, and the user has said that it is known. */
  readonly despiteDispute: boolean;
}

/** A key counts for one user only, so each user has drafts of their own. */
const placeOf = (paymentId: string): string => `payments-console-refund-${session.value?.userId ?? ''}-${paymentId}`;

const isRecord = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === 'object' && value !== null;

export const sentRefund = (paymentId: string): SentRefund | undefined => {
  const text = sessionStorage.getItem(placeOf(paymentId));
  const value: unknown = text === null ? undefined : JSON.parse(text);
  if (!isRecord(value)) return undefined;
  const reason = REASONS.find((one) => one === value['reason']) ?? '';
  const despiteDispute = value['despiteDispute'] === true;
  return { key: String(value['key']), amount: String(value['amount']), reason, despiteDispute };
};

export const keepSentRefund = (paymentId: string, sent: SentRefund): void =>
  sessionStorage.setItem(placeOf(paymentId), JSON.stringify(sent));

/** A newer draft of the same payment stays. */
export const dropSentRefund = (paymentId: string, { key }: SentRefund): void => {
  if (sentRefund(paymentId)?.key === key) sessionStorage.removeItem(placeOf(paymentId));
};

const UNDECIDED: readonly string[] = ['IDEMPOTENCY_IN_PROGRESS', 'IDEMPOTENCY_KEY_REUSED'];
/**
 * The service refuses with these codes after it has looked up the key, so no earlier request under the key made a refund. A refusal
 * before the look-up, such as 403 or 429, does not tell what an earlier request did.
 */
const AFTER_THE_KEY: readonly string[] = [
  'VALIDATION_ERROR',
  'REFUND_EXCEEDS_PAYMENT',
  'INVALID_STATE',
  'PAYMENT_DISPUTED',
];

/** @param wasUnknown whether an earlier request of the same refund has had no definite response */
export const isOutcomeUnknown = ({ status, code }: Problem, wasUnknown: boolean): boolean => {
  const isRefusal = status >= 400 && status < 500;
  if (!isRefusal || UNDECIDED.includes(code)) return true;
  return wasUnknown && !AFTER_THE_KEY.includes(code);
};
