/** @module Applies refund and dispute events. Any order and any repetition leads to the same records. */

import type { ProviderSlot } from '../core/settings.ts';
import { iso, SECOND_MS } from '../core/time.ts';
import {
  isUnclearReport,
  type RecordedDispute,
  type ReportedDispute,
  recordDispute,
} from '../payments/dispute-store.ts';
import { moneyAccount } from '../payments/money-account.ts';
import type { VisiblePayment } from '../payments/payment.ts';
import { findMismatch } from '../payments/payment-amounts.ts';
import { type PaymentStore, paymentStore } from '../payments/payment-store.ts';
import { type DisputesRead, readDisputesOf, readRefundsOf } from '../payments/read-money-back.ts';
import { findReportedRefund, findUnusable, recordReportedRefund } from '../payments/refunds/refund-reports.ts';
import { findAlias } from '../platform/alias.ts';
import type { MoneyBackEventType, ProviderEvent } from '../providers/event-port.ts';
import type { MoneyDeps } from '../providers/provider-deps.ts';
import type { ProviderRefund } from '../providers/refund-port.ts';
import type { InboundEvent } from './inbound-event.ts';
import type { PaymentEventResult } from './payment-event.ts';
import { storeReadForEvent } from './read-for-event.ts';

type Deps = Pick<MoneyDeps, 'table' | 'now' | 'log' | 'providers'>;

export const applyMoneyBackEvent = async (
  deps: Deps,
  { slot, type, event }: InboundEvent<MoneyBackEventType>,
): Promise<PaymentEventResult> => {
  const store = paymentStore(deps.table, deps.now);
  const payment = await findCharged(deps, store, { slot, event });
  // A first charge without an outcome is not published yet, so neither is its refund or dispute.
  if (!payment || payment.withheld) return { kind: 'early' };
  const { refund, dispute } = event.object;
  const reason = refund
    ? findUnusable(payment, refund)
    : dispute && findMismatch(payment, { amountCents: undefined, currency: dispute.currency });
  if (reason) return { kind: 'quarantined', payment, reason };
  if (!dispute && payment.captureMethod === 'manual') return applyToHeld(deps, payment, refund);
  if (dispute) {
    const at = event.createdAt * SECOND_MS;
    const recorded = await recordInOrder(deps, { payment, report: dispute, by: 'event', at });
    if (recorded.kind === 'ignored') return { kind: 'ignored', payment, reason: recorded.reason };
  } else if (refund) await recordReportedRefund(deps, { payment, report: refund, isEvent: true });
  else await readRefundsNow(deps, payment);
  // The event of the charge itself has not come yet, so due work reads the provider.
  if (payment.status !== 'succeeded' && type !== 'dispute.updated') await store.reschedule(payment, iso(deps.now()));
  return { kind: 'applied', payment, status: payment.status };
};

/**
 * A provider may report the released part of a hold as a refund, as Stripe does in versions before 2025-03-31. So the
 * payment and its refunds are read in the adapter's own version. An unknown refund does not count if nothing was
 * captured, or if the read lacks the refund and its amount is the released part.
 */
const applyToHeld = async (
  deps: Deps,
  payment: VisiblePayment,
  report: ProviderRefund | undefined,
): Promise<PaymentEventResult> => {
  const applied = { kind: 'applied', payment, status: payment.status } as const;
  const isKnown = async () =>
    report !== undefined && (await findReportedRefund(deps, { payment, report })) !== undefined;
  if (report && (await isKnown())) {
    await recordReportedRefund(deps, { payment, report, isEvent: true });
    return applied;
  }
  const read = await storeReadForEvent(deps, paymentStore(deps.table, deps.now), payment);
  const { authorized, captured } = moneyAccount(read);
  if (captured === 0) return { kind: 'ignored', payment: read, reason: NOTHING_TAKEN };
  await readRefundsNow(deps, read);
  if (report && !(await isKnown())) {
    if (report.amountCents === authorized - captured) return { kind: 'ignored', payment: read, reason: NOTHING_TAKEN };
    await recordReportedRefund(deps, { payment: read, report, isEvent: true });
  }
  return { ...applied, payment: read, status: read.status };
};

const NOTHING_TAKEN = 'nothing was taken';

/**
 * Records a report about a dispute. Reads the provider if it is unclear whether the event or the record is newer.
 * Checks this before recording the event, and again if another event was recorded meanwhile.
 */
const recordInOrder = async (deps: Deps, reported: ReportedDispute): Promise<RecordedDispute> => {
  const read = async () => (await readDisputesNow(deps, reported.payment))?.get(reported.report.disputeId);
  const known = (await isUnclearReport(deps, reported)) ? await read() : undefined;
  if (known) return known;
  const recorded = await recordDispute(deps, reported);
  if (!recorded.isUnclear) return recorded;
  const settled = await read();
  return recorded.kind === 'applied' ? recorded : (settled ?? recorded);
};

const readDisputesNow = async (deps: Deps, payment: VisiblePayment): Promise<DisputesRead['recorded'] | undefined> => {
  const { refunds: port } = await deps.providers.require(payment.providerId, 'payments');
  if (!port) return undefined;
  const { unread, recorded } = await readDisputesOf({ deps, port, payment });
  if (unread) throw new Error('the disputes of a payment cannot be read now');
  return recorded;
};

/** Reads the refunds of the payment at the provider, because the event does not contain their amounts. */
const readRefundsNow = async (deps: Deps, payment: VisiblePayment): Promise<void> => {
  const { refunds: port } = await deps.providers.require(payment.providerId, 'payments');
  if (!port) return;
  if (await readRefundsOf({ deps, port, payment })) throw new Error('the refunds of a payment cannot be read now');
};

const findCharged = async (
  { table }: Deps,
  store: PaymentStore,
  { slot, event }: { readonly slot: ProviderSlot; readonly event: ProviderEvent },
): Promise<VisiblePayment | undefined> => {
  for (const id of event.object.chargedAs ?? []) {
    const alias = await findAlias(table, slot, id);
    if (alias?.kind === 'PAY') return store.loadVisible(alias.id);
  }
  return undefined;
};
