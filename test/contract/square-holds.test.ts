import { testHolds } from './holds-suite.ts';
import { SQUARE } from './provider-subjects.ts';

const COMPLETE = { method: 'POST', path: '/complete' } as const;

testHolds({
  subject: SQUARE,
  days: 7,
  methods: { captureDeclined: 'cnon:sim-capture-declined', endsInAnHour: 'cnon:sim-hold-1h' },
  takes: [
    ['cnon:card-nonce-ok', undefined, true],
    ['cnon:card-nonce-ok', 'card', true],
    ['ccof:customer-card-id-ok', 'card', true],
    ['bnon:bank-nonce-ok', undefined, false],
    ['bnon:bank-nonce-ok', 'bank_account', false],
    ['bact:account', undefined, false],
    ['wnon:cash-app', undefined, false],
    ['gftc:gift-card', undefined, false],
    ['ccof:customer-card-id-ok', 'wallet', false],
  ],
  calls: { hold: { method: 'POST', path: '/v2/payments' }, release: { method: 'POST', path: '/cancel' } },
  captures: { all: [COMPLETE], part: [{ method: 'PUT', path: '/v2/payments/' }, COMPLETE] },
});
