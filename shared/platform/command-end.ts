/**
 * @module A command may respond before its outcome is known, for example with 202. This module decides the event of
 * such a command's failure, and the result of a repeat under its Idempotency-Key. No other module has these rules.
 * Pure.
 */

import type { CanonicalEvent } from './bus-event.ts';

interface Failure {
  readonly event: CanonicalEvent;
  /** Set if several failures share the event. */
  readonly reason?: string;
}

/**
 * The event for each command that fails after a response that lacked the outcome. A successful command changes the
 * record, and that change has its own event.
 */
export const FAILURE_OF = {
  confirm: { event: 'payment.failed' },
  capture: { event: 'payment.capture_failed' },
  release: { event: 'payment.release_failed' },
  refund: { event: 'payment.refund_failed' },
  create: { event: 'subscription.cancelled' },
  change: { event: 'subscription.updated', reason: 'plan_change_failed' },
  cancel: { event: 'subscription.updated', reason: 'cancel_failed' },
  resume: { event: 'subscription.updated', reason: 'resume_failed' },
  reactivate: { event: 'subscription.updated', reason: 'reactivate_failed' },
} as const satisfies Readonly<Record<string, Failure>>;

/** The commands that may finish after their response. */
export type KeyedCommand = keyof typeof FAILURE_OF;

interface CommandResponse {
  readonly status: number;
  /** True if the response lacks the outcome. By default, true for a 202. */
  readonly isOpen?: boolean | undefined;
}

/**
 * The state of the Idempotency-Key after a response. A kept response is returned again. After `left open`, a repeat
 * shows the record, or runs the command again if the command has failed. With `nothing`, a repeat runs the command
 * again.
 */
export const keptOfResponse = (
  command: KeyedCommand | undefined,
  { status, isOpen = status === 202 }: CommandResponse,
): 'response' | 'left open' | 'nothing' => {
  if (command !== undefined && isOpen) return 'left open';
  // After a declined capture the amount stays held, and the merchant may capture it again.
  if (status === 402) return command === 'capture' ? 'nothing' : 'response';
  return status < 300 ? 'response' : 'nothing';
};
