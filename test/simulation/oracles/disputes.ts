/**
 * @module Invariants about disputes. The record follows the provider, its last change is published, and no refund
 * returns disputed money by accident.
 */
import type { History, HistoryEvent, HistoryItem, HistoryJson, Oracle } from '../model/history.ts';
import { at, isVisible, recordsOf } from '../model/records.ts';
import { canonical, partsOf } from './events.ts';

const OPEN = new Set(['needs_response', 'under_review']);

/** The banks' reasons in each vendor's words, in lower case. The ledger uses Stripe's words. */
const REASONS: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  provider_b: {
    fraudulent: 'unauthorised',
    product_not_received: 'merchandise_or_service_not_received',
    product_unacceptable: 'merchandise_or_service_not_as_described',
    duplicate: 'duplicate_transaction',
    subscription_canceled: 'canceled_recurring_billing',
    general: 'other',
  },
  provider_c: {
    fraudulent: 'no_knowledge',
    product_not_received: 'not_received',
    product_unacceptable: 'not_as_described',
    credit_not_processed: 'customer_requests_credit',
    subscription_canceled: 'cancelled',
    general: 'amount_differs',
  },
};

/** PayPal's slot. PayPal names the due date only for an open case, so the record keeps the last named date. */
const HIDES_DATE = 'provider_b';

/** Providers count in seconds. */
const secondOf = (time: string | undefined): number | undefined =>
  time === undefined ? undefined : Math.floor(at(time) / 1_000);

const hidesDate = ({ provider, status }: HistoryJson): boolean => provider === HIDES_DATE && !OPEN.has(status);

const wordsThere = (there: HistoryJson): string => {
  const { provider, amount, currency, reason, evidence_due_by: due } = there;
  const word = REASONS[provider]?.[reason] ?? reason;
  return [amount, currency, word, hidesDate(there) ? 'hidden' : secondOf(due)].join(' ');
};

const wordsHere = (here: HistoryItem, there: HistoryJson): string => {
  const { amountCents, currency, reason, evidenceDueBy: due } = here;
  return [amountCents, currency, reason, hidesDate(there) ? 'hidden' : secondOf(due)].join(' ');
};

const recordedDisputes = (history: History): ReadonlyMap<string, HistoryItem> =>
  new Map(recordsOf(history).disputes.map((one) => [`${one['providerId']} ${one['providerDisputeId']}`, one]));

export const disputeFieldsAgree: Oracle = {
  sentence: 'At rest the amount, the reason and the due date of a dispute are those of its provider',
  atRestOnly: true,
  violations: (history) => {
    const here = recordedDisputes(history);
    return history.ledger.disputes.flatMap((there: HistoryJson) => {
      const record = here.get(`${there.provider} ${there.id}`);
      if (!record || wordsHere(record, there) === wordsThere(there)) return [];
      return [`${there.id} is ${wordsThere(there)}, here ${wordsHere(record, there)}`];
    });
  },
};

/** The last event about each dispute, by our id. */
const lastWords = (history: History): ReadonlyMap<string, HistoryEvent> => {
  const found = new Map<string, HistoryEvent>();
  for (const event of canonical(history)) {
    const id = event.detail.payload.data.dispute?.id;
    const known = found.get(id);
    if (id === undefined || (known && partsOf(known).version > partsOf(event).version)) continue;
    found.set(id, event);
  }
  return found;
};

export const lastWordAnnounced: Oracle = {
  sentence: 'At rest the latest provider state of a dispute has been announced',
  atRestOnly: true,
  violations: (history) => {
    const here = recordedDisputes(history);
    const last = lastWords(history);
    return history.ledger.disputes.flatMap((there: HistoryJson) => {
      const id = here.get(`${there.provider} ${there.id}`)?.['id'];
      if (id === undefined) return [];
      const event = last.get(id);
      if (!event) return [`${id} is ${there.status}, and nothing was announced`];
      const { amount, status, evidence_due_by: due } = event.detail.payload.data.dispute;
      const isOpen = OPEN.has(there.status);
      const said = isOpen
        ? OPEN.has(status) && secondOf(due ?? undefined) === secondOf(there.evidence_due_by)
        : status === there.status;
      return said && amount === there.amount
        ? []
        : [`${id} is ${there.status}, announced was ${partsOf(event).name} ${status} ${amount} ${due}`];
    });
  },
};

