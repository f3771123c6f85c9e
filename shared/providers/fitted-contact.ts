/**
 * @module Contact details within a provider's limits. A long name is cut. A phone number or e-mail address that does
 * not fit is left out, because a part of it would be another. Our record keeps the full details.
 */

import type { Outcome } from '../core/outcome.ts';
import { cutText } from '../core/text.ts';
import { joinName, splitName } from './adapter.ts';
import type { ContactField, CustomerDetails, UpdateCustomer } from './customer-port.ts';

interface Limit {
  /** The greatest length, in code points. */
  readonly most: number;
  readonly form?: RegExp;
}

export interface ContactLimits {
  readonly phone: Limit;
  readonly email: Limit;
  readonly name: {
    /** The greatest length, in code points, of the whole name or of each of its parts. */
    readonly most: number;
    /** True if the vendor stores given name and family name separately. */
    readonly inParts: boolean;
  };
  /** Our field, by the name that the vendor uses in a refusal. */
  readonly fields: Readonly<Record<string, ContactField>>;
}

/** Characters that every vendor accepts in an e-mail address. */
export const ASCII = /^[!-~]+$/;

export const fittedContact = (limits: ContactLimits, { email, name, phone }: CustomerDetails): CustomerDetails => ({
  email: fits(limits.email, email) ? email : undefined,
  name: name && fittedName(limits.name, name),
  phone: fits(limits.phone, phone) ? phone : undefined,
});

const fits = ({ most, form }: Limit, text: string | undefined): boolean =>
  text !== undefined && cutText(text, most) === text && (form === undefined || form.test(text));

const fittedName = ({ most, inParts }: ContactLimits['name'], name: string): string | undefined => {
  const parts = inParts ? splitName(name) : [name];
  const [given, family] = parts.map((part) => part && cutText(part, most).trimEnd());
  return joinName(given, family);
};

/** An update with fitted details. A new detail that does not fit clears the older one. */
export const fittedUpdate = (limits: ContactLimits, input: UpdateCustomer): UpdateCustomer => {
  const details = fittedContact(limits, input);
  const left = CONTACT_FIELDS.filter((field) => input[field] !== undefined && details[field] === undefined);
  return { ...input, ...details, cleared: [...input.cleared, ...left] };
};

const CONTACT_FIELDS = ['email', 'name', 'phone'] as const satisfies readonly ContactField[];

/** The refusal with our name of the field. */
export const inOurFields = <T>(limits: ContactLimits, outcome: Outcome<T>): Outcome<T> =>
  outcome.kind === 'refused' && outcome.parameter !== undefined
    ? { ...outcome, parameter: limits.fields[outcome.parameter] ?? outcome.parameter }
    : outcome;
