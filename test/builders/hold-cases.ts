/** @module Histories of holds and their ends. */
import type { History, HistoryJson } from '../simulation/model/history.ts';
import { ROOT } from '../simulation/world/people.ts';
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

const HELD = { status: 'pending', authorized: 1_000, captured: 0, released: 0 };
const CAPTURED = { status: 'succeeded', authorized: 1_000, captured: 600, released: 400 };
const RELEASED = { status: 'canceled', authorized: 1_000, captured: 0, released: 1_000 };
const MANUAL = { captureMethod: 'manual', authorizedCents: 1_000 };
const TAKEN = { ...MANUAL, status: 'succeeded', totalCents: 600 };
const WAITING = { ...MANUAL, status: 'requires_capture' };

const holdIs = (here: HistoryJson, there: HistoryJson, parts: Partial<History> = {}): History =>
  historyWith({
    items: [historyPayment({ ...MANUAL, ...here })],
    ...parts,
    ledger: { charges: [chargeRow(there)] },
  });

const capturing = (at: number, body: HistoryJson, parts: HistoryJson = {}) =>
  exchangeOf({
    ...{ at, person: ROOT.name, method: 'POST', path: `/payments/${PAYMENT}/capture` },
    ...{ body: { capture_method: 'manual', ...body }, ...parts },
  });

const succeeded = (cents: number) => ({ status: 'succeeded', captured_cents: cents });

const releasing = capturing(
  5,
  { status: 'canceled', captured_cents: 0 },
  { path: `/payments/intents/${PAYMENT}/cancel` },
);

const claimedBy = (userId: string): History =>
  historyWith({
    items: [
      historyPayment(WAITING),
      versionItem(1, { status: 'requires_capture', cause: 'answer' }),
      {
        ...versionItem(2, { status: 'requires_capture', cause: 'capture', holdCall: { kind: 'release' } }),
        actor: { type: 'user', id: userId },
      },
    ],
  });

const heldUntil = (days: number): History =>
  historyWith({ items: [historyPayment({ ...WAITING, captureBefore: historyTime(days * 86_400) })] });

const expired = (...events: readonly string[]): History =>
  historyWith({
    items: [
      historyPayment({ ...MANUAL, status: 'canceled', holdEnd: 'expired', captureBefore: historyTime(7 * 86_400) }),
      versionItem(2, { status: 'requires_capture', cause: 'answer' }),
    ],
    bus: events.map((event) => historyEvent(`${PAYMENT}:${event}`)),
  });

/** A failed attempt, then a hold of 1,000 with a capture of 600. */
const failedFirst = (failedAt: number, amount: number): History =>
  historyWith({
    items: [
      historyPayment({ ...TAKEN, currency: 'USD' }),
      versionItem(failedAt, { status: 'failed', cause: 'answer' }),
      versionItem(4, { status: 'requires_capture', cause: 'answer' }),
    ],
    bus: [historyEvent(`${PAYMENT}:${failedAt}:payment.failed`, { amount, currency: 'USD' })],
  });

/**
 * The provider refuses a capture one second after its claim. One second later the service reads the hold. The response
 * to this read may be lost.
 */
const refusedThenRead = (isAnswered: boolean, status = 402, call = 'capture'): History =>
  historyWith({
    items: [
      historyPayment({ ...WAITING, providerIntentId: 'pi_1' }),
      versionItem(10, { cause: 'capture', holdCall: { kind: 'capture', claimedAt: historyTime(10) } }),
      versionItem(13, { cause: 'capture' }),
    ],
    providerCalls: [
      { ...arrived(11, status), method: 'POST', path: `${INTENTS}/pi_1/${call}` },
      { ...arrived(12, 200), method: 'GET', path: `${INTENTS}/pi_1`, isAnswered },
      { ...arrived(12, 200), method: 'GET', path: `${INTENTS}/pi_2` },
    ],
  });

const INTENTS = '/_local/providers/stripe/v1/payment_intents';

const arrived = (seconds: number, status: number) => ({
  ...{ at: Date.parse(historyTime(seconds)), status, isAnswered: true },
});

const WITHIN = 'No capture takes more than is held, and what a capture leaves is released';
const ONCE = 'A hold is captured once or released, and every response says the same';
const ASKED = 'A capture takes an amount that the merchant has asked for';
const NOTHING = 'A released hold takes nothing';
const AGREES = 'At rest the total of a captured payment is what its provider has captured of what it held';
const WAITS = 'At rest an amount is held if and only if its payment waits for the capture';
const ENDS = 'A hold ends: no payment waits for its capture long after the end of the hold';
const REMINDED = 'At rest the merchant has been reminded once of each hold that has ended by the clock';
const READ = 'No claim of a capture or a release is dropped without a read of the hold, if its call has arrived';
const MERCHANT = 'Only the merchant captures or releases a hold, never a payer';

