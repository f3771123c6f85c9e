import type { Problem } from '../core/errors.ts';

/** The input of the address rules; blank text counts as absent. */
export interface AddressFacts {
  /** undefined: not a known country. */
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
 * A partial address needs a country. A full address needs line1, city and name, and a postal code if the country has them.
 * A business address needs only the country and the business name. The same rules hold for a create and for the result of
 * an update.
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

/** Countries by their ISO 3166-1 alpha-2 code, as `Intl` names them. */
const regionNames = new Intl.DisplayNames('en', { type: 'region', fallback: 'none' });

/** Codes that `Intl` names although they are withdrawn, reserved or of no country. */
const NOT_ISO = new Set(
  'AC AN BU CP CQ CS DD DG DY EA EU EZ FX HV IC NH QO RH SU TA TP UK UN VD XA XB XK YD YU ZR ZZ'.split(' '),
);

/** @param code upper-cased */
export const isCountry = (code: string): boolean =>
  /^[A-Z]{2}$/.test(code) && !NOT_ISO.has(code) && regionNames.of(code) !== undefined;

/**
 * Countries and territories without postal codes in general use (Universal Postal Union, compared with Google's
 * libaddressinput). A full address there needs no postal code.
 */
const WITHOUT_POSTAL_CODES = new Set(
  (
    'AE AG AO AQ AW BF BI BJ BO BQ BS BV BW BZ CD CF CG CI CK CM CW DJ DM ER FJ GA GD GH GM GQ GY HK JM KI KM KN KP LC ' +
    'LY ML MO MR MS MW NA NR NU PA PS QA RW SB SC SL SO SR SS ST SX SY TD TF TG TK TL TO TT TV UG VU WS YE ZW'
  ).split(' '),
);

export const hasPostalCodes = (country: string): boolean => !WITHOUT_POSTAL_CODES.has(country);
