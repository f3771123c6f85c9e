import { SQUARE } from './provider-subjects.ts';
import { testRefunds } from './refund-suite.ts';

testRefunds({
  subject: SQUARE,
  begins: 'pending',
  path: '/v2/refunds',
  page: { size: 20, path: '/v2/refunds/' },
  methods: {
    settlesLater: 'cnon:card-nonce-ok',
    failsLater: 'cnon:sim-pending-refund-fail',
    disputed: 'cnon:sim-dispute',
  },
  currencies: [],
  refundEnds: ['succeeded', 'failed'],
  disputeStatuses: ['needs_response', 'under_review', 'won', 'lost', 'closed'],
});
