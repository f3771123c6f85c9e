/**
 * @module The transition table of a dispute. A newer report may make any transition. For example, an inquiry becomes a
 * chargeback, or an appeal reverses a decision. A report with the time of the last report (`tie`) moves the dispute
 * only forward in ORDER.
 */

import type { DisputeStatus } from '../core/money-back.ts';
import { allows, type Transitions } from '../core/states.ts';

const ORDER: Readonly<Record<DisputeStatus, number>> = {
  needs_response: 0,
  under_review: 1,
  closed: 2,
  won: 3,
  lost: 4,
};

export type DisputeCause = 'report' | 'tie';

export const DISPUTE_TRANSITIONS: Transitions<DisputeStatus, DisputeCause> = {
  needs_response: {
    report: ['under_review', 'closed', 'won', 'lost'],
    tie: ['under_review', 'closed', 'won', 'lost'],
  },
  under_review: { report: ['needs_response', 'closed', 'won', 'lost'], tie: ['closed', 'won', 'lost'] },
  closed: { report: ['needs_response', 'under_review', 'won', 'lost'], tie: ['won', 'lost'] },
  won: { report: ['needs_response', 'under_review', 'closed', 'lost'], tie: ['lost'] },
  lost: { report: ['needs_response', 'under_review', 'closed', 'won'] },
};

/** True if the second status is later in ORDER than the first. */
export const isLaterDispute = (was: DisputeStatus, reported: DisputeStatus): boolean => ORDER[reported] > ORDER[was];

interface Stored {
  readonly id: string;
  readonly status: DisputeStatus;
}

/** @throws Error if the table lacks the transition, which is a bug; the caller must not write then */
export const requireDisputeTransition = (
  was: Stored,
  { status: to }: Pick<Stored, 'status'>,
  cause: DisputeCause,
): void => {
  if (allows(DISPUTE_TRANSITIONS, { from: was.status, to, cause })) return;
  throw new Error(`dispute ${was.id} may not change from ${was.status} to ${to} by ${cause}`);
};
