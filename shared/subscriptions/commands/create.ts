import type { Caller } from '../../access/caller.ts';
import { requireSameOwner } from '../../access/use.ts';
import { addressRecord } from '../../addresses/address.ts';
import { type Product, productRecord, projectRecord } from '../../catalog/records.ts';
import { DomainError, invalid } from '../../core/errors.ts';
import { derivedId } from '../../core/ids.ts';
import { DAY, instant, iso, SECOND } from '../../core/time.ts';
import { type Customer, customerRecord } from '../../customers/customer.ts';
import { CREATE_TIMEOUT_SECONDS } from '../../http/endpoint.ts';
import { guestTokenFields } from '../../http/guests.ts';
import type { Reply } from '../../http/reply.ts';
import type { ApiRequest } from '../../http/request.ts';
import { createOnce } from '../../idempotency/create-once.ts';
import { inProgressError } from '../../idempotency/idempotency.ts';
import { paymentMethodRecord } from '../../payment-methods/payment-method.ts';
import { type UsableMethod, useSaved } from '../../payment-methods/use.ts';
import { requireAcceptedAmount } from '../../payments/commands/accepted-amount.ts';
import type { PaymentProvider } from '../../providers/port/provider.ts';
import { requireProvider } from '../../providers/registry/unwrap.ts';
import type { SubscriptionDeps } from '../billing/biller.ts';
import { startFirstPeriod } from '../billing/periods.ts';
import { claimCreation, createAtProvider } from '../provider-billed/create.ts';
import { billingOwnerOf } from '../provider-billed/port.ts';
import { type SubscriptionStore, subscriptionStore } from '../record/store.ts';
import {
  isLive,
  isProviderBilled,
  isVisibleSubscription,
  type Subscription,
  type VisibleSubscription,
} from '../record/subscription.ts';
import { advance } from '../record/versions.ts';
import { subscriptionView } from '../record/view.ts';
import { attemptCharge } from '../service-billed/collect.ts';
import { replaceMethodOf } from './change-method.ts';
import { leaveCustomer } from './leave-customer.ts';
import { planOf, trialDaysOf } from './plan.ts';
import { findRemaining } from './remaining.ts';
import type { CreateSubscriptionBody } from './requests.ts';

const RETRY_WAITS_MS = (CREATE_TIMEOUT_SECONDS.subscription + 5) * SECOND;

type CreateRequest = ApiRequest<unknown, unknown, CreateSubscriptionBody>;

/**
 * Creates a subscription. What costs nothing now is stored at once; else it is claimed here, as `creating`, with its first
 * period, and exists for its readers once that is paid or pending. A decline is kept under the key, and answered again.
 */
export const createSubscription = async (deps: SubscriptionDeps, request: CreateRequest): Promise<Reply> => {
  const { body, idempotency } = request;
  const slot = body.provider_id ?? 'provider_a';
  const provider = await deps.providers.require(slot, 'payments');
  const method = chooseMethod(request, provider);
  const draft = draftOf(deps, request, { provider, method });
  const store = subscriptionStore(deps.table);
  await requireAcceptedAmount(provider, draft, () => isRepeat(store, request));
  const { record, replayed } = await createOnce(deps, {
    // One conditional write decides: what is built before it asks nobody anything.
    store: { insertOrFind: store.insertOrFind, find: async () => undefined },
    kind: 'subscription',
    idempotency,
    build: async (id) => begun({ ...draft, id }, deps.now()),
  });
  if (record.status === 'declined') throw declined(record);
  const made = isVisibleSubscription(record)
    ? record
    : await finished(deps, replayed ? await takenOver(deps, store, record) : record, { method, isAgain: replayed });
  return answer(deps, request.caller, await withoutTheGone(deps, made, customerNamed(request)), replayed);
};

/** The subscription that the Idempotency-Key made is there: the request is answered with it. */
const isRepeat = async (store: SubscriptionStore, { idempotency }: CreateRequest): Promise<boolean> =>
  idempotency !== undefined && (await store.load(derivedId('subscription', idempotency.scope))) !== undefined;

/** Whoever deletes looks for live subscriptions after it has deleted, and this looks for what was deleted once it lives. */
const withoutTheGone = async (
  deps: SubscriptionDeps,
  subscription: VisibleSubscription,
  customer: Customer,
): Promise<VisibleSubscription> => {
  if (!isLive(subscription)) return subscription;
  const left = await findRemaining(deps.table, subscription);
  const { paymentMethodId } = subscription;
  if (left.customer && left.method) return subscription;
  const mended = left.customer
    ? await replaceMethodOf(deps, subscription, paymentMethodId ?? '', undefined)
    : await leaveCustomer(deps, subscription, customer);
  return isVisibleSubscription(mended) ? mended : subscription;
};

/** With a trial, or a price of nothing, it runs at once; else its first period is to be charged, or asked of whoever bills. */
const begun = (draft: Subscription, now: number): Subscription => {
  if (isProviderBilled(draft)) return claimCreation(draft, 'create', now);
  if (draft.trialEnd === undefined) return startFirstPeriod(draft, 'create', now);
  return advance(draft, { to: 'trialing', cause: 'open', reason: 'created', now });
};

