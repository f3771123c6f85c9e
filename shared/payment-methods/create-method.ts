/**
 * @module Saves a payment method. Attaches it to the owner's customer, then stores it without its token. If the payer
 * must authenticate first, stores the open set-up. `is_default` then applies once the set-up is completed.
 */

import { guestTokenFields } from '../access/guest-token.ts';
import { methodOwner, requireMayCharge, requireSameOwner } from '../access/may-charge.ts';
import { ownerFieldsOf } from '../access/record-kind.ts';
import { DomainError, invalid, notFound } from '../core/errors.ts';
import { fingerprint } from '../core/ids.ts';
import { iso } from '../core/time.ts';
import { addressRecord } from '../customers/address.ts';
import { type OwnerCustomer, ownerCustomerOf } from '../customers/customer.ts';
import { ensureCustomer } from '../customers/ensure-customer.ts';
import { isMethodOf, learnProviderId } from '../customers/learn-provider-id.ts';
import { createOnce } from '../http/create-once.ts';
import { CREATE_TIMEOUT_SECONDS } from '../http/endpoint.ts';
import type { ApiRequest, Reply } from '../http/request.ts';
import { aliasStep } from '../platform/alias.ts';
import type { Owner } from '../platform/keys.ts';
import { defaultStep } from '../platform/table-defaults.ts';
import { firstVersion, versionedRecord } from '../platform/versioned-record.ts';
import { type AttachMethod, NOT_ATTACHABLE, type ProviderMethod } from '../providers/method-port.ts';
import type { PaymentProvider } from '../providers/provider.ts';
import type { MethodDeps } from '../providers/provider-deps.ts';
import {
  requireDone,
  requireOwnToken,
  requireProvider,
  requireTakesVerification,
  unknownOutcomeError,
} from '../providers/unwrap.ts';
import type { CreateMethodBody } from './method-requests.ts';
import { newSetup } from './method-setup.ts';
import { addressUseSteps } from './method-store.ts';
import {
  isDefaultMethod,
  methodDefaultSlotOf,
  methodWithSecret,
  type PaymentMethod,
  paymentMethodRecord,
  paymentMethodShape,
} from './payment-method.ts';

/** The request field of the token. */
const TOKEN = 'provider_payment_method_token';

type CreateRequest = ApiRequest<unknown, unknown, CreateMethodBody>;
type OwnedRequest = CreateRequest & { readonly owner: Owner };

export const createMethod = async (deps: MethodDeps, request: CreateRequest): Promise<Reply> => {
  const { body, caller, owner, idempotency } = request;
  if (!owner) throw new Error('a payment method needs an owner');
  const provider = await deps.providers.require(body.provider_id, 'methods');
  refuseRawCard(deps, provider, body);
  requireTakesVerification(provider, body.verification_token);
  const address = request.named(addressRecord);
  if (address) requireSameOwner(address, owner.kind === 'organization' ? owner.organizationId : undefined);
  const saved = request.named(paymentMethodRecord);
  if (saved) return answerSaved(deps, { ...request, owner }, saved);
  const { provider_payment_method_token: token } = body;
  if (token) requireOwnToken(provider, { path: 'provider_payment_method_token', token, record: 'payment method' });
  const { record, replayed } = await createOnce(deps, {
    store: versionedRecord(deps, paymentMethodShape),
    kind: 'payment_method',
    idempotency,
    hold: { table: deps.table, timeoutSeconds: CREATE_TIMEOUT_SECONDS.payment_method },
    build: (id) => attach(deps, provider, { ...request, owner, id }),
    beside: (method) => [
      aliasStep(method.providerId, method.providerMethodId, { kind: 'PM', id: method.id }),
      ...(body.is_default && !method.setup ? [defaultStep(methodDefaultSlotOf(method), method.id)] : []),
      ...addressUseSteps(undefined, method),
      ...request.right.onlyIf,
    ],
  });
  const isDefault = replayed ? await isDefaultMethod(deps.table, record) : body.is_default && !record.setup;
  return {
    data: {
      ...methodWithSecret(record, isDefault, deps.now()),
      ...(await guestTokenFields(deps.guestTokens, caller, record)),
    },
    ...(replayed && { headers: { 'idempotent-replayed': 'true' } }),
  };
};

/**
 * Responds with an already saved method. The request names the method by our id or by the provider's id.
 * @throws DomainError INSUFFICIENT_PERMISSIONS if the method belongs to another owner
 */
const answerSaved = async (
  deps: MethodDeps,
  { body, caller, owner }: OwnedRequest,
  method: PaymentMethod,
): Promise<Reply> => {
  requireProvider(TOKEN, body.provider_id, method.providerId);
  requireType(body, method);
  requireMayCharge(
    [ownerFieldsOf(owner, caller)].flatMap((fields) => methodOwner(fields) ?? []),
    method,
  );
  const view = methodWithSecret(method, await isDefaultMethod(deps.table, method), deps.now());
  return { data: { ...view, ...(await guestTokenFields(deps.guestTokens, caller, method)) }, status: 200 };
};

/**
 * Refuses card data unless raw cards are allowed. Refuses card data also next to a token, so that clients learn not to
 * send it.
 */
const refuseRawCard = (deps: MethodDeps, provider: PaymentProvider, body: CreateMethodBody): void => {
  if (body.card_number === undefined && body.card_cvc === undefined) return;
  if (!deps.allowRawCards || !provider.can.rawCards) throw new DomainError('RAW_CARD_DISABLED');
};

