/** @module Checks tax ids with the `stdnum` library. The result is informative only and never refuses an address. */

import { validate as angolanNif } from 'stdnum/lib/cjs/ao/nif.js';
import { validate as cuit } from 'stdnum/lib/cjs/ar/cuit.js';
import { validate as atVat } from 'stdnum/lib/cjs/at/uid.js';
import { validate as abn } from 'stdnum/lib/cjs/au/abn.js';
import { validate as beVat } from 'stdnum/lib/cjs/be/vat.js';
import { validate as bgVat } from 'stdnum/lib/cjs/bg/vat.js';
import { validate as cnpj } from 'stdnum/lib/cjs/br/cnpj.js';
import { validate as cpf } from 'stdnum/lib/cjs/br/cpf.js';
import { validate as canadianGst } from 'stdnum/lib/cjs/ca/gst.js';
import { validate as chVat } from 'stdnum/lib/cjs/ch/vat.js';
import { validate as colombianNit } from 'stdnum/lib/cjs/co/nit.js';
import { validate as cyVat } from 'stdnum/lib/cjs/cy/vat.js';
import { validate as czVat } from 'stdnum/lib/cjs/cz/dic.js';
import { validate as deVat } from 'stdnum/lib/cjs/de/vat.js';
import { validate as dkVat } from 'stdnum/lib/cjs/dk/cvr.js';
import { validate as cedula } from 'stdnum/lib/cjs/do/cedula.js';
import { validate as rnc } from 'stdnum/lib/cjs/do/rnc.js';
import { validate as algerianNif } from 'stdnum/lib/cjs/dz/nif.js';
import { validate as eeVat } from 'stdnum/lib/cjs/ee/kmkr.js';
import { validate as esVat, validate as spanishNif } from 'stdnum/lib/cjs/es/nif.js';
import { validate as fiVat } from 'stdnum/lib/cjs/fi/alv.js';
import { validate as frenchNif } from 'stdnum/lib/cjs/fr/nif.js';
import { validate as siren } from 'stdnum/lib/cjs/fr/siren.js';
import { validate as frVat } from 'stdnum/lib/cjs/fr/tva.js';
import { validate as gbVat } from 'stdnum/lib/cjs/gb/vat.js';
import { validate as grVat } from 'stdnum/lib/cjs/gr/vat.js';
import { validate as guatemalanNit } from 'stdnum/lib/cjs/gt/nit.js';
import { validate as hrVat } from 'stdnum/lib/cjs/hr/oib.js';
import { validate as huVat } from 'stdnum/lib/cjs/hu/anum.js';
import { validate as ieVat } from 'stdnum/lib/cjs/ie/vat.js';
import { validate as gstin } from 'stdnum/lib/cjs/in/gstin.js';
import { validate as isVat } from 'stdnum/lib/cjs/is/vsk.js';
import { validate as itVat } from 'stdnum/lib/cjs/it/iva.js';
import { validate as ltVat } from 'stdnum/lib/cjs/lt/pvm.js';
import { validate as luVat } from 'stdnum/lib/cjs/lu/tva.js';
import { validate as lvVat } from 'stdnum/lib/cjs/lv/pvn.js';
import { validate as mcVat } from 'stdnum/lib/cjs/mc/tva.js';
import { validate as mtVat } from 'stdnum/lib/cjs/mt/vat.js';
import { validate as rfc } from 'stdnum/lib/cjs/mx/rfc.js';
import { validate as nlVat } from 'stdnum/lib/cjs/nl/btw.js';
import { validate as noVat } from 'stdnum/lib/cjs/no/mva.js';
import { validate as ird } from 'stdnum/lib/cjs/nz/ird.js';
import { validate as plVat } from 'stdnum/lib/cjs/pl/nip.js';
import { validate as portugueseNif, validate as ptVat } from 'stdnum/lib/cjs/pt/nif.js';
import { validate as roVat } from 'stdnum/lib/cjs/ro/cif.js';
import { validate as seVat } from 'stdnum/lib/cjs/se/vat.js';
import { validate as siVat } from 'stdnum/lib/cjs/si/ddv.js';
import { validate as skVat } from 'stdnum/lib/cjs/sk/dph.js';
import { validate as salvadoranNit } from 'stdnum/lib/cjs/sv/nit.js';
import { validate as ein } from 'stdnum/lib/cjs/us/ein.js';
import { validate as zaVat } from 'stdnum/lib/cjs/za/vat.js';
import type { Address } from './address.ts';

