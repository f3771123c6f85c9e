/** @module Changes of a customer on the provider's dashboard. null clears a detail. */
import * as z from 'zod';
import { PROVIDER_SLOTS } from '../../../shared/core/settings.ts';
import type { LedgerCustomer } from '../ledger/documents.ts';
import { type ControlCall, ControlError, type ControlParts, parsed } from './control-call.ts';

const detail = z.string().min(1).max(500).nullable().optional();
const changed = z.strictObject({ email: detail, name: detail, phone: detail });

export const changeCustomerByHand = (parts: ControlParts, call: ControlCall): Response => {
  const { email, name, phone } = parsed(changed, call.body);
  const before = findCustomer(parts, call.id);
  const customer: LedgerCustomer = {
    ...before,
    ...(email !== undefined && { email }),
    ...(phone !== undefined && { phone }),
    ...(name !== undefined && { name, wire: { ...before.wire, ...partsOf(before, name) } }),
  };
  parts.units.work(before.provider, undefined, (unit) => {
    unit.documents.customers.put(customer);
    unit.announce({ kind: 'customer.updated', customer, before });
  });
  parts.deliverNow();
  const { id, provider } = customer;
  return Response.json({ id, provider, email: customer.email, name: customer.name, phone: customer.phone });
};

const findCustomer = ({ units: { documents } }: ControlParts, id: string): LedgerCustomer => {
  const [found] = PROVIDER_SLOTS.flatMap((slot) => documents.customers.get(slot, id) ?? []);
  if (found === undefined || found.deleted) throw new ControlError(404, `No provider knows a customer ${id}`);
  return found;
};

/** Square and Braintree split a name in two parts. The last word becomes the family name. */
const partsOf = ({ wire }: LedgerCustomer, name: string | null): Record<string, string | null> => {
  const [given = null, family = null] = /^(.*) (\S+)$/su.exec(name ?? '')?.slice(1) ?? [name];
  const names = { given_name: given, family_name: family, first_name: given, last_name: family };
  return Object.fromEntries(Object.entries(names).filter(([part]) => part in wire));
};