export const HOLD_CASES: Readonly<Record<string, Case>> = {
  [WITHIN]: { broken: holdIs(TAKEN, { ...CAPTURED, captured: 1_100 }), sound: holdIs(TAKEN, CAPTURED) },
  [ONCE]: {
    broken: historyWith({ exchanges: [capturing(1, succeeded(600)), capturing(2, succeeded(700))] }),
    sound: historyWith({ exchanges: [capturing(1, succeeded(600)), capturing(2, succeeded(600))] }),
  },
  [ASKED]: {
    broken: holdIs(TAKEN, CAPTURED, { exchanges: [capturing(1, {}, { sent: {} })] }),
    sound: holdIs(TAKEN, CAPTURED, { exchanges: [capturing(1, {}, { sent: { amount_cents: 600 } })] }),
  },
  [NOTHING]: {
    broken: holdIs(TAKEN, CAPTURED, { exchanges: [releasing] }),
    sound: holdIs({ ...WAITING, status: 'canceled' }, RELEASED, { exchanges: [releasing] }),
  },
  [AGREES]: { broken: holdIs({ ...TAKEN, totalCents: 1_000 }, CAPTURED), sound: holdIs(TAKEN, CAPTURED) },
  [WAITS]: { broken: holdIs({ ...WAITING, status: 'canceled' }, HELD), sound: holdIs(WAITING, HELD) },
  [ENDS]: { broken: heldUntil(6), sound: heldUntil(8) },
  [REMINDED]: { broken: expired(), sound: expired('3:payment.capture_due') },
  [READ]: { broken: refusedThenRead(false), sound: refusedThenRead(true) },
  [MERCHANT]: { broken: claimedBy('user_ada'), sound: claimedBy(ROOT.userId) },
};

export const MORE_HOLD_CASES: readonly (readonly [what: string, sentence: string, Case])[] = [
  [
    'a rest that stays held',
    WITHIN,
    { broken: holdIs(TAKEN, { ...CAPTURED, released: 0 }), sound: holdIs(WAITING, HELD) },
  ],
  [
    'a capture and a release',
    ONCE,
    {
      broken: historyWith({ exchanges: [capturing(1, succeeded(600)), releasing] }),
      sound: historyWith({ exchanges: [capturing(1, { status: 'requires_capture' }), releasing] }),
    },
  ],
  [
    'a record that is canceled',
    NOTHING,
    { broken: holdIs({ ...WAITING, status: 'canceled' }, CAPTURED), sound: holdIs(TAKEN, CAPTURED) },
  ],
  [
    'prices that do not add up',
    AGREES,
    {
      broken: holdIs({ ...TAKEN, taxCents: 700 }, CAPTURED),
      sound: holdIs({ ...TAKEN, taxCents: 100 }, CAPTURED),
    },
  ],
  [
    'the confirmation, shortly before a capture that was not sent',
    READ,
    { broken: refusedThenRead(false), sound: refusedThenRead(false, 402, 'confirm') },
  ],
  [
    'a call that the provider did not carry out',
    READ,
    { broken: refusedThenRead(false), sound: refusedThenRead(false, 429) },
  ],
  [
    'a second reminder',
    REMINDED,
    {
      broken: expired('3:payment.capture_due', '4:payment.capture_due'),
      sound: expired('3:payment.capture_due', '3:payment.capture_due'),
    },
  ],
  ['a hold that is gone', WAITS, { broken: holdIs(WAITING, RELEASED), sound: holdIs(TAKEN, CAPTURED) }],
  [
    'a payer who captures',
    MERCHANT,
    {
      broken: historyWith({ exchanges: [capturing(1, succeeded(600), { person: 'ada' })] }),
      sound: historyWith({ exchanges: [capturing(1, {}, { person: 'ada', status: 403 })] }),
    },
  ],
  [
    'a payer who learns that the amount is too high',
    MERCHANT,
    {
      broken: historyWith({ exchanges: [capturing(1, {}, { person: 'ada', status: 400 })] }),
      sound: historyWith({ exchanges: [capturing(1, {}, { person: 'ada', status: 404 })] }),
    },
  ],
  [
    'a capture without an outcome',
    'Nothing waits for ever: at rest no outcome is unclear',
    {
      broken: historyWith({
        items: [historyPayment({ ...WAITING, holdCall: { kind: 'capture', claimedAt: historyTime(0) } })],
      }),
      sound: historyWith({ items: [historyPayment(WAITING)] }),
    },
  ],
  [
    'the amount of a hold',
    'Amount and currency of a charge are those of its payment',
    { broken: holdIs(WAITING, { ...HELD, authorized: 900 }), sound: holdIs(WAITING, HELD) },
  ],
  [
    'an attempt that failed before the hold',
    'An event states the amount and currency of its payment or subscription, refund or dispute',
    { broken: failedFirst(2, 600), sound: failedFirst(2, 1_000) },
  ],
  [
    'an event after the capture',
    'An event states the amount and currency of its payment or subscription, refund or dispute',
    { broken: failedFirst(5, 1_000), sound: failedFirst(5, 600) },
  ],
];
