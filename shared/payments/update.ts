import { requireAccess } from '../access/access.ts';
import { DomainError, invalid, notFound, type Problem } from '../core/errors.ts';
import { currencyCode, derivePrices, type GivenPrices, type Prices } from '../core/money.ts';
import type { Outcome } from '../core/outcome.ts';
import type { Reply } from '../http/reply.ts';
import type { ApiRequest } from '../http/request.ts';
import type { PaymentProvider, ProviderPayment } from '../providers/provider.ts';
import { updated } from './changes.ts';
import { refusalError } from './creation.ts';
import type { MoneyDeps } from './deps.ts';
import { type Draft, isVisible, type VisiblePayment, withDraft } from './payment.ts';
import { checkReferences } from './references.ts';
import type { UpdateIntentBody } from './requests.ts';
import { type PaymentStore, paymentStore } from './store.ts';
import { paymentWithSecret } from './view.ts';

/** Changes an intent before its confirmation: kept as a draft, taken by the provider, then in force. */
export const updatePayment = async (
  deps: MoneyDeps,
  request: ApiRequest<{ id: string }, unknown, UpdateIntentBody>,
): Promise<Reply> => {
  const store = paymentStore(deps.table, deps.now);
  const payment = await store.loadVisible(request.params.id);
  if (!payment) throw notFound('payment');
  await requireAccess(deps.table, request.caller, 'canManagePayments', 'payment', payment);
  refuseFixedFields(payment, request.body);
  requireUpdatable(payment);
  const draft = await draftOf(deps, request, payment);
  if (!concernsProvider(payment, draft)) {
    return { data: paymentWithSecret(await apply(deps, store, payment, draft), deps.now()) };
  }
  const provider = await deps.providers.forPayments(payment.providerId);
  if (!(await store.claimDraft(payment, draft))) throw new DomainError('VERSION_CONFLICT');
  const next = await finishUpdate(deps, store, provider, { ...payment, draft });
  return { data: paymentWithSecret(next, deps.now()) };
};

const refuseFixedFields = (payment: VisiblePayment, body: UpdateIntentBody): void => {
  const changed = [
    ['provider_id', body.provider_id, payment.providerId],
    ['organization_id', body.organization_id || undefined, payment.organizationId],
    ['guest_data', body.guest_data?.email, payment.guestEmail],
  ] as const;
  const problems: Problem[] = changed
    .filter(([, sent, stored]) => sent !== undefined && sent !== stored)
    .map(([path]) => ({ path, rule: 'immutable', message: `${path} cannot be changed` }));
  if (problems.length > 0) throw invalid(problems);
};

const requireUpdatable = (payment: VisiblePayment): void => {
  if (payment.draft) throw new DomainError('VERSION_CONFLICT');
  if (payment.status !== 'created' && payment.status !== 'requires_payment_method') {
    throw new DomainError('PAYMENT_NOT_UPDATABLE', { details: { status: payment.status } });
  }
};

const draftOf = async (
  deps: MoneyDeps,
  { body, caller }: ApiRequest<unknown, unknown, UpdateIntentBody>,
  payment: VisiblePayment,
): Promise<Draft> => {
  const pick = <T>(sent: T | null | undefined, stored: T | undefined): T | undefined =>
    sent === undefined ? stored : sent === null || sent === '' ? undefined : sent;
  const references = await checkReferences(deps.table, caller, {
    organizationId: undefined,
    projectId: body.project_id ?? undefined,
    productId: body.product_id ?? undefined,
    customerId: body.customer_id ?? undefined,
    billingAddressId: body.billing_address_id ?? undefined,
    paymentMethod: body.payment_method_id ?? undefined,
  });
  const method = body.payment_method_id === undefined ? payment : references;
  return {
    ...pricesOf(body, payment),
    currency: body.currency === undefined ? payment.currency : currencyCode(body.currency),
    projectId: pick(body.project_id, payment.projectId),
    productId: pick(body.product_id, payment.productId),
    customerId: pick(body.customer_id, payment.customerId),
    billingAddressId: pick(body.billing_address_id, payment.billingAddressId),
    paymentMethodId: method.paymentMethodId,
    methodRef: method.methodRef,
    setupFutureUsage: pick(body.setup_future_usage, payment.setupFutureUsage),
    returnUrl: pick(body.return_url, payment.returnUrl),
    description: pick(body.description, payment.description),
    concept: pick(body.concept, payment.concept),
    referenceCode: pick(body.reference_code, payment.referenceCode),
    category: pick(body.category, payment.category),
    tags: pick(body.tags, payment.tags),
    metadata: pick(body.metadata, payment.metadata),
  };
};

