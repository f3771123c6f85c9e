/** @module Sends contact details to a provider, and retries without refused details. */
import type { Outcome } from '../core/outcome.ts';
import type { ContactField, CustomerDetails } from '../providers/customer-port.ts';
import { CONTACT_FIELDS } from './customer.ts';

/** The contact field that the provider refused; undefined if it refused something else. */
export const refusedField = (outcome: Outcome<unknown>): ContactField | undefined =>
  outcome.kind === 'refused' ? CONTACT_FIELDS.find((field) => field === outcome.parameter) : undefined;

/** Sends the details. If the provider refuses a field listed in `mayBeLeftOut`, sends them again without that field. */
export const withoutRefused = async <T>(
  details: CustomerDetails,
  mayBeLeftOut: readonly ContactField[],
  send: (details: CustomerDetails) => Promise<Outcome<T>>,
): Promise<Outcome<T>> => {
  const outcome = await send(details);
  const field = refusedField(outcome);
  if (field === undefined || details[field] === undefined || !mayBeLeftOut.includes(field)) return outcome;
  return withoutRefused({ ...details, [field]: undefined }, mayBeLeftOut, send);
};
