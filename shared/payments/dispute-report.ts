/**
 * @module Decides how a provider's report changes a dispute. The functions are pure. A stale report is ignored. An
 * event with the time of the last report moves the dispute only forward. A newer report always applies, even backward.
 */

import { isClosedDispute } from '../core/money-back.ts';
import { type Instant, instant, iso, SECOND_MS } from '../core/time.ts';
import type { ProviderDispute } from '../providers/refund-port.ts';
import { type Dispute, nextReminder } from './dispute.ts';
import { type DisputeCause, isLaterDispute } from './dispute-states.ts';

export interface SeenDispute {
  readonly report: ProviderDispute;
  readonly by: 'event' | 'read';
  /** The provider's time of the event, or our time at the start of the read. */
  readonly at: Instant;
}

export type DisputeDecision = (
  | { readonly kind: 'apply'; readonly cause: DisputeCause }
  | { readonly kind: 'ignore'; readonly reason: 'stale' | 'no change' | 'same time' }
) & {
  /**
   * The next record; the same object if there is nothing to store. The version counts only changes that readers see.
   */
  readonly next: Dispute;
  /** True if it is unclear whether the record or the report is newer. A new read of the provider decides. */
  readonly isUnclear: boolean;
};

/**
 * Maximum difference between the provider's clock and ours. It includes the fraction of a second that is missing from a
 * time in whole seconds.
 */
const CLOCKS_DIFFER_MS = 5 * SECOND_MS;

export const decideReport = (dispute: Dispute, seen: SeenDispute, now: Instant): DisputeDecision => {
  const fields = fieldsOf(dispute, seen.report, now);
  const isRead = seen.by === 'read';
  // A stored time in the future must not make a read stale.
  const last = isRead ? Math.min(lastTime(dispute), now) : lastTime(dispute);
  const since = reportTime(seen) - last;
  if (isSame(dispute, fields)) {
    const next = since > 0 ? { ...dispute, ...stamp(seen, last) } : dispute;
    return { kind: 'ignore', reason: 'no change', next, isUnclear: false };
  }
  const isUnclear = Math.abs(since) <= (isRead || dispute.reportedBy !== 'event' ? CLOCKS_DIFFER_MS : 0);
  const ignored = { kind: 'ignore', next: dispute, isUnclear } as const;
  if (since < 0 && !(isRead && isUnclear)) return { ...ignored, reason: 'stale' };
  const cause: DisputeCause = since === 0 && !isRead ? 'tie' : 'report';
  if (cause === 'tie' && !isLaterDispute(dispute.status, seen.report.status)) {
    return { ...ignored, reason: 'same time' };
  }
  const next = { ...dispute, ...fields, ...stamp(seen, last), version: dispute.version + 1, updatedAt: iso(now) };
  return { kind: 'apply', cause, next, isUnclear };
};

export const firstReport = (seen: SeenDispute, now: Instant) => ({
  ...fieldsOf(undefined, seen.report, now),
  ...stamp(seen),
});

type Fields = Pick<
  Dispute,
  'status' | 'amountCents' | 'currency' | 'reason' | 'evidenceDueBy' | 'captureId' | 'closedAt' | 'remindAt'
>;

const fieldsOf = (was: Dispute | undefined, report: ProviderDispute, now: Instant): Fields => {
  const { status, currency, reason: said, evidenceDueBy: due } = report;
  // Rounded, because a bank may dispute an amount with a fraction of a minor unit.
  const amountCents = Math.round(report.amountCents);
  // A field omitted in the report keeps its value.
  const reason = said === undefined ? was?.reason : (said ?? undefined);
  const evidenceDueBy = due === undefined ? was?.evidenceDueBy : due === null ? undefined : iso(due * SECOND_MS);
  const isSameDate = was?.status === status && was.evidenceDueBy === evidenceDueBy;
  return {
    ...{ status, amountCents, currency, reason, evidenceDueBy, captureId: report.captureId ?? was?.captureId },
    closedAt: isClosedDispute(status) ? ((was?.status === status ? was.closedAt : undefined) ?? iso(now)) : undefined,
    remindAt: isSameDate ? was.remindAt : nextReminder({ status, evidenceDueBy }, undefined),
  };
};

const isSame = (dispute: Dispute, { status, amountCents, currency, reason, evidenceDueBy }: Fields): boolean =>
  dispute.status === status &&
  dispute.amountCents === amountCents &&
  dispute.currency === currency &&
  dispute.reason === reason &&
  dispute.evidenceDueBy === evidenceDueBy;

/** The time of the reported state. For a read, the later of the read's start and the provider's own time. */
const reportTime = ({ report, by, at }: SeenDispute): Instant => {
  const own = report.reportedAt;
  return by === 'read' ? Math.max(own ?? at, at) : (own ?? at);
};

/** The time of the last report. Older records lack `reportedAt`, so their last change counts. */
const lastTime = ({ reportedAt, updatedAt }: Dispute): Instant => instant(reportedAt ?? updatedAt);

const stamp = (seen: SeenDispute, last = 0): Pick<Dispute, 'reportedAt' | 'reportedBy'> => ({
  reportedAt: iso(Math.max(reportTime(seen), last)),
  reportedBy: seen.by,
});