/** Takes up a creation whose function must have ended. */
const takenOver = async (
  deps: SubscriptionDeps,
  store: SubscriptionStore,
  found: Subscription,
): Promise<Subscription> => {
  const waitMs = instant(found.busyUntil ?? found.createdAt) - deps.now();
  if (waitMs > 0) throw inProgressError(waitMs / SECOND);
  const taken = await store.commit(found, { ...found, busyUntil: iso(deps.now() + RETRY_WAITS_MS) });
  if (!taken.ok) throw inProgressError(1);
  return taken.subscription;
};

/** @throws DomainError PAYMENT_DECLINED, or why nothing could be charged: then there is no subscription. */
const finished = async (
  deps: SubscriptionDeps,
  creating: Subscription,
  { method, isAgain }: { readonly method: UsableMethod; readonly isAgain: boolean },
): Promise<VisibleSubscription> => {
  const store = subscriptionStore(deps.table);
  const { subscription, error } = isProviderBilled(creating)
    ? await createAtProvider(deps, store, creating)
    : await attemptCharge(deps, store, creating, { method, attended: true });
  if (isVisibleSubscription(subscription)) return subscription;
  if (subscription.status === 'declined') throw declined(subscription);
  // A call that did nothing says nothing of an earlier one, which may have made the subscription.
  const mayStand = isAgain && error?.code === 'PROVIDER_UNAVAILABLE';
  if (error && !mayStand) await store.removeCreating(subscription);
  throw error ?? new DomainError('PROVIDER_ERROR');
};

const declined = ({ declineCode }: Subscription): DomainError =>
  new DomainError('PAYMENT_DECLINED', { details: { decline_code: declineCode } });

const answer = async (
  deps: SubscriptionDeps,
  caller: Caller,
  subscription: VisibleSubscription,
  replayed: boolean,
): Promise<Reply> => ({
  data: {
    ...subscriptionView(subscription),
    ...(await guestTokenFields(deps.guestTokens, caller, subscription)),
  },
  ...(replayed && { headers: { 'idempotent-replayed': 'true' } }),
});

const draftOf = (
  deps: SubscriptionDeps,
  request: CreateRequest,
  { provider, method }: { readonly provider: PaymentProvider; readonly method: UsableMethod },
): Omit<Subscription, 'id'> => {
  const { body, idempotency, named } = request;
  const now = deps.now();
  const text = (value: string | null | undefined): string | undefined => value || undefined;
  const product = named(productRecord);
  const plan = planOf(body, product);
  const trialDays = trialDaysOf(body, product);
  const trialEnd = trialDays > 0 ? iso(now + trialDays * DAY) : undefined;
  return {
    version: 0,
    lock: 0,
    status: 'creating',
    createdAt: iso(now),
    updatedAt: iso(now),
    requestHash: idempotency?.requestHash,
    billingOwner: billingOwnerOf(provider, plan),
    ...ownerFields(request),
    ...belongingsOf(request, provider, method),
    projectId: named(projectRecord)?.id ?? product?.project_id ?? undefined,
    productId: product?.id,
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
    cancelAtPeriodEnd: false,
    tierId: tierOf(product),
    busyUntil: iso(now + RETRY_WAITS_MS),
  };
};

/** @throws DomainError VALIDATION_ERROR for anything but a saved method: it is charged again and again. */
const chooseMethod = (request: CreateRequest, { slot }: PaymentProvider): UsableMethod => {
  const saved = request.named(paymentMethodRecord);
  if (saved) return useSaved(saved, { caller: request.caller, payer: ownerFields(request), slot });
  const message = 'must be a saved payment method: save it first';
  throw invalid([{ path: 'payment_method_id', rule: 'saved', message }]);
};

const customerNamed = ({ named }: CreateRequest): Customer => {
  const customer = named(customerRecord);
  if (!customer) throw new Error('a subscription without a customer');
  return customer;
};

/** The customer that is to pay, and with what. */
const belongingsOf = (request: CreateRequest, { slot }: PaymentProvider, method: UsableMethod) => {
  const { named, owner } = request;
  const [customer, address] = [customerNamed(request), named(addressRecord)];
  const organizationId = owner?.kind === 'organization' ? owner.organizationId : undefined;
  requireProvider('customer_id', slot, customer.providerId);
  for (const record of [customer, address]) if (record) requireSameOwner(record, organizationId);
  return {
    customerId: customer.id,
    paymentMethodId: method.paymentMethodId,
    methodRef: method.methodRef,
    providerCustomerId: method.providerCustomerId ?? customer.providerCustomerId,
    billingAddressId: address?.id,
  };
};

const ownerFields = ({ caller, owner }: CreateRequest): Partial<Subscription> => {
  const organizationId = owner?.kind === 'organization' ? owner.organizationId : undefined;
  switch (caller.kind) {
    case 'session':
      return { userId: caller.userId, userEmail: caller.email, organizationId };
    case 'guest':
      return { guestId: caller.guestId, guestEmail: caller.email, guestName: caller.name };
    case 'anonymous':
      throw new DomainError('AUTHENTICATION_REQUIRED');
  }
};

const tierOf = (product: Product | undefined): string | undefined => {
  const tier = product?.metadata['membership_type_id'];
  return typeof tier === 'string' && tier !== '' ? tier : undefined;
};
