import { fingerprint } from '../core/ids.ts';
import { epochSeconds } from '../core/time.ts';
import type { ApiRequest, Reply } from '../http/request.ts';
import { canonicalJson } from '../idempotency/idempotency.ts';
import type { ProviderRecordDeps } from '../providers/registry/deps.ts';
import { requireDone } from '../providers/registry/unwrap.ts';
import { recordStore } from '../table/record-store.ts';
import { type Customer, customerShape, customerView } from './customer.ts';
import type { UpdateCustomerBody } from './requests.ts';

/** Changes a customer: at the provider, if one of its fields changes, then in the record. */
export const updateCustomer = async (
  deps: ProviderRecordDeps,
  { record: customer, body }: ApiRequest<unknown, unknown, UpdateCustomerBody, Customer>,
): Promise<Reply> => {
  const changed = withChanges(customer, body);
  if (canonicalJson(changed) === canonicalJson(customer)) return { data: customerView(customer) };
  const synced = await updateAtProvider(deps, customer, changed);
  const revised = await recordStore(deps, customerShape).revise(customer, { ...changed, ...synced });
  return { data: customerView(revised) };
};

const PROVIDER_FIELDS = ['email', 'name', 'phone'] as const;

/** Sends only changed fields, so that newer values at the provider stay. */
const updateAtProvider = async (
  deps: ProviderRecordDeps,
  customer: Customer,
  changed: Customer,
): Promise<Pick<Customer, 'knownAt'>> => {
  const fields = PROVIDER_FIELDS.filter((field) => changed[field] !== customer[field]);
  if (fields.length === 0) return {};
  const sent = (field: (typeof PROVIDER_FIELDS)[number]): string | undefined =>
    fields.includes(field) ? changed[field] : undefined;
  const provider = await deps.providers.require(customer.providerId, 'customers');
  const outcome = await provider.updateCustomer({
    customerId: customer.providerCustomerId,
    email: sent('email'),
    name: sent('name'),
    phone: sent('phone'),
    cleared: fields.filter((field) => changed[field] === undefined),
    idempotencyKey: `${customer.id}:update:${customer.version}:${fingerprint(canonicalJson(changed)).slice(0, 12)}`,
  });
  requireDone(outcome, fields[0] ?? 'email');
  return { knownAt: epochSeconds(deps.now()) };
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
