/** @module Stores reported refunds. Repeated and concurrent reports store one record, so the amount counts once. */

import { ownerIdsOf } from '../../access/record-kind.ts';
import { lookTime } from '../../calls/call-times.ts';
import { plainId } from '../../core/ids.ts';
import { instant, iso } from '../../core/time.ts';
import { findAlias } from '../../platform/alias.ts';
import type { ProviderRefund } from '../../providers/refund-port.ts';
import type { VisiblePayment } from '../payment.ts';
import { containsFacts, differs, firstFactLook, oneFactLook } from '../recorded-facts.ts';
import type { Refund } from './refund.ts';
import { isLaterRefund, refundMismatch } from './refund-states.ts';
import { type RefundStore, type RefundStoreDeps, refundStore } from './refund-store.ts';

/** True if the record has the id of another refund at the provider. */
const isAnother = ({ providerRefundId }: Refund, { refundId }: ProviderRefund): boolean =>
  providerRefundId !== undefined && providerRefundId !== refundId;

/**
 * The refund after an event. Events may arrive in any order. So if an event's settlement differs from the record's, the
 * event is not applied, and the provider is read.
 */
const withEvent = (refund: Refund, report: ProviderRefund, now: number): Refund => {
  const isSettled = refund.status === 'succeeded' && report.status === 'succeeded' && !isAnother(refund, report);
  if (!isSettled || !differs(refund.settlement, report.settlement)) return withReport(refund, report, now);
  return refund.factsAt === undefined ? { ...refund, ...oneFactLook(now), version: refund.version + 1 } : refund;
};

/** The refund after a report; the same object if the report has nothing new. */
const withReport = (refund: Refund, report: ProviderRefund, now: number): Refund => {
  if (isAnother(refund, report)) return refund;
  const isLater = isLaterRefund(refund, report.status);
  const status = isLater ? report.status : refund.status;
  const reported = report.status === status && mayHaveSettlement(status) ? report.settlement : undefined;
  const isKnown = containsFacts(refund.settlement, reported);
  if (!isLater && isKnown && refund.providerRefundId !== undefined) return refund;
  const isPending = status === 'pending';
  return {
    ...refund,
    status,
    providerRefundId: report.refundId,
    failureCode: isLater ? failureOf(report) : refund.failureCode,
    completedAt: refund.completedAt ?? (status === 'succeeded' ? iso(now) : undefined),
    reconcileAt: isPending ? (refund.reconcileAt ?? iso(lookTime(now, 0))) : undefined,
    reconcileStep: isPending ? (refund.reconcileStep ?? 0) : undefined,
    ...settlementOf(refund, { status, settlement: reported ?? refund.settlement }, now),
    version: refund.version + 1,
    updatedAt: iso(now),
  };
};

const failureOf = ({ status, failureCode }: ProviderRefund): string | undefined =>
  status === 'failed' ? (failureCode ?? 'declined') : undefined;

/** True if a refund of this status may have a settlement. A failed or canceled refund moved no money. */
const mayHaveSettlement = (status: Refund['status']): boolean => status === 'succeeded' || status === 'pending';

/** The settlement and its next read. A refund that has just succeeded without its settlement is read again later. */
const settlementOf = (
  was: Partial<Pick<Refund, 'status' | 'factsAt' | 'factLooks'>>,
  { status, settlement: reported }: Pick<Refund, 'status' | 'settlement'>,
  now: number,
): Partial<Refund> => {
  const settlement = mayHaveSettlement(status) ? reported : undefined;
  if (status !== 'succeeded' || settlement) return { settlement, factsAt: undefined, factLooks: undefined };
  if (was.status === 'succeeded') return { settlement, factsAt: was.factsAt, factLooks: was.factLooks };
  return { settlement, ...firstFactLook(now) };
};

/** Applies a report from a response, an event or a read. */
const settleRefund = async (
  deps: RefundStoreDeps,
  refund: Refund,
  { report, isEvent = false }: Pick<Reported, 'report' | 'isEvent'>,
): Promise<Refund> => {
  const mismatch = refundMismatch(refund, report);
  if (mismatch) {
    deps.log.error('refund anomaly', {
      payment_id: refund.paymentId,
      refund_id: refund.id,
      provider: refund.providerId,
      reason: mismatch,
    });
    return refund;
  }
  const { record } = await refundStore(deps).change(refund, 'report', (current) =>
    (isEvent ? withEvent : withReport)(current, report, deps.now()),
  );
  return record;
};

/**
 * Stores the provider's response to a refund call. An event without our id may have stored a duplicate record of the
 * refund. The duplicate is canceled, so the amount counts once.
 */
export const recordAnsweredRefund = async (
  deps: RefundStoreDeps,
  refund: Refund,
  report: ProviderRefund,
): Promise<Refund> => {
  if (refundMismatch(refund, report) === undefined) await endDuplicate(deps, refund, report);
  const settled = await settleRefund(deps, refund, { report });
  if (settled.providerRefundId === report.refundId) await endDuplicate(deps, refund, report);
  return settled;
};

const endDuplicate = async (deps: RefundStoreDeps, refund: Refund, { refundId }: ProviderRefund): Promise<void> => {
  const store = refundStore(deps);
  const other = await store.load(plainId('refund', refund.providerId, refundId));
  if (other?.paymentId !== refund.paymentId) return;
  await store.change(other, 'duplicate', (current) =>
    current.providerRefundId === undefined
      ? undefined
      : {
          ...current,
          status: 'canceled',
          providerRefundId: undefined,
          failureCode: 'duplicate_record',
          reconcileAt: undefined,
          reconcileStep: undefined,
          version: current.version + 1,
          updatedAt: iso(deps.now()),
        },
  );
};

