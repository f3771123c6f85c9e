import { type Product, productRecord } from '../catalog/reference-records.ts';
import { DomainError, invalid, notFound, type Problem } from '../core/errors.ts';
import { fingerprint } from '../core/ids.ts';
import { currencyCode, derivePrices, type Prices } from '../core/money.ts';
import type { Outcome } from '../core/outcome.ts';
import { customerRecord, ownerOfRecord } from '../customers/customer.ts';
import { ensureCustomer } from '../customers/ensure.ts';
import { customerPointerKey, ownerCustomerOf } from '../customers/owner-customer.ts';
import type { Reply } from '../http/reply.ts';
import type { ApiRequest } from '../http/request.ts';
import { canonicalJson } from '../idempotency/idempotency.ts';
import { paymentMethodRecord } from '../payment-methods/payment-method.ts';
import { unclear } from '../providers/done.ts';
import type { PaymentProvider, ProviderPayment } from '../providers/provider.ts';
import { requireAcceptedAmount } from './accepted-amount.ts';
import { updated } from './changes.ts';
import { refusalError } from './creation.ts';
import type { MoneyDeps } from './deps.ts';
import { type Draft, isOfSubscription, isVisible, type VisiblePayment, withDraft } from './payment.ts';
import { priceOf, requireProvider, savedMethod } from './references.ts';
import type { UpdateIntentBody } from './requests.ts';
import { type PaymentStore, paymentStore } from './store.ts';
import { paymentWithSecret } from './view.ts';

/** Changes an intent before its confirmation: kept as a draft, taken by the provider, then in force. */
export const updatePayment = async (
  deps: MoneyDeps,
  request: ApiRequest<{ id: string }, unknown, UpdateIntentBody, VisiblePayment>,
): Promise<Reply> => {
  const store = paymentStore(deps.table, deps.now);
  const payment = request.record;
  refuseFixedFields(payment, request.body);
  requireUpdatable(payment);
  const wanted = draftOf(request, payment);
  await requireAmount(deps, payment, wanted);
  const draft = await withCustomer(deps, request, wanted);
  if (!concernsProvider(payment, draft)) {
    return { data: paymentWithSecret(await apply(deps, store, payment, draft), deps.now()) };
  }
  const provider = await deps.providers.forPayments(payment.providerId);
  if (!(await store.claimDraft(payment, draft))) throw new DomainError('VERSION_CONFLICT');
  const next = await finishUpdate(deps, store, provider, { ...payment, draft });
  return { data: paymentWithSecret(next, deps.now()) };
};

/** Only what the update changes is asked about. */
const requireAmount = async (deps: MoneyDeps, payment: VisiblePayment, wanted: Draft): Promise<void> => {
  if (wanted.totalCents === payment.totalCents && wanted.currency === payment.currency) return;
  await requireAcceptedAmount(await deps.providers.forPayments(payment.providerId), wanted);
};

const refuseFixedFields = (payment: VisiblePayment, body: UpdateIntentBody): void => {
  const { provider_id: slot, organization_id: organization, guest_data: guest } = body;
  const changed = [
    ['provider_id', slot !== undefined && slot !== payment.providerId],
    ['organization_id', organization !== undefined && (organization ?? '') !== (payment.organizationId ?? '')],
    ['guest_data', guest != null && !isGuestOf(payment, guest)],
  ] as const;
  const problems: Problem[] = changed
    .filter(([, differs]) => differs)
    .map(([path]) => ({ path, rule: 'immutable', message: `${path} cannot be changed` }));
  if (problems.length > 0) throw invalid(problems);
};

const isGuestOf = (
  { guestEmail, guestName, guestPhone }: VisiblePayment,
  { email, name, phone }: NonNullable<UpdateIntentBody['guest_data']>,
): boolean => email === guestEmail && name === guestName && (phone ?? guestPhone) === guestPhone;

const requireUpdatable = (payment: VisiblePayment): void => {
  if (payment.draft) throw new DomainError('VERSION_CONFLICT');
  if (isOfSubscription(payment)) {
    throw new DomainError('PAYMENT_NOT_UPDATABLE', { details: { subscription_id: payment.subscriptionId } });
  }
  if (payment.status !== 'created' && payment.status !== 'requires_payment_method') {
    throw new DomainError('PAYMENT_NOT_UPDATABLE', { details: { status: payment.status } });
  }
};

