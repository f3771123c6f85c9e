import Stripe from 'stripe';
import type { Outcome } from '../../core/outcome.ts';
import type { Log } from '../../observability/logger.ts';
import type { ProviderSlot } from '../../settings.ts';
import type { ProviderPayment } from '../provider.ts';
import { declineCode, reportedPayment } from './report.ts';

/** Runs one call and says what it came to: only an answer that certainly did nothing is a refusal. */
export const outcomeOf = async (
  call: () => Promise<Stripe.PaymentIntent>,
  context: { readonly slot: ProviderSlot; readonly log: Log },
): Promise<Outcome<ProviderPayment>> => {
  const startedAt = Date.now();
  const outcome = await attempt(call);
  context.log.info('provider called', {
    provider: context.slot,
    outcome: outcome.kind,
    duration_ms: Date.now() - startedAt,
    ...(outcome.kind === 'unknown' && { reason: outcome.reason }),
  });
  return outcome;
};

const attempt = async (call: () => Promise<Stripe.PaymentIntent>): Promise<Outcome<ProviderPayment>> => {
  try {
    return { kind: 'done', value: reportedPayment(await call()) };
  } catch (error) {
    if (error instanceof Stripe.errors.StripeCardError) {
      const intent = error.payment_intent;
      return { kind: 'declined', code: declineCode(error), value: intent && reportedPayment(intent) };
    }
    if (saysNo(error)) return { kind: 'refused', reason: error.code ?? error.type, parameter: error.param };
    if (error instanceof Stripe.errors.StripeConnectionError) {
      return { kind: 'unknown', reason: /timeout|timed out/i.test(error.message) ? 'timeout' : 'unreachable' };
    }
    return { kind: 'unknown', reason: 'error' };
  }
};

const saysNo = (error: unknown): error is Stripe.errors.StripeError =>
  error instanceof Stripe.errors.StripeInvalidRequestError ||
  error instanceof Stripe.errors.StripeAuthenticationError ||
  error instanceof Stripe.errors.StripePermissionError;
