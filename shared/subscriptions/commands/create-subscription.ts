/** @module Creates subscriptions, one record per Idempotency-Key, and charges them while the payer waits. */

import { guestTokenFields } from '../../access/guest-token.ts';
import { isOfOtherGuest, requireSameOwner } from '../../access/may-charge.ts';
import { payerFieldsOf } from '../../access/record-kind.ts';
import { productRecord, projectRecord } from '../../catalog/catalog-records.ts';
import { DomainError, invalid } from '../../core/errors.ts';
import { DAY_MS, type Instant, instant, iso, SECOND_MS, startOfSecond } from '../../core/time.ts';
import { addressRecord } from '../../customers/address.ts';
import { type Customer, customerRecord } from '../../customers/customer.ts';
import { isDiscountRefusal } from '../../discounts/discount-terms.ts';
import { reserving } from '../../discounts/redemption.ts';
import { createOnce, idUnderKey, isKeyInForce } from '../../http/create-once.ts';
import { CREATE_TIMEOUT_SECONDS } from '../../http/endpoint.ts';
import { inProgressError, keyReusedError } from '../../http/idempotency.ts';
import type { ApiRequest, Reply } from '../../http/request.ts';
import { paymentMethodRecord } from '../../payment-methods/payment-method.ts';
import { type UsableMethod, useSaved } from '../../payment-methods/usable-method.ts';
import { requireAcceptedAmount } from '../../payments/accepted-amount.ts';
import type { VisiblePayment } from '../../payments/payment.ts';
import type { PaymentProvider } from '../../providers/provider.ts';
import { requireProvider } from '../../providers/unwrap.ts';
import { billerOf } from '../at-provider/billers.ts';
import { billingOwnerOf } from '../at-provider/provider-biller.ts';
import type { ChargeRequest, SubscriptionDeps } from '../billing/biller.ts';
import { type CodedPlan, planWithCode } from '../billing/discounted-plan.ts';
import { findOpenPayment, openPaymentView } from '../billing/open-payment.ts';
import { trialDaysOf } from '../billing/subscription-plan.ts';
import { isVisibleSubscription, type Subscription, type VisibleSubscription } from '../record/subscription.ts';
import type { CreateSubscriptionBody } from '../record/subscription-requests.ts';
import { type SubscriptionStore, subscriptionStore } from '../record/subscription-store.ts';
import { subscriptionView } from '../record/subscription-view.ts';
import { detachDeletedRecords } from './replace-method.ts';

const RETRY_WAITS_MS = (CREATE_TIMEOUT_SECONDS.subscription + 5) * SECOND_MS;

type CreateRequest = ApiRequest<unknown, unknown, CreateSubscriptionBody>;

/**
 * Creates a subscription. It is stored immediately if nothing is charged now. Otherwise it is stored as `creating` with
 * its first period, and becomes visible once the charge is paid or pending. A decline is stored under the
 * Idempotency-Key, and a repeat returns it.
 */
export const createSubscription = async (deps: SubscriptionDeps, request: CreateRequest): Promise<Reply> => {
  const { body, idempotency } = request;
  const slot = body.provider_id ?? 'provider_a';
  const provider = await deps.providers.require(slot, 'payments');
  const method = chooseMethod(request, provider);
  const store = subscriptionStore(deps.table);
  const coded = await planOfRequest(deps, request, provider);
  if ('earlier' in coded) return finishCreate(deps, request, { method, record: coded.earlier, replayed: true });
  const { reserving: use } = coded;
  const draft = draftOf(deps, request, { provider, method, plan: coded.plan });
  await requireAcceptedAmount(provider, draft, async () => (await earlierOf(deps, store, request)) !== undefined);
  const create = () =>
    createOnce(deps, {
      // The creation makes no lookup before the insert. The build calls no provider, and one conditional write detects
      // a repeat.
      store: { insertOrFind: store.insertOrFind, find: async () => undefined },
      kind: 'subscription',
      idempotency,
      build: async (id) => billerOf(draft).openFirstPeriod({ ...draft, id }, 'create', deps.now()),
      beside: () => [...(use?.steps ?? []), ...request.right.onlyIf],
    });
  const made = use ? await reserving({ table: deps.table, ...use }, create) : await create();
  return finishCreate(deps, request, { method, ...made });
};

