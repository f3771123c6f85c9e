/** @module Invariants about the credit of a plan change. */
import type { History, HistoryItem, HistoryJson, Oracle } from '../model/history.ts';
import { actsOnSubscriptions } from '../model/outside.ts';
import { plansStarted } from '../model/plans.ts';
import { at, recordsOf } from '../model/records.ts';

const CLOCKS_DIFFER_MS = 5_000;

/** A payment for a period of time. Times are epoch ms. */
interface PaidTime {
  readonly start: number;
  readonly end: number;
  /** The paid amount minus refunds and lost disputes. */
  readonly cents: number;
}

interface Asked {
  readonly history: History;
  readonly subscription: HistoryItem;
  /** The times when the change was priced and when it took effect. */
  readonly priced: number;
  readonly applied: number;
  /** The earlier changes, in order. */
  readonly before: readonly HistoryItem[];
}

/** The amount of a payment refunded or lost in disputes up to `time`. */
const backAt = (history: History, paymentId: string, time: number): number => {
  const known = recordsOf(history)
    .versionsOf(paymentId)
    .filter((version) => at(version['at']) <= time);
  const refunded = known.reduce((sum, { refundedBy = 0 }) => sum + refundedBy, 0);
  const disputes = new Map(known.flatMap(({ dispute }) => (dispute ? [[dispute.id, dispute]] : [])));
  const lost = [...disputes.values()].filter(({ status }) => status === 'lost');
  return refunded + lost.reduce((sum, { amountCents }) => sum + amountCents, 0);
};

/** The amount surely returned when the change was priced, and not paid again before the change took effect. */
const surelyBack = ({ history, priced, applied }: Asked, paymentId: string): number =>
  Math.min(...[priced - CLOCKS_DIFFER_MS, applied].map((time) => backAt(history, paymentId, time)));

const keptOf = (asked: Asked, payment: HistoryItem | undefined, cents: number): number =>
  payment?.['status'] === 'succeeded' ? cents - surelyBack(asked, payment['id']) : 0;

/** The periods that the service has charged. */
const charged = (asked: Asked): readonly PaidTime[] => {
  const { payment } = recordsOf(asked.history);
  return asked.history.items
    .filter(({ pk, sk }) => pk === `SUB#${asked.subscription['id']}` && String(sk).startsWith('PERIOD#'))
    .map(({ start, end, paymentId }) => {
      const found = payment(paymentId);
      return { start: at(start), end: at(end), cents: keptOf(asked, found, found?.['totalCents'] ?? 0) };
    });
};

/** The periods billed by the provider. Balances and payments outside the provider count as paid. */
const invoiced = (asked: Asked): readonly PaidTime[] => {
  const { ledger } = asked.history;
  const { payments } = recordsOf(asked.history);
  const there = new Set(
    ledger.subscriptions.filter(({ subscription_id: id }) => id === asked.subscription['id']).map(({ id }) => id),
  );
  const byInvoice = new Map(payments.map((payment) => [payment['providerInvoiceId'], payment]));
  return ledger.invoices
    .filter(({ subscription, status }: HistoryJson) => there.has(subscription) && status === 'paid')
    .map(({ id, amount, total, period_start, period_end }: HistoryJson) => {
      const payment = byInvoice.get(id);
      const cents = Math.max(amount, total);
      const back = payment ? surelyBack(asked, payment['id']) : 0;
      return { start: at(period_start), end: at(period_end), cents: cents - back };
    });
};

/** Paid time from earlier changes, either the rest of a period or a new period including the old period's credit. */
const changedBefore = (asked: Asked): readonly PaidTime[] => {
  const { payment } = recordsOf(asked.history);
  return asked.before.flatMap(({ lines = [], dueCents, paymentId }) =>
    lines
      .filter(({ kind }: HistoryJson) => kind === 'remaining' || kind === 'full')
      .map(({ kind, amountCents, periodStart, periodEnd }: HistoryJson) => ({
        ...{ start: at(periodStart), end: at(periodEnd) },
        cents: keptOf(asked, payment(paymentId), dueCents) + (kind === 'full' ? amountCents - dueCents : 0),
      })),
  );
};

/** The worth of the paid time at that time. A period may begin by a clock ahead of ours. */
const worthAt = (time: number, { start, end, cents }: PaidTime): number =>
  start - CLOCKS_DIFFER_MS <= time && time < end ? Math.max(0, cents) * Math.min(1, (end - time) / (end - start)) : 0;

interface Credit extends Pick<Asked, 'priced' | 'applied' | 'before'> {
  readonly cents: number;
}

const creditsOf = ({ lines = [], at: time }: HistoryItem, before: readonly HistoryItem[]): readonly Credit[] =>
  lines
    .filter(({ kind }: HistoryJson) => kind === 'unused')
    .map(({ amountCents, periodStart }: HistoryJson) => ({
      ...{ cents: -amountCents, priced: at(periodStart), applied: at(time), before },
    }));

export const creditWasPaid: Oracle = {
  sentence: 'A change of a plan credits nothing that was not paid, or that had come back',
  atRestOnly: false,
  violations: (history) => {
    const acts = actsOnSubscriptions(history);
    return recordsOf(history)
      .subscriptions.filter(({ id }) => !acts.has(id))
      .flatMap((subscription) =>
        plansStarted(history, subscription['id'])
          .flatMap((version, index, all) => creditsOf(version, all.slice(0, index)))
          .flatMap((credit) => {
            const asked = { history, subscription, ...credit };
            const paid = [...charged(asked), ...invoiced(asked), ...changedBefore(asked)];
            // A provider counts in whole seconds, and each part is rounded.
            const worth = paid.reduce((sum, one) => sum + worthAt(credit.priced, one), 0);
            const most = Math.ceil(worth) + 1 + paid.length;
            return credit.cents <= most
              ? []
              : [`${subscription['id']} was credited ${credit.cents} for ${credit.priced}, and ${worth} was paid`];
          }),
      );
  },
};