const attach = async (
  deps: MethodDeps,
  provider: PaymentProvider,
  { id, body, caller, owner, alongside, idempotency, named }: OwnedRequest & { readonly id: string },
): Promise<PaymentMethod> => {
  const slot = body.provider_id;
  const known = ownerCustomerOf(alongside[0]);
  const given = body.provider_payment_method_token;
  if (given !== undefined && provider.isStoredMethod(given)) await requireHeldFor(provider, given, known);
  const ensured = await ensureCustomer(deps, { slot, owner, caller, forId: id, known });
  const token = given ?? (await tokenOfCard(provider, body, id));
  const isStored = provider.isStoredMethod(token);
  if (isStored === undefined) await requireTypeOf(provider, token, body);
  const method = isStored
    ? await requireHeldFor(provider, token, ensured)
    : await attachToken(provider, token, {
        customerId: ensured.providerCustomerId,
        verificationToken: body.verification_token,
        id,
      });
  if (isWrongType(body, method)) {
    if (!isStored) await undoAttach(provider, method);
    requireType(body, method);
  }
  const customer = await learnProviderId(deps, ensured, method);
  const at = iso(deps.now());
  return {
    id,
    ...firstVersion(at, idempotency),
    providerId: slot,
    ...storedMethodFields(method),
    setup: newSetup(method.setup, body.is_default),
    customerId: customer.customerId,
    providerCustomerId: customer.providerCustomerId,
    billingAddressId: named(addressRecord)?.id,
    alias: body.alias ?? undefined,
    ...ownerFieldsOf(owner, caller),
  };
};

type WantedType = Pick<CreateMethodBody, 'type'>;

const isWrongType = ({ type: wanted }: WantedType, { type }: Pick<PaymentMethod, 'type'>): boolean =>
  wanted !== undefined && wanted !== type;

/** @throws DomainError VALIDATION_ERROR if the method's type differs from the requested type */
const requireType = (wanted: WantedType, method: Pick<PaymentMethod, 'type'>): void => {
  if (!isWrongType(wanted, method)) return;
  const message = `must be ${method.type}, because the token stands for a ${method.type.replace('_', ' ')}`;
  throw invalid([{ path: 'type', rule: 'type_mismatch', message }]);
};

/**
 * Checks the type before the attach, because a refusal after the attach would have to detach the method. The method may
 * have been attached before this request.
 */
const requireTypeOf = async (provider: PaymentProvider, token: string, wanted: WantedType): Promise<void> => {
  if (wanted.type === undefined) return;
  const found = await provider.findMethod(token);
  // Ignore a refusal here, because the attach of the same token is refused too.
  if (found.kind !== 'refused') requireType(wanted, requireDone(found, TOKEN));
};

/**
 * Cancels the open set-up, if any, and detaches the method.
 * @throws DomainError if the provider does not respond; a retry under the same key then detaches the method
 */
const undoAttach = async (provider: PaymentProvider, { setup, methodId }: ProviderMethod): Promise<void> => {
  if (setup && provider.setups) requireDone(await provider.setups.cancel(setup.setupId), TOKEN);
  requireDone(await provider.detachMethod(methodId), TOKEN);
};

/** Finds a method that the provider stores for the owner's customer. @throws DomainError RESOURCE_NOT_FOUND */
const requireHeldFor = async (
  provider: PaymentProvider,
  methodId: string,
  customer: OwnerCustomer | undefined,
): Promise<ProviderMethod> => {
  const found = customer ? await provider.findMethod(methodId) : undefined;
  if (found?.kind === 'unknown') throw unknownOutcomeError(found.reason);
  if (!customer || found?.kind !== 'done' || !isMethodOf(found.value, customer)) {
    throw notFound('payment_method');
  }
  return found.value;
};

/** @throws DomainError RESOURCE_NOT_FOUND if the method belongs to another customer or was removed at the provider */
const attachToken = async (
  provider: PaymentProvider,
  token: string,
  {
    customerId,
    verificationToken,
    id,
  }: Pick<AttachMethod, 'customerId' | 'verificationToken'> & { readonly id: string },
): Promise<ProviderMethod> => {
  const attached = await provider.attachMethod({
    token,
    customerId,
    verificationToken,
    paymentMethodId: id,
    // After a refusal, the client may send another token under the same Idempotency-Key. So the key contains the token.
    idempotencyKey: `${id}:attach:${fingerprint(token, ...(verificationToken ? [verificationToken] : [])).slice(0, 12)}`,
  });
  if (attached.kind === 'refused' && attached.reason === NOT_ATTACHABLE) throw notFound('payment_method');
  const isToken = attached.kind === 'refused' && attached.parameter === 'verification_token';
  return requireDone(attached, isToken ? 'verification_token' : TOKEN);
};

export const storedMethodFields = (method: ProviderMethod) => ({
  providerMethodId: method.methodId,
  type: method.type,
  walletType: method.walletType,
  cardBrand: method.cardBrand,
  lastFour: method.lastFour,
  expiryMonth: method.expiryMonth,
  expiryYear: method.expiryYear,
  funding: method.funding,
  country: method.country,
  fingerprint: method.fingerprint,
});

const tokenOfCard = async (provider: PaymentProvider, body: CreateMethodBody, id: string): Promise<string> => {
  const tokenized = await provider.tokenizeCard({
    number: (body.card_number ?? '').replaceAll(/[ -]/g, ''),
    expiryMonth: body.card_exp_month ?? '',
    expiryYear: body.card_exp_year ?? '',
    cvc: body.card_cvc,
    idempotencyKey: `${id}:card`,
  });
  return requireDone(tokenized, 'card_number').token;
};
