import { addressRecord } from '../addresses/address.ts';
import { DomainError } from '../core/errors.ts';
import { fingerprint } from '../core/ids.ts';
import { iso } from '../core/time.ts';
import { ownerFieldsOf } from '../customers/create.ts';
import { ensureCustomer } from '../customers/ensure.ts';
import { ownerCustomerOf } from '../customers/owner-customer.ts';
import { guestTokenFields } from '../http/guest-token-fields.ts';
import type { Reply } from '../http/reply.ts';
import type { ApiRequest } from '../http/request.ts';
import { createOnce } from '../idempotency/create-once.ts';
import { done } from '../providers/done.ts';
import type { PaymentProvider } from '../providers/provider.ts';
import { aliasStep } from '../table/alias.ts';
import { defaultStep } from '../table/defaults.ts';
import type { Owner } from '../table/keys.ts';
import { recordStore } from '../table/record-store.ts';
import { addressUseSteps } from './address-use.ts';
import { isDefaultMethod, slotOf } from './defaults.ts';
import type { MethodDeps } from './deps.ts';
import { type PaymentMethod, paymentMethodShape } from './payment-method.ts';
import type { CreateMethodBody } from './requests.ts';
import { methodView } from './view.ts';

type CreateRequest = ApiRequest<unknown, unknown, CreateMethodBody>;

/** A create's function time-out; a retry under the same key waits this long, and 5 s more. */
export const CREATE_TIMEOUT_SECONDS = 29;

/** Saves a payment method: attached to the owner's customer at the provider, then stored here without its token. */
export const createMethod = async (deps: MethodDeps, request: CreateRequest): Promise<Reply> => {
  const { body, caller, owner, idempotency } = request;
  if (!owner) throw new Error('a payment method needs an owner');
  const provider = await deps.providers.having(body.provider_id, 'methods');
  refuseRawCard(deps, provider, body);
  const { record, replayed } = await createOnce(deps, {
    store: recordStore(deps.table, deps.now, paymentMethodShape),
    kind: 'payment_method',
    idempotency,
    hold: { table: deps.table, timeoutSeconds: CREATE_TIMEOUT_SECONDS },
    build: (id) => attach(deps, provider, request, owner, id),
    beside: (method) => [
      aliasStep(method.providerId, method.providerMethodId, { kind: 'PM', id: method.id }),
      ...(body.is_default ? [defaultStep(slotOf(method), method.id)] : []),
      ...addressUseSteps(undefined, method),
    ],
  });
  const isDefault = replayed ? await isDefaultMethod(deps.table, record) : body.is_default;
  return {
    data: { ...methodView(record, isDefault), ...(await guestTokenFields(deps.guestTokens, caller, record)) },
    ...(replayed && { headers: { 'idempotent-replayed': 'true' } }),
  };
};

/** Beside a token too: whoever sends card data shall know that it has no business here. */
const refuseRawCard = (deps: MethodDeps, provider: PaymentProvider, body: CreateMethodBody): void => {
  if (body.card_number === undefined && body.card_cvc === undefined) return;
  if (!deps.allowRawCards || !provider.can.rawCards) throw new DomainError('RAW_CARD_DISABLED');
};

const attach = async (
  deps: MethodDeps,
  provider: PaymentProvider,
  { body, caller, alongside, idempotency, named }: CreateRequest,
  owner: Owner,
  id: string,
): Promise<PaymentMethod> => {
  const slot = body.provider_id;
  const customer = await ensureCustomer(deps, {
    slot,
    owner,
    caller,
    forId: id,
    known: ownerCustomerOf(alongside[0]),
  });
  const token = body.provider_payment_method_token ?? (await tokenOfCard(provider, body, id));
  const attached = await provider.attachMethod({
    token,
    customerId: customer.providerCustomerId,
    // A token that was refused may be followed by another under the same Idempotency-Key.
    idempotencyKey: `${id}:attach:${fingerprint(token).slice(0, 12)}`,
  });
  const method = done(attached, 'provider_payment_method_token');
  const at = iso(deps.now());
  return {
    id,
    version: 1,
    createdAt: at,
    updatedAt: at,
    requestHash: idempotency?.requestHash,
    providerId: slot,
    ...factsOf(method),
    customerId: customer.customerId,
    providerCustomerId: customer.providerCustomerId,
    billingAddressId: named(addressRecord)?.id,
    alias: body.alias || undefined,
    ...ownerFieldsOf(owner, caller),
  };
};

/** What the provider says of a method, as it is stored. */
export const factsOf = (method: {
  readonly methodId: string;
  readonly type: PaymentMethod['type'];
  readonly walletType: string | undefined;
  readonly cardBrand: string | undefined;
  readonly lastFour: string | undefined;
  readonly expiryMonth: string | undefined;
  readonly expiryYear: string | undefined;
}) => ({
  providerMethodId: method.methodId,
  type: method.type,
  walletType: method.walletType,
  cardBrand: method.cardBrand,
  lastFour: method.lastFour,
  expiryMonth: method.expiryMonth,
  expiryYear: method.expiryYear,
});

const tokenOfCard = async (provider: PaymentProvider, body: CreateMethodBody, id: string): Promise<string> => {
  const tokenized = await provider.tokenizeCard({
    number: (body.card_number ?? '').replaceAll(/[ -]/g, ''),
    expiryMonth: body.card_exp_month ?? '',
    expiryYear: body.card_exp_year ?? '',
    cvc: body.card_cvc,
    idempotencyKey: `${id}:card`,
  });
  return done(tokenized, 'card_number').token;
};
