/**
 * @module Creates a payment's record as `creating`, then its intent at the provider. The payment is visible once the
 * intent exists. The id derives from the Idempotency-Key, so one write claims the key and stores the record.
 */

import { audienceOf } from '../access/audience.ts';
import type { Caller } from '../access/caller.ts';
import { noteGuest } from '../access/find-guest.ts';
import { guestTokenFields } from '../access/guest-token.ts';
import { isOfOtherGuest, requirePayersCustomer, requireSameOwner } from '../access/may-charge.ts';
import { type Owned, payerFieldsOf } from '../access/record-kind.ts';
import { FIRST_LOOK_MS } from '../calls/call-times.ts';
import { productRecord } from '../catalog/catalog-records.ts';
import type { ProviderSlot } from '../core/settings.ts';
import { instant, iso, SECOND_MS } from '../core/time.ts';
import { addressRecord } from '../customers/address.ts';
import { customerRecord, ownerCustomerOf } from '../customers/customer.ts';
import { ensureCustomer } from '../customers/ensure-customer.ts';
import { isDiscountRefusal } from '../discounts/discount-terms.ts';
import { reserving } from '../discounts/redemption.ts';
import { createOnce, idUnderKey, isKeyInForce } from '../http/create-once.ts';
import { CREATE_TIMEOUT_SECONDS } from '../http/endpoint.ts';
import { inProgressError, keyReusedError } from '../http/idempotency.ts';
import type { ApiRequest, Reply } from '../http/request.ts';
import { paymentMethodRecord } from '../payment-methods/payment-method.ts';
import { requireOneTime, type UsableMethod, useSaved, useToken } from '../payment-methods/usable-method.ts';
import type { TransactionStep } from '../platform/table.ts';
import type { PaymentProvider } from '../providers/provider.ts';
import type { MoneyDeps } from '../providers/provider-deps.ts';
import { requireProvider } from '../providers/unwrap.ts';
import { requireAcceptedAmount } from './accepted-amount.ts';
import { type CodeDeps, type CodedPrice, priceNewPayment } from './apply-code.ts';
import { createIntent } from './create-intent.ts';
import { captureMethodOf, requireTakesHold } from './holds/takes-hold.ts';
import { methodFields } from './paying-customer.ts';
import type { Payment, VisiblePayment } from './payment.ts';
import { isVisiblePayment } from './payment.ts';
import type { CreateIntentBody } from './payment-requests.ts';
import { type PaymentStore, paymentStore } from './payment-store.ts';
import { paymentWithSecret } from './payment-view.ts';

const RETRY_WAITS_MS = (CREATE_TIMEOUT_SECONDS.payment + 5) * SECOND_MS;

type CreateRequest = ApiRequest<unknown, unknown, CreateIntentBody>;

/** The fields and the transaction steps that a payment link adds when its payment is created. */
export interface LinkedPayment {
  readonly fields: Pick<Payment, 'paymentLink' | 'linkReturnUrl'>;
  /** Steps in the transaction of the create. */
  readonly steps: readonly TransactionStep[];
  /** Runs the transaction, and retries it after a conflict with another create of the same link. */
  readonly within: <T>(write: () => Promise<T>) => Promise<T>;
}

const NOT_LINKED: LinkedPayment = { fields: {}, steps: [], within: (write) => write() };

export const createPayment = async (
  deps: MoneyDeps & CodeDeps,
  request: CreateRequest,
  linked: LinkedPayment = NOT_LINKED,
): Promise<Reply> => {
  const { body, caller } = request;
  const slot = body.provider_id ?? 'provider_a';
  const provider = await deps.providers.require(slot, 'payments');
  const store = paymentStore(deps.table, deps.now);
  const claim = await claimOf({ ...deps, store, linked }, request, provider);
  const { replayed } = claim;
  if (isVisiblePayment(claim.payment)) return reply(deps, caller, { payment: claim.payment, isReplay: replayed });
  const { payment } = await createIntent({ deps, store, provider }, claim.payment, { isFirstTry: !replayed });
  return reply(deps, caller, { payment, isReplay: replayed });
};

/**
 * A repeated request gets the payment of the first request even if the discount code no longer applies, for example
 * after the code's last use.
 */
