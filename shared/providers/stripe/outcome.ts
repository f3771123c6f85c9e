import Stripe from 'stripe';
import type { Outcome } from '../../core/outcome.ts';
import type { Log } from '../../observability/logger.ts';
import type { ProviderSlot } from '../../settings.ts';
import { declineCode, idOf } from './report.ts';

/** Runs one call and says what it came to: only an answer that certainly did nothing is a refusal. */
export type Call = <A, T>(call: () => Promise<A>, read: (answer: A) => T) => Promise<Outcome<T>>;

export const stripeCalls =
  (context: { readonly slot: ProviderSlot; readonly log: Log }): Call =>
  async (call, read) => {
    const startedAt = Date.now();
    const outcome = await attempt(call, read);
    context.log.info('provider called', {
      provider: context.slot,
      outcome: outcome.kind,
      duration_ms: Date.now() - startedAt,
      ...(outcome.kind === 'unknown' && { reason: outcome.reason }),
    });
    return outcome;
  };

const attempt = async <A, T>(call: () => Promise<A>, read: (answer: A) => T): Promise<Outcome<T>> => {
  try {
    return { kind: 'done', value: read(await call()) };
  } catch (error) {
    if (error instanceof Stripe.errors.StripeCardError) return declined(error);
    if (saysNo(error)) return { kind: 'refused', reason: error.code ?? error.type, parameter: error.param };
    if (error instanceof Stripe.errors.StripeConnectionError) {
      return { kind: 'unknown', reason: /timeout|timed out/i.test(error.message) ? 'timeout' : 'unreachable' };
    }
    return { kind: 'unknown', reason: isInProgress(error) ? 'in_progress' : 'error' };
  }
};

const declined = (error: Stripe.errors.StripeCardError): Extract<Outcome<never>, { kind: 'declined' }> => ({
  kind: 'declined',
  code: declineCode(error),
  attemptRef: idOf(error.payment_intent?.latest_charge),
});

/** Stripe carries out one call per key at a time, and answers 409 to the same call meanwhile. */
const isInProgress = (error: unknown): boolean =>
  error instanceof Stripe.errors.StripeError && error.code === 'idempotency_key_in_use';

const saysNo = (error: unknown): error is Stripe.errors.StripeError =>
  error instanceof Stripe.errors.StripeInvalidRequestError ||
  error instanceof Stripe.errors.StripeAuthenticationError ||
  error instanceof Stripe.errors.StripePermissionError;