/** The record of the reported refund; undefined if it is not recorded. */
export const findReportedRefund = async (
  deps: RefundStoreDeps,
  { payment, report }: Reported,
): Promise<Refund | undefined> => {
  const store = refundStore(deps);
  const ours = await findOurs(deps, store, { payment, report });
  return ours ?? store.load(idOfReported({ payment, report }));
};

/** A refund made at the provider has an id derived from the provider's. */
const idOfReported = ({ payment, report }: Reported): string => plainId('refund', payment.providerId, report.refundId);

/** Our record of the reported refund; undefined if the refund was made at the provider. */
const findOurs = async (
  { table }: RefundStoreDeps,
  store: RefundStore,
  { payment, report }: Reported,
): Promise<Refund | undefined> => {
  const alias = await findAlias(table, payment.providerId, report.refundId);
  const aliased = alias?.kind === 'RFD' ? await store.load(alias.id) : undefined;
  if (aliased && !isAnother(aliased, report)) return aliased;
  const named = report.ourRefundId === undefined ? undefined : await store.load(report.ourRefundId);
  // Our id in the report is no proof. Payment and amount must match, and our record must not belong to another refund
  // at the provider.
  const isOurs =
    named?.paymentId === payment.id && refundMismatch(named, report) === undefined && !isAnother(named, report);
  return isOurs ? named : undefined;
};

export interface Reported {
  readonly payment: VisiblePayment;
  readonly report: ProviderRefund;
  /** True if the report comes from an event. Responses and reads always have the current state. */
  readonly isEvent?: boolean | undefined;
}

/**
 * Why a reported refund cannot be stored; undefined if it can be stored. Sums need whole minor units of the payment's
 * currency.
 */
export const findUnusable = (
  payment: Pick<VisiblePayment, 'currency'>,
  { amountCents, currency }: Pick<ProviderRefund, 'amountCents' | 'currency'>,
): 'currency differs' | 'not a whole amount' | undefined => {
  if (currency !== payment.currency) return 'currency differs';
  return Number.isSafeInteger(amountCents) && amountCents > 0 ? undefined : 'not a whole amount';
};

/**
 * Stores a reported refund. A refund made at the provider gets an id derived from the provider's, so repeated reports
 * store one record. Even a refund above the paid amount is stored.
 */
export const recordReportedRefund = async (
  deps: RefundStoreDeps,
  { payment, report, isEvent }: Reported,
): Promise<Refund> => {
  const store = refundStore(deps);
  const known = await findOurs(deps, store, { payment, report });
  const settled = known && (await settleRefund(deps, known, { report, isEvent }));
  // Several refunds at the provider may have our id. The first stored refund is ours.
  if (settled && !isAnother(settled, report)) return settled;
  const stored = await store.load(idOfReported({ payment, report }));
  if (stored) return settleRefund(deps, stored, { report, isEvent });
  const id = await idOfNew(store, { payment, report });
  const made = await store.insert(payment, (current) => providerRefund(id, { payment: current, report }, deps.now()));
  if (made) return made.refund;
  const other = await store.load(id);
  if (!other) throw new Error('a refund was removed while it was stored');
  return settleRefund(deps, other, { report, isEvent });
};

/** If a table restore lost a refund's record, the refund keeps our id, so event receivers recognize it. */
const idOfNew = async (store: RefundStore, { payment, report }: Reported): Promise<string> => {
  const { ourRefundId } = report;
  const isFree = ourRefundId !== undefined && OUR_ID.test(ourRefundId) && !(await store.load(ourRefundId));
  return isFree ? ourRefundId : idOfReported({ payment, report });
};

const OUR_ID = /^ref_[0-9a-f]{24}$/;

const providerRefund = (id: string, { payment, report }: Reported, now: number): Refund => ({
  id,
  version: 1,
  createdAt: iso(Math.min(now, Math.max(report.createdAt * 1_000, instant(payment.createdAt)))),
  updatedAt: iso(now),
  paymentId: payment.id,
  amountCents: report.amountCents,
  currency: report.currency,
  status: report.status,
  reason: report.reason,
  source: 'provider',
  providerId: payment.providerId,
  providerRefundId: report.refundId,
  ...(report.captureId !== payment.providerPaymentId && { captureId: report.captureId }),
  failureCode: failureOf(report),
  completedAt: report.status === 'succeeded' ? iso(now) : undefined,
  ...settlementOf({}, report, now),
  ...ownerIdsOf(payment),
  ...(report.status === 'pending' && { reconcileAt: iso(lookTime(now, 0)), reconcileStep: 0 }),
});

/**
 * Stores the payment's refunds, oldest first. Logs an error for a refund that cannot be stored.
 * @returns the records, in the same order
 */
export const recordReportedRefunds = async (
  deps: RefundStoreDeps,
  payment: VisiblePayment,
  reports: readonly ProviderRefund[],
): Promise<readonly Refund[]> => {
  const stored: Refund[] = [];
  for (const report of reports) {
    const reason = findUnusable(payment, report);
    if (reason) deps.log.error('refund anomaly', { payment_id: payment.id, provider: payment.providerId, reason });
    else stored.push(await recordReportedRefund(deps, { payment, report }));
  }
  return stored;
};
