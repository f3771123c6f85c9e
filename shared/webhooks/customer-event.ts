/**
 * @module Applies a provider's event about a customer. `created` confirms it, `updated` refreshes it, `deleted` removes
 * it.
 */

import { normalizedEmail } from '../core/text.ts';
import { CONTACT_FIELDS, type Customer, customerShape, detailsFor } from '../customers/customer.ts';
import { findAlias } from '../platform/alias.ts';
import { versionedRecord } from '../platform/versioned-record.ts';
import type { ReportedDetails } from '../providers/customer-port.ts';
import type { PaymentProvider } from '../providers/provider.ts';
import { requireDone } from '../providers/unwrap.ts';
import { type RemoveCustomerDeps, removeCustomer } from '../removal/remove-customer.ts';
import { type EventResult, type InboundEvent, ignored, refreshRecord } from './inbound-event.ts';

type CustomerEvent = InboundEvent<'customer.created' | 'customer.updated' | 'customer.deleted'>;

export const applyCustomerEvent = async (
  deps: RemoveCustomerDeps,
  { slot, type, event }: CustomerEvent,
): Promise<EventResult> => {
  const alias = await findAlias(deps.table, slot, event.object.id);
  const customer = alias?.kind === 'CUS' ? await versionedRecord(deps, customerShape).load(alias.id) : undefined;
  if (!customer) return type === 'customer.updated' ? { kind: 'early' } : ignored({}, 'no such customer here');
  switch (type) {
    case 'customer.created':
      return ignored(customer, 'known');
    case 'customer.deleted':
      await removeCustomer(deps, customer, { atProvider: false });
      return { kind: 'applied', reason: 'customer removed', owner: customer };
    case 'customer.updated': {
      const provider = await deps.providers.require(slot, 'customers');
      return refreshRecord(deps, customer, {
        ...{ shape: customerShape, name: 'customer', event },
        factsOf: ({ object }, known) => factsOf(provider, object.customer ?? {}, known),
        isPartial: ({ object: { customer } }, known) =>
          customer?.omitsUnset === true && CONTACT_FIELDS.some((field) => !(field in customer) && known[field]),
        readFacts: async (known) =>
          factsOf(provider, requireDone(await provider.findCustomer(known.providerCustomerId), 'id'), known),
      });
    }
  }
};

/** The longest accepted value, in characters. Checked before any work on the text. */
const LONGEST = 512;

/**
 * The fields changed by the report. Null or an empty string clears a field. A field stays unchanged if it is absent,
 * longer than any provider allows, or equal to our value as the provider stores it. A reported name replaces first and
 * last name, by its parts if the provider stores parts.
 */
const factsOf = (provider: PaymentProvider, reported: ReportedDetails, known: Customer): Partial<Customer> => {
  const kept = provider.keptContact(detailsFor(known));
  const changed = CONTACT_FIELDS.flatMap((field) => {
    if (reported[field] === undefined) return [];
    if ((reported[field]?.length ?? 0) > LONGEST) return [];
    const value = (field === 'email' ? normalizedEmail(reported.email ?? '') : reported[field]) || undefined;
    return value === kept[field] || value === known[field] ? [] : [[field, value] as const];
  });
  const facts: Partial<Customer> = Object.fromEntries(changed);
  if (!('name' in facts)) return facts;
  const { given, family } = reported.nameParts ?? {};
  // A reported name without parts stays until a report or a request sets another name. A name with parts follows its
  // parts.
  const isNameGiven = facts.name !== undefined && reported.nameParts === undefined ? true : undefined;
  return { ...facts, firstName: given, lastName: family, isNameGiven };
};
