/**
 * @module Creates a payment's intent and publishes the payment. Every try has the same key, so the provider creates
 * only one intent.
 */

import { runCreation } from '../calls/run-creation.ts';
import { DomainError } from '../core/errors.ts';
import { fingerprint } from '../core/ids.ts';
import type { Refusal } from '../core/outcome.ts';
import { rowOf } from '../core/rows.ts';
import { canonicalJson } from '../http/idempotency.ts';
import type { TransactionStep } from '../platform/table.ts';
import type { CreateIntent } from '../providers/payment-port.ts';
import type { PaymentProvider } from '../providers/provider.ts';
import type { MoneyDeps } from '../providers/provider-deps.ts';
import { failedError, refusedFieldError, unansweredError } from '../providers/unwrap.ts';
import { isVisiblePayment, type Payment, type VisiblePayment } from './payment.ts';
import type { PaymentStore } from './payment-store.ts';
import { type ChosenMethod, claimAttempt, publishIntent } from './payment-versions.ts';

/** The dependencies of every provider call about a payment. */
export interface IntentParts {
  readonly deps: Pick<MoneyDeps, 'now' | 'log'>;
  readonly store: PaymentStore;
  readonly provider: PaymentProvider;
}

/**
 * The idempotency key for the provider, the same for every try. A corrected request under the same Idempotency-Key gets
 * another key.
 */
export const creationKey = (payment: Payment): string =>
  `${payment.id}:create:${fingerprint(canonicalJson(intentRequest(payment))).slice(0, 12)}`;

interface Publication {
  /** Claims the first attempt with this method in the write that publishes the payment. */
  readonly claim?: ChosenMethod;
  readonly onlyIf?: readonly TransactionStep[];
  /**
   * True if no earlier call can have reached the provider. If this call then certainly did nothing at the provider, the
   * record is removed.
   */
  readonly isFirstTry?: boolean;
}

interface PublishedIntent {
  readonly payment: VisiblePayment;
  /** The payment before the claim; set only if this call has published the payment. */
  readonly created?: VisiblePayment;
}

/**
 * Creates the intent of a `creating` record and publishes the payment. A repeat after a crash has the same result.
 * @throws DomainError PROVIDER_TIMEOUT or PROVIDER_UNAVAILABLE with the payment's id (the record is finished in the
 * background), PROVIDER_UNAVAILABLE without the id (the provider did nothing, the record is removed), or the provider's
 * refusal (the record is removed).
 */
export const createIntent = (
  {
    deps,
    store,
    provider,
  }: Pick<IntentParts, 'store' | 'provider'> & { readonly deps: Pick<IntentParts['deps'], 'now'> },
  payment: Payment,
  { claim, onlyIf, isFirstTry }: Publication = {},
): Promise<PublishedIntent> =>
  runCreation({
    isFirstTry,
    send: () => provider.createIntent({ ...intentRequest(payment), idempotencyKey: creationKey(payment) }),
    publish: async (report) => {
      if (report.amountCents !== payment.totalCents || report.currency !== payment.currency) {
        throw new DomainError('PROVIDER_ERROR', { details: { payment_id: payment.id } });
      }
      const created = publishIntent(payment, report, deps.now());
      const next = claim ? { ...claimAttempt(created, claim, deps.now()), version: created.version } : created;
      const committed = await store.commit(payment, next, { onlyIf });
      if (committed.ok) return { payment: committed.record, created };
      if (!committed.found || !isVisiblePayment(committed.found)) throw new DomainError('VERSION_CONFLICT');
      return { payment: committed.found };
    },
    remove: async (reason) => {
      await store.removeCreating(payment.id);
      throw failedError(reason, refusalError);
    },
    keep: async (reason) => {
      throw unansweredError(reason, { payment_id: payment.id });
    },
  });

export const intentRequest = (payment: Payment): Omit<CreateIntent, 'idempotencyKey'> => ({
  paymentId: payment.id,
  amountCents: payment.totalCents,
  currency: payment.currency,
  description: payment.description,
  method: payment.methodRef,
  customerId: payment.providerCustomerId,
  isSavedMethod: payment.paymentMethodId !== undefined,
  saveMethod: payment.setupFutureUsage === 'off_session',
  returnUrl: payment.returnUrl,
  ...(payment.captureMethod && { captureMethod: payment.captureMethod }),
});

/**
 * Maps a refusal to an error. A refused currency and an amount below the minimum have their own codes. A refusal of
 * another field that the caller sent is a validation error. Any other refusal is a provider error.
 */
export const refusalError = (refusal: Omit<Refusal, 'kind'>): DomainError => {
  if (/^(payment_method|default_payment_method|card|token)/.test(refusal.parameter ?? '')) {
    const problem = {
      path: 'payment_method_id',
      rule: refusal.reason,
      message: 'is not accepted by the provider here; save it as a payment method first',
    };
    return new DomainError('VALIDATION_ERROR', { details: [problem] });
  }
  if (refusal.parameter === 'currency') return new DomainError('UNSUPPORTED_CURRENCY');
  if (refusal.reason === 'amount_too_small') return new DomainError('AMOUNT_TOO_SMALL', { message: TOO_SMALL });
  const field = rowOf(CALLERS_FIELDS, refusal.parameter);
  if (field) return refusedFieldError(field, refusal.reason);
  return new DomainError('PROVIDER_ERROR', { details: { provider_code: refusal.reason } });
};

const TOO_SMALL = "The total is below the provider's minimum charge";

/** Maps the provider's parameters to the API's fields. */
const CALLERS_FIELDS = { amount: 'total_cents', return_url: 'return_url', verification_token: 'verification_token' };
