import { currentWork } from '../core/actor.ts';
import { epochSeconds, iso } from '../core/time.ts';
import type { ApiRequest, Reply } from '../http/request.ts';
import { canonicalJson } from '../idempotency/idempotency.ts';
import type { ProviderRecordDeps } from '../providers/registry/deps.ts';
import { requireDone } from '../providers/registry/unwrap.ts';
import { recordStore } from '../table/record-store.ts';
import { type Customer, customerShape, customerView } from './customer.ts';
import type { UpdateCustomerBody } from './requests.ts';

/** Changes a customer: at the provider, if one of its fields is named, then in the record. */
export const updateCustomer = async (
  deps: ProviderRecordDeps,
  { record: customer, body }: ApiRequest<unknown, unknown, UpdateCustomerBody, Customer>,
): Promise<Reply> => {
  const fields = PROVIDER_FIELDS.filter((field) => body[field] !== undefined);
  // Where another commit came first, the values are sent again: the provider may have carried out the two in the other order.
  const { record } = await recordStore(deps, customerShape).change(customer, async (current) => {
    const changed = withChanges(current, body);
    const synced = fields.length === 0 ? {} : await updateAtProvider(deps, changed, fields);
    if (canonicalJson(changed) === canonicalJson(current)) {
      // An event of an earlier update that got no answer is stale from now on.
      return fields.length === 0 ? undefined : { ...current, ...synced };
    }
    return { ...changed, ...synced, version: current.version + 1, updatedAt: iso(deps.now()) };
  });
  return { data: customerView(record) };
};

const PROVIDER_FIELDS = ['email', 'name', 'phone'] as const;
type ProviderField = (typeof PROVIDER_FIELDS)[number];

/**
 * Sends only named fields, so that newer values at the provider stay; and those too whose value the record has already: an earlier
 * update without an answer may have changed them there. Each call has a key of its own, since a used key would send nothing.
 */
const updateAtProvider = async (
  deps: ProviderRecordDeps,
  changed: Customer,
  fields: readonly ProviderField[],
): Promise<Pick<Customer, 'knownAt'>> => {
  const { id, version, knownAt = 0, providerId, providerCustomerId } = changed;
  const sent = (field: ProviderField): string | undefined => (fields.includes(field) ? changed[field] : undefined);
  const provider = await deps.providers.require(providerId, 'customers');
  const outcome = await provider.updateCustomer({
    customerId: providerCustomerId,
    email: sent('email'),
    name: sent('name'),
    phone: sent('phone'),
    cleared: fields.filter((field) => changed[field] === undefined),
    idempotencyKey: `${id}:update:${version}:${knownAt}:${currentWork()?.requestId ?? ''}`,
  });
  requireDone(outcome, fields[0] ?? 'email');
  return { knownAt: Math.max(knownAt, epochSeconds(deps.now())) };
};

const withChanges = (customer: Customer, body: UpdateCustomerBody): Customer => {
  const pick = (sent: string | null | undefined, stored: string | undefined): string | undefined =>
    sent === undefined ? stored : (sent ?? undefined);
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
