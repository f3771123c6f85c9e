/** @module Holds at PayPal. The authorization of an order holds the amount, and is captured once or voided. */

import { mapOutcome, type Outcome } from '../../core/outcome.ts';
import type { CaptureHold, HoldsPort, ReleaseHold } from '../hold-port.ts';
import type { ProviderPayment } from '../payment-port.ts';
import { knownFacts } from '../reported-facts.ts';
import { afterChange } from '../vendor-failures.ts';
import { centsOf, paypalAmounts, paypalMoney } from './amounts.ts';
import { findPayPalOrder, keyed } from './orders.ts';
import type { PayPalCall } from './outcome.ts';
import { captureFacts, captureStatus, paypalFailure, readPayPalOrder } from './report.ts';
import { authorizationSchema, type Capture, captureSchema } from './schemas.ts';

export const paypalHolds = (call: PayPalCall, descriptor: string): HoldsPort => ({
  // PayPal cannot hold an amount on a bank account.
  takes: ({ kind }) => kind !== 'bank_account',

  capture: async (input: CaptureHold): Promise<Outcome<ProviderPayment>> => {
    const amount = paypalMoney(input);
    if (!amount) return paypalAmounts.refused(input);
    const captured = await call({
      method: 'POST',
      path: `${pathOf(input.providerPaymentId)}/capture`,
      headers: keyed(input),
      body: {
        amount,
        final_capture: true,
        // The invoice number prevents a double capture. PayPal refuses a second capture with the same number, even of
        // another authorization.
        invoice_id: input.paymentId,
        ...(descriptor !== '' && { soft_descriptor: descriptor }),
      },
      answer: captureSchema,
    });
    return captured.kind === 'done' ? capturedOf(captured.value, input) : captured;
  },

  // The order is read after the void. PayPal accepts a void after a partial capture, and voids the rest. Only the order
  // shows that capture.
  release: async (input: ReleaseHold): Promise<Outcome<ProviderPayment>> => {
    const voided = await call({
      method: 'POST',
      path: `${pathOf(input.providerPaymentId)}/void`,
      headers: keyed(input),
      answer: authorizationSchema,
    });
    if (voided.kind !== 'done') return voided;
    const found = afterChange(await findPayPalOrder(call, input.intentId));
    return mapOutcome(found, (order) => readPayPalOrder(order, { ...input, status: 'canceled' }));
  },
});

const pathOf = (authorizationId: string): string =>
  `/v2/payments/authorizations/${encodeURIComponent(authorizationId)}`;

const capturedOf = (
  capture: Capture,
  { intentId, providerPaymentId, ...input }: CaptureHold,
): Outcome<ProviderPayment> => {
  const status = captureStatus(capture);
  if (status === 'failed') {
    const facts = knownFacts(captureFacts(capture, status));
    return { kind: 'declined', code: paypalFailure(capture), attemptRef: providerPaymentId, facts };
  }
  const isTaken = status === 'succeeded';
  const captured = capture.amount && centsOf(capture.amount);
  return {
    kind: 'done',
    value: {
      ...NOTHING_TO_DO,
      intentId,
      paymentId: isTaken ? capture.id : providerPaymentId,
      // A pending capture leaves the payment held, with nothing left to capture. A read of the order reports the same.
      status: isTaken ? 'succeeded' : 'requires_capture',
      amountCents: isTaken ? (captured ?? input.amountCents) : input.authorizedCents,
      currency: input.currency,
      attemptRef: providerPaymentId,
      ourPaymentId: capture.custom_id,
      facts: isTaken ? knownFacts(captureFacts(capture, status)) : undefined,
      hold: { authorizedCents: input.authorizedCents, capturableCents: 0, captureBefore: undefined },
    },
  };
};

const NOTHING_TO_DO = {
  failureCode: undefined,
  clientSecret: undefined,
  nextAction: undefined,
  methodId: undefined,
} as const;
