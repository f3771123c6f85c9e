/** @module Changes a payment before its confirmation. Stores a draft, sends it to the provider, then applies it. */

import { audienceOf } from '../access/audience.ts';
import { requirePayersCustomer, requireSameOwner } from '../access/may-charge.ts';
import { ownerOfRecord } from '../access/record-kind.ts';
import { DomainError, invalid, notFound, type Problem } from '../core/errors.ts';
import { type Instant, instant } from '../core/time.ts';
import { addressRecord } from '../customers/address.ts';
import { customerPointerKey, customerRecord, ownerCustomerOf } from '../customers/customer.ts';
import { ensureCustomer } from '../customers/ensure-customer.ts';
import { reserving } from '../discounts/redemption.ts';
import { canonicalJson } from '../http/idempotency.ts';
import type { ApiRequest, Reply } from '../http/request.ts';
import { paymentMethodRecord } from '../payment-methods/payment-method.ts';
import {
  requireHeld,
  requireOneTime,
  type UsableMethod,
  useSaved,
  useToken,
} from '../payment-methods/usable-method.ts';
import type { TransactionStep } from '../platform/table.ts';
import type { PaymentProvider } from '../providers/provider.ts';
import type { MoneyDeps } from '../providers/provider-deps.ts';
import { requireProvider } from '../providers/unwrap.ts';
import { requireAcceptedAmount } from './accepted-amount.ts';
import type { CodeDeps, CodedPrice } from './apply-code.ts';
import type { IntentParts } from './create-intent.ts';
import { captureMethodOf, requireTakesHold } from './holds/takes-hold.ts';
import { heldBy, methodFields } from './paying-customer.ts';
import { type Draft, isOfSubscription, termsOf, type VisiblePayment } from './payment.ts';
import { concernsProvider } from './payment-decisions.ts';
import type { UpdateIntentBody } from './payment-requests.ts';
import { type PaymentStore, paymentStore } from './payment-store.ts';
import { applyDraft } from './payment-versions.ts';
import { paymentWithSecret } from './payment-view.ts';
import { finishUpdate, makeUpdate } from './update-call.ts';
import { priceUpdate } from './update-price.ts';

/** The view of the payment for a caller who may change it. */
export const paymentAsRead = (
  { now }: Pick<MoneyDeps, 'now'>,
  { record, caller }: ApiRequest<unknown, unknown, unknown, VisiblePayment>,
) => paymentWithSecret(record, audienceOf(caller), now());

export const updatePayment = async (
  deps: UpdateDeps,
  request: ApiRequest<{ id: string }, unknown, UpdateIntentBody, VisiblePayment>,
): Promise<Reply> => {
  refuseFixedFields(request.record, request.body);
  const store = paymentStore(deps.table, deps.now);
  const provider = await deps.providers.require(request.record.providerId, 'payments');
  const parts = { deps, store, provider };
  const { payment, resumed } = await settleEarlier(deps, parts, request);
  const next = resumed ? payment : await changeCurrent(deps, parts, { ...request, record: payment });
  return { data: paymentWithSecret(next, audienceOf(request.caller), deps.now()) };
};

type UpdateDeps = MoneyDeps & CodeDeps;
type UpdateRequest = ApiRequest<{ id: string }, unknown, UpdateIntentBody, VisiblePayment>;

const TRIES = 10;

/**
 * Changes the payment. If a report of the provider came first, decides again on the newer payment.
 * @throws DomainError VERSION_CONFLICT if another request came first
 */
const changeCurrent = async (deps: UpdateDeps, parts: IntentParts, request: UpdateRequest): Promise<VisiblePayment> => {
  let payment = request.record;
  for (let tries = 0; tries < TRIES; tries += 1) {
    const changed = await change(deps, parts, { ...request, record: payment });
    if (changed) return changed;
    const current = await parts.store.loadVisible(payment.id);
    if (!current) throw notFound('payment');
    requireUpdatable(current, deps.now());
    if (current.draft || canonicalJson(termsOf(current)) !== canonicalJson(termsOf(payment))) break;
    payment = current;
  }
  throw new DomainError('VERSION_CONFLICT');
};