interface MadeSubscription {
  readonly method: UsableMethod;
  readonly record: Subscription;
  readonly replayed: boolean;
}

/** Charges a new subscription, and shows it. */
const finishCreate = async (
  deps: SubscriptionDeps,
  request: CreateRequest,
  { method, record, replayed }: MadeSubscription,
): Promise<Reply> => {
  const store = subscriptionStore(deps.table);
  if (record.status === 'declined') throw declinedError(record);
  const created = isVisibleSubscription(record)
    ? record
    : await finishCreation(deps, replayed ? await takeOverCreation(deps, store, record) : record, {
        method,
        right: request.right.onlyIf,
        isRepeat: replayed,
      });
  const customer = customerNamed(request);
  const known = isOfOtherGuest(request.caller, customer) ? undefined : customer;
  const detached = await detachDeletedRecords(deps, created, known);
  const subscription = isVisibleSubscription(detached) ? detached : created;
  const guestToken = await guestTokenFields(deps.guestTokens, request.caller, subscription);
  const open = await findOpenPayment(deps, subscription);
  return {
    data: { ...subscriptionView(subscription), ...(open && payerFields(open, deps.now())), ...guestToken },
    ...(replayed && { headers: { 'idempotent-replayed': 'true' } }),
  };
};

/** The fields for authenticating a first charge in the payer's browser. */
const payerFields = (open: VisiblePayment, now: Instant) => {
  const { next_action, client_secret } = openPaymentView(open, now);
  return { ...(next_action && { next_action }), ...(client_secret && { client_secret }) };
};

/** The subscription already created under the Idempotency-Key. */
const earlierOf = async (
  deps: SubscriptionDeps,
  store: SubscriptionStore,
  { idempotency }: CreateRequest,
): Promise<Subscription | undefined> =>
  idempotency && store.load(await idUnderKey(deps, 'subscription', idempotency.scope));

/** A repeat returns its subscription even if the code no longer fits, such as after its last redemption. */
const planOfRequest = async (
  deps: SubscriptionDeps,
  request: CreateRequest,
  provider: PaymentProvider,
): Promise<CodedPlan | { readonly earlier: Subscription }> => {
  try {
    return await planWithCode(deps, request, { product: request.named(productRecord), provider });
  } catch (error) {
    const store = subscriptionStore(deps.table);
    const earlier = isDiscountRefusal(error) ? await earlierOf(deps, store, request) : undefined;
    if (!earlier || !isKeyInForce(earlier.createdAt, deps.now())) throw error;
    if (earlier.requestHash !== request.idempotency?.requestHash) throw keyReusedError();
    return { earlier };
  }
};

/** Continues a creation after the function that started it must have ended. */
const takeOverCreation = async (
  deps: SubscriptionDeps,
  store: SubscriptionStore,
  found: Subscription,
): Promise<Subscription> => {
  const waitMs = instant(found.busyUntil ?? found.createdAt) - deps.now();
  if (waitMs > 0) throw inProgressError(waitMs / SECOND_MS);
  const taken = await store.commit(found, { ...found, busyUntil: iso(deps.now() + RETRY_WAITS_MS) });
  if (!taken.ok) throw inProgressError(1);
  return taken.record;
};