/** When any price is sent, those not sent are derived again; subtotal stays the base when only tax or discount change. */
const pricesOf = (body: GivenPrices, payment: VisiblePayment): Prices => {
  const { subtotalCents, taxCents, discountCents, totalCents } = payment;
  const sent = [body.subtotal_cents, body.tax_cents, body.discount_cents, body.total_cents, body.amount_cents];
  if (sent.every((price) => price === undefined)) return { subtotalCents, taxCents, discountCents, totalCents };
  const hasBase = (body.subtotal_cents ?? body.total_cents ?? body.amount_cents) !== undefined;
  return derivePrices({
    ...body,
    subtotal_cents: body.subtotal_cents ?? (hasBase ? undefined : subtotalCents),
    tax_cents: body.tax_cents ?? taxCents,
    discount_cents: body.discount_cents ?? discountCents,
  });
};

const concernsProvider = (payment: VisiblePayment, draft: Draft): boolean =>
  draft.totalCents !== payment.totalCents ||
  draft.currency !== payment.currency ||
  draft.methodRef !== payment.methodRef ||
  draft.description !== payment.description ||
  draft.setupFutureUsage !== payment.setupFutureUsage;

/**
 * Carries a draft to the provider and into force; run again after a crash, it ends the same.
 * @throws DomainError PROVIDER_TIMEOUT and its like (the draft stays and is finished in the background), or the refusal.
 */
export const finishUpdate = async (
  deps: Pick<MoneyDeps, 'now'>,
  store: PaymentStore,
  provider: PaymentProvider,
  payment: VisiblePayment,
): Promise<VisiblePayment> => {
  const { draft } = payment;
  if (!draft) return payment;
  const next = withDraft(payment, draft);
  const outcome = await provider.updateIntent({
    idempotencyKey: `${payment.id}:update:${payment.version}`,
    intentId: payment.providerIntentId ?? '',
    amountCents: next.totalCents,
    currency: next.currency,
    description: next.description,
    method: next.methodRef === payment.methodRef ? undefined : next.methodRef,
    customerId: undefined,
    saveMethod: next.setupFutureUsage === 'off_session',
  });
  if (outcome.kind !== 'done') return refuse(store, payment, outcome);
  const methodRef = next.methodRef && (outcome.value.methodId ?? next.methodRef);
  return apply(deps, store, payment, { ...draft, methodRef });
};

const refuse = async (
  store: PaymentStore,
  payment: VisiblePayment,
  outcome: Exclude<Outcome<ProviderPayment>, { kind: 'done' }>,
): Promise<never> => {
  const details = { payment_id: payment.id };
  if (outcome.kind === 'unknown') {
    throw new DomainError(outcome.reason === 'timeout' ? 'PROVIDER_TIMEOUT' : 'PROVIDER_UNAVAILABLE', { details });
  }
  await store.dropDraft(payment);
  if (outcome.kind === 'declined')
    throw new DomainError('PAYMENT_DECLINED', { details: { decline_code: outcome.code } });
  if (outcome.reason === 'payment_intent_unexpected_state') throw new DomainError('PAYMENT_NOT_UPDATABLE');
  throw refusalError(outcome);
};

const APPLY_TRIES = 5;

/** The draft in force, on whatever version stands by now. */
const apply = async (
  deps: Pick<MoneyDeps, 'now'>,
  store: PaymentStore,
  payment: VisiblePayment,
  draft: Draft,
): Promise<VisiblePayment> => {
  let current = payment;
  for (let tries = 0; tries < APPLY_TRIES; tries += 1) {
    const next = updated(current, draft, deps.now());
    const committed = await store.commit(current, next);
    if (committed.ok) return next;
    if (!committed.found || !isVisible(committed.found)) throw notFound('payment');
    if (!payment.draft) requireUpdatable(committed.found);
    current = committed.found;
  }
  throw new DomainError('VERSION_CONFLICT');
};
