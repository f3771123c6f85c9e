import type { Bug } from './bug.ts';

/** Mistakes in refunds, sums and counters. */
export const REFUND_BUGS: readonly Bug[] = [
  {
    name: 'refund-over-total',
    what: 'A refund may be as large as the payment, whatever was refunded before',
    file: 'shared/payments/refunds/refund-sums.ts',
    text: 'if (amount >= 1 && amount <= left) return amount;',
    replacement: 'if (amount >= 1 && amount <= payment.totalCents) return amount;',
  },
  {
    name: 'lost-is-refundable',
    what: 'What a lost dispute has taken can be refunded',
    file: 'shared/payments/money-account.ts',
    text: 'captured - refunded - refunding - lost - (despiteDispute ? 0 : disputed)',
    replacement: 'captured - refunded - refunding - (despiteDispute ? 0 : disputed)',
  },
  {
    name: 'loss-not-counted',
    what: 'A lost dispute counts as a closed one',
    file: 'shared/payments/dispute-store.ts',
    text: 'if (isClosedDispute(next.status) && !isLost)',
    replacement: 'if (isClosedDispute(next.status))',
  },
  {
    name: 'refund-not-reserved',
    what: 'A pending refund reserves nothing of its payment',
    file: 'shared/payments/refunds/refund-sums.ts',
    text: "if (refund?.status === 'pending') return { ...NOTHING, refundingCents: refund.amountCents };",
    replacement: '',
  },
  {
    name: 'reservation-not-released',
    what: 'A refund that has ended keeps its reservation',
    file: 'shared/payments/refunds/refund-sums.ts',
    text: '...withShare(payment, shareOf(was), shareOf(next)),',
    replacement: '...withShare(payment, NOTHING, shareOf(next)),',
  },
  {
    name: 'refund-never-looked-up',
    what: 'A refund with an unknown outcome is never looked up',
    file: 'shared/payments/refund-payment.ts',
    text: '  reconcileAt: iso(lookTime(now, 0)),',
    replacement: '',
  },
  {
    name: 'refund-recorded-twice',
    what: 'A refund made here is recorded again when its event arrives',
    file: 'shared/payments/refunds/refund-reports.ts',
    text: 'const known = await findOurs(deps, store, { payment, report });',
    replacement: 'const known = undefined;',
  },
  {
    name: 'counted-twice',
    what: 'A change that the stream repeats is counted again',
    file: 'shared/payments/payment-history.ts',
    text: 'put: history, if: [{ absent: true }] }',
    replacement: 'put: history, if: [] }',
  },
  {
    name: 'counted-by-every-status',
    what: 'A payment stays counted under its earlier statuses',
    file: 'shared/payments/payment-history.ts',
    text: '...(was ? takenBack(allSharesOf(was, spread)) : []),',
    replacement: '',
  },
  {
    name: 'summary-forgets-refunds',
    what: 'Refunds are missing in the sums of their day',
    file: 'shared/payments/payment-history.ts',
    text: '...(refund ? refundShares(after, refund, spread) : []),',
    replacement: '',
  },
  {
    name: 'refund-unpublished',
    what: 'A refund publishes no event',
    file: 'shared/payments/payment-events.ts',
    text: "if (after.cause === 'refund') return refundEvents(after);",
    replacement: "if (after.cause === 'refund') return [];",
  },
  {
    name: 'refund-published-with-the-total',
    what: 'The event of a refund states the amount of the payment',
    file: 'shared/payments/payment-events.ts',
    text: 'refund: { id, amount, reason: reason ?? null, status },',
    replacement: 'refund: { id, amount: amount && payment.totalCents, reason: reason ?? null, status },',
  },
];
