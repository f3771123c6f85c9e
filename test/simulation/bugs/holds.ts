import type { Bug } from './bug.ts';

/** Mistakes in how holds end. */
export const HOLD_BUGS: readonly Bug[] = [
  {
    name: 'capture-takes-all',
    what: 'A capture of a part takes everything that is held',
    file: 'shared/payments/holds/hold-call.ts',
    text: '        amountCents: holdCall.totalCents,',
    replacement: '        amountCents: claim.authorizedCents ?? holdCall.totalCents,',
  },
  {
    name: 'captured-keeps-its-total',
    what: 'A payment that is captured in part keeps the total that was held',
    file: 'shared/payments/holds/hold-versions.ts',
    text: "  ...(payment.status === 'succeeded' ? {} : withHeldSplit(payment, capturedPrices(payment, reported))),",
    replacement: '',
  },
  {
    name: 'payer-may-release',
    what: 'A payer may release the hold of an own payment',
    file: 'shared/payments/holds/may-end-hold.ts',
    text: "requireOthersPayment(table, { caller, record: payment, scope: 'payments:capture' });",
    replacement: '(async () => ({ onlyIf: [], requireStill: async () => {} }))();',
  },
  {
    name: 'released-only-here',
    what: 'A release changes the record, and the provider still holds the amount',
    file: 'shared/payments/holds/hold-call.ts',
    text: 'return holdsOf(provider).release({',
    replacement:
      "return (({ providerPaymentId: paymentId }) => ({ kind: 'done', value: { ...known, paymentId, status: 'canceled' } }))({",
  },
  {
    name: 'refused-claim-is-dropped-unread',
    what: 'A refused call is taken back although the provider could not be read',
    file: 'shared/calls/run-call.ts',
    text: "if (read.kind !== 'done') return { record: claim, open: claim, isUnclear: true, unanswered: read };",
    replacement: "if (read.kind !== 'done') return kind.end(parts, claim, { cause: 'refused', refusal, isLate });",
  },
  {
    name: 'hold-ends-unannounced',
    what: 'A hold ends by the clock without a reminder',
    file: 'shared/payments/holds/hold-versions.ts',
    text: '  return now < end && now >= end - CAPTURE_DUE_BEFORE_MS;',
    replacement: '  return false;',
  },
];
