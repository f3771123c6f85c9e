import type { Problem } from '../core/errors.ts';
import { hasPostalCodes } from './countries.ts';

/** What the rules of an address look at; text counts as given where it is not blank. */
export interface AddressFacts {
  /** undefined: not known to be a country. */
  readonly country: string | undefined;
  readonly isPartial: boolean;
  readonly isBusiness: boolean;
  readonly line1?: string | undefined;
  readonly city?: string | undefined;
  readonly postalCode?: string | undefined;
  readonly name?: string | undefined;
  readonly businessName?: string | undefined;
}

/**
 * Partial: a country is enough. Full: line1, city and name, and a postal code where the country has them. A business needs
 * its name, and then the others may be absent. The same on create and for what an update comes to.
 */
export const addressProblems = (facts: AddressFacts): readonly Problem[] => {
  if (facts.isBusiness) return facts.businessName ? [] : [missing('business_name', 'a business address')];
  if (facts.isPartial) return [];
  const country = facts.country;
  return [
    ...(facts.line1 ? [] : [missing('line1', 'a full address')]),
    ...(facts.city ? [] : [missing('city', 'a full address')]),
    ...(facts.name ? [] : [missing('name', 'a full address')]),
    ...(facts.postalCode || country === undefined || !hasPostalCodes(country)
      ? []
      : [missing('postal_code', `a full address in ${country}`)]),
  ];
};

const missing = (path: string, of: string): Problem => ({ path, rule: 'required', message: `is required for ${of}` });
