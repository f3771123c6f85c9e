import { validate as angolanNif } from 'stdnum/lib/cjs/ao/nif.js';
import { validate as cuit } from 'stdnum/lib/cjs/ar/cuit.js';
import { validate as abn } from 'stdnum/lib/cjs/au/abn.js';
import { validate as cnpj } from 'stdnum/lib/cjs/br/cnpj.js';
import { validate as cpf } from 'stdnum/lib/cjs/br/cpf.js';
import { validate as canadianGst } from 'stdnum/lib/cjs/ca/gst.js';
import { validate as colombianNit } from 'stdnum/lib/cjs/co/nit.js';
import { validate as cedula } from 'stdnum/lib/cjs/do/cedula.js';
import { validate as rnc } from 'stdnum/lib/cjs/do/rnc.js';
import { validate as algerianNif } from 'stdnum/lib/cjs/dz/nif.js';
import { validate as spanishNif } from 'stdnum/lib/cjs/es/nif.js';
import { validate as frenchNif } from 'stdnum/lib/cjs/fr/nif.js';
import { validate as siren } from 'stdnum/lib/cjs/fr/siren.js';
import { validate as guatemalanNit } from 'stdnum/lib/cjs/gt/nit.js';
import { validate as gstin } from 'stdnum/lib/cjs/in/gstin.js';
import { validate as rfc } from 'stdnum/lib/cjs/mx/rfc.js';
import { validate as ird } from 'stdnum/lib/cjs/nz/ird.js';
import { validate as portugueseNif } from 'stdnum/lib/cjs/pt/nif.js';
import { validate as salvadoranNit } from 'stdnum/lib/cjs/sv/nit.js';
import { validate as ein } from 'stdnum/lib/cjs/us/ein.js';
import type { Address } from './address.ts';
import { type Validate, vatValidators } from './vat-number.ts';

type TaxIdType = NonNullable<Address['taxIdType']>;

/** The validators of a type: a list, a record by the address's country, or a function. Empty if the library has none. */
type Rule =
  | readonly Validate[]
  | Readonly<Record<string, Validate | undefined>>
  | ((value: string, country: string) => readonly Validate[]);

const VALIDATORS: Readonly<Record<TaxIdType, Rule>> = {
  vat: vatValidators,
  ein: [ein],
  rfc: [rfc],
  // A person uses the number of the identity card.
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

/** True if the number could have been issued; undefined if no rule is known for the type and country. Informs only. */
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

/** The library throws for some texts that it cannot parse. */
const accepts = (validate: Validate, value: string): boolean => {
  try {
    return validate(value).isValid;
  } catch {
    return false;
  }
};
