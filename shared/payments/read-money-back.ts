/** @module Reads and stores a payment's refunds and disputes, also those made at the provider. */

import type { NotDone, Outcome, Unknown } from '../core/outcome.ts';
import type { RefundsPort } from '../providers/refund-port.ts';
import { type RecordedDispute, recordDispute } from './dispute-store.ts';
import type { VisiblePayment } from './payment.ts';
import { chargedAs } from './refunds/refund-call.ts';
import { recordReportedRefunds } from './refunds/refund-reports.ts';
import type { RefundStoreDeps } from './refunds/refund-store.ts';

export interface MoneyBackParts {
  readonly deps: RefundStoreDeps;
  readonly port: RefundsPort;
  readonly payment: VisiblePayment;
}

/** Why the read is incomplete; undefined if the read is complete or the provider refuses it. */
type Unread = NotDone | Unknown | undefined;

/** A refusal is only logged. The account may lack the right to read disputes, or the provider refuses an old order. */
const unreadOf = ({ deps, payment }: MoneyBackParts, read: Exclude<Outcome<unknown>, { kind: 'done' }>): Unread => {
  if (read.kind === 'not_done' || read.kind === 'unknown') return read;
  const reason = read.kind === 'refused' ? read.reason : read.code;
  deps.log.warn('money back not read', { payment_id: payment.id, provider: payment.providerId, reason });
  return undefined;
};

export const readRefundsOf = async (parts: MoneyBackParts): Promise<Unread> => {
  const { deps, port, payment } = parts;
  const read = await port.listRefunds(chargedAs(payment));
  if (read.kind !== 'done') return unreadOf(parts, read);
  const counted = read.value.filter(({ captureId }) => isCapture(payment, captureId));
  if (counted.length < read.value.length) {
    const reason = 'an unrecorded capture was refunded';
    deps.log.warn('money back not read', { payment_id: payment.id, provider: payment.providerId, reason });
  }
  await recordReportedRefunds(deps, payment, counted);
  return undefined;
};

/**
 * True unless the record lacks this capture. The record lacks a capture with which the provider took more than was
 * authorized.
 */
const isCapture = (
  { captureMethod, captures, providerPaymentId }: VisiblePayment,
  captureId: string | undefined,
): boolean =>
  captureMethod !== 'manual' ||
  captureId === undefined ||
  captureId === providerPaymentId ||
  (captures ?? []).some(({ id }) => id === captureId);

/** The recorded disputes, or why the read failed. */
export interface DisputesRead {
  readonly unread: Unread;
  /** The result for each dispute, by the id of the dispute at the provider. */
  readonly recorded: ReadonlyMap<string, RecordedDispute>;
}

/** A second read settles an unclear order. A third read is for a dispute that changes during the second read. */
const MOST_READS = 3;

/** Reads and stores the disputes of a payment. Reads again if the order of the reports is unclear. */
export const readDisputesOf = async (parts: MoneyBackParts): Promise<DisputesRead> => {
  const all = new Map<string, RecordedDispute>();
  for (let reads = 0; reads < MOST_READS; reads += 1) {
    const { unread, recorded } = await readDisputesOnce(parts);
    if (unread) return { unread, recorded: all };
    for (const [id, one] of recorded) if (all.get(id)?.kind !== 'applied') all.set(id, one);
    if (![...recorded.values()].some(({ isUnclear }) => isUnclear)) break;
  }
  return { unread: undefined, recorded: all };
};

const readDisputesOnce = async (parts: MoneyBackParts): Promise<DisputesRead> => {
  const { deps, port, payment } = parts;
  const at = deps.now();
  const recorded = new Map<string, RecordedDispute>();
  const read = await port.listDisputes(chargedAs(payment));
  if (read.kind !== 'done') return { unread: unreadOf(parts, read), recorded };
  for (const report of read.value) {
    recorded.set(report.disputeId, await recordDispute(deps, { payment, report, by: 'read', at }));
  }
  return { unread: undefined, recorded };
};

export const readMoneyBack = async (parts: MoneyBackParts): Promise<Unread> =>
  (await readRefundsOf(parts)) ?? (await readDisputesOf(parts)).unread;
