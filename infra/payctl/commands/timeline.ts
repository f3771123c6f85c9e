import { isVisiblePayment } from '../../../shared/payments/record/payment.ts';
import { type TimelineEntry, timelineOf } from '../../../shared/queries/payment-timeline.ts';
import { findPayment } from '../compare/find-payment.ts';
import { listDisputesHere, listRefundsHere } from '../compare/money-back.ts';
import type { Installation } from '../installation/installation.ts';
import { columns, type Report } from './report.ts';

/**
 * The history of any payment, as GET /payments/{id}/timeline shows it to its owner, below its refunds and disputes. Found
 * by our id or its provider's.
 */
export const showTimeline = async (installation: Installation, id: string): Promise<Report> => {
  const payment = await findPayment(installation, id);
  const { id: paymentId, status, totalCents, currency, providerId } = payment;
  const { entries, isComplete } = await timelineOf(installation.deps.table, paymentId);
  const refunds = isVisiblePayment(payment) ? await listRefundsHere(installation, payment) : [];
  const disputes = isVisiblePayment(payment) ? await listDisputesHere(installation, payment) : [];
  const beside = [
    ...refunds.map((one) => [
      'refund',
      one.id,
      one.status,
      amountOf(one),
      one.failure_code ?? `by ${one.created_by ?? one.source}`,
    ]),
    ...disputes.map((one) => ['dispute', one.id, one.status, amountOf(one), dueOf(one.evidence_due_by)]),
  ];
  return {
    json: { payment_id: paymentId, status, is_complete: isComplete, refunds, disputes, entries },
    lines: [
      `${paymentId} is ${status}: ${totalCents} ${currency} at ${providerId}`,
      ...columns(beside),
      '',
      ...columns(entries.map(rowOf)),
      ...(isComplete ? [] : ['… and more delivery attempts']),
    ],
    exitCode: 0,
  };
};

const amountOf = (one: { readonly amount_cents: number; readonly currency: string }): string =>
  `${one.amount_cents} ${one.currency}`;
const dueOf = (by: string | null): string => (by === null ? '' : `evidence due by ${by}`);

const rowOf = (entry: TimelineEntry): readonly string[] => {
  switch (entry.kind) {
    case 'change': {
      const why = [entry.failure_code, entry.anomaly, moneyBackOf(entry)]
        .filter((text) => text !== undefined)
        .join(', ');
      return [entry.at, 'change', entry.status, entry.cause ?? '', `attempt ${entry.attempt}`, why, actorOf(entry)];
    }
    case 'provider_event':
      return [entry.at, 'event', entry.event_type, entry.outcome, '', entry.reason ?? '', ''];
    case 'delivery': {
      const answer = entry.http_status === null ? (entry.reason ?? '') : `HTTP ${entry.http_status}`;
      return [
        entry.at,
        'delivery',
        entry.event_type,
        `${entry.target} ${entry.status}`,
        `attempt ${entry.attempt}`,
        answer,
        '',
      ];
    }
  }
};

type Change = Extract<TimelineEntry, { kind: 'change' }>;

/** The refund or dispute that a change is about: `ref_… succeeded 500`. */
const moneyBackOf = ({ refund, dispute }: Change): string | undefined => {
  const about = refund ?? dispute;
  return about && `${about.id} ${about.status} ${about.amount_cents}`;
};

const actorOf = ({ actor }: TimelineEntry): string => (actor === null ? '' : `${actor.type} ${actor.id}`);