/** @returns undefined if another commit came first */
const change = async (
  deps: UpdateDeps,
  parts: IntentParts,
  request: UpdateRequest,
): Promise<VisiblePayment | undefined> => {
  const { record: payment, caller } = request;
  const { store, provider } = parts;
  const { draft: asked, reserving: use } = await askedDraft(deps, request, provider);
  requireTakesHold(provider, asked);
  await requireAmount(provider, payment, asked);
  if (usesHeldMethod(request, payment, asked))
    await requireHeld({ table: deps.table, caller }, payment, heldBy(payment));
  if (asked.methodRef !== payment.methodRef || asked.providerCustomerId !== payment.providerCustomerId) {
    await requireOneTime(provider, asked);
  }
  const draft = await withCustomer(deps, request, asked);
  const onlyIf = [...request.right.onlyIf, ...(use?.steps ?? [])];
  const write = (): Promise<WrittenUpdate | undefined> =>
    concernsProvider(payment, draft)
      ? claimUpdate(store, payment, { draft, onlyIf })
      : storeChange(parts, payment, { draft, onlyIf });
  const written = use ? await reserving({ table: deps.table, ...use }, write) : await write();
  return written?.held ? makeUpdate(parts, written.held) : written?.payment;
};

/** A stored update, or a draft claimed for the provider call. */
interface WrittenUpdate {
  readonly payment?: VisiblePayment;
  readonly held?: VisiblePayment & { readonly draft: Draft };
}

const claimUpdate = async (
  store: PaymentStore,
  payment: VisiblePayment,
  { draft, onlyIf }: WrittenDraft,
): Promise<WrittenUpdate | undefined> => {
  const held = await store.claimDraft(payment, draft, onlyIf);
  return held && { held };
};

interface WrittenDraft {
  readonly draft: Draft;
  readonly onlyIf: readonly TransactionStep[];
}

/** Checks only an amount that the update changes. */
const requireAmount = async (provider: PaymentProvider, payment: VisiblePayment, wanted: Draft): Promise<void> => {
  if (wanted.totalCents === payment.totalCents && wanted.currency === payment.currency) return;
  await requireAcceptedAmount(provider, wanted);
};

interface Earlier {
  readonly payment: VisiblePayment;
  /** True if this request repeats the earlier update, which is in force now. */
  readonly resumed: boolean;
}

/** Settles an earlier update first. A repeat of the earlier update gets its result. */
const settleEarlier = async (deps: UpdateDeps, parts: IntentParts, request: UpdateRequest): Promise<Earlier> => {
  const payment = request.record;
  requireUpdatable(payment, deps.now());
  if (!payment.draft) return { payment, resumed: false };
  const { draft } = await askedDraft(deps, request, parts.provider);
  const wanted = await withCustomer(deps, request, draft);
  const isSame = canonicalJson(wanted) === canonicalJson(payment.draft);
  const settled = await finishUpdate(parts, payment);
  if (isSame && settled.refusal) throw settled.refusal;
  if (!isSame) requireUpdatable(settled.payment, deps.now());
  return { payment: settled.payment, resumed: isSame };
};

