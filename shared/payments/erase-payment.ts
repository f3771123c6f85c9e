/** @module Removes a payment with its refunds, disputes, history, aliases and counts, unless money is in flight. */

import * as z from 'zod';
import type { Clause } from '../platform/expression.ts';
import {
  aliasKey,
  besidePayment,
  entryKey,
  HISTORY,
  historyKey,
  type Key,
  keyOf,
  paymentKey,
  WORD_ITEMS,
  wordKey,
} from '../platform/keys.ts';
import type { Table, TransactionStep } from '../platform/table.ts';
import { forgetPayerStep } from './first-payments.ts';
import { moneyAccount, openDisputesOf } from './money-account.ts';
import { isVisiblePayment, type Payment, type PaymentStatus, paymentOf, type VisiblePayment } from './payment.ts';
import { providerIdsOf } from './payment-aliases.ts';
import { causeGroup } from './payment-fields.ts';
import { countersWithout, refundChangeOf } from './payment-history.ts';
import { refundKey } from './refunds/refund.ts';
import { countedRefunds } from './refunds/refund-net.ts';
import { type CountedRefund, payerShares } from './summary-sums.ts';

/** The statuses in which money may be moving. The record is then the only trace of the money. */
const IN_FLIGHT: readonly PaymentStatus[] = ['pending', 'processing', 'requires_capture'];

const MAX_STEPS = 100;
/** Refunds, disputes and aliases beyond this number are removed after the payment. */
const MAX_BESIDE = 40;

/** True while money is under way to or from the payer. The record then stays, because the outcome must be stored. */
const isInFlight = (payment: VisiblePayment): boolean =>
  IN_FLIGHT.includes(payment.status) || moneyAccount(payment).refunding > 0 || openDisputesOf(payment).length > 0;

export const erasePayment = async (table: Table, id: string): Promise<void> => {
  const item = await table.get(paymentKey(id));
  const payment = item && paymentOf(item);
  if (!payment || !isVisiblePayment(payment) || isInFlight(payment)) return;
  const [history, beside, forgetPayer] = await Promise.all([
    historyOf(table, id),
    besideOf(table, id),
    forgetPayerStep(table, payment),
  ]);
  const refunds = await countedRefunds(table, refundIdsIn(beside));
  const unchanged: Clause[] = [{ equals: ['version', payment.version] }, { equals: ['status', payment.status] }];
  const steps: readonly TransactionStep[] = [
    { delete: paymentKey(id), if: unchanged },
    { delete: entryKey('PAY', payment.createdAt, id) },
    ...WORD_ITEMS.map((of): TransactionStep => ({ delete: wordKey('PAY', id, of) })),
    ...[...aliasesOf(payment), ...beside.slice(0, MAX_BESIDE)].map((key): TransactionStep => ({ delete: key })),
    ...refunds.map(({ step }) => step),
    ...(forgetPayer ? [forgetPayer] : []),
    ...countersWithout(payment, refundsIn(payment, history), [
      ...refunds.flatMap(({ shares }) => shares),
      ...(forgetPayer ? payerShares(payment, payment.id) : []),
    ]),
  ];
  const first = history.length - Math.min(history.length, MAX_STEPS - steps.length);
  // A retry needs the entries of counted refunds, so they are removed last.
  for (const { key } of history.slice(0, first)) await table.remove(key);
  const removed = await table.transact([
    ...steps,
    ...history.slice(first).map(({ key }): TransactionStep => ({ delete: key })),
  ]);
  if (removed.ok) for (const key of beside.slice(MAX_BESIDE)) await table.remove(key);
};

const refundIdsIn = (beside: readonly Key[]): readonly string[] =>
  beside.filter(({ sk }) => sk === REFUND).map(({ pk }) => pk.slice(REFUND.length + 1));

const REFUND = refundKey('').sk;

const besideOf = async (table: Table, id: string): Promise<readonly Key[]> => {
  const keys: Key[] = [];
  for (const kind of ['RFD', 'DSP'] as const) {
    for await (const item of table.eachInIndex({ index: 'owner', partition: besidePayment(id, kind) })) {
      keys.push(keyOf(item));
    }
  }
  const items = await table.getMany(keys);
  const aliases = items.flatMap((item) => {
    const { data } = refundIds.safeParse(item);
    return data ? [aliasKey(data.providerId, data.providerRefundId)] : [];
  });
  return [...keys, ...aliases];
};

const refundIds = z.object({ providerId: z.string(), providerRefundId: z.string() });

interface HistoryItem {
  readonly key: Key;
  readonly refund: CountedRefund | undefined;
}

const historyFields = z.lazy(() =>
  z.object({ refund: causeGroup.unwrap().shape.refund, refundedBy: z.int().optional() }),
);

/** The history, with the entries of refunds at the end. */
const historyOf = async (table: Table, id: string): Promise<readonly HistoryItem[]> => {
  const entries: HistoryItem[] = [];
  for await (const item of table.eachItem({ partition: paymentKey(id).pk, ...HISTORY })) {
    const { refund, refundedBy } = historyFields.parse(item);
    entries.push({
      key: keyOf(item),
      refund: refund && refundedBy !== undefined ? { ...refund, refundedBy } : undefined,
    });
  }
  return entries.toSorted((one, other) => Number(one.refund !== undefined) - Number(other.refund !== undefined));
};

/**
 * The changes of refunds up to this version. The history may still lack the last change, so this change comes from the
 * payment.
 */
const refundsIn = (payment: Payment, history: readonly HistoryItem[]): readonly CountedRefund[] => {
  const { sk } = historyKey({ kind: 'PAY', id: payment.id }, payment.version);
  const counted = history.map(({ refund }) => refund).filter((refund) => refund !== undefined);
  const refundedBefore = counted.reduce((sum, { refundedBy }) => sum + refundedBy, 0);
  const last = history.some(({ key }) => key.sk === sk) ? undefined : refundChangeOf(payment, refundedBefore);
  return last ? [...counted, last] : counted;
};

const aliasesOf = (payment: Payment): readonly Key[] =>
  providerIdsOf(payment).map((id) => aliasKey(payment.providerId, id));
