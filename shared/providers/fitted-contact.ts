/**
 * @module Contact details within a provider's limits. A long name is cut. A phone number or e-mail address that does
 * not fit is left out, because a cut number or address would be a different one. Our record keeps the full details.
 */

import type { Outcome } from '../core/outcome.ts';
import { cutText } from '../core/text.ts';
import { joinName, splitName } from './adapter.ts';
import type { ContactField, CustomerDetails, NameParts, UpdateCustomer } from './customer-port.ts';

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
  /** Maps the vendor's field names in refusals to our fields. */
  readonly fields: Readonly<Record<string, ContactField>>;
}

/** Characters that every vendor accepts in an e-mail address. */
export const ASCII = /^[!-~]+$/;

export const fittedContact = (
  limits: ContactLimits,
  { email, name, nameParts, phone }: CustomerDetails,
): CustomerDetails => {
  const parts = limits.name.inParts && nameParts && fittedParts(limits.name, [nameParts.given, nameParts.family]);
  return {
    email: fits(limits.email, email) ? email : undefined,
    name: name && (parts ? joinName(parts.given, parts.family) : fittedName(limits.name, name)),
    ...(parts && { nameParts: parts }),
    phone: fits(limits.phone, phone) ? phone : undefined,
  };
};

/** The parts of the name. Without known parts, the last word is the family name. */
export const partsOfName = ({ name, nameParts }: Pick<CustomerDetails, 'name' | 'nameParts'>): Partial<NameParts> => {
  if (!name) return {};
  const [given, family] = splitName(name);
  return nameParts ?? { given, family };
};

const fits = ({ most, form }: Limit, text: string | undefined): boolean =>
  text !== undefined && cutText(text, most) === text && (form === undefined || form.test(text));

const fittedName = ({ most, inParts }: ContactLimits['name'], name: string): string | undefined => {
  const { given, family } = fittedParts({ most }, inParts ? splitName(name) : [name, undefined]);
  return joinName(given, family);
};

const fittedParts = (
  { most }: Pick<ContactLimits['name'], 'most'>,
  parts: readonly [given: string | undefined, family: string | undefined],
): NameParts => {
  const [given, family] = parts.map((part) => part && cutText(part, most).trimEnd());
  return { given, family };
};

/** An update within the vendor's limits. A new value beyond the limits clears the old value. */
export const fittedUpdate = (limits: ContactLimits, input: UpdateCustomer): UpdateCustomer => {
  const details = fittedContact(limits, input);
  const left = CONTACT_FIELDS.filter((field) => input[field] !== undefined && details[field] === undefined);
  return { ...input, ...details, cleared: [...input.cleared, ...left] };
};

const CONTACT_FIELDS = ['email', 'name', 'phone'] as const satisfies readonly ContactField[];

/** Replaces the vendor's field name in a refusal with ours. */
export const inOurFields = <T>(limits: ContactLimits, outcome: Outcome<T>): Outcome<T> =>
  outcome.kind === 'refused' && outcome.parameter !== undefined
    ? { ...outcome, parameter: limits.fields[outcome.parameter] ?? outcome.parameter }
    : outcome;
