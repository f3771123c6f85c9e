import { testHolds } from './holds-suite.ts';
import { STRIPE } from './provider-subjects.ts';

const CAPTURE = { method: 'POST', path: '/capture' } as const;

testHolds({
  subject: STRIPE,
  days: 7,
  methods: { captureDeclined: 'pm_sim_capture_declined', endsInAnHour: 'pm_sim_hold_1h' },
  takes: [
    ['pm_card_visa', undefined, true],
    ['pm_card_visa', 'card', true],
    ['pm_bank', 'bank_account', false],
  ],
  calls: { hold: { method: 'POST', path: '/confirm' }, release: { method: 'POST', path: '/cancel' } },
  captures: { all: [CAPTURE], part: [CAPTURE] },
});
