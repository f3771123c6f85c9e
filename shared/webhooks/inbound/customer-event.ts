import { type Customer, customerShape } from '../../customers/customer.ts';
import type { ProviderEvent } from '../../providers/port/events.ts';
import { type RemoveCustomerDeps, removeCustomer } from '../../removal/customer.ts';
import { findAlias } from '../../table/alias.ts';
import { recordStore } from '../../table/record-store.ts';
import { type EventResult, type InboundEvent, ignored, refreshRecord } from './inbound-event.ts';

type CustomerEvent = InboundEvent<'customer.created' | 'customer.updated' | 'customer.deleted'>;

/** updated refreshes e-mail, name and phone; deleted removes the customer; created confirms it. */
export const applyCustomerEvent = async (
  deps: RemoveCustomerDeps,
  { slot, type, event }: CustomerEvent,
): Promise<EventResult> => {
  const alias = await findAlias(deps.table, slot, event.object.id);
  const customer = alias?.kind === 'CUS' ? await recordStore(deps, customerShape).load(alias.id) : undefined;
  if (!customer) return type === 'customer.updated' ? { kind: 'early' } : ignored({}, 'no such customer here');
  switch (type) {
    case 'customer.created':
      return ignored(customer, 'known');
    case 'customer.deleted':
      await removeCustomer(deps, customer, { atProvider: false });
      return { kind: 'applied', reason: 'customer removed', owner: customer };
    case 'customer.updated':
      return refreshRecord(deps, customer, { shape: customerShape, name: 'customer', event, factsOf });
  }
};

const factsOf = ({ object: { customer } }: ProviderEvent, known: Customer): Partial<Customer> => ({
  email: customer?.email?.toLowerCase() ?? known.email,
  name: customer?.name ?? known.name,
  phone: customer?.phone ?? known.phone,
});
