/**
 * @module The rules of an address, and the countries requiring a postal code in a full address. The list comes from
 * the region data of Google's libaddressinput (`require` contains `Z`), which follows the Universal Postal Union's
 * country sheets (https://www.upu.int, Addressing Solutions). In two points, it follows the sheets instead of that
 * data. Taiwan requires no postal code. Israel, Iceland, Monaco and the EU countries left open by libaddressinput (BG,
 * CY, HR, MT, SI) require a postal code. In all other countries, the postal code is optional, even if the country has
 * postal codes.
 */

import type { Problem } from '../core/errors.ts';

/** The input of the address rules; blank text counts as absent. */
export interface AddressFacts {
  /** Undefined for an unknown country. */
  readonly country: string | undefined;
  readonly isPartial: boolean;
  readonly isBusiness: boolean;
  readonly line1?: string | undefined;
  readonly city?: string | undefined;
  readonly postalCode?: string | undefined;
  readonly businessName?: string | undefined;
}

/**
 * A partial address needs a country. A full address needs line1 and city, and a postal code if its country requires it.
 * A business address needs only the country and the business name. The rules apply to a create and to the result of an
 * update.
 */
export const addressProblems = (facts: AddressFacts): readonly Problem[] => {
  if (facts.isBusiness) return facts.businessName ? [] : [missing('business_name', 'a business address')];
  if (facts.isPartial) return [];
  const country = facts.country;
  return [
    ...(facts.line1 ? [] : [missing('line1', 'a full address')]),
    ...(facts.city ? [] : [missing('city', 'a full address')]),
    ...(facts.postalCode || country === undefined || !requiresPostalCode(country)
      ? []
      : [missing('postal_code', `a full address in ${country}`)]),
  ];
};

const missing = (path: string, of: string): Problem => ({ path, rule: 'required', message: `is required for ${of}` });

/** Countries by their ISO 3166-1 alpha-2 code, as `Intl` names them. */
const regionNames = new Intl.DisplayNames('en', { type: 'region', fallback: 'none' });

/** Withdrawn, reserved and non-country codes known to `Intl`. */
const NOT_ISO = new Set(
  'AC AN BU CP CQ CS DD DG DY EA EU EZ FX HV IC NH QO RH SU TA TP UK UN VD XA XB XK YD YU ZR ZZ'.split(' '),
);

/** @param code upper-cased */
export const isCountry = (code: string): boolean =>
  code.length === 2 && /^[A-Z]{2}$/.test(code) && !NOT_ISO.has(code) && regionNames.of(code) !== undefined;

/** Countries and territories in which mail needs a postal code for delivery. */
const POSTAL_CODE_REQUIRED: ReadonlySet<string> = new Set(
  (
    'AS AT AU AX BE BG BL BR CA CH CN CY CZ DE DK EE ES FI FK FM FR GB GF GG GL GP GR GS GU HR HU IL IM IN IO IS IT JE ' +
    'JP KR LI LT LU LV MC MF MH MP MQ MT MX MY NC NL NO NZ PF PL PM PN PR PT PW RE RO RU SE SG SH SI SJ SK SM TC TR UA ' +
    'US VI WF YT ZA'
  ).split(' '),
);

export const requiresPostalCode = (country: string): boolean => POSTAL_CODE_REQUIRED.has(country);
