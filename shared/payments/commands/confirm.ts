import { DomainError, notFound } from '../../core/errors.ts';
import type { Reply } from '../../http/reply.ts';
import type { ApiRequest } from '../../http/request.ts';
import { errorFields } from '../../observability/logger.ts';
import { paymentMethodRecord } from '../../payment-methods/payment-method.ts';
import { requireHeld, type UsableMethod, useHeld, useSaved, useToken } from '../../payment-methods/use.ts';
import type { PaymentProvider } from '../../providers/port/provider.ts';
import type { MoneyDeps } from '../../providers/registry/deps.ts';
import { unavailableError } from '../../providers/registry/unwrap.ts';
import { makeAttempt } from '../attempts/attempt.ts';
import { saveMethod } from '../attempts/save-method.ts';
import { withoutDraft } from '../attempts/update-intent.ts';
import { claimRefusal } from '../record/decisions.ts';
import { heldBy } from '../record/paying-customer.ts';
import { isOfSubscription, isVisiblePayment, type VisiblePayment } from '../record/payment.ts';
import { type PaymentStore, paymentStore } from '../record/store.ts';
import { type ChosenMethod, claimAttempt } from '../record/versions.ts';
import { confirmationView, paymentView } from '../record/view.ts';

const CLAIM_TRIES = 5;

type ConfirmRequest = ApiRequest<{ id: string }, unknown, ConfirmInput, VisiblePayment>;

interface ConfirmInput {
  readonly payment_method_id?: string | null | undefined;
  readonly return_url?: string | null | undefined;
}

/** Confirms a payment: the attempt is claimed by one conditional write, then the provider is asked, once. */
export const confirmPayment = async (deps: MoneyDeps, request: ConfirmRequest): Promise<Reply> => {
  const store = paymentStore(deps.table, deps.now);
  requireOwn(request.record);
  const provider = await deps.providers.require(request.record.providerId, 'payments');
  const payment = await withoutDraft({ deps, store, provider }, request.record);
  const claim = await claimForCaller(deps, store, { ...request, record: payment }, provider);
  if (claim.kind === 'succeeded') return { data: confirmationView(claim.payment) };
  const answer = await makeAttempt(deps, store, provider, { ...claim, isAttended: true });
  if (answer.notDone) throw unavailableError(answer.notDone, { payment_id: payment.id });
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
    await saveMethod(deps, payment);
  } catch (error) {
    deps.log.warn('method not saved yet', { payment_id: payment.id, ...errorFields(error) });
  }
};

type Claim =
  | { readonly kind: 'claimed'; readonly claim: VisiblePayment; readonly before: VisiblePayment }
  | { readonly kind: 'succeeded'; readonly payment: VisiblePayment };

/**
 * Claims the attempt, on the condition that this caller may charge the method.
 * @throws DomainError INVALID_STATE, PAYMENT_IN_PROGRESS, PAYMENT_METHOD_REQUIRED or INSUFFICIENT_PERMISSIONS
 */
const claimForCaller = async (
  deps: MoneyDeps,
  store: PaymentStore,
  request: ConfirmRequest,
  provider: PaymentProvider,
): Promise<Claim> => {
  let current = request.record;
  let resolved: UsableMethod | undefined;
  for (let tries = 0; tries < CLAIM_TRIES; tries += 1) {
    const refusal = claimRefusal(current);
    if (refusal === 'already succeeded') return { kind: 'succeeded', payment: current };
    if (refusal === 'canceled') throw isCanceled();
    if (refusal === 'in progress') throw new DomainError('PAYMENT_IN_PROGRESS');
    const chosen = { ...choose(provider, request, current), ...(resolved && { method: resolved }) };
    if (!provider.can.capturesOnApproval && !chosen.method.methodRef) throw new DomainError('PAYMENT_METHOD_REQUIRED');
    const next = claimAttempt(current, chosen, deps.now());
    const committed = await store.commit(current, next, chosen.method.onlyIf);
    if (committed.ok) return { kind: 'claimed', claim: next, before: current };
    resolved = committed.unmet
      ? await requireHeld({ table: deps.table, caller: request.caller }, current, chosen.method)
      : undefined;
    if (!committed.found || !isVisiblePayment(committed.found)) throw notFound('payment');
    current = committed.found;
  }
  throw new DomainError('VERSION_CONFLICT');
};

const isCanceled = (): DomainError => new DomainError('INVALID_STATE', { message: 'The payment is canceled' });

/** The method and the return address that the request names, else the payment's own. */
const choose = (provider: PaymentProvider, request: ConfirmRequest, payment: VisiblePayment): ChosenMethod => ({
  method: chooseMethod(provider, request, payment),
  returnUrl: request.body.return_url ?? payment.returnUrl,
});

const chooseMethod = (
  provider: PaymentProvider,
  { body, named, caller }: ConfirmRequest,
  payment: VisiblePayment,
): UsableMethod => {
  const saved = named(paymentMethodRecord);
  if (saved) return useSaved(saved, { caller, payer: payment, slot: payment.providerId });
  if (body.payment_method_id) return useToken(provider, body.payment_method_id, payment.providerCustomerId);
  return useHeld(caller, payment, heldBy(payment));
};
