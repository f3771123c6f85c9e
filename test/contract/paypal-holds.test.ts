import { testHolds } from './holds-suite.ts';
import { PAYPAL } from './provider-subjects.ts';

const CAPTURE = { method: 'POST', path: '/capture' } as const;

testHolds({
  subject: PAYPAL,
  days: 29,
  guaranteedDays: 3,
  methods: { captureDeclined: 'SIM-CAPTURE-DECLINED', endsInAnHour: 'SIM-HOLD-1H' },
  takes: [
    ['SIM-OK', 'wallet', true],
    ['SIM-CARD', 'card', true],
    ['SIM-OK', undefined, true],
    ['SIM-OK', 'bank_account', false],
  ],
  calls: { hold: { method: 'POST', path: '/authorize' }, release: { method: 'POST', path: '/void' } },
  captures: { all: [CAPTURE], part: [CAPTURE] },
});
