/** @module Changes a customer. If a field also exists at the provider, the provider is changed before the record. */

import { currentWork } from '../core/actor.ts';
import { epochSeconds, iso } from '../core/time.ts';
import { canonicalJson } from '../http/idempotency.ts';
import type { ApiRequest, Reply } from '../http/request.ts';
import { versionedRecord } from '../platform/versioned-record.ts';
import type { ContactField } from '../providers/customer-port.ts';
import type { ProviderRecordDeps } from '../providers/provider-deps.ts';
import { requireDone } from '../providers/unwrap.ts';
import { refusedField, withoutRefused } from './contact-fields.ts';
import { CONTACT_FIELDS, type Customer, customerShape, customerView, derivedName, detailsFor } from './customer.ts';
import type { UpdateCustomerBody } from './customer-requests.ts';

export const updateCustomer = async (
  deps: ProviderRecordDeps,
  { record: customer, body }: ApiRequest<unknown, unknown, UpdateCustomerBody, Customer>,
): Promise<Reply> => {
  let sent: Sent | undefined;
  const { record } = await versionedRecord(deps, customerShape).change(customer, async (current) => {
    const echoed = sent && isEchoOf(sent, current) ? sent.was : undefined;
    const changed = withChanges(echoed ? { ...current, ...namesOf(echoed) } : current, body);
    const fields = CONTACT_FIELDS.filter((field) => body[field] !== undefined || changed[field] !== current[field]);
    if (!echoed && fields.length > 0) {
      const at = await sendToProvider(deps, changed, fields);
      sent = { was: current, details: detailsOf(changed), at };
    }
    const synced = sent && { knownAt: Math.max(current.knownAt ?? 0, sent.at) };
    if (canonicalJson(changed) === canonicalJson(current)) {
      // Note the time, so that an event of an earlier update without a response becomes stale.
      return synced && { ...current, ...synced };
    }
    return { ...changed, ...synced, version: current.version + 1, updatedAt: iso(deps.now()) };
  });
  return { data: customerView(record) };
};

interface Sent {
  readonly was: Customer;
  readonly details: string;
  /** Epoch second of the provider's response. */
  readonly at: number;
}

/**
 * True if the concurrent commit only echoed our own call. After any other commit the values are sent again, because the
 * provider may have processed both calls in the opposite order.
 */
const isEchoOf = ({ was, details }: Sent, current: Customer): boolean => {
  if (current.version === was.version) return true;
  const hasOtherParts = current.firstName !== was.firstName || current.lastName !== was.lastName;
  const isOfProvider = [undefined, current.name].includes(derivedName(current));
  return detailsOf(current) === details && (!hasOtherParts || isOfProvider);
};

const detailsOf = ({ email, name, phone }: Customer): string => canonicalJson({ email, name, phone });

/** The names from before our call, because the echo's commit has replaced them with the provider's names. */
const namesOf = ({ name, firstName, lastName, isNameGiven }: Customer) => ({ name, firstName, lastName, isNameGiven });

/**
 * Sends only these fields, so newer values of other fields at the provider stay. Also sends values already in the
 * record, because an earlier update without a response may have changed them. Each call has its own idempotency key,
 * because a repeated key changes nothing. @returns epoch second of the provider's response
 */
const sendToProvider = async (
  deps: ProviderRecordDeps,
  changed: Customer,
  fields: readonly ContactField[],
): Promise<number> => {
  const { id, version, knownAt = 0, providerId, providerCustomerId } = changed;
  const given = (field: ContactField): string | undefined => (fields.includes(field) ? changed[field] : undefined);
  const provider = await deps.providers.require(providerId, 'customers');
  const name = given('name');
  const wanted = { ...detailsFor({ ...changed, name }), email: given('email'), phone: given('phone') };
  const key = `${id}:update:${version}:${knownAt}:${currentWork()?.requestId ?? ''}`;
  const outcome = await withoutRefused(wanted, ['email'], (details) =>
    provider.updateCustomer({
      customerId: providerCustomerId,
      ...details,
      cleared: fields.filter((field) => details[field] === undefined),
      idempotencyKey: details.email === wanted.email ? key : `${key}:without-email`,
    }),
  );
  requireDone(outcome, refusedField(outcome) ?? fields[0] ?? 'email');
  return epochSeconds(deps.now());
};

/** The customer with the changes of the request. The name follows the first and last name until a name is given. */
const withChanges = (customer: Customer, body: UpdateCustomerBody): Customer => {
  const pick = (sent: string | null | undefined, stored: string | undefined): string | undefined =>
    sent === undefined ? stored : (sent ?? undefined);
  const parts = {
    firstName: pick(body.first_name, customer.firstName),
    lastName: pick(body.last_name, customer.lastName),
  };
  const followsParts = customer.isNameGiven !== true && customer.name === derivedName(customer);
  return {
    ...customer,
    email: pick(body.email, customer.email),
    name: pick(body.name, followsParts ? derivedName(parts) : customer.name),
    ...parts,
    ...(body.name && { isNameGiven: true }),
    phone: pick(body.phone, customer.phone),
    metadata: body.metadata === undefined ? customer.metadata : (body.metadata ?? undefined),
  };
};
