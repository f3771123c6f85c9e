import { DomainError, notFound } from '../core/errors.ts';
import type { Reply } from '../http/reply.ts';
import type { ApiRequest } from '../http/request.ts';
import { errorFields } from '../observability/logger.ts';
import { paymentMethodRecord } from '../payment-methods/payment-method.ts';
import { unavailable } from '../providers/done.ts';
import { makeAttempt } from './attempt.ts';
import { type Chosen, claimed } from './changes.ts';
import type { MoneyDeps } from './deps.ts';
import { isOfSubscription, isVisible, type VisiblePayment } from './payment.ts';
import { savedMethod } from './references.ts';
import { saveMethodOf } from './save-method.ts';
import { withoutDraft } from './settle-draft.ts';
import { type PaymentStore, paymentStore } from './store.ts';
import { claimRefusal } from './transitions.ts';
import { confirmationView, paymentView } from './view.ts';

const CLAIM_TRIES = 5;

interface ConfirmInput {
  readonly payment_method_id?: string | null | undefined;
  readonly return_url?: string | null | undefined;
}

/** Confirms a payment: the attempt is claimed by one conditional write, then the provider is asked, once. */
export const confirmPayment = async (
  deps: MoneyDeps,
  request: ApiRequest<{ id: string }, unknown, ConfirmInput, VisiblePayment>,
): Promise<Reply> => {
  const store = paymentStore(deps.table, deps.now);
  requireOwn(request.record);
  const provider = await deps.providers.forPayments(request.record.providerId);
  const payment = await withoutDraft({ deps, store, provider }, request.record);
  const chosen = chosenFor(payment, request);
  const claim = await claimAttempt(deps, store, payment, { ...chosen, needed: !provider.can.capturesOnApproval });
  if (claim.kind === 'succeeded') return { data: confirmationView(claim.payment) };
  const answer = await makeAttempt(deps, store, provider, claim);
  if (answer.notDone) throw unavailable(answer.notDone, { payment_id: payment.id });
  if (answer.refusal) throw answer.refusal;
  if (answer.declined) {
    throw new DomainError('PAYMENT_DECLINED', {
      details: { decline_code: answer.declined, payment: paymentView(answer.payment) },
    });
  }
  if (answer.payment.status === 'canceled') throw isCanceled();
  await keepMethod(deps, answer.payment);
  return { data: confirmationView(answer.payment), status: answer.isUnclear ? 202 : 200 };
};

/** @throws DomainError INVALID_STATE for what a subscription collects, unless it has been paid already. */
const requireOwn = (payment: VisiblePayment): void => {
  if (!isOfSubscription(payment) || payment.status === 'succeeded') return;
  throw new DomainError('INVALID_STATE', {
    message: 'It is collected by its subscription: change the payment method there',
    details: { subscription_id: payment.subscriptionId },
  });
};

/** The payment is made whatever comes of this; its appointment saves the method where it cannot be saved now. */
const keepMethod = async (deps: MoneyDeps, payment: VisiblePayment): Promise<void> => {
  try {
    await saveMethodOf(deps, payment);
  } catch (error) {
    deps.log.warn('method not saved yet', { payment_id: payment.id, ...errorFields(error) });
  }
};

type Claim =
  | { readonly kind: 'claimed'; readonly claim: VisiblePayment; readonly before: VisiblePayment }
  | { readonly kind: 'succeeded'; readonly payment: VisiblePayment };

/** @throws DomainError INVALID_STATE, PAYMENT_IN_PROGRESS or PAYMENT_METHOD_REQUIRED. */
const claimAttempt = async (
  deps: MoneyDeps,
  store: PaymentStore,
  payment: VisiblePayment,
  { needed, ...chosen }: Chosen & { readonly needed: boolean },
): Promise<Claim> => {
  let current = payment;
  for (let tries = 0; tries < CLAIM_TRIES; tries += 1) {
    const refusal = claimRefusal(current);
    if (refusal === 'already succeeded') return { kind: 'succeeded', payment: current };
    if (refusal === 'canceled') throw isCanceled();
    if (refusal === 'in progress') throw new DomainError('PAYMENT_IN_PROGRESS');
    if (needed && !chosen.methodRef) throw new DomainError('PAYMENT_METHOD_REQUIRED');
    const next = claimed(current, chosen, deps.now());
    const committed = await store.commit(current, next);
    if (committed.ok) return { kind: 'claimed', claim: next, before: current };
    if (!committed.found || !isVisible(committed.found)) throw notFound('payment');
    current = committed.found;
  }
  throw new DomainError('VERSION_CONFLICT');
};

const isCanceled = (): DomainError => new DomainError('INVALID_STATE', { message: 'The payment is canceled' });

/** The method and the return address that the request names, else the payment's own. */
const chosenFor = (payment: VisiblePayment, request: ApiRequest<unknown, unknown, ConfirmInput>): Chosen => ({
  ...methodFor(payment, request),
  returnUrl: request.body.return_url ?? payment.returnUrl,
});

const methodFor = (
  payment: VisiblePayment,
  { body, named }: ApiRequest<unknown, unknown, ConfirmInput>,
): Omit<Chosen, 'returnUrl'> => {
  const saved = named(paymentMethodRecord);
  if (saved) return savedMethod(payment.providerId, saved);
  const { methodRef, paymentMethodId, providerCustomerId } = payment;
  if (!body.payment_method_id) return { methodRef, paymentMethodId, providerCustomerId };
  return { methodRef: body.payment_method_id, paymentMethodId: undefined, providerCustomerId };
};
