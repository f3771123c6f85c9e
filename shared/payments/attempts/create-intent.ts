import { assertNever, DomainError } from '../../core/errors.ts';
import { fingerprint } from '../../core/ids.ts';
import type { Outcome } from '../../core/outcome.ts';
import type { Instant } from '../../core/time.ts';
import { canonicalJson } from '../../idempotency/idempotency.ts';
import type { CreateIntent, ProviderPayment } from '../../providers/port/payments.ts';
import type { PaymentProvider } from '../../providers/port/provider.ts';
import type { MoneyDeps } from '../../providers/registry/deps.ts';
import { unavailableError, unknownOutcomeError } from '../../providers/registry/unwrap.ts';
import type { TransactionStep } from '../../table/table.ts';
import { isVisiblePayment, type Payment, type VisiblePayment } from '../record/payment.ts';
import type { PaymentStore } from '../record/store.ts';
import { publishIntent } from '../record/versions.ts';

/**
 * The intent's key at the provider: the same for every try to create this very intent. A request that was refused may be
 * followed by a corrected one under the same Idempotency-Key, which is another.
 */
export const creationKey = (payment: Payment): string =>
  `${payment.id}:create:${fingerprint(canonicalJson(intentRequest(payment))).slice(0, 12)}`;

/** How a creation comes into sight: as created, unless the caller has more to say in the same write. */
export interface Publication {
  readonly as?: (created: VisiblePayment) => VisiblePayment;
  readonly onlyIf?: readonly TransactionStep[];
  /** No earlier call can have reached the provider: a call that did nothing leaves nothing behind. */
  readonly isFirstTry?: boolean;
}

/**
 * Carries a `creating` record to the provider and into sight; run again after a crash, it ends the same.
 * @throws DomainError PROVIDER_TIMEOUT or PROVIDER_UNAVAILABLE with the payment's id (the record is finished in the
 * background), PROVIDER_UNAVAILABLE without (the provider did nothing, the record is gone), or the provider's refusal
 * (the record is gone).
 */
export const createIntent = async (
  deps: Pick<MoneyDeps, 'now'>,
  store: PaymentStore,
  provider: PaymentProvider,
  payment: Payment,
  publication: Publication = {},
): Promise<VisiblePayment> => {
  const outcome = await provider.createIntent({ ...intentRequest(payment), idempotencyKey: creationKey(payment) });
  if (outcome.kind === 'done') return publish(store, payment, outcome.value, { ...publication, now: deps.now() });
  return refuse(store, payment, outcome, publication);
};

/** What its intent is made of. */
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
});

const publish = async (
  store: PaymentStore,
  payment: Payment,
  report: ProviderPayment,
  { as = (made) => made, onlyIf = [], now }: Publication & { readonly now: Instant },
): Promise<VisiblePayment> => {
  if (report.amountCents !== payment.totalCents || report.currency !== payment.currency) {
    throw new DomainError('PROVIDER_ERROR', { details: { payment_id: payment.id } });
  }
  const committed = await store.commit(payment, as(publishIntent(payment, report, now)), onlyIf);
  const visible = committed.ok ? committed.payment : committed.found;
  if (!visible || !isVisiblePayment(visible)) throw new DomainError('VERSION_CONFLICT');
  return visible;
};

const refuse = async (
  store: PaymentStore,
  payment: Payment,
  outcome: Exclude<Outcome<ProviderPayment>, { kind: 'done' }>,
  { isFirstTry = false }: Publication,
): Promise<never> => {
  switch (outcome.kind) {
    case 'unknown':
      throw unknownOutcomeError(outcome.reason, { payment_id: payment.id });
    case 'not_done':
      // An earlier try may have made it.
      if (!isFirstTry) throw unavailableError(outcome, { payment_id: payment.id });
      await store.removeCreating(payment.id);
      throw unavailableError(outcome);
    case 'declined':
      await store.removeCreating(payment.id);
      throw new DomainError('PAYMENT_DECLINED', { details: { decline_code: outcome.code } });
    case 'refused':
      await store.removeCreating(payment.id);
      throw refusalError(outcome);
    default:
      return assertNever(outcome);
  }
};

/** A refusal for what the caller sent is the caller's to mend; any other is the provider's. */
export const refusalError = (refusal: {
  readonly reason: string;
  readonly parameter?: string | undefined;
}): DomainError => {
  if (/^(payment_method|default_payment_method|card|token)/.test(refusal.parameter ?? '')) {
    const problem = {
      path: 'payment_method_id',
      rule: refusal.reason,
      message: 'is not a method that the provider takes here: save it as a payment method first',
    };
    return new DomainError('VALIDATION_ERROR', { details: [problem] });
  }
  if (refusal.parameter === 'currency') return new DomainError('UNSUPPORTED_CURRENCY');
  if (refusal.reason === 'amount_too_small') return new DomainError('AMOUNT_TOO_SMALL', { message: TOO_SMALL });
  const field = CALLERS_FIELDS.get(refusal.parameter ?? '');
  if (field) {
    return new DomainError('VALIDATION_ERROR', {
      details: [{ path: field, rule: refusal.reason, message: 'was refused by the provider' }],
    });
  }
  return new DomainError('PROVIDER_ERROR', { details: { provider_code: refusal.reason } });
};

const TOO_SMALL = 'The total is less than the provider charges';

/** What a caller sent and can mend, by what providers call it. */
const CALLERS_FIELDS: ReadonlyMap<string, string> = new Map(
  Object.entries({ amount: 'total_cents', return_url: 'return_url' } as const),
);
