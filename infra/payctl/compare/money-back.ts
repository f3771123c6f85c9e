/** @module Compares the refunds and disputes of a payment, here and at its provider. */

import * as z from 'zod';
import { amountWithCurrency } from '../../../shared/core/money.ts';
import type { Outcome } from '../../../shared/core/outcome.ts';
import { iso, SECOND_MS } from '../../../shared/core/time.ts';
import type { Dispute } from '../../../shared/payments/dispute.ts';
import { findReportedDispute } from '../../../shared/payments/dispute-store.ts';
import { moneyAccount, openDisputesOf } from '../../../shared/payments/money-account.ts';
import type { VisiblePayment } from '../../../shared/payments/payment.ts';
import { readMoneyBack } from '../../../shared/payments/read-money-back.ts';
import { refundViewSchema } from '../../../shared/payments/refunds/refund.ts';
import { chargedAs } from '../../../shared/payments/refunds/refund-call.ts';
import { findReportedRefund } from '../../../shared/payments/refunds/refund-reports.ts';
import type { ProviderDispute, ProviderRefund, RefundsPort } from '../../../shared/providers/refund-port.ts';
import { refundsOfPayment } from '../../../shared/queries/list-refunds.ts';
import type { Installation } from '../installation/installation.ts';
import { type Drift, type DriftKind, findingOf, type Unread } from './payment.ts';

type Reader = Pick<Installation, 'deps'>;

const refundViews = z.array(refundViewSchema());

/** The refunds that GET /payments/{id}/refunds shows to platform admins, newest first. */
const listRefundsHere = async ({ deps }: Reader, record: VisiblePayment) =>
  refundViews.parse((await refundsOfPayment(deps.table, record.id, 'staff')).data);

/**
 * Undefined unless the payment has succeeded, because only a succeeded payment can be refunded or disputed. Also
 * undefined if the slot is closed or the provider has no refunds.
 */
const findPort = async ({ deps }: Reader, payment: VisiblePayment): Promise<RefundsPort | undefined> => {
  if (payment.status !== 'succeeded' || payment.providerIntentId === undefined) return undefined;
  return (await deps.providers.find(payment.providerId))?.refunds;
};

/** Stores the provider's refunds and disputes, like POST /payments/sync. */
export const storeMoneyBack = async (reader: Reader, payment: VisiblePayment): Promise<void> => {
  const port = await findPort(reader, payment);
  if (port) await readMoneyBack({ deps: reader.deps, port, payment });
};

/** Reads the refunds and disputes at the provider and compares each with our record. */
export const compareMoneyBack = async (
  reader: Reader,
  payment: VisiblePayment,
): Promise<{ readonly drifts: readonly Drift[] } | Unread> => {
  const port = await findPort(reader, payment);
  if (!port) return { drifts: [] };
  const refunds = await port.listRefunds(chargedAs(payment));
  if (refunds.kind !== 'done') return unreadOf(refunds);
  const disputes = await port.listDisputes(chargedAs(payment));
  if (disputes.kind !== 'done') return unreadOf(disputes);
  const parts = { reader, payment };
  return {
    drifts: [...(await compareRefunds(parts, refunds.value)), ...(await compareDisputes(parts, disputes.value))],
  };
};

const unreadOf = (read: Exclude<Outcome<unknown>, { kind: 'done' }>): Unread => ({
  unread: 'reason' in read ? read.reason : read.kind,
});

interface Parts {
  readonly reader: Reader;
  readonly payment: VisiblePayment;
}

/** The compared fields of a refund or dispute. */
interface Facts {
  readonly status: string;
  readonly amountCents: number;
  readonly currency: string;
}

interface Sides {
  readonly what: 'refund' | 'dispute';
  /** The provider's id. */
  readonly id: string;
  /** Undefined if not recorded. */
  readonly here: Facts | undefined;
  readonly there: Facts;
}

const amountOf = ({ amountCents, currency }: Pick<Facts, 'amountCents' | 'currency'>): string =>
  amountWithCurrency(amountCents, currency);

