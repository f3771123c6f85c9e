import { DomainError } from '../core/errors.ts';
import { fingerprint } from '../core/ids.ts';
import { iso } from '../core/time.ts';
import type { Reply } from '../http/reply.ts';
import type { ApiRequest } from '../http/request.ts';
import { canonicalJson } from '../idempotency/idempotency.ts';
import { done } from '../providers/done.ts';
import { recordStore } from '../table/record-store.ts';
import { type Customer, customerShape } from './customer.ts';
import type { ProviderRecordDeps } from './deps.ts';
import type { UpdateCustomerBody } from './requests.ts';
import { customerView } from './view.ts';

/** Changes a customer at the provider and here. */
export const updateCustomer = async (
  deps: ProviderRecordDeps,
  { record: customer, body }: ApiRequest<unknown, unknown, UpdateCustomerBody, Customer>,
): Promise<Reply> => {
  const changed = withChanges(customer, body);
  if (canonicalJson(changed) === canonicalJson(customer)) return { data: customerView(customer) };
  const provider = await deps.providers.having(customer.providerId, 'customers');
  const { email, name, phone } = changed;
  const outcome = await provider.updateCustomer({
    customerId: customer.providerCustomerId,
    email,
    name,
    phone,
    idempotencyKey: `${customer.id}:update:${customer.version}:${fingerprint(canonicalJson(changed)).slice(0, 12)}`,
  });
  done(outcome, 'email');
  const next = { ...changed, version: customer.version + 1, updatedAt: iso(deps.now()) };
  const committed = await recordStore(deps.table, deps.now, customerShape).commit(customer, next);
  if (!committed) throw new DomainError('VERSION_CONFLICT');
  return { data: customerView(committed) };
};

const withChanges = (customer: Customer, body: UpdateCustomerBody): Customer => {
  const pick = <T>(sent: T | null | undefined, stored: T | undefined): T | undefined =>
    sent === undefined ? stored : (sent ?? undefined);
  return {
    ...customer,
    email: pick(body.email, customer.email),
    name: pick(body.name, customer.name),
    firstName: pick(body.first_name, customer.firstName),
    lastName: pick(body.last_name, customer.lastName),
    phone: pick(body.phone, customer.phone),
    metadata: pick(body.metadata, customer.metadata),
  };
};
