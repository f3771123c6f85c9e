/**
 * @module Creates a customer at the provider, then stores it. The idempotency key of the provider call derives from our
 * id.
 */

import type { GuestTokens } from '../access/guest-token.ts';
import { guestTokenFields } from '../access/guest-token.ts';
import { ownerFieldsOf, ownerOfRecord } from '../access/record-kind.ts';
import { projectRecord } from '../catalog/catalog-records.ts';
import { type DomainError, invalid } from '../core/errors.ts';
import { fingerprint } from '../core/ids.ts';
import type { Outcome, Refusal } from '../core/outcome.ts';
import { iso } from '../core/time.ts';
import { createOnce } from '../http/create-once.ts';
import { CREATE_TIMEOUT_SECONDS } from '../http/endpoint.ts';
import { canonicalJson } from '../http/idempotency.ts';
import type { ApiRequest, Reply } from '../http/request.ts';
import { aliasStep } from '../platform/alias.ts';
import type { Owner } from '../platform/keys.ts';
import type { TransactionStep } from '../platform/table.ts';
import { firstVersion, versionedRecord } from '../platform/versioned-record.ts';
import type { CustomerDetails, ProviderCustomer } from '../providers/customer-port.ts';
import type { PaymentProvider } from '../providers/provider.ts';
import type { ProviderRecordDeps } from '../providers/provider-deps.ts';
import { failedError, refusedFieldError } from '../providers/unwrap.ts';
import { refusedField, withoutRefused } from './contact-fields.ts';
import {
  CONTACT_FIELDS,
  type Customer,
  customerShape,
  customerView,
  derivedName,
  detailsFor,
  setOwnerCustomer,
} from './customer.ts';
import type { CreateCustomerBody } from './customer-requests.ts';

export const createCustomer = async (
  deps: ProviderRecordDeps & { readonly guestTokens: GuestTokens },
  request: ApiRequest<unknown, unknown, CreateCustomerBody>,
): Promise<Reply> => {
  const { body, caller, owner, idempotency } = request;
  if (!owner) throw new Error('a customer needs an owner');
  const provider = await deps.providers.require(body.provider_id, 'customers');
  const { record, replayed } = await createOnce(deps, {
    store: versionedRecord(deps, customerShape),
    kind: 'customer',
    idempotency,
    hold: { table: deps.table, timeoutSeconds: CREATE_TIMEOUT_SECONDS.customer },
    build: (id) => createProviderCustomer(provider, { ...draftOf(deps, request, owner), id }),
    beside: (customer) => [customerAlias(customer)],
  });
  // Use the record's owner, because a guest who repeats the request has another guest_id.
  await setOwnerCustomer(deps.table, ownerOfRecord(record) ?? owner, record);
  return {
    data: { ...customerView(record), ...(await guestTokenFields(deps.guestTokens, caller, record)) },
    ...(replayed && { headers: { 'idempotent-replayed': 'true' } }),
  };
};

type CustomerDraft = Omit<Customer, 'providerCustomerId'>;

export const customerAlias = ({ id, providerId, providerCustomerId }: Customer): TransactionStep =>
  aliasStep(providerId, providerCustomerId, { kind: 'CUS', id });

/** Creates the provider's customer while the request holds its Idempotency-Key. Any failure frees the key. */
export const createProviderCustomer = async (provider: PaymentProvider, draft: CustomerDraft): Promise<Customer> => {
  const outcome = await sendCustomer(provider, draft);
  if (outcome.kind !== 'done') throw failedError(outcome, customerRefusal);
  return { ...draft, providerCustomerId: outcome.value.customerId };
};

/**
 * Creates the customer at the provider, without contact details refused by the provider. No sale depends on these
 * details.
 * @param attempt part of the idempotency key, so each number makes a new key
 */
export const sendCustomer = (
  provider: PaymentProvider,
  draft: CustomerDraft,
  attempt = 0,
): Promise<Outcome<ProviderCustomer>> => {
  const create = ({ email, name, nameParts, phone }: CustomerDetails) =>
    provider.createCustomer({
      ourCustomerId: draft.id,
      email,
      name,
      nameParts,
      phone,
      idempotencyKey: `${draft.id}:create:${fingerprint(canonicalJson({ email, name, phone, attempt: attempt || undefined })).slice(0, 12)}`,
    });
  return withoutRefused(detailsFor(draft), CONTACT_FIELDS, create);
};

export const customerRefusal = (refusal: Refusal): DomainError =>
  refusedFieldError(refusedField(refusal) ?? 'provider_id', refusal.reason);

const draftOf = (
  deps: ProviderRecordDeps,
  { body, caller, idempotency, named }: ApiRequest<unknown, unknown, CreateCustomerBody>,
  owner: Owner,
): Omit<CustomerDraft, 'id'> => {
  const guest = caller.kind === 'guest' ? caller : body.guest_data;
  const text = (value: string | null | undefined): string | undefined => value ?? undefined;
  const parts = { firstName: text(body.first_name), lastName: text(body.last_name) };
  const derived = derivedName(parts);
  const email = text(body.email) ?? guest?.email;
  if (email === undefined) throw invalid([{ path: 'email', rule: 'required', message: 'is required' }]);
  const at = iso(deps.now());
  return {
    ...firstVersion(at, idempotency),
    providerId: body.provider_id,
    email,
    name: text(body.name) ?? derived ?? guest?.name,
    ...parts,
    ...((text(body.name) ?? (derived === undefined && guest?.name)) && { isNameGiven: true }),
    phone: text(body.phone) ?? text(guest?.phone),
    ...ownerFieldsOf(owner, caller),
    projectId: named(projectRecord)?.id,
    metadata: body.metadata ?? undefined,
  };
};
