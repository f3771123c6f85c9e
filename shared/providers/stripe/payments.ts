/** @module Payments at Stripe. The intent is a PaymentIntent. A saved method is sent only with the confirmation. */

import type Stripe from 'stripe';
import type { Outcome } from '../../core/outcome.ts';
import type { FingerprintOf } from '../card-fingerprint.ts';
import type { ConfirmIntent, CreateIntent, KnownPayment, ProviderPayment, UpdateIntent } from '../payment-port.ts';
import { stripeAmounts } from './currencies.ts';
import type { StripeCall } from './outcome.ts';
import { readStripePayment } from './report.ts';

interface PaymentOptions {
  readonly descriptor: string;
  readonly fingerprintOf: FingerprintOf;
}

export const stripePayments = (stripe: Stripe, callFor: StripeCall, { descriptor, fingerprintOf }: PaymentOptions) => {
  const call = (send: () => Promise<Stripe.PaymentIntent>, known?: Pick<KnownPayment, 'method'>) =>
    callFor(send, (intent) => readStripePayment(intent, known, fingerprintOf));
  return {
    createIntent: async (input: CreateIntent) => {
      const amount = stripeAmounts.toProvider(input);
      if (amount === undefined) return stripeAmounts.refused(input);
      return call(() =>
        stripe.paymentIntents.create(
          {
            amount,
            ...common(input),
            metadata: { payment_id: input.paymentId },
            ...(input.captureMethod && { capture_method: input.captureMethod }),
            // Stripe refuses `statement_descriptor` for cards; the suffix follows the account's prefix.
            ...(descriptor !== '' && { statement_descriptor_suffix: descriptor }),
            automatic_payment_methods: {
              enabled: true,
              ...(input.returnUrl === undefined && { allow_redirects: 'never' as const }),
            },
          },
          { idempotencyKey: input.idempotencyKey },
        ),
      );
    },

    updateIntent: async (input: UpdateIntent) => {
      const amount = stripeAmounts.toProvider(input);
      if (amount === undefined) return stripeAmounts.refused(input);
      return call(() =>
        stripe.paymentIntents.update(
          input.intentId,
          { ...CLEARED, ...withoutMethod(input), amount, ...common(input), ...captureMethodOf(input) },
          { idempotencyKey: input.idempotencyKey },
        ),
      );
    },

    confirmIntent: (input: ConfirmIntent) => {
      const { intentId, idempotencyKey } = input;
      const confirm = (key: string) =>
        call(() =>
          stripe.paymentIntents.confirm(
            intentId,
            {
              ...methodParameters(input.method),
              ...(input.returnUrl && { return_url: input.returnUrl }),
              ...(input.offSession && { off_session: true }),
              expand: [CHARGE],
            },
            { idempotencyKey: key },
          ),
        );
      const setCustomer = (customer: string, saving: { readonly setup_future_usage?: 'off_session' | '' }) =>
        call(() =>
          stripe.paymentIntents.update(
            intentId,
            { customer, ...NO_METHOD, ...saving },
            { idempotencyKey: `${idempotencyKey}:customer` },
          ),
        );
      return confirmForCustomer(input, { confirm, setCustomer });
    },

    cancelIntent: (input: { intentId: string; idempotencyKey: string }) =>
      call(() => stripe.paymentIntents.cancel(input.intentId, {}, { idempotencyKey: input.idempotencyKey })),

    findPayment: (known: KnownPayment) => {
      const expand = [known.withSettlement ? `${CHARGE}.balance_transaction` : CHARGE];
      return call(() => stripe.paymentIntents.retrieve(known.intentId, { expand }), known);
    },
  };
};

/** Expanded with the intent, to read the method's details without a separate call. */
const CHARGE = 'latest_charge';

type PaymentOutcome = Outcome<ProviderPayment>;

interface ConfirmSteps {
  readonly confirm: (key: string) => Promise<PaymentOutcome>;
  readonly setCustomer: (
    customer: string,
    saving: { readonly setup_future_usage?: 'off_session' | '' },
  ) => Promise<PaymentOutcome>;
}

/**
 * Stripe charges a saved method only for the method's customer. If the intent lacks that customer, the customer is set
 * and the intent is confirmed again.
 */
const confirmForCustomer = async (input: ConfirmIntent, steps: ConfirmSteps): Promise<PaymentOutcome> => {
  const { customerId, idempotencyKey } = input;
  const { confirm, setCustomer } = steps;
  if (customerId !== undefined && input.mayNameOtherCustomer) {
    const updated = await setCustomer(customerId, { setup_future_usage: input.saveMethod ? 'off_session' : '' });
    if (updated.kind === 'done') return confirm(idempotencyKey);
    return updated.kind === 'unknown' ? NOTHING_CHARGED : updated;
  }
  const confirmed = await confirm(idempotencyKey);
  if (customerId === undefined || !lacksCustomer(confirmed)) return confirmed;
  const updated = await setCustomer(customerId, {});
  switch (updated.kind) {
    case 'done':
      return confirm(`${idempotencyKey}:again`);
    case 'not_done':
      return updated;
    case 'unknown':
      return NOTHING_CHARGED;
    case 'refused':
    case 'declined':
      return confirmed;
  }
};

/** The result if the customer update has an unknown outcome. The update itself charges nothing. */
const NOTHING_CHARGED = { kind: 'not_done', reason: 'unreachable' } as const;

/**
 * True if the refusal means that intent and method have different customers. The codes in OTHER_REFUSALS have other
 * causes.
 */
const lacksCustomer = (outcome: Outcome<ProviderPayment>): boolean =>
  outcome.kind === 'refused' && outcome.parameter === 'payment_method' && !OTHER_REFUSALS.includes(outcome.reason);

const OTHER_REFUSALS: readonly string[] = ['resource_missing', 'payment_intent_unexpected_state'];

/** Fields that an update clears unless it sets them. */
const CLEARED = { description: '', setup_future_usage: '' } as const;

/** The capture method of an update. Stripe names its default `automatic_async`. */
const captureMethodOf = ({ captureMethod }: UpdateIntent) =>
  captureMethod && { capture_method: captureMethod === 'manual' ? captureMethod : ('automatic_async' as const) };

const NO_METHOD = { payment_method: '' } as const;

/** Clears a removed method, and also a saved method, which is sent only with the confirmation. */
const withoutMethod = ({ method, isSavedMethod }: UpdateIntent) => (method === null || isSavedMethod ? NO_METHOD : {});

/** A saved method is sent only with the confirmation. Otherwise anyone with the client secret could charge it. */
const common = (input: CreateIntent | UpdateIntent) => ({
  currency: input.currency.toLowerCase(),
  ...(input.description && { description: input.description }),
  ...(!input.isSavedMethod && methodParameters(input.method)),
  ...(input.customerId && { customer: input.customerId }),
  ...(input.saveMethod && { setup_future_usage: 'off_session' as const }),
});

/** A `tok_…` is card data in a one-time token. Any other string is the id of a method. */
export const methodParameters = (method: string | null | undefined) => {
  if (method === undefined || method === null) return {};
  if (method.startsWith('tok_')) return { payment_method_data: { type: 'card' as const, card: { token: method } } };
  return { payment_method: method };
};