const claimOf = async (deps: CreateDeps, request: CreateRequest, provider: PaymentProvider): Promise<Claim> => {
  try {
    const [, ...items] = request.alongside;
    return await claimPriced(deps, request, {
      provider,
      ...(await priceNewPayment(deps, request, { provider, items })),
    });
  } catch (error) {
    const earlier = isDiscountRefusal(error) ? await earlierInForce(deps, request) : undefined;
    if (!earlier) throw error;
    if (earlier.requestHash !== request.idempotency?.requestHash) throw keyReusedError();
    return { payment: isVisiblePayment(earlier) ? earlier : await takeOver(deps, earlier), replayed: true };
  }
};

const claimPriced = async (
  deps: CreateDeps,
  request: CreateRequest,
  { provider, ...coded }: CodedPrice & { readonly provider: PaymentProvider },
): Promise<Claim> => {
  const wanted = draftOf(deps, request, { provider, price: coded.price });
  requireTakesHold(provider, wanted);
  const wasAccepted = async () => (await earlierInForce(deps, request)) !== undefined;
  await requireAcceptedAmount(provider, wanted, wasAccepted);
  await requireOneTime(provider, wanted, wasAccepted);
  const draft = await withCustomer(deps, request, wanted);
  const use = coded.reserving;
  const { fields, steps, within } = deps.linked;
  const beside = [...(use?.steps ?? []), ...steps];
  const claim = () => claimCreation(deps, request, { draft: { ...draft, ...fields }, beside });
  return within(() => (use ? reserving({ table: deps.table, ...use }, claim) : claim()));
};

const draftOf = (
  deps: MoneyDeps,
  request: CreateRequest,
  { provider, price }: { readonly provider: PaymentProvider; readonly price: CodedPrice['price'] },
): Omit<Payment, 'id'> => {
  const { body, caller, owner, idempotency, named } = request;
  const { slot } = provider;
  const payer = payerFieldsOf(caller, owner);
  const now = deps.now();
  const text = (value: string | null | undefined): string | undefined => value ?? undefined;
  const product = named(productRecord);
  const method = chooseMethod(provider, request, payer);
  const customer = customerOf(request, slot, method);
  const address = named(addressRecord);
  if (address) requireSameOwner(address, payer.organizationId);
  return {
    version: 0,
    status: 'creating',
    createdAt: iso(now),
    updatedAt: iso(now),
    ...price,
    ...payer,
    ...(caller.kind === 'guest' && { guestPhone: caller.phone }),
    projectId: body.project_id ?? product?.project_id ?? undefined,
    productId: product?.id,
    quantity: body.quantity === 1 ? undefined : body.quantity,
    ...customer,
    ...methodFields(method, customer),
    billingAddressId: address?.id,
    providerId: slot,
    setupFutureUsage: body.setup_future_usage ?? undefined,
    captureMethod: captureMethodOf(body.capture_method),
    returnUrl: text(body.return_url),
    description: text(body.description),
    concept: text(body.concept),
    referenceCode: text(body.reference_code),
    category: text(body.category),
    tags: text(body.tags),
    metadata: body.metadata ?? undefined,
    attempt: 0,
    reconcileAt: iso(now + FIRST_LOOK_MS),
    requestHash: idempotency?.requestHash,
    busyUntil: iso(now + RETRY_WAITS_MS),
  };
};

/** The customer of the request, by default the owner's customer at that provider, if any. */
const customerOf = (
  { named, alongside, owner, caller }: CreateRequest,
  slot: ProviderSlot,
  method: UsableMethod | undefined,
): Pick<Payment, 'customerId' | 'providerCustomerId'> => {
  const customer = named(customerRecord);
  if (customer) {
    requireProvider('customer_id', slot, customer.providerId);
    requirePayersCustomer(customer, owner?.kind === 'organization' ? owner.organizationId : undefined);
    if (isOfOtherGuest(caller, customer)) {
      return { customerId: method?.customerId, providerCustomerId: method?.providerCustomerId };
    }
    return { customerId: customer.id, providerCustomerId: customer.providerCustomerId };
  }
  const detected = ownerCustomerOf(alongside[0]);
  return detected ? { customerId: detected.customerId, providerCustomerId: detected.providerCustomerId } : {};
};

