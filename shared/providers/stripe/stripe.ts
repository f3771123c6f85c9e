import Stripe from 'stripe';
import type { Outcome } from '../../core/outcome.ts';
import { epochSeconds } from '../../core/time.ts';
import type { AdapterOptions } from '../adapter.ts';
import type {
  Capabilities,
  ConfirmIntent,
  CreateIntent,
  PaymentProvider,
  ProviderPayment,
  UpdateIntent,
  WebhookRequest,
} from '../provider.ts';
import { readStripeEvent } from './events.ts';
import { outcomeOf } from './outcome.ts';

/** Stripe, by its own SDK. SDK retries are off: a repeat is ours to decide, under the same key. */
const LIVE_BASE = 'https://api.stripe.com';
const CLOCK_TOLERANCE_SECONDS = 300;

const CAN: Omit<Capabilities, 'subscriptions'> = { payments: true, customers: true, clientConfirmation: true };

/** @returns undefined where the slot has no key: it is closed. */
export const openStripe = (options: AdapterOptions): PaymentProvider | undefined => {
  const { settings, slot } = options;
  if (settings.API_KEY === '') return undefined;
  const stripe = new Stripe(settings.API_KEY, {
    httpClient: Stripe.createFetchHttpClient(rebased(options.fetch, settings.BASE_URL)),
    maxNetworkRetries: 0,
    timeout: options.timeoutMs,
    telemetry: false,
  });
  return {
    slot,
    can: { ...CAN, subscriptions: settings.SUBSCRIPTIONS === 'service' ? 'service' : 'native' },
    acceptsWebhooks: settings.WEBHOOK_SECRET !== '',
    ...payments(stripe, (call) => outcomeOf(call, options)),
    verifyWebhook: async (request) => verify(request, settings.WEBHOOK_SECRET),
    readEvent: readStripeEvent,
  };
};

/** Sends the SDK's calls to another base URL (the simulator's, say). */
const rebased = (send: typeof fetch, baseUrl: string): typeof fetch =>
  baseUrl === ''
    ? send
    : (input, init) => send(String(input instanceof Request ? input.url : input).replace(LIVE_BASE, baseUrl), init);

type Call = (call: () => Promise<Stripe.PaymentIntent>) => Promise<Outcome<ProviderPayment>>;

const payments = (stripe: Stripe, call: Call) => ({
  createIntent: (input: CreateIntent) =>
    call(() =>
      stripe.paymentIntents.create(
        {
          ...common(input),
          metadata: { payment_id: input.paymentId },
          automatic_payment_methods: {
            enabled: true,
            ...(input.returnUrl === undefined && { allow_redirects: 'never' as const }),
          },
        },
        { idempotencyKey: input.idempotencyKey },
      ),
    ),

  updateIntent: (input: UpdateIntent) =>
    call(() => stripe.paymentIntents.update(input.intentId, common(input), { idempotencyKey: input.idempotencyKey })),

  confirmIntent: (input: ConfirmIntent) =>
    call(() =>
      stripe.paymentIntents.confirm(
        input.intentId,
        { ...methodOf(input.method), ...(input.returnUrl && { return_url: input.returnUrl }) },
        { idempotencyKey: input.idempotencyKey },
      ),
    ),

  cancelIntent: (input: { intentId: string; idempotencyKey: string }) =>
    call(() => stripe.paymentIntents.cancel(input.intentId, {}, { idempotencyKey: input.idempotencyKey })),

  findPayment: (intentId: string) => call(() => stripe.paymentIntents.retrieve(intentId)),
});

const common = (input: CreateIntent | UpdateIntent) => ({
  amount: input.amountCents,
  currency: input.currency.toLowerCase(),
  ...(input.description && { description: input.description }),
  ...methodOf(input.method),
  ...(input.customerId && { customer: input.customerId }),
  ...(input.saveMethod && { setup_future_usage: 'off_session' as const }),
});

/** A `tok_…` is card data in a one-time token; anything else names a method. */
const methodOf = (method: string | undefined) => {
  if (method === undefined) return {};
  if (method.startsWith('tok_')) return { payment_method_data: { type: 'card' as const, card: { token: method } } };
  return { payment_method: method };
};

const verify = ({ raw, headers, now }: WebhookRequest, secret: string): 'valid' | 'invalid' => {
  const header = headers['stripe-signature'];
  if (!header || secret === '') return 'invalid';
  try {
    Stripe.webhooks.constructEvent(raw, header, secret, CLOCK_TOLERANCE_SECONDS, undefined, now);
  } catch {
    return 'invalid';
  }
  // The SDK lets timestamps of the future through.
  const timestamp = Number(/(?:^|,)t=(\d+)/.exec(header)?.[1]);
  return timestamp - epochSeconds(now) <= CLOCK_TOLERANCE_SECONDS ? 'valid' : 'invalid';
};
