import { DomainError } from '../core/errors.ts';
import { fingerprint } from '../core/ids.ts';
import { epochSeconds, iso } from '../core/time.ts';
import type { ApiRequest, Reply } from '../http/request.ts';
import { canonicalJson } from '../idempotency/idempotency.ts';
import type { ProviderRecordDeps } from '../providers/registry/deps.ts';
import { requireDone } from '../providers/registry/unwrap.ts';
import { recordStore } from '../table/record-store.ts';
import {
  type Customer,
  customerShape,
  customerView,
  PROVIDER_FIELDS,
  type ProviderField,
  withoutSent,
} from './customer.ts';
import type { UpdateCustomerBody } from './requests.ts';

/** Changes a customer: at the provider, if one of its fields changes, then in the record. */
export const updateCustomer = async (
  deps: ProviderRecordDeps,
  { record: customer, body }: ApiRequest<unknown, unknown, UpdateCustomerBody, Customer>,
): Promise<Reply> => {
  const changed = withChanges(customer, body);
  const fields = fieldsToSend(customer, { changed, body });
  if (fields.length === 0 && canonicalJson(changed) === canonicalJson(customer))
    return { data: customerView(customer) };
  const sent = fields.length === 0 ? customer : await updateAtProvider(deps, customer, { changed, fields });
  const { record: revised } = await recordStore(deps, customerShape).change(sent, (current) => ({
    ...withChanges(current, body),
    knownAt: Math.max(sent.knownAt ?? 0, current.knownAt ?? 0) || undefined,
    sending: withoutSent(current.sending, fields),
    version: current.version + 1,
    updatedAt: iso(deps.now()),
  }));
  return { data: customerView(revised) };
};

/**
 * The named fields that change, so that newer values at the provider stay; and those that an earlier update without an answer may
 * have changed there.
 */
const fieldsToSend = (
  customer: Customer,
  { changed, body }: { readonly changed: Customer; readonly body: UpdateCustomerBody },
): readonly ProviderField[] =>
  PROVIDER_FIELDS.filter(
    (field) =>
      changed[field] !== customer[field] || (body[field] !== undefined && customer.sending?.fields.includes(field)),
  );

/** Notes what is sent before it is sent. @returns the record with that note */
const updateAtProvider = async (
  deps: ProviderRecordDeps,
  customer: Customer,
  { changed, fields }: { readonly changed: Customer; readonly fields: readonly ProviderField[] },
): Promise<Customer> => {
  const { fields: unclear = [], attempt = 0 } = customer.sending ?? {};
  const provider = await deps.providers.require(customer.providerId, 'customers');
  const noted = await recordStore(deps, customerShape).commit(customer, {
    ...customer,
    sending: { fields: [...new Set([...unclear, ...fields])], attempt: attempt + 1 },
  });
  if (!noted) throw new DomainError('VERSION_CONFLICT');
  const sent = (field: ProviderField): string | undefined => (fields.includes(field) ? changed[field] : undefined);
  const outcome = await provider.updateCustomer({
    customerId: customer.providerCustomerId,
    email: sent('email'),
    name: sent('name'),
    phone: sent('phone'),
    cleared: fields.filter((field) => changed[field] === undefined),
    idempotencyKey: `${customer.id}:update:${customer.version}:${attempt}:${fingerprint(canonicalJson(changed)).slice(0, 12)}`,
  });
  requireDone(outcome, fields[0] ?? 'email');
  return { ...noted, knownAt: epochSeconds(deps.now()) };
};

const withChanges = (customer: Customer, body: UpdateCustomerBody): Customer => {
  const pick = (sent: string | null | undefined, stored: string | undefined): string | undefined =>
    sent === undefined ? stored : sent || undefined;
  return {
    ...customer,
    email: pick(body.email, customer.email),
    name: pick(body.name, customer.name),
    firstName: pick(body.first_name, customer.firstName),
    lastName: pick(body.last_name, customer.lastName),
    phone: pick(body.phone, customer.phone),
    metadata: body.metadata === undefined ? customer.metadata : (body.metadata ?? undefined),
  };
};
