import { derivedId } from '../../core/ids.ts';
import { type Instant, instant, iso } from '../../core/time.ts';
import type { Log } from '../../observability/logger.ts';
import type { ProviderDispute } from '../../providers/port/refunds.ts';
import { type Committed, changeRecord, inOrder } from '../../table/change.ts';
import type { StoreDeps, Table } from '../../table/table.ts';
import type { VisiblePayment } from '../record/payment.ts';
import { paymentStore } from '../record/store.ts';
import {
  type Dispute,
  disputeItem,
  disputeKey,
  disputeOf,
  isClosedDispute,
  isEvidenceDueSoon,
  nextReminder,
} from './dispute.ts';
import { isLaterDispute, requireDisputeTransition } from './states.ts';

export interface DisputeDeps extends StoreDeps {
  readonly log: Log;
}

export interface ReportedDispute {
  readonly payment: VisiblePayment;
  readonly report: ProviderDispute;
}

const load = async (table: Table, id: string): Promise<Dispute | undefined> => {
  const item = await table.get(disputeKey(id));
  return item && disputeOf(item);
};

/** The record of the dispute that the provider reports; undefined where it is not recorded. */
export const findReportedDispute = (
  { table }: Pick<DisputeDeps, 'table'>,
  reported: ReportedDispute,
): Promise<Dispute | undefined> => load(table, idOfReported(reported));

const idOfReported = ({ payment, report }: ReportedDispute): string =>
  derivedId('dispute', payment.providerId, report.disputeId);

/**
 * Stores what the provider reports of a dispute. Its id is derived from the provider's, so that repeated and concurrent
 * reports make one record; the payment, which knows its open disputes, changes in the same transaction.
 */
export const recordDispute = async (deps: DisputeDeps, { payment, report }: ReportedDispute): Promise<Dispute> => {
  const id = idOfReported({ payment, report });
  const blank = newDispute(id, { payment, report }, deps.now());
  const { record } = await changeRecord<Dispute>(
    (was, next) => commit(deps, payment, { was: was === blank ? undefined : was, next }),
    (await load(deps.table, id)) ?? blank,
    (current) => (current === blank ? { ...blank } : withReport(current, report, deps.now())),
  );
  return record;
};

const newDispute = (id: string, { payment, report }: ReportedDispute, now: Instant): Dispute => ({
  id,
  version: 1,
  createdAt: iso(Math.min(now, Math.max(report.createdAt * 1_000, instant(payment.createdAt)))),
  updatedAt: iso(now),
  paymentId: payment.id,
  providerId: payment.providerId,
  providerDisputeId: report.disputeId,
  ...reported(report, now),
});

const reported = (report: ProviderDispute, now: Instant) => {
  const { status, currency, reason } = report;
  // A bank may dispute an amount between two minor units.
  const amountCents = Math.round(report.amountCents);
  const evidenceDueBy = report.evidenceDueBy === undefined ? undefined : iso(report.evidenceDueBy * 1_000);
  return {
    ...{ status, amountCents, currency, reason, evidenceDueBy },
    closedAt: isClosedDispute(status) ? iso(now) : undefined,
    remindAt: nextReminder({ status, evidenceDueBy }, undefined),
  };
};

/** The same dispute where the report says nothing new. */
const withReport = (dispute: Dispute, report: ProviderDispute, now: Instant): Dispute =>
  isLaterDispute(dispute.status, report.status)
    ? { ...dispute, ...reported(report, now), version: dispute.version + 1, updatedAt: iso(now) }
    : dispute;

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
  if (was) requireDisputeTransition(was, next);
  const step = {
    put: disputeItem(next),
    if: was ? ([{ exists: true }, { equals: ['version', was.version] }] as const) : ([{ absent: true }] as const),
  };
  const changed = await paymentStore(deps.table, deps.now).change(payment, (current) => ({
    next: withDispute(current, change, deps.now()),
    onlyIf: [step],
  }));
  if (changed.unmet) return { ok: false, found: await load(deps.table, next.id) };
  logChange(deps, change);
  return { ok: true, record: next };
};

/** The payment after a change of one of its disputes. */
const withDispute = (payment: VisiblePayment, { was, next }: Change, now: Instant): VisiblePayment => {
  const others = (payment.openDisputes ?? []).filter((id) => id !== next.id);
  const open = isClosedDispute(next.status) ? others : [...others, next.id].sort();
  return {
    ...payment,
    openDisputes: open.length > 0 ? open : undefined,
    dispute: {
      id: next.id,
      amountCents: next.amountCents,
      status: next.status,
      was: was?.status,
      reason: next.reason,
      evidenceDueBy: next.evidenceDueBy,
    },
    refund: undefined,
    cause: 'dispute',
    version: payment.version + 1,
    updatedAt: iso(now),
  };
};

const logChange = ({ log }: DisputeDeps, { was, next }: Change): void => {
  const isClosed = isClosedDispute(next.status);
  log.info('dispute changed', {
    payment_id: next.paymentId,
    dispute_id: next.id,
    provider: next.providerId,
    outcome: isClosed ? 'closed' : was ? 'advanced' : 'opened',
    reason: next.status,
  });
};

/** Tells an operator of a dispute whose evidence is due within three days, daily until it is answered or too late. */
export const runDueDispute = async (deps: DisputeDeps, disputeId: string): Promise<string> => {
  const dispute = await load(deps.table, disputeId);
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
  await deps.table.put(disputeItem({ ...dispute, remindAt: next }), [{ equals: ['version', dispute.version] }]);
  return isDue ? 'reminded' : 'nothing due';
};
