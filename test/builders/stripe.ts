import { parseSettings } from '../../shared/core/settings.ts';
import type { AdapterOptions } from '../../shared/providers/adapter.ts';
import type { PaymentProvider } from '../../shared/providers/provider.ts';
import { openStripe, openStripeReceiver } from '../../shared/providers/stripe/stripe.ts';
import { logLines } from './log-lines.ts';

type Json = Readonly<Record<string, unknown>>;

/** A PaymentIntent as Stripe returns it; a test overrides only relevant fields. */
export const paymentIntent = (fields: Json = {}): Json => ({
  id: 'pi_1',
  object: 'payment_intent',
  amount: 2_500,
  currency: 'usd',
  status: 'requires_confirmation',
  client_secret: 'pi_1_secret_x',
  latest_charge: null,
  last_payment_error: null,
  next_action: null,
  payment_method: null,
  metadata: { payment_id: 'pay_1' },
  ...fields,
});

/** One call to Stripe. */
export interface ReceivedCall {
  readonly method: string;
  readonly path: string;
  readonly key: string | null;
  readonly form: Readonly<Record<string, string>>;
}

type Answer = (signal: AbortSignal | null | undefined) => Promise<Response> | Response;

export const answers = (status: number, body: unknown): Answer => {
  const text = typeof body === 'string' ? body : JSON.stringify(body);
  return () => new Response(text, { status, headers: { 'content-type': 'application/json' } });
};
export const refuses = (status: number, error: Json): Answer => answers(status, { error });

/** Stripe's adapter. Every call to Stripe gets this response. */
export const stripeThatAnswers = (answer: Answer, env: Readonly<Record<string, string>> = {}) => {
  const calls: ReceivedCall[] = [];
  const { log, lines } = logLines();
  const { slots } = parseSettings({
    PROVIDER_A: 'stripe',
    PROVIDER_A_API_KEY: 'sk_test_canary',
    PROVIDER_A_WEBHOOK_SECRET: 'whsec_test',
    ...env,
  });
  const options: AdapterOptions = {
    slot: 'provider_a',
    settings: slots.provider_a,
    timeoutMs: 40,
    log,
    fetch: async (input, init) => {
      const url = new URL(input);
      const form = new URLSearchParams(String(init?.body ?? ''));
      calls.push({
        method: init?.method ?? 'GET',
        path: url.pathname,
        key: new Headers(init?.headers).get('idempotency-key'),
        form: Object.fromEntries(form),
      });
      return answer(init?.signal);
    },
  };
  const open = () => openStripe(options);
  const provider = (): PaymentProvider => {
    const opened = open();
    if (!opened) throw new Error('the slot is closed');
    return opened;
  };
  return { open, provider, receiver: openStripeReceiver(options), calls, lines };
};
