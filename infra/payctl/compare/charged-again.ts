/**
 * @module Finds payments charged more than once by a provider. This happens if due work runs on a restored table after
 * the provider's idempotency key has expired. The record follows only one of the charges.
 */

import { amountWithCurrency } from '../../../shared/core/money.ts';
import { paymentOf } from '../../../shared/payments/payment.ts';
import type { Restorable } from '../../../shared/payments/restore-payment.ts';
import { paymentKey } from '../../../shared/platform/keys.ts';
import type { ReportedStatus } from '../../../shared/providers/payment-port.ts';
import type { Installation } from '../installation/installation.ts';
import type { Drift } from './payment.ts';

type Reader = Pick<Installation, 'deps'>;

/** A charge not followed by any record, because its payment's record follows another charge. */
export interface ChargedAgain extends Restorable {
  readonly finding: Drift;
}

interface Split {
  /** One charge per payment without a record: the oldest charge that took or holds money, else the oldest charge. */
  readonly unknown: readonly Restorable[];
  readonly again: readonly ChargedAgain[];
}

/** @param all the charges in the providers' lists, oldest first per provider */
export const splitListed = async (reader: Reader, all: readonly Restorable[]): Promise<Split> => {
  if (all.length === 0) return { unknown: [], again: [] };
  const items = await reader.deps.table.getMany(all.map(({ paymentId }) => paymentKey(paymentId)));
  const followed = new Map(
    items.filter((item) => item !== undefined).map((item) => [paymentOf(item).id, paymentOf(item).providerIntentId]),
  );
  const unknown = new Map<string, Restorable>();
  for (const one of all) {
    if (followed.has(one.paymentId)) continue;
    const found = unknown.get(one.paymentId);
    if (!found || (takesMoney(one) && !takesMoney(found))) unknown.set(one.paymentId, one);
  }
  for (const { paymentId, listed } of unknown.values()) followed.set(paymentId, listed.report.intentId);
  const again: ChargedAgain[] = [];
  for (const one of all) {
    const intentId = followed.get(one.paymentId);
    if (intentId === undefined || intentId === one.listed.report.intentId || !takesMoney(one)) continue;
    if (!(await isGivenBack(reader, one))) again.push({ ...one, finding: findingOfCharge(one, intentId) });
  }
  return { unknown: [...unknown.values()], again };
};

const TAKING: readonly ReportedStatus[] = ['processing', 'requires_capture', 'succeeded'];
const takesMoney = ({ listed: { report } }: Restorable): boolean => TAKING.includes(report.status);

/** True if the provider's succeeded and pending refunds cover the whole charge. False if the refunds cannot be read. */
const isGivenBack = async (
  { deps }: Reader,
  { slot, listed: { report }, totalCents }: Restorable,
): Promise<boolean> => {
  if (report.status !== 'succeeded') return false;
  const refunds = await (await deps.providers.find(slot))?.refunds?.listRefunds(report);
  if (refunds?.kind !== 'done') return false;
  const given = refunds.value.filter(({ status }) => status === 'succeeded' || status === 'pending');
  return given.reduce((sum, { amountCents }) => sum + amountCents, 0) >= totalCents;
};

const findingOfCharge = (
  { slot, listed: { report }, paymentId, totalCents, currency }: Restorable,
  intentId: string,
): Drift => ({
  payment_id: paymentId,
  provider: slot,
  provider_payment_id: report.paymentId,
  provider_object_id: report.paymentId,
  kind: 'charged again',
  here: `only ${intentId}`,
  there: `${report.status}, ${amountWithCurrency(totalCents, currency)}`,
});