/** A validator of the library. Only `isValid` of its result is used. */
type Validate = (value: string) => { readonly isValid: boolean };

/**
 * Validates a British VAT number. A number of five characters must start with GD or HA, but the library accepts other
 * prefixes too.
 */
const britishVat: Validate = (value) => {
  const compact = value.toUpperCase().replaceAll(/[ \-/]/g, '');
  const number = compact.replace(/^(GB|XI)/, '');
  return number.length === 5 && !/^(GD|HA)/.test(number) ? { isValid: false } : gbVat(number);
};

/** VAT validators by country, for the European Union, its neighbors, and South Africa. */
const BY_COUNTRY: Readonly<Record<string, Validate | undefined>> = {
  AT: atVat,
  BE: beVat,
  BG: bgVat,
  CH: chVat,
  CY: cyVat,
  CZ: czVat,
  DE: deVat,
  DK: dkVat,
  EE: eeVat,
  ES: esVat,
  FI: fiVat,
  FR: frVat,
  GB: britishVat,
  GR: grVat,
  HR: hrVat,
  HU: huVat,
  IE: ieVat,
  IM: britishVat,
  IS: isVat,
  IT: itVat,
  LT: ltVat,
  LU: luVat,
  LV: lvVat,
  MC: mcVat,
  MT: mtVat,
  NL: nlVat,
  NO: noVat,
  PL: plVat,
  PT: ptVat,
  RO: roVat,
  SE: seVat,
  SI: siVat,
  SK: skVat,
  ZA: zaVat,
};

/** VAT prefixes of Greece and Northern Ireland, which differ from their country codes. */
const PREFIX_COUNTRY: Readonly<Record<string, string | undefined>> = { EL: 'GR', XI: 'GB' };

/** The validators of the address's country and of the country in the number's prefix. */
const vatValidators = (value: string, country: string): readonly Validate[] => {
  const prefix = value.trim().slice(0, 2).toUpperCase();
  const countries = new Set([country, PREFIX_COUNTRY[prefix] ?? prefix]);
  return [...countries].flatMap((code) => BY_COUNTRY[code] ?? []);
};

type TaxIdType = NonNullable<Address['taxIdType']>;

/** The validators of a tax id type, as a list, by country, or as a function. Empty if no rule is known. */
type Rule =
  | readonly Validate[]
  | Readonly<Record<string, Validate | undefined>>
  | ((value: string, country: string) => readonly Validate[]);

const VALIDATORS: Readonly<Record<TaxIdType, Rule>> = {
  vat: vatValidators,
  ein: [ein],
  rfc: [rfc],
  // In the Dominican Republic, a person's tax id is the number of the identity card.
  rnc: [rnc, cedula],
  cnpj: [cnpj],
  cpf: [cpf],
  // GST registration uses the business number in Australia and the tax number in New Zealand.
  gst: { AU: abn, CA: canadianGst, IN: gstin, NZ: ird },
  nit: { CO: colombianNit, GT: guatemalanNit, SV: salvadoranNit },
  cuit: [cuit],
  nif: { AO: angolanNif, DZ: algerianNif, ES: spanishNif, FR: frenchNif, PT: portugueseNif },
  siren: [siren],
  kvk: [],
  other: [],
};

/** True if the number could have been issued; undefined if no rule is known for the type and country. */
export const isTaxIdValid = ({
  taxId,
  taxIdType,
  country,
}: Pick<Address, 'taxId' | 'taxIdType' | 'country'>): boolean | undefined => {
  if (taxId === undefined || taxIdType === undefined) return undefined;
  const validators = validatorsOf(VALIDATORS[taxIdType], taxId, country);
  return validators.length === 0 ? undefined : validators.some((validate) => accepts(validate, taxId));
};

const validatorsOf = (rule: Rule, value: string, country: string): readonly Validate[] => {
  if (typeof rule === 'function') return rule(value, country);
  return isList(rule) ? rule : [rule[country]].filter((validate) => validate !== undefined);
};

const isList = (rule: Exclude<Rule, CallableFunction>): rule is readonly Validate[] => Array.isArray(rule);

/** True if the validator accepts the value. The library throws for some unparsable texts. */
const accepts = (validate: Validate, value: string): boolean => {
  try {
    return validate(value).isValid;
  } catch {
    return false;
  }
};
