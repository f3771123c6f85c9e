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

/** One country's type by itself; a type of several countries by the address's. Nothing where the library knows none. */
type Known =
  | readonly Validate[]
  | Readonly<Record<string, Validate | undefined>>
  | ((value: string, country: string) => readonly Validate[]);

const VALIDATORS: Readonly<Record<TaxIdType, Known>> = {
  vat: vatValidators,
  ein: [ein],
  rfc: [rfc],
  // A person's is the number of the identity card.
  rnc: [rnc, cedula],
  cnpj: [cnpj],
  cpf: [cpf],
  // Registered for GST under the business number in Australia, and under the tax number in New Zealand.
  gst: { AU: abn, CA: canadianGst, IN: gstin, NZ: ird },
  nit: { CO: colombianNit, GT: guatemalanNit, SV: salvadoranNit },
  cuit: [cuit],
  nif: { AO: angolanNif, DZ: algerianNif, ES: spanishNif, FR: frenchNif, PT: portugueseNif },
  siren: [siren],
  kvk: [],
  other: [],
};

/** Is it a number that could have been issued? undefined: not known of this type and country. It refuses nothing. */
export const isTaxIdValid = ({
  taxId,
  taxIdType,
  country,
}: Pick<Address, 'taxId' | 'taxIdType' | 'country'>): boolean | undefined => {
  if (taxId === undefined || taxIdType === undefined) return undefined;
  const validators = validatorsOf(VALIDATORS[taxIdType], taxId, country);
  return validators.length === 0 ? undefined : validators.some((validate) => accepts(validate, taxId));
};

const validatorsOf = (known: Known, value: string, country: string): readonly Validate[] => {
  if (typeof known === 'function') return known(value, country);
  return isList(known) ? known : [known[country]].filter((validate) => validate !== undefined);
};

const isList = (known: Exclude<Known, CallableFunction>): known is readonly Validate[] => Array.isArray(known);

/** The library throws at some texts that it can't take apart. */
const accepts = (validate: Validate, value: string): boolean => {
  try {
    return validate(value).isValid;
  } catch {
    return false;
  }
};
