/**
 * @module Holds at Square. A hold is a card payment that Square completes only on request. A partial capture first
 * lowers the payment's amount, so each step names the expected version of the payment.
 */

import { mapOutcome, type Outcome } from '../../core/outcome.ts';
import type { CaptureHold, HoldsPort, ReleaseHold } from '../hold-port.ts';
import type { ProviderPayment } from '../payment-port.ts';
import { type SquareMoney, squareAmounts, squareMoney } from './currencies.ts';
import { squareKey } from './outcome.ts';
import { type SquareAccount, squarePaymentAnswer } from './payments.ts';
import { readSquarePayment } from './report.ts';
import type { SquarePayment } from './schemas.ts';

export const squareHolds = (account: SquareAccount): HoldsPort => {
  const payments = heldPayments(account);
  return {
    takes: ({ id, kind }) => (kind === undefined || kind === 'card') && !NOT_A_CARD.test(id),

    capture: async (input: CaptureHold): Promise<Outcome<ProviderPayment>> => {
      const money = squareMoney(input);
      if (!money) return squareAmounts.refused(input);
      const found = await payments.find(input);
      if (found.kind !== 'done') return found;
      const captured = await capturePayment(payments, found.value, { input, money });
      return mapOutcome(captured, (payment) => readSquarePayment(payment, account.fingerprintOf, input.intentId));
    },

    release: async (input: ReleaseHold): Promise<Outcome<ProviderPayment>> =>
      mapOutcome(await payments.cancel(input), (payment) =>
        readSquarePayment(payment, account.fingerprintOf, input.intentId),
      ),
  };
};

/** The prefixes of sources other than cards, such as bank accounts, Cash App, Afterpay and gift cards. */
const NOT_A_CARD = /^(?:bnon|bauth|bact|wnon|gftc):/;

type Held = Pick<ReleaseHold, 'providerPaymentId'>;

const heldPayments = ({ call }: SquareAccount) => {
  const send = async (method: 'GET' | 'POST' | 'PUT', path: string, body?: object): Promise<Outcome<SquarePayment>> =>
    mapOutcome(
      await call({ method, path: `/v2/payments/${path}`, body, answer: squarePaymentAnswer }),
      ({ payment }) => payment,
    );
  const pathOf = ({ providerPaymentId }: Held): string => encodeURIComponent(providerPaymentId);
  return {
    find: (held: Held) => send('GET', pathOf(held)),
    lower: (held: Held, body: object) => send('PUT', pathOf(held), body),
    complete: (held: Held, body: object) => send('POST', `${pathOf(held)}/complete`, body),
    cancel: (held: Held) => send('POST', `${pathOf(held)}/cancel`),
  };
};

type HeldPayments = ReturnType<typeof heldPayments>;

interface Capture {
  readonly input: CaptureHold;
  readonly money: SquareMoney;
}

/**
 * Continues from the payment's state, because an earlier call without a response may have lowered or completed the
 * payment.
 */
const capturePayment = async (
  payments: HeldPayments,
  payment: SquarePayment,
  { input, money }: Capture,
): Promise<Outcome<SquarePayment>> => {
  const left = payment.amount_money.amount;
  if (payment.status === 'COMPLETED' && left === money.amount) return { kind: 'done', value: payment };
  if (payment.status !== 'APPROVED') return { kind: 'refused', reason: `payment_${payment.status.toLowerCase()}` };
  if (left < money.amount) return { kind: 'refused', reason: 'amount_exceeds_hold', parameter: 'amount' };
  if (left === money.amount) return payments.complete(input, versionOf(payment));
  const version = versionOf(payment);
  const lowered = await payments.lower(input, {
    idempotency_key: squareKey(input.idempotencyKey, 'lower', version.version_token ?? ''),
    payment: { amount_money: money, ...version },
  });
  if (lowered.kind !== 'done') return lowered;
  const completed = await payments.complete(input, versionOf(lowered.value));
  // The amount is already lowered, so the outcome is unknown even if the completion certainly did nothing.
  return completed.kind === 'not_done' ? { kind: 'unknown', reason: 'unreachable' } : completed;
};

const versionOf = ({ version_token: token }: SquarePayment): { readonly version_token?: string } =>
  token ? { version_token: token } : {};