/** @throws DomainError PAYMENT_DECLINED, or the reason why nothing could be charged. No subscription then exists. */
const finishCreation = async (
  deps: SubscriptionDeps,
  creating: Subscription,
  charge: ChargeRequest,
): Promise<VisibleSubscription> => {
  const charged = await billerOf(creating).collect(deps, creating, charge);
  const { subscription, error } = charged;
  if (isVisibleSubscription(subscription)) return subscription;
  if (subscription.status === 'declined') throw declinedError(subscription);
  // On a repeat, an earlier call may have created the subscription, although this call had no effect.
  const mayExist = charge.isRepeat && error?.code === 'PROVIDER_UNAVAILABLE';
  if (error && !mayExist) await subscriptionStore(deps.table).removeCreating(subscription);
  throw error ?? new DomainError('PROVIDER_ERROR');
};

const declinedError = ({ declineCode }: Subscription): DomainError =>
  new DomainError('PAYMENT_DECLINED', { details: { decline_code: declineCode } });

interface Drafting {
  readonly provider: PaymentProvider;
  readonly method: UsableMethod;
  readonly plan: CodedPlan['plan'];
}

const draftOf = (
  deps: SubscriptionDeps,
  request: CreateRequest,
  { provider, method, plan }: Drafting,
): Omit<Subscription, 'id'> => {
  const { body, idempotency, named } = request;
  const now = deps.now();
  const text = (value: string | null | undefined): string | undefined => value ?? undefined;
  const product = named(productRecord);
  const trialDays = trialDaysOf(body, product);
  const trialEnd = trialDays > 0 ? iso(startOfSecond(now + trialDays * DAY_MS)) : undefined;
  return {
    version: 0,
    lock: 0,
    status: 'creating',
    createdAt: iso(now),
    updatedAt: iso(now),
    requestHash: idempotency?.requestHash,
    billingOwner: billingOwnerOf(provider, plan),
    ...payerFieldsOf(request.caller, request.owner),
    ...paymentFields(request, provider, method),
    projectId: named(projectRecord)?.id ?? product?.project_id ?? undefined,
    providerId: provider.slot,
    ...plan,
    concept: text(body.concept),
    description: text(body.description),
    referenceCode: text(body.reference_code),
    category: text(body.category),
    tags: text(body.tags),
    metadata: body.metadata ?? undefined,
    anchor: trialEnd ?? iso(now),
    period: trialEnd === undefined ? 0 : -1,
    currentPeriodStart: iso(now),
    currentPeriodEnd: trialEnd ?? iso(now),
    trialEnd,
    tierUnpaidSince: iso(now),
    cancelAtPeriodEnd: false,
    busyUntil: iso(now + RETRY_WAITS_MS),
  };
};

/** @throws DomainError VALIDATION_ERROR if the method is not saved; renewals can charge only a saved method */
const chooseMethod = (request: CreateRequest, { slot }: PaymentProvider): UsableMethod => {
  const saved = request.named(paymentMethodRecord);
  if (saved)
    return useSaved(saved, { caller: request.caller, payer: payerFieldsOf(request.caller, request.owner), slot });
  const message = 'must be a saved payment method; save it first';
  throw invalid([{ path: 'payment_method_id', rule: 'saved', message }]);
};

const customerNamed = ({ named }: CreateRequest): Customer => {
  const customer = named(customerRecord);
  if (!customer) throw new Error('the create request has no customer');
  return customer;
};

const paymentFields = (request: CreateRequest, { slot }: PaymentProvider, method: UsableMethod) => {
  const { named, owner, caller } = request;
  const [customer, address] = [customerNamed(request), named(addressRecord)];
  const organizationId = owner?.kind === 'organization' ? owner.organizationId : undefined;
  requireProvider('customer_id', slot, customer.providerId);
  for (const record of [customer, address]) if (record) requireSameOwner(record, organizationId);
  return {
    customerId: (isOfOtherGuest(caller, customer) ? method.customerId : undefined) ?? customer.id,
    paymentMethodId: method.paymentMethodId,
    methodRef: method.methodRef,
    providerCustomerId: method.providerCustomerId ?? customer.providerCustomerId,
    billingAddressId: address?.id,
  };
};