/** Saving the method needs a customer at the provider, so the draft gets the owner's customer or a new customer. */
const withCustomer = async (
  deps: MoneyDeps,
  request: CreateRequest,
  draft: Omit<Payment, 'id'>,
): Promise<Omit<Payment, 'id'>> => {
  const { caller, owner, http, idempotency } = request;
  if (draft.setupFutureUsage === undefined || draft.providerCustomerId !== undefined || !owner) return draft;
  // A repeated request creates no customer. Its payment has the customer of the first request, even if that customer
  // was deleted since.
  const earlier = await earlierOf(deps, request);
  if (earlier && isKeyInForce(earlier.createdAt, deps.now())) return draft;
  const forId = earlier?.id ?? idempotency?.scope ?? http.requestId;
  const customer = await ensureCustomer(deps, { slot: draft.providerId, owner, caller, forId, known: undefined });
  return { ...draft, ...customer };
};

const earlierOf = async (deps: MoneyDeps, { idempotency }: CreateRequest): Promise<Payment | undefined> =>
  idempotency && paymentStore(deps.table, deps.now).load(await idUnderKey(deps, 'payment', idempotency.scope));

/** The payment of an earlier request under the same Idempotency-Key. */
const earlierInForce = async (deps: MoneyDeps, request: CreateRequest): Promise<Payment | undefined> => {
  const earlier = await earlierOf(deps, request);
  return earlier && isKeyInForce(earlier.createdAt, deps.now()) ? earlier : undefined;
};

const chooseMethod = (
  provider: PaymentProvider,
  { body, caller, named }: CreateRequest,
  payer: Owned,
): UsableMethod | undefined => {
  const saved = named(paymentMethodRecord);
  if (saved) return useSaved(saved, { caller, payer, slot: provider.slot });
  return body.payment_method_id ? useToken(provider, body.payment_method_id, undefined) : undefined;
};

interface Claim {
  readonly payment: Payment;
  readonly replayed: boolean;
}

type ClaimDeps = Pick<MoneyDeps, 'now' | 'newId' | 'ids' | 'table'> & { readonly store: PaymentStore };
type CreateDeps = MoneyDeps & CodeDeps & ClaimDeps & { readonly linked: LinkedPayment };

/** @throws DomainError IDEMPOTENCY_KEY_REUSED or IDEMPOTENCY_IN_PROGRESS. */
const claimCreation = async (
  deps: ClaimDeps,
  { idempotency, caller }: CreateRequest,
  { draft, beside }: { readonly draft: Omit<Payment, 'id'>; readonly beside: readonly TransactionStep[] },
): Promise<Claim> => {
  const { record, replayed } = await createOnce(deps, {
    store: {
      // Building the record calls no provider, so the conditional insert alone finds an earlier record.
      find: async () => undefined,
      insertOrFind: async (payment: Payment, steps?: readonly TransactionStep[]) => {
        const found = await deps.store.insertOrFind(payment, steps);
        return found && { kind: 'record', record: found };
      },
    },
    beside: () => beside,
    kind: 'payment',
    idempotency,
    build: async (id) => ({ ...draft, id }),
  });
  await noteGuest(deps, caller, { ...record, kind: 'PAY' });
  return { payment: replayed && !isVisiblePayment(record) ? await takeOver(deps, record) : record, replayed };
};

/** Takes over a creation whose function must have timed out. */
const takeOver = async ({ now, store }: ClaimDeps, payment: Payment): Promise<Payment> => {
  const waitMs = instant(payment.busyUntil ?? payment.createdAt) - now();
  if (waitMs > 0) throw inProgressError(waitMs / SECOND_MS);
  const busyUntil = iso(now() + RETRY_WAITS_MS);
  if (!(await store.takeOver(payment, busyUntil))) throw inProgressError(1);
  return { ...payment, busyUntil };
};

const reply = async (
  deps: MoneyDeps,
  caller: Caller,
  { payment, isReplay }: { readonly payment: VisiblePayment; readonly isReplay: boolean },
): Promise<Reply> => {
  return {
    data: {
      ...paymentWithSecret(payment, audienceOf(caller), deps.now()),
      ...(await guestTokenFields(deps.guestTokens, caller, payment)),
    },
    ...(isReplay && { headers: { 'idempotent-replayed': 'true' } }),
  };
};
