/**
 * @module The end of a command with an open response, such as a 202: its event, and its repeat under the
 * Idempotency-Key. No other place decides either. Pure.
 */

import type { CanonicalEvent } from './bus-event.ts';

interface Failure {
  readonly event: CanonicalEvent;
  /** The `reason` of an event that has several. */
  readonly reason?: string;
}

/**
 * Reports that a command did not happen, after a response that left the outcome open. A command that happened changes
 * the record, and the change has its event.
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

/** The commands that may end after their response. */
export type KeyedCommand = keyof typeof FAILURE_OF;

interface CommandResponse {
  readonly status: number;
  /** True for a 202, unless the use case says otherwise. */
  readonly isOpen?: boolean | undefined;
}

/**
 * What the key of a request keeps. A kept response is returned again. If the outcome was left open, a repeat shows the
 * record, or carries out a command that did not happen. A free key carries the command out again.
 */
export const keptOfResponse = (
  command: KeyedCommand | undefined,
  { status, isOpen = status === 202 }: CommandResponse,
): 'response' | 'left open' | 'nothing' => {
  if (command !== undefined && isOpen) return 'left open';
  // The amount stays held after a declined capture, and the merchant may capture it again.
  if (status === 402) return command === 'capture' ? 'nothing' : 'response';
  return status < 300 ? 'response' : 'nothing';
};
