/** @module Stores disputes, one record per id at the provider. A dispute's payment changes in the same transaction. */

import type { Log } from '../core/logger.ts';
import { isClosedDispute } from '../core/money-back.ts';
import { type Instant, instant, iso } from '../core/time.ts';
import { type Committed, changeRecord, inOrder } from '../platform/change.ts';
import type { StoreDeps } from '../platform/table.ts';
import { recordStep, versionedRecord } from '../platform/versioned-record.ts';
import type { ProviderDispute } from '../providers/refund-port.ts';
import { type Dispute, disputeIdOf, disputeShape, isEvidenceDueSoon, nextReminder } from './dispute.ts';
import { type DisputeDecision, decideReport, firstReport, type SeenDispute } from './dispute-report.ts';
import { requireDisputeTransition } from './dispute-states.ts';
import type { VisiblePayment } from './payment.ts';
import { versionAfter } from './payment-fields.ts';
import { paymentStore } from './payment-store.ts';
import { hasGivenBackTooMuch } from './refunds/refund-sums.ts';

export interface DisputeDeps extends StoreDeps {
  readonly log: Log;
}

/** A dispute of the payment, as the provider reports it. */
export interface ShownDispute {
  readonly payment: VisiblePayment;
  readonly report: ProviderDispute;
}

export type ReportedDispute = ShownDispute & SeenDispute;

const disputeRecords = (deps: Pick<DisputeDeps, 'table'>) => versionedRecord(deps, disputeShape);

/** The record of the reported dispute; undefined if it is not recorded. */
export const findReportedDispute = (
  deps: Pick<DisputeDeps, 'table'>,
  shown: ShownDispute,
): Promise<Dispute | undefined> => disputeRecords(deps).load(idOfReported(shown));

const idOfReported = ({ payment, report }: ShownDispute): string => disputeIdOf(payment.providerId, report.disputeId);

/** True if it is unclear whether the record or the report is newer. Then read the provider. */
export const isUnclearReport = async (deps: DisputeDeps, reported: ReportedDispute): Promise<boolean> => {
  const dispute = await findReportedDispute(deps, reported);
  return dispute !== undefined && decideReport(dispute, reported, deps.now()).isUnclear;
};

export type RecordedDispute = Pick<DisputeDecision, 'isUnclear'> &
  ({ readonly kind: 'applied' } | { readonly kind: 'ignored'; readonly reason: string });

const NEW: RecordedDispute = { kind: 'applied', isUnclear: false };

export const recordDispute = async (deps: DisputeDeps, reported: ReportedDispute): Promise<RecordedDispute> => {
  const id = idOfReported(reported);
  const blank = newDispute(id, reported, deps.now());
  let decided: DisputeDecision | undefined;
  await changeRecord<Dispute>(
    (was, next) => {
      if (was === blank) return commit(deps, reported.payment, { was: undefined, next });
      if (decided?.kind !== 'apply') return disputeRecords(deps).commit(was, next);
      requireDisputeTransition(was, next, decided.cause);
      return commit(deps, reported.payment, { was, next });
    },
    (await disputeRecords(deps).load(id)) ?? blank,
    (current) => {
      decided = current === blank ? undefined : decideReport(current, reported, deps.now());
      return decided ? decided.next : { ...blank };
    },
  );
  if (!decided) return NEW;
  const { isUnclear } = decided;
  return decided.kind === 'apply'
    ? { kind: 'applied', isUnclear }
    : { kind: 'ignored', reason: decided.reason, isUnclear };
};

const newDispute = (id: string, { payment, ...seen }: ReportedDispute, now: Instant): Dispute => ({
  id,
  version: 1,
  createdAt: iso(Math.min(now, Math.max(seen.report.createdAt * 1_000, instant(payment.createdAt)))),
  updatedAt: iso(now),
  paymentId: payment.id,
  providerId: payment.providerId,
  providerDisputeId: seen.report.disputeId,
  ...firstReport(seen, now),
});

interface Change {
  readonly was: Dispute | undefined;
  readonly next: Dispute;
}

