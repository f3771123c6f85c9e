import type Stripe from 'stripe';
import type { Outcome } from '../../core/outcome.ts';
import type { ConfirmIntent, CreateIntent, KnownPayment, ProviderPayment, UpdateIntent } from '../port/provider.ts';
import { stripeAmounts } from './currencies.ts';
import type { StripeCall } from './outcome.ts';
import { readStripePayment } from './report.ts';

export const stripePayments = (stripe: Stripe, callFor: StripeCall) => {
  const call = (send: () => Promise<Stripe.PaymentIntent>, known?: Pick<KnownPayment, 'method'>) =>
    callFor(send, (intent) => readStripePayment(intent, known));
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
          { ...CLEARED, ...withoutMethod(input), amount, ...common(input) },
          { idempotencyKey: input.idempotencyKey },
        ),
      );
    },

    /** A saved method pays for its own customer only: an intent that was made without is told, and asked again. */
    confirmIntent: async (input: ConfirmIntent) => {
      const { intentId, customerId, idempotencyKey } = input;
      const confirm = (key: string) =>
        call(() =>
          stripe.paymentIntents.confirm(
            intentId,
            {
              ...methodOf(input.method),
              ...(input.returnUrl && { return_url: input.returnUrl }),
              ...(input.offSession && { off_session: true }),
            },
            { idempotencyKey: key },
          ),
        );
      const tell = (customer: string, saving: { readonly setup_future_usage?: 'off_session' | '' }) =>
        call(() =>
          stripe.paymentIntents.update(
            intentId,
            { customer, ...NO_METHOD, ...saving },
            { idempotencyKey: `${idempotencyKey}:customer` },
          ),
        );
      if (customerId !== undefined && input.mayNameOtherCustomer) {
        const told = await tell(customerId, { setup_future_usage: input.saveMethod ? 'off_session' : '' });
        if (told.kind === 'done') return confirm(idempotencyKey);
        return told.kind === 'unknown' ? NOTHING_CHARGED : told;
      }
      const confirmed = await confirm(idempotencyKey);
      if (customerId === undefined || !lacksCustomer(confirmed)) return confirmed;
      const told = await tell(customerId, {});
      switch (told.kind) {
        case 'done':
          return confirm(`${idempotencyKey}:again`);
        case 'not_done':
          return told;
        case 'unknown':
          return NOTHING_CHARGED;
        case 'refused':
        case 'declined':
          return confirmed;
      }
    },

    cancelIntent: (input: { intentId: string; idempotencyKey: string }) =>
      call(() => stripe.paymentIntents.cancel(input.intentId, {}, { idempotencyKey: input.idempotencyKey })),

    findPayment: (known: KnownPayment) => call(() => stripe.paymentIntents.retrieve(known.intentId), known),
  };
};

/** The update charges nothing, whatever became of it. */
const NOTHING_CHARGED = { kind: 'not_done', reason: 'unreachable' } as const;

/** A refusal of the method, where the intent's customer is not the method's. The codes are of other refusals. */
const lacksCustomer = (outcome: Outcome<ProviderPayment>): boolean =>
  outcome.kind === 'refused' && outcome.parameter === 'payment_method' && !OTHER_REFUSALS.includes(outcome.reason);

const OTHER_REFUSALS: readonly string[] = ['resource_missing', 'payment_intent_unexpected_state'];

/** What an update takes away unless it names it. */
const CLEARED = { description: '', setup_future_usage: '' } as const;

const NO_METHOD = { payment_method: '' } as const;

/** None any more, or a saved one, which the intent never names before it is charged. */
const withoutMethod = ({ method, isSavedMethod }: UpdateIntent) => (method === null || isSavedMethod ? NO_METHOD : {});

/**
 * A saved method is named by the confirmation alone: whoever holds the client secret could otherwise charge it from a
 * browser, without being asked who they are.
 */
const common = (input: CreateIntent | UpdateIntent) => ({
  currency: input.currency.toLowerCase(),
  ...(input.description && { description: input.description }),
  ...(!input.isSavedMethod && methodOf(input.method)),
  ...(input.customerId && { customer: input.customerId }),
  ...(input.saveMethod && { setup_future_usage: 'off_session' as const }),
});

/** A `tok_…` is card data in a one-time token; anything else names a method. */
const methodOf = (method: string | null | undefined) => {
  if (method === undefined || method === null) return {};
  if (method.startsWith('tok_')) return { payment_method_data: { type: 'card' as const, card: { token: method } } };
  return { payment_method: method };
};
