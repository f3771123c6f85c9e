import type { DisputeStatus } from '../../core/money-back.ts';
import { allows, type Transitions } from '../../core/states.ts';

/**
 * The transition table of a dispute. Reports of the provider (events, reads) move a dispute only forward in ORDER, so that any
 * order of events has one end. No report leads out of `lost`.
 */
const ORDER: Readonly<Record<DisputeStatus, number>> = {
  needs_response: 0,
  under_review: 1,
  closed: 2,
  won: 3,
  lost: 4,
};

export const DISPUTE_TRANSITIONS: Transitions<DisputeStatus, 'report'> = {
  needs_response: { report: ['under_review', 'closed', 'won', 'lost'] },
  under_review: { report: ['closed', 'won', 'lost'] },
  closed: { report: ['won', 'lost'] },
  won: { report: ['lost'] },
  lost: {},
};

/** True if the provider's report is later than what the record shows. */
export const isLaterDispute = (was: DisputeStatus, reported: DisputeStatus): boolean => ORDER[reported] > ORDER[was];

interface Stored {
  readonly id: string;
  readonly status: DisputeStatus;
}

/** @throws Error where a change of the status has no arrow in the table: a bug, and nothing may be written. */
export const requireDisputeTransition = (was: Stored, { status: to }: Pick<Stored, 'status'>): void => {
  if (allows(DISPUTE_TRANSITIONS, { from: was.status, to, cause: 'report' })) return;
  throw new Error(`dispute ${was.id} may not change from ${was.status} to ${to} by report`);
};
