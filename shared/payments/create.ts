import { meantOrganization } from '../access/access.ts';
import type { Caller } from '../access/caller.ts';
import { DomainError } from '../core/errors.ts';
import { derivedId } from '../core/ids.ts';
import { currencyCode, derivePrices } from '../core/money.ts';
import { DAY, instant, iso, SECOND } from '../core/time.ts';
import type { Reply } from '../http/reply.ts';
import type { ApiRequest } from '../http/request.ts';
import { inProgress, reused } from '../idempotency/idempotency.ts';
import { finishCreation } from './creation.ts';
import type { MoneyDeps } from './deps.ts';
import type { Payment, VisiblePayment } from './payment.ts';
import { isVisible } from './payment.ts';
import { type CheckedReferences, checkReferences } from './references.ts';
import type { CreateIntentBody } from './requests.ts';
import { FIRST_LOOK_MS, type PaymentStore, paymentStore } from './store.ts';
import { paymentWithSecret } from './view.ts';

/** A create's function time-out; a retry under the same key waits this long, and 5 s more. */
export const CREATE_TIMEOUT_SECONDS = 20;
const RETRY_WAITS_MS = (CREATE_TIMEOUT_SECONDS + 5) * SECOND;
const KEY_LIFETIME_MS = DAY;
const MAX_KEY_GENERATIONS = 50;

type CreateRequest = ApiRequest<unknown, unknown, CreateIntentBody>;

/**
 * Creates a payment intent: here as `creating` first, then at the provider under a key derived from our id, then visible.
 * With an Idempotency-Key the id follows from the key, so one conditional write claims and stores.
 */
export const createPayment = async (deps: MoneyDeps, request: CreateRequest): Promise<Reply> => {
  const { body, caller } = request;
  const slot = body.provider_id ?? 'provider_a';
  const provider = await deps.providers.forPayments(slot);
  const draft = draftOf(deps, request);
  const references = await checkReferences(deps.table, caller, {
    organizationId: draft.organizationId,
    projectId: draft.projectId,
    productId: draft.productId,
    customerId: draft.customerId,
    billingAddressId: draft.billingAddressId,
    paymentMethod: body.payment_method_id ?? undefined,
  });
  const store = paymentStore(deps.table, deps.now);
  const claim = await claimCreation(deps, store, request, { ...draft, ...references });
  if (claim.replayed) return created(deps, caller, claim.payment, true);
  const payment = await finishCreation(deps, store, provider, claim.payment);
  return created(deps, caller, payment, claim.resumed);
};

type Draft = Omit<Payment, 'id' | keyof CheckedReferences>;

const draftOf = (deps: MoneyDeps, { body, caller, idempotency }: CreateRequest): Draft => {
  const now = deps.now();
  const text = (value: string | null | undefined): string | undefined => value || undefined;
  return {
    version: 0,
    status: 'creating',
    createdAt: iso(now),
    updatedAt: iso(now),
    ...derivePrices(body),
    currency: currencyCode(body.currency ?? ''),
    ...ownerFields(caller, body),
    projectId: text(body.project_id),
    productId: text(body.product_id),
    customerId: text(body.customer_id),
    billingAddressId: text(body.billing_address_id),
    providerId: body.provider_id ?? 'provider_a',
    setupFutureUsage: body.setup_future_usage ?? undefined,
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

const ownerFields = (caller: Caller, body: CreateIntentBody): Partial<Payment> => {
  const organizationId = meantOrganization(caller, body.organization_id);
  switch (caller.kind) {
    case 'session':
      return { userId: caller.userId, userEmail: caller.email, organizationId };
    case 'guest':
      return {
        guestId: caller.guestId,
        guestEmail: caller.email,
        guestName: caller.name,
        guestPhone: caller.phone,
        organizationId,
      };
    case 'anonymous':
      throw new DomainError('AUTHENTICATION_REQUIRED');
  }
};

type Claim =
  | { readonly replayed: true; readonly payment: VisiblePayment }
  | { readonly replayed: false; readonly resumed: boolean; readonly payment: Payment };

/** @throws DomainError IDEMPOTENCY_KEY_REUSED or IDEMPOTENCY_IN_PROGRESS. */
const claimCreation = async (
  deps: MoneyDeps,
  store: PaymentStore,
  { idempotency }: CreateRequest,
  draft: Omit<Payment, 'id'>,
): Promise<Claim> => {
  let id = idempotency ? derivedId('payment', idempotency.scope) : deps.newId('payment');
  for (let generation = 0; generation < MAX_KEY_GENERATIONS; generation += 1) {
    const payment: Payment = { ...draft, id };
    const found = await store.insertOrFind(payment);
    if (!found) return { replayed: false, resumed: false, payment };
    if (!idempotency) throw new Error('a random id is taken');
    if (instant(found.createdAt) + KEY_LIFETIME_MS > deps.now()) return claimFound(deps, store, found, draft);
    id = derivedId('payment', idempotency.scope, found.id);
  }
  throw new Error('an idempotency key was used on too many days');
};

const claimFound = async (
  deps: MoneyDeps,
  store: PaymentStore,
  found: Payment,
  draft: Omit<Payment, 'id'>,
): Promise<Claim> => {
  if (found.requestHash !== draft.requestHash) throw reused();
  if (isVisible(found)) return { replayed: true, payment: found };
  const waitMs = instant(found.busyUntil ?? found.createdAt) - deps.now();
  if (waitMs > 0) throw inProgress(waitMs / SECOND);
  const busyUntil = iso(deps.now() + RETRY_WAITS_MS);
  if (!(await store.takeOver(found, busyUntil))) throw inProgress(1);
  return { replayed: false, resumed: true, payment: { ...found, busyUntil } };
};

const created = async (deps: MoneyDeps, caller: Caller, payment: VisiblePayment, replayed: boolean): Promise<Reply> => {
  const token =
    caller.kind === 'guest' && payment.guestId && payment.guestEmail
      ? await deps.guestTokens.issue({ guestId: payment.guestId, email: payment.guestEmail })
      : undefined;
  return {
    data: {
      ...paymentWithSecret(payment, deps.now()),
      ...(token && { guest_token: token.token, guest_token_expires_at: token.expiresAt }),
    },
    ...(replayed && { headers: { 'idempotent-replayed': 'true' } }),
  };
};
