import { STRIPE } from './provider-subjects.ts';
import { testRefunds } from './refund-suite.ts';

testRefunds({
  subject: STRIPE,
  begins: 'succeeded',
  path: '/v1/refunds',
  page: { size: 100, path: '/v1/refunds' },
  methods: {
    settlesLater: 'pm_card_pendingRefund',
    failsLater: 'pm_card_refundFail',
    disputed: 'pm_card_createDispute',
  },
  currencies: [
    ['JPY', 5_000, 1_234],
    ['KWD', 12_340, 5_670],
    ['ISK', 900, 451],
    ['MGA', 90_000, 45_100],
  ],
  inexpressible: { currency: 'KWD', paidCents: 12_340, refundCents: 5_678 },
  refundEnds: ['succeeded', 'failed', 'canceled'],
  disputeStatuses: ['needs_response', 'under_review', 'won', 'lost', 'closed'],
});