const refuseFixedFields = (payment: VisiblePayment, body: UpdateIntentBody): void => {
  const { provider_id: slot, organization_id: organization, guest_data: guest } = body;
  const changed = [
    ['provider_id', slot !== undefined && slot !== payment.providerId],
    ['organization_id', organization !== undefined && (organization ?? '') !== (payment.organizationId ?? '')],
    ['guest_data', guest !== undefined && !isGuestOf(payment, guest)],
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

const requireUpdatable = (payment: VisiblePayment, now: Instant): void => {
  // Another function is sending an update to the provider now.
  if (payment.draftBusyUntil !== undefined && instant(payment.draftBusyUntil) > now) {
    throw new DomainError('VERSION_CONFLICT');
  }
  if (isOfSubscription(payment)) {
    throw new DomainError('PAYMENT_NOT_UPDATABLE', { details: { subscription_id: payment.subscriptionId } });
  }
  if (payment.status !== 'created' && payment.status !== 'requires_payment_method') {
    throw new DomainError('PAYMENT_NOT_UPDATABLE', { details: { status: payment.status } });
  }
};

/** The draft, and the use of its discount code. The write of the draft reserves this use. */
interface AskedDraft {
  readonly draft: Draft;
  readonly reserving: CodedPrice['reserving'];
}

const askedDraft = async (deps: UpdateDeps, request: UpdateRequest, provider: PaymentProvider): Promise<AskedDraft> => {
  const { price, reserving: use } = await priceUpdate(deps, { request, payment: request.record, provider });
  return { draft: draftOf(request, request.record, { provider, price }), reserving: use };
};

const draftOf = (
  { body, caller, named }: ApiRequest<unknown, unknown, UpdateIntentBody>,
  payment: VisiblePayment,
  { provider, price }: { readonly provider: PaymentProvider; readonly price: CodedPrice['price'] },
): Draft => {
  const address = named(addressRecord);
  if (address) requireSameOwner(address, payment.organizationId);
  const pick = <T>(sent: T | null | undefined, stored: T | undefined): T | undefined =>
    sent === undefined ? stored : (sent ?? undefined);
  const customer = customerOf(body, named, payment);
  const { paymentMethodId, methodRef, methodKind, lenderCustomerId, lenderCustomerRecordId } = payment;
  return {
    ...price,
    projectId: pick(body.project_id, payment.projectId),
    productId: pick(body.product_id, payment.productId),
    quantity: nextQuantity(body, payment),
    ...customer,
    billingAddressId: pick(body.billing_address_id, payment.billingAddressId),
    ...(body.payment_method_id === undefined
      ? { paymentMethodId, methodRef, methodKind, lenderCustomerId, lenderCustomerRecordId }
      : methodFields(chooseMethod(provider, { body, caller, named }, payment), customer)),
    setupFutureUsage: pick(body.setup_future_usage, payment.setupFutureUsage),
    captureMethod: body.capture_method === undefined ? payment.captureMethod : captureMethodOf(body.capture_method),
    returnUrl: pick(body.return_url, payment.returnUrl),
    description: pick(body.description, payment.description),
    concept: pick(body.concept, payment.concept),
    referenceCode: pick(body.reference_code, payment.referenceCode),
    category: pick(body.category, payment.category),
    tags: pick(body.tags, payment.tags),
    metadata: pick(body.metadata, payment.metadata),
  };
};

/** Saving the method needs a customer at the provider, so the draft gets the owner's customer or a new customer. */
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

const customerOf = (
  body: UpdateIntentBody,
  named: ApiRequest['named'],
  payment: VisiblePayment,
): Pick<Draft, 'customerId' | 'providerCustomerId'> => {
  const { customerId, providerCustomerId } = payment;
  if (body.customer_id === undefined) return { customerId, providerCustomerId };
  const customer = named(customerRecord);
  if (!customer) return {};
  requireProvider('customer_id', payment.providerId, customer.providerId);
  requirePayersCustomer(customer, payment.organizationId);
  return { customerId: customer.id, providerCustomerId: customer.providerCustomerId };
};

const chooseMethod = (
  provider: PaymentProvider,
  { body, caller, named }: Pick<ApiRequest<unknown, unknown, UpdateIntentBody>, 'body' | 'caller' | 'named'>,
  payment: VisiblePayment,
): UsableMethod | undefined => {
  const saved = named(paymentMethodRecord);
  if (saved) return useSaved(saved, { caller, payer: payment, slot: payment.providerId });
  return body.payment_method_id ? useToken(provider, body.payment_method_id, undefined) : undefined;
};

/** True if the update keeps the method but changes the amount, the currency or the customer at the provider. */
const usesHeldMethod = (
  { body }: ApiRequest<unknown, unknown, UpdateIntentBody>,
  payment: VisiblePayment,
  draft: Draft,
): boolean =>
  body.payment_method_id === undefined &&
  payment.methodRef !== undefined &&
  (draft.totalCents !== payment.totalCents ||
    draft.currency !== payment.currency ||
    draft.providerCustomerId !== payment.providerCustomerId);

/** With `product_id`, the request's quantity applies; otherwise the payment's. */
const nextQuantity = ({ product_id: productId, quantity }: UpdateIntentBody, payment: VisiblePayment) => {
  if (productId === undefined) return payment.quantity;
  return quantity === 1 ? undefined : quantity;
};

/**
 * Stores a change without a provider call.
 * @returns undefined if another commit came first
 * @throws DomainError VERSION_CONFLICT if only the conditions failed
 */
const storeChange = async (
  { deps, store }: Pick<IntentParts, 'deps' | 'store'>,
  payment: VisiblePayment,
  { draft, onlyIf }: WrittenDraft,
): Promise<WrittenUpdate | undefined> => {
  const next = applyDraft(payment, draft, { now: deps.now() });
  const committed = await store.commit(payment, next, { onlyIf });
  if (!committed.ok && committed.unmet) throw new DomainError('VERSION_CONFLICT');
  return committed.ok ? { payment: committed.record } : undefined;
};