/** The refunds made here during an open dispute of their payment, each with its claim time. */
const claimedDespite = (
  versions: readonly HistoryItem[],
): readonly { readonly id: string; readonly time: string }[] => {
  const open = new Set<string>();
  return versions.flatMap(({ cause, refund, dispute, at: time }) => {
    if (cause === 'dispute' && dispute) open[OPEN.has(dispute.status) ? 'add' : 'delete'](dispute.id);
    const isClaim = cause === 'refund' && refund?.was === undefined;
    return isClaim && open.size > 0 ? [{ id: refund.id, time }] : [];
  });
};

export const disputedRefundsAsked: Oracle = {
  sentence: 'A payment with an open dispute is refunded here only by a request that says so',
  atRestOnly: false,
  violations: (history) => {
    const { payments, refunds, versionsOf } = recordsOf(history);
    const made = new Set(refunds.filter(({ source }) => source === 'api').map(({ id }) => id));
    const asked = (paymentId: string): number =>
      history.exchanges.filter(
        ({ method, path, sent }) =>
          method === 'POST' && path === `/payments/${paymentId}/refunds` && sent?.despite_dispute === true,
      ).length;
    return payments.filter(isVisible).flatMap(({ id }) => {
      const despite = claimedDespite(versionsOf(id)).filter((refund) => made.has(refund.id));
      return despite
        .slice(despite.length === 0 ? 0 : asked(id))
        .map((one) => `${one.id} of ${id} was claimed at ${one.time}, and no request asked for it`);
    });
  },
};

/** The refunds claimed here above the amount that a lost dispute left of the payment. */
const claimedBeyondLoss = (total: number, versions: readonly HistoryItem[]): readonly string[] => {
  const lost = new Map<string, number>();
  const given = new Map<string, number>();
  const sum = (amounts: ReadonlyMap<string, number>): number =>
    [...amounts.values()].reduce((all, one) => all + one, 0);
  return versions.flatMap(({ cause, refund, dispute, at: time }) => {
    if (cause === 'dispute' && dispute) lost.set(dispute.id, dispute.status === 'lost' ? dispute.amountCents : 0);
    if (cause !== 'refund' || !refund) return [];
    given.set(refund.id, ['pending', 'succeeded'].includes(refund.status) ? refund.amountCents : 0);
    const isBeyond = refund.was === undefined && sum(lost) > 0 && sum(lost) + sum(given) > total;
    return isBeyond ? [`${refund.id} at ${time}`] : [];
  });
};

export const lostStaysLost: Oracle = {
  sentence: 'A refund made here gives back nothing that a lost dispute has taken',
  atRestOnly: false,
  violations: (history) => {
    const { payments, refunds, versionsOf } = recordsOf(history);
    const atProvider = new Set(refunds.filter(({ source }) => source !== 'api').map(({ id }) => id));
    return payments.filter(isVisible).flatMap(({ id, totalCents }) =>
      claimedBeyondLoss(totalCents, versionsOf(id))
        .filter((claim) => ![...atProvider].some((refundId) => claim.startsWith(`${refundId} `)))
        .map((claim) => `${claim} of ${id} gives back what was lost`),
    );
  },
};

export const lossesAgree: Oracle = {
  sentence: 'At rest a payment counts what its open disputes ask for and what its lost disputes took',
  atRestOnly: true,
  violations: (history) => {
    const { payment } = recordsOf(history);
    const there = new Map<string, { open: number; lost: number }>();
    for (const { payment_id: id, status, amount } of history.ledger.disputes) {
      const sums = there.get(id) ?? { open: 0, lost: 0 };
      if (OPEN.has(status)) sums.open += amount;
      if (status === 'lost') sums.lost += amount;
      there.set(id, sums);
    }
    return [...there].flatMap(([id, { open, lost }]) => {
      const counted: readonly HistoryJson[] = payment(id)?.['disputes'] ?? [];
      const sum = (isLost: boolean): number =>
        counted.reduce((total, one) => total + ((one.lostAt !== undefined) === isLost ? one.amountCents : 0), 0);
      const [openHere, lostHere] = [sum(false), sum(true)];
      return openHere === open && lostHere === lost
        ? []
        : [`${id} counts ${openHere} open and ${lostHere} lost, its provider ${open} and ${lost}`];
    });
  },
};