const draftOf = ({ body, named }: ApiRequest<unknown, unknown, UpdateIntentBody>, payment: VisiblePayment): Draft => {
  const pick = <T>(sent: T | null | undefined, stored: T | undefined): T | undefined =>
    sent === undefined ? stored : sent === null || sent === '' ? undefined : sent;
  return {
    ...pricesOf(body, payment, named(productRecord)),
    projectId: pick(body.project_id, payment.projectId),
    productId: pick(body.product_id, payment.productId),
    ...customerOf(body, named, payment),
    billingAddressId: pick(body.billing_address_id, payment.billingAddressId),
    ...methodOf(body, named, payment),
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

/** Saving the method needs a customer at the provider: the owner's, or one that is made. */
const withCustomer = async (
  deps: MoneyDeps,
  { record: payment, caller }: ApiRequest<unknown, unknown, unknown, VisiblePayment>,
  draft: Draft,
): Promise<Draft> => {
  const owner = ownerOfRecord(payment);
  if (draft.setupFutureUsage === undefined || draft.providerCustomerId !== undefined || !owner) return draft;
  const slot = payment.providerId;
  const known = ownerCustomerOf(await deps.table.get(customerPointerKey(owner, slot)));
  return { ...draft, ...(await ensureCustomer(deps, { slot, owner, caller, forId: payment.id, known })) };
};

type Named = ApiRequest['named'];

const customerOf = (body: UpdateIntentBody, named: Named, payment: VisiblePayment): Partial<Draft> => {
  const { customerId, providerCustomerId } = payment;
  if (body.customer_id === undefined) return { customerId, providerCustomerId };
  const customer = named(customerRecord);
  if (!customer) return {};
  requireProvider('customer_id', payment.providerId, customer.providerId);
  return { customerId: customer.id, providerCustomerId: customer.providerCustomerId };
};

const methodOf = (body: UpdateIntentBody, named: Named, payment: VisiblePayment): Partial<Draft> => {
  if (body.payment_method_id === undefined) {
    return { paymentMethodId: payment.paymentMethodId, methodRef: payment.methodRef };
  }
  const saved = named(paymentMethodRecord);
  return saved ? savedMethod(payment.providerId, saved) : { methodRef: body.payment_method_id ?? undefined };
};

/** When any price is sent, those not sent are derived again; subtotal stays the base when only tax or discount change. */
const pricesOf = (
  body: UpdateIntentBody,
  payment: VisiblePayment,
  product: Product | undefined,
): Prices & { readonly currency: string } => {
  if (product) return priceOf(body, product);
  const { subtotalCents, taxCents, discountCents, totalCents, currency } = payment;
  const sent = [body.subtotal_cents, body.tax_cents, body.discount_cents, body.total_cents, body.amount_cents];
  const unchanged = sent.every((price) => price === undefined);
  const keepsProduct = payment.productId !== undefined && body.product_id === undefined;
  if (keepsProduct && !(unchanged && (body.currency === undefined || body.currency.toUpperCase() === currency))) {
    throw new DomainError('PRICING_MISMATCH', { message: `The product's price is ${totalCents} ${currency}` });
  }
  const nextCurrency = body.currency === undefined ? currency : currencyCode(body.currency);
  if (unchanged) return { subtotalCents, taxCents, discountCents, totalCents, currency: nextCurrency };
  const hasBase = (body.subtotal_cents ?? body.total_cents ?? body.amount_cents) !== undefined;
  const prices = derivePrices({
    ...body,
    subtotal_cents: body.subtotal_cents ?? (hasBase ? undefined : subtotalCents),
    tax_cents: body.tax_cents ?? taxCents,
    discount_cents: body.discount_cents ?? discountCents,
  });
  return { ...prices, currency: nextCurrency };
};

const concernsProvider = (payment: VisiblePayment, draft: Draft): boolean =>
  draft.totalCents !== payment.totalCents ||
  draft.currency !== payment.currency ||
  draft.methodRef !== payment.methodRef ||
  draft.providerCustomerId !== payment.providerCustomerId ||
  draft.description !== payment.description ||
  draft.returnUrl !== payment.returnUrl ||
  draft.setupFutureUsage !== payment.setupFutureUsage ||
  draft.providerCustomerId !== payment.providerCustomerId;

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
    idempotencyKey: `${payment.id}:update:${payment.version}:${fingerprint(canonicalJson(draft)).slice(0, 12)}`,
    intentId: payment.providerIntentId ?? '',
    amountCents: next.totalCents,
    currency: next.currency,
    description: next.description,
    method: next.methodRef === payment.methodRef ? undefined : (next.methodRef ?? null),
    customerId: next.providerCustomerId,
    saveMethod: next.setupFutureUsage === 'off_session',
    returnUrl: next.returnUrl,
  });
  if (outcome.kind !== 'done') return refuse(store, payment, outcome);
  const methodRef = next.methodRef && (outcome.value.methodId ?? next.methodRef);
  return apply(deps, store, payment, { ...draft, methodRef }, outcome.value.nextAction);
};

/** What providers say of an intent or order that is confirmed, paid or canceled. */
const NOT_OPEN: readonly string[] = ['payment_intent_unexpected_state', 'order_not_open'];

const refuse = async (
  store: PaymentStore,
  payment: VisiblePayment,
  outcome: Exclude<Outcome<ProviderPayment>, { kind: 'done' }>,
): Promise<never> => {
  if (outcome.kind === 'unknown') throw unclear(outcome.reason, { payment_id: payment.id });
  await store.dropDraft(payment);
  if (outcome.kind === 'declined')
    throw new DomainError('PAYMENT_DECLINED', { details: { decline_code: outcome.code } });
  if (NOT_OPEN.includes(outcome.reason)) throw new DomainError('PAYMENT_NOT_UPDATABLE');
  throw refusalError(outcome);
};

const APPLY_TRIES = 5;

/** The draft in force, on whatever version stands by now. */
const apply = async (
  deps: Pick<MoneyDeps, 'now'>,
  store: PaymentStore,
  payment: VisiblePayment,
  draft: Draft,
  nextAction = payment.nextAction,
): Promise<VisiblePayment> => {
  let current = payment;
  for (let tries = 0; tries < APPLY_TRIES; tries += 1) {
    const next = updated(current, draft, deps.now(), nextAction);
    const committed = await store.commit(current, next);
    if (committed.ok) return next;
    if (!committed.found || !isVisible(committed.found)) throw notFound('payment');
    if (!payment.draft) {
      requireUpdatable(committed.found);
      // A draft that nobody claimed was made from what is no longer there.
      throw new DomainError('VERSION_CONFLICT');
    }
    current = committed.found;
  }
  throw new DomainError('VERSION_CONFLICT');
};
