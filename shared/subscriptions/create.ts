import type { Caller } from '../access/caller.ts';
import { addressRecord } from '../addresses/address.ts';
import { type Product, productRecord, projectRecord } from '../catalog/reference-records.ts';
import { DomainError } from '../core/errors.ts';
import { DAY, instant, iso, SECOND } from '../core/time.ts';
import { customerRecord } from '../customers/customer.ts';
import { guestTokenFields } from '../http/guest-token-fields.ts';
import type { Reply } from '../http/reply.ts';
import type { ApiRequest } from '../http/request.ts';
import { createOnce } from '../idempotency/create-once.ts';
import { inProgress } from '../idempotency/idempotency.ts';
import { paymentMethodRecord } from '../payment-methods/payment-method.ts';
import { requireProvider } from '../payments/references.ts';
import type { PaymentProvider } from '../providers/provider.ts';
import { requireSameOwner, whatIsLeft } from './belongings.ts';
import { cancelNow } from './cancel.ts';
import { handMethodOver } from './change-method.ts';
import { moved } from './changes.ts';
import { attemptCharge } from './charge.ts';
import type { SubscriptionDeps } from './deps.ts';
import { claimedAtProvider, createAtProvider } from './native.ts';
import { billingOwnerOf, isNative } from './native-port.ts';
import { startedNow } from './periods.ts';
import { planOf, trialDaysOf } from './plan.ts';
import type { CreateSubscriptionBody } from './requests.ts';
import { type SubscriptionStore, subscriptionStore } from './store.ts';
import { isLive, isVisible, type Subscription, type VisibleSubscription } from './subscription.ts';
import { subscriptionView } from './view.ts';

/** A create's function time-out; a retry under the same key waits this long, and 5 s more. */
export const CREATE_TIMEOUT_SECONDS = 29;
const RETRY_WAITS_MS = (CREATE_TIMEOUT_SECONDS + 5) * SECOND;

type CreateRequest = ApiRequest<unknown, unknown, CreateSubscriptionBody>;

/**
 * Creates a subscription. What costs nothing now is stored at once; else it is claimed here, as `creating`, with its first
 * period, and exists for its readers once that is paid or pending. A decline is kept under the key, and answered again.
 */
export const createSubscription = async (deps: SubscriptionDeps, request: CreateRequest): Promise<Reply> => {
  const { body, idempotency } = request;
  const slot = body.provider_id ?? 'provider_a';
  const provider = await deps.providers.forPayments(slot);
  const draft = draftOf(deps, request, provider);
  const store = subscriptionStore(deps.table);
  const { record, replayed } = await createOnce(deps, {
    // One conditional write decides: what is built before it asks nobody anything.
    store: { insertOrFind: store.insertOrFind, find: async () => undefined },
    kind: 'subscription',
    idempotency,
    build: async (id) => begun({ ...draft, id }, deps.now()),
  });
  if (record.status === 'declined') throw declined(record);
  const made = isVisible(record)
    ? record
    : await finished(deps, store, replayed ? await takenOver(deps, store, record) : record);
  return answer(deps, request.caller, await withoutTheGone(deps, made), replayed);
};

/** Whoever deletes looks for live subscriptions after it has deleted, and this looks for what was deleted once it lives. */
const withoutTheGone = async (
  deps: SubscriptionDeps,
  subscription: VisibleSubscription,
): Promise<VisibleSubscription> => {
  if (!isLive(subscription)) return subscription;
  const left = await whatIsLeft(deps.table, subscription);
  const { paymentMethodId } = subscription;
  if (left.customer && left.method) return subscription;
  const mended = left.customer
    ? await handMethodOver(deps, subscription, paymentMethodId ?? '', undefined)
    : await cancelNow(deps, subscription);
  return isVisible(mended) ? mended : subscription;
};

/** With a trial, or a price of nothing, it runs at once; else its first period is to be charged, or asked of whoever bills. */
const begun = (draft: Subscription, now: number): Subscription => {
  if (isNative(draft)) return claimedAtProvider(draft, 'create', now);
  if (draft.trialEnd === undefined) return startedNow(draft, 'create', now);
  return moved(draft, { to: 'trialing', cause: 'open', reason: 'created', now });
};

/** Takes up a creation whose function must have ended. */
const takenOver = async (
  deps: SubscriptionDeps,
  store: SubscriptionStore,
  found: Subscription,
): Promise<Subscription> => {
  const waitMs = instant(found.busyUntil ?? found.createdAt) - deps.now();
  if (waitMs > 0) throw inProgress(waitMs / SECOND);
  const taken = await store.commit(found, { ...found, busyUntil: iso(deps.now() + RETRY_WAITS_MS) });
  if (!taken.ok) throw inProgress(1);
  return taken.subscription;
};

/** @throws DomainError PAYMENT_DECLINED, or why nothing could be charged: then there is no subscription. */
const finished = async (
  deps: SubscriptionDeps,
  store: SubscriptionStore,
  creating: Subscription,
): Promise<VisibleSubscription> => {
  const { subscription, error } = isNative(creating)
    ? await createAtProvider(deps, store, creating)
    : await attemptCharge(deps, store, creating, { attended: true });
  if (isVisible(subscription)) return subscription;
  if (subscription.status === 'declined') throw declined(subscription);
  if (error) await store.removeCreating(subscription);
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
  provider: PaymentProvider,
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
    ...belongingsOf(request, provider),
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

/** The customer that is to pay, and with what. */
const belongingsOf = ({ named, owner }: CreateRequest, { slot }: PaymentProvider) => {
  const [customer, method, address] = [named(customerRecord), named(paymentMethodRecord), named(addressRecord)];
  if (!customer || !method) throw new Error('a subscription without customer and method');
  const organizationId = owner?.kind === 'organization' ? owner.organizationId : undefined;
  requireProvider('customer_id', slot, customer.providerId);
  requireProvider('payment_method_id', slot, method.providerId);
  for (const record of [customer, method, address]) if (record) requireSameOwner(record, organizationId);
  return {
    customerId: customer.id,
    paymentMethodId: method.id,
    methodRef: method.providerMethodId,
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