const compareRefunds = async (parts: Parts, reports: readonly ProviderRefund[]): Promise<readonly Drift[]> => {
  const { reader, payment } = parts;
  const drifts: Drift[] = [];
  for (const report of reports) {
    const here = await findReportedRefund(reader.deps, { payment, report });
    // The provider has the refund, but we have not stored the provider's response.
    const known =
      here && here.providerRefundId === undefined ? { ...here, status: `${here.status}, no response` } : here;
    drifts.push(...differencesOf(payment, { what: 'refund', id: report.refundId, here: known, there: report }));
  }
  return [...drifts, ...(await refundsOnlyHere(parts, reports))];
};

/**
 * Finds refunds that exist only here. A refund without a provider's id is no difference, because it failed before it
 * reached the provider, or due work still looks up its outcome.
 */
const refundsOnlyHere = async (
  { reader, payment }: Parts,
  reports: readonly ProviderRefund[],
): Promise<readonly Drift[]> => {
  const { refunded, refunding } = moneyAccount(payment);
  if (refunded + refunding === 0) return [];
  const refunds = await listRefundsHere(reader, payment);
  const there = new Set(reports.map(({ refundId }) => refundId));
  return refunds.flatMap(({ provider_refund_id: id, status }) =>
    id === null || there.has(id) ? [] : [onlyHere(payment, { kind: 'refund not at the provider', id, here: status })],
  );
};

const compareDisputes = async (
  { reader, payment }: Parts,
  reports: readonly ProviderDispute[],
): Promise<readonly Drift[]> => {
  const drifts: Drift[] = [];
  const open = new Set(openDisputesOf(payment));
  for (const report of reports) {
    const here = await findReportedDispute(reader.deps, { payment, report });
    if (here) open.delete(here.id);
    const sides = { what: 'dispute', id: report.disputeId, here, there: inWholeCents(report) } as const;
    drifts.push(...differencesOf(payment, sides), ...(here ? termsOf(payment, here, report) : []));
  }
  return [
    ...drifts,
    ...[...open].map((id) => onlyHere(payment, { kind: 'dispute not at the provider', id, here: 'open' })),
  ];
};

/** Rounds the amount, because a bank may dispute a fraction of a minor unit. */
const inWholeCents = (report: ProviderDispute): ProviderDispute => ({
  ...report,
  amountCents: Math.round(report.amountCents),
});

/** Compares terms that a bank may change without a new status. Unreported terms are not compared. */
const termsOf = (payment: VisiblePayment, here: Dispute, report: ProviderDispute): readonly Drift[] => {
  const { reason, evidenceDueBy: due } = report;
  const of = (kind: DriftKind, mine = 'none', theirs: string | null | undefined): readonly Drift[] =>
    theirs === undefined || mine === (theirs ?? 'none')
      ? []
      : [findingOf(payment, { kind, here: mine, there: theirs ?? 'none', provider_object_id: report.disputeId })];
  return [
    ...of('dispute due date differs', here.evidenceDueBy, typeof due === 'number' ? iso(due * SECOND_MS) : due),
    ...of('dispute reason differs', here.reason, reason),
  ];
};

const onlyHere = (
  payment: VisiblePayment,
  { kind, id, here }: { readonly kind: DriftKind; readonly id: string; readonly here: string },
): Drift => findingOf(payment, { kind, here, there: 'nothing', provider_object_id: id });

const differencesOf = (payment: VisiblePayment, { what, id, here, there }: Sides): readonly Drift[] => {
  const of = (kind: DriftKind, mine: string, theirs: string): readonly Drift[] =>
    mine === theirs ? [] : [findingOf(payment, { kind, here: mine, there: theirs, provider_object_id: id })];
  if (!here) return of(`${what} not here`, 'nothing', `${there.status}, ${amountOf(there)}`);
  return [
    ...of(`${what} amount differs`, amountOf(here), amountOf({ ...there, currency: here.currency })),
    ...of(`${what} currency differs`, here.currency, there.currency),
    ...of(`${what} status differs`, here.status, there.status),
  ];
};