const commit = async (
  deps: DisputeDeps,
  payment: VisiblePayment,
  { was, next: decided }: Change,
): Promise<Committed<Dispute>> => {
  const next = was ? inOrder(was, decided) : decided;
  const change = { was, next };
  const changed = await paymentStore(deps.table, deps.now).change(payment, (current) => ({
    next: withDispute(current, change, deps.now()),
    onlyIf: [recordStep(disputeShape, was, next)],
  }));
  if (changed.unmet) return { ok: false, found: await disputeRecords(deps).load(next.id) };
  logChange(deps, change);
  warnOfTooMuch(deps, changed.record, next);
  return { ok: true, record: next };
};

const withDispute = (payment: VisiblePayment, { was, next }: Change, now: Instant): VisiblePayment => {
  const { amountCents, evidenceDueBy } = next;
  const isChanged = was && (was.amountCents !== amountCents || was.evidenceDueBy !== evidenceDueBy);
  return {
    ...payment,
    disputes: disputesWith(payment, next),
    ...versionAfter(payment, 'dispute', now),
    dispute: {
      id: next.id,
      amountCents,
      status: next.status,
      was: was?.status,
      reason: next.reason,
      evidenceDueBy,
      ...(isChanged && { termsChanged: true }),
    },
  };
};

/** The disputes of the payment after this change. A won or closed dispute is left out, because it took no money. */
const disputesWith = (payment: VisiblePayment, next: Dispute): VisiblePayment['disputes'] => {
  const others = (payment.disputes ?? []).filter(({ id }) => id !== next.id);
  const isLost = next.status === 'lost';
  if (isClosedDispute(next.status) && !isLost) return others.length > 0 ? others : undefined;
  const amountCents = next.currency === payment.currency ? next.amountCents : payment.totalCents;
  const { captureId } = next;
  const ofCapture = captureId !== undefined && captureId !== payment.providerPaymentId && { captureId };
  const counted = {
    id: next.id,
    amountCents,
    ...ofCapture,
    ...(isLost && { lostAt: next.closedAt ?? next.updatedAt }),
  };
  return [...others, counted].sort((one, other) => (one.id < other.id ? -1 : 1));
};

/** Logs an error if the payer got back more than was paid, such as by a refund and then a lost dispute. */
const warnOfTooMuch = ({ log }: DisputeDeps, payment: VisiblePayment, { id, status }: Dispute): void => {
  if (status !== 'lost' || !hasGivenBackTooMuch(payment)) return;
  const about = { payment_id: payment.id, dispute_id: id, provider: payment.providerId };
  log.error('refund anomaly', { ...about, reason: 'more than was paid' });
};

const logChange = ({ log }: DisputeDeps, { was, next }: Change): void => {
  const isClosed = isClosedDispute(next.status);
  const wasOpen = was !== undefined && !isClosedDispute(was.status);
  log.info('dispute changed', {
    payment_id: next.paymentId,
    dispute_id: next.id,
    provider: next.providerId,
    outcome: isClosed ? 'closed' : wasOpen ? 'advanced' : 'opened',
    reason: next.status,
  });
};

/**
 * Reminds an operator once a day in the last three days before the evidence is due, while the dispute needs a response.
 */
export const runDueDispute = async (deps: DisputeDeps, disputeId: string): Promise<string> => {
  const dispute = await disputeRecords(deps).load(disputeId);
  if (!dispute) return 'gone';
  const now = deps.now();
  const isDue = isEvidenceDueSoon(dispute, now);
  if (isDue) {
    const { paymentId, providerId, evidenceDueBy } = dispute;
    deps.log.warn('dispute due soon', {
      payment_id: paymentId,
      dispute_id: dispute.id,
      provider: providerId,
      reason: `evidence is due by ${evidenceDueBy}`,
    });
  }
  const first = nextReminder(dispute, undefined);
  const next = isDue ? nextReminder(dispute, now) : first !== undefined && instant(first) > now ? first : undefined;
  await disputeRecords(deps).setTimes(dispute, { remindAt: next });
  return isDue ? 'reminded' : 'nothing due';
};
