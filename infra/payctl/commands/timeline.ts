import { paymentStore } from '../../../shared/payments/record/store.ts';
import { type TimelineEntry, timelineOf } from '../../../shared/queries/payment-timeline.ts';
import { NotReachable } from '../installation/control.ts';
import type { Installation } from '../installation/installation.ts';
import { columns, type Report } from './report.ts';

/** The history of any payment, as GET /payments/{id}/timeline shows it to its owner. */
export const showTimeline = async ({ deps }: Installation, paymentId: string): Promise<Report> => {
  const payment = await paymentStore(deps.table, deps.now).load(paymentId);
  if (!payment) throw new NotReachable(`there is no payment ${paymentId}`);
  const { entries, isComplete } = await timelineOf(deps.table, paymentId);
  const head = `${paymentId} is ${payment.status}: ${payment.totalCents} ${payment.currency} at ${payment.providerId}`;
  return {
    json: { payment_id: paymentId, status: payment.status, is_complete: isComplete, entries },
    lines: [head, '', ...columns(entries.map(rowOf)), ...(isComplete ? [] : ['… and more delivery attempts'])],
    exitCode: 0,
  };
};

const rowOf = (entry: TimelineEntry): readonly string[] => {
  switch (entry.kind) {
    case 'change': {
      const why = [entry.failure_code, entry.anomaly].filter((text) => text !== undefined).join(', ');
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

const actorOf = ({ actor }: TimelineEntry): string => (actor === null ? '' : `${actor.type} ${actor.id}`);
