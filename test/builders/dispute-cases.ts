/** @module Histories of a payment's disputes. */
import type { History, HistoryJson } from '../simulation/model/history.ts';
import {
  chargeRow,
  exchangeOf,
  historyEvent,
  historyPayment,
  historyTime,
  historyWith,
  PAYMENT,
  versionItem,
} from './history.ts';
import type { Case } from './promise-cases.ts';

const DISPUTE = `dsp_${'7'.repeat(24)}`;
const REFUND = `ref_${'8'.repeat(24)}`;
const DUE = historyTime(7 * 86_400);

const there = (fields: HistoryJson = {}): HistoryJson => ({
  ...{ provider: 'provider_a', id: 'dp_1', payment_id: PAYMENT, status: 'needs_response', amount: 1_000 },
  ...{ currency: 'USD', reason: 'fraudulent', evidence_due_by: DUE, ...fields },
});

/** A payment with these disputes in its record, and one lost dispute at the provider. */
const counted = (disputes: readonly HistoryJson[]): History =>
  historyWith({
    items: [historyPayment({ disputes })],
    ledger: { charges: [chargeRow()], disputes: [there({ status: 'lost' })] },
  });

/** @param here overrides of the record; @param ledger overrides of the provider's dispute */
const disputed = (here: HistoryJson = {}, ledger: HistoryJson = {}, events: readonly HistoryJson[] = []): History =>
  historyWith({
    items: [
      historyPayment(),
      {
        ...{ pk: `DSP#${DISPUTE}`, sk: 'DSP', providerId: 'provider_a', providerDisputeId: 'dp_1', paymentId: PAYMENT },
        ...{ status: 'needs_response', amountCents: 1_000, currency: 'USD', reason: 'fraudulent', evidenceDueBy: DUE },
        ...here,
      },
    ],
    ledger: { charges: [chargeRow()], disputes: [there(ledger)] },
    bus: events.map((dispute, index) =>
      historyEvent(`${PAYMENT}:${index + 3}:payment.dispute_${dispute.status === 'lost' ? 'closed' : 'opened'}`, {
        ...{ amount: 1_000, currency: 'USD' },
        dispute: { id: DISPUTE, amount: 1_000, evidence_due_by: DUE, ...dispute },
      }),
    ),
  });

const OPENED = { status: 'needs_response' };
const LOST = { status: 'lost' };
const WON = { status: 'won' };

/** A refund claimed after the dispute reached this status. */
const refunded = (status: string, despite: boolean | undefined, fields: HistoryJson = {}): History =>
  historyWith({
    items: [
      historyPayment(),
      ...[
        { cause: 'dispute', dispute: { id: DISPUTE, status: 'needs_response', amountCents: 1_000 } },
        { cause: 'dispute', dispute: { id: DISPUTE, status, was: 'needs_response', amountCents: 1_000 } },
        { cause: 'refund', refund: { id: REFUND, status: 'pending', amountCents: 600 } },
        { cause: 'refund', refund: { id: REFUND, status: 'succeeded', was: 'pending', amountCents: 600 } },
      ].map((version, index) => versionItem(index + 1, { status: 'succeeded', ...version })),
      { pk: `RFD#${REFUND}`, sk: 'RFD', paymentId: PAYMENT, status: 'succeeded', source: 'api', ...fields },
    ],
    exchanges: [
      exchangeOf({
        method: 'POST',
        path: `/payments/${PAYMENT}/refunds`,
        sent: { amount_cents: 600, ...(despite !== undefined && { despite_dispute: despite }) },
      }),
    ],
  });

const FIELDS = 'At rest the amount, the reason and the due date of a dispute are those of its provider';
const LAST_WORD = 'At rest the latest provider state of a dispute has been announced';
const COUNTED = 'At rest a payment counts what its open disputes ask for and what its lost disputes took';
const STAYS_LOST = 'A refund made here gives back nothing that a lost dispute has taken';
const ASKED = 'A payment with an open dispute is refunded here only by a request that says so';

export const DISPUTE_CASES: Readonly<Record<string, Case>> = {
  [FIELDS]: { broken: disputed({ evidenceDueBy: historyTime(0) }), sound: disputed() },
  [LAST_WORD]: {
    broken: disputed(WON, WON, [OPENED, LOST]),
    sound: disputed(LOST, LOST, [OPENED, LOST, OPENED, LOST]),
  },
  [COUNTED]: {
    broken: counted([{ id: DISPUTE, amountCents: 1_000 }]),
    sound: counted([{ id: DISPUTE, amountCents: 1_000, lostAt: historyTime(9) }]),
  },
  [STAYS_LOST]: { broken: refunded('lost', true), sound: refunded('won', true) },
  [ASKED]: { broken: refunded('under_review', undefined), sound: refunded('under_review', true) },
};

const atPayPal = (here: HistoryJson, ledger: HistoryJson): History =>
  disputed({ providerId: 'provider_b', ...here }, { provider: 'provider_b', ...ledger });

export const MORE_DISPUTE_CASES: readonly (readonly [what: string, sentence: string, Case])[] = [
  [
    'an amount',
    FIELDS,
    { broken: disputed({ amountCents: 900 }), sound: disputed({ amountCents: 900 }, { amount: 900 }) },
  ],
  [
    'a reason in the words of its provider',
    FIELDS,
    {
      broken: disputed({ reason: 'duplicate' }),
      sound: atPayPal({ reason: 'unauthorised' }, {}),
    },
  ],
  [
    'the due date of a closed case, which PayPal does not show',
    FIELDS,
    {
      broken: disputed({ ...LOST, evidenceDueBy: undefined }, LOST),
      sound: atPayPal({ ...LOST, reason: 'unauthorised', evidenceDueBy: undefined }, LOST),
    },
  ],
  ['no event at all', LAST_WORD, { broken: disputed(), sound: disputed({}, {}, [OPENED]) }],
  [
    'a dispute that is open again',
    LAST_WORD,
    { broken: disputed({}, {}, [OPENED, LOST]), sound: disputed({}, {}, [LOST, OPENED]) },
  ],
  [
    'an old date',
    LAST_WORD,
    {
      broken: disputed({}, {}, [{ ...OPENED, evidence_due_by: historyTime(0) }]),
      sound: disputed({}, {}, [{ ...OPENED, evidence_due_by: historyTime(0) }, OPENED]),
    },
  ],
  [
    'an old amount',
    LAST_WORD,
    {
      broken: disputed({}, { amount: 900 }, [OPENED]),
      sound: disputed({}, { amount: 900 }, [{ ...OPENED, amount: 900 }]),
    },
  ],
  [
    'an amount that was not lost',
    COUNTED,
    {
      broken: counted([{ id: DISPUTE, amountCents: 900, lostAt: historyTime(9) }]),
      sound: counted([{ id: DISPUTE, amountCents: 1_000, lostAt: historyTime(9) }]),
    },
  ],
  [
    'a refund at the provider after the loss',
    STAYS_LOST,
    { broken: refunded('lost', undefined), sound: refunded('lost', undefined, { source: 'provider' }) },
  ],
  ['a request that refuses', ASKED, { broken: refunded('needs_response', false), sound: refunded('won', false) }],
  [
    'a refund at the provider',
    ASKED,
    {
      broken: refunded('needs_response', undefined),
      sound: refunded('needs_response', undefined, { source: 'provider' }),
    },
  ],
];
