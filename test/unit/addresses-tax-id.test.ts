import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { TAX_ID_TYPES } from '../../shared/customers/address.ts';
import { isTaxIdValid } from '../../shared/customers/tax-id.ts';

type Type = (typeof TAX_ID_TYPES)[number];
type Case = readonly [type: Type, country: string, taxId: string];

const VALID: readonly Case[] = [
  ['vat', 'DE', 'DE 136,695 976'],
  ['vat', 'DE', '136695976'],
  ['vat', 'AT', 'ATU13585627'],
  ['vat', 'FR', 'Fr 40 303 265 045'],
  ['vat', 'IE', 'IE 6433435F'],
  ['vat', 'NL', '004495445B01'],
  ['vat', 'GB', 'GB 980 7806 84'],
  ['vat', 'GB', 'XI980780684'],
  ['vat', 'GB', 'GD001'],
  ['vat', 'IM', 'GB 980 7806 84'],
  ['vat', 'ES', 'ESB58378431'],
  ['vat', 'GR', 'EL 094259216'],
  ['vat', 'CH', 'CHE-107.787.577 IVA'],
  ['vat', 'IT', 'IT 00743110157'],
  // The prefix shows a registration abroad.
  ['vat', 'US', 'DE136695976'],
  ['vat', 'DE', 'ATU13585627'],
  ['ein', 'US', '91-1144442'],
  ['ein', 'DE', '911144442'],
  ['rfc', 'MX', 'GODE 561231 GR8'],
  ['rfc', 'MX', 'MAB-930714-8T4'],
  ['rnc', 'DO', '1-01-85004-3'],
  ['rnc', 'DO', '001-1391820-5'],
  ['cnpj', 'BR', '16.727.230/0001-97'],
  ['cnpj', 'BR', '12.ABC.345/01DE-35'],
  ['cpf', 'BR', '390.533.447-05'],
  ['gst', 'IN', '27AAPFU0939F1ZV'],
  ['gst', 'CA', '12302 6635 RT 0001'],
  ['gst', 'AU', '83 914 571 673'],
  ['gst', 'NZ', '4909185-0'],
  ['nit', 'CO', '213.123.432-1'],
  ['nit', 'GT', '3952550-3'],
  ['nit', 'SV', '0614-050707-104-8'],
  ['cuit', 'AR', '20-05536168-2'],
  ['nif', 'ES', '54362315-K'],
  ['nif', 'PT', '501 964 843'],
  ['nif', 'FR', '07 01 987 765 493'],
  ['nif', 'DZ', '416001000000007'],
  ['nif', 'AO', '5417537802'],
  ['siren', 'FR', '552 008 443'],
];

const INVALID: readonly Case[] = [
  ['vat', 'DE', 'DE136695978'],
  ['vat', 'AT', 'U13585626'],
  ['vat', 'FR', '41303265045'],
  ['vat', 'NL', '-'],
  ['vat', 'GB', '12345'],
  ['vat', 'GB', 'AB123'],
  ['vat', 'CH', 'CHE-107.787.578 IVA'],
  ['vat', 'US', 'DE136695978'],
  ['ein', 'US', '07-1144442'],
  ['rfc', 'MX', 'GODE561231GR9'],
  ['rnc', 'DO', '1-01-85004-4'],
  ['cnpj', 'BR', '16.727.230/0001-98'],
  ['cpf', 'BR', '231.002.999-00'],
  ['gst', 'IN', '27AAPFU0939F1ZO'],
  ['gst', 'CA', '12302 6636 RT 0001'],
  ['gst', 'AU', '99 999 999 999'],
  ['gst', 'NZ', '136410133'],
  ['nit', 'CO', '2131234325'],
  ['nit', 'GT', '8977112-0'],
  ['nit', 'SV', '0614-050707-104-9'],
  ['cuit', 'AR', '20-05536168-3'],
  ['nif', 'ES', '54362315Z'],
  ['nif', 'PT', '501964842'],
  ['nif', 'FR', '9701987765432'],
  ['nif', 'DZ', '12345'],
  ['nif', 'AO', 'ABC'],
  ['siren', 'FR', '552008442'],
];

const UNKNOWN: readonly Case[] = [
  ['vat', 'US', '123456789'],
  ['gst', 'SG', '200312345A'],
  ['nit', 'BO', '1020703023'],
  ['nif', 'DE', '501964843'],
  ['kvk', 'NL', '12345678'],
  ['other', 'US', 'anything at all'],
];

const check = ([taxIdType, country, taxId]: Case) => isTaxIdValid({ taxIdType, country, taxId });

describe('a tax id', () => {
  test.each(VALID)('of the type %s in the country %s is valid: %s', (...one) => {
    expect(check(one)).toBe(true);
  });

  test.each(INVALID)('of the type %s in the country %s is invalid: %s', (...one) => {
    expect(check(one)).toBe(false);
  });

  test.each(UNKNOWN)('of the type %s in the country %s has an unknown validity: %s', (...one) => {
    expect(check(one)).toBeUndefined();
  });

  test('is tested here for every type', () => {
    const tried = new Set([...VALID, ...UNKNOWN].map(([type]) => type));
    expect([...tried].sort()).toEqual([...TAX_ID_TYPES].sort());
    const refutable = TAX_ID_TYPES.filter((type) => type !== 'kvk' && type !== 'other');
    expect([...new Set(INVALID.map(([type]) => type))].sort()).toEqual([...refutable].sort());
  });

  test('has an unknown validity without a type or a number', () => {
    expect(isTaxIdValid({ taxId: 'DE136695976', taxIdType: undefined, country: 'DE' })).toBeUndefined();
    expect(isTaxIdValid({ taxId: undefined, taxIdType: 'vat', country: 'DE' })).toBeUndefined();
  });

  test('is valid, invalid or unknown for any text, and never throws', () => {
    const countries = [...new Set([...VALID, ...UNKNOWN].map(([, country]) => country)), 'HU', 'PL', 'SE', 'ZA', 'MC'];
    // `fc.string` with the unit `binary` does the same, but takes a second to make.
    const anyCharacters = fc
      .array(fc.nat({ max: 0x10ffff }), { maxLength: 50 })
      .map((points) => String.fromCodePoint(...points));
    const anyText = fc.oneof(anyCharacters, fc.stringMatching(/^[A-Z]{0,3}[0-9A-Z .\-/]{0,20}$/));
    fc.assert(
      fc.property(fc.constantFrom(...TAX_ID_TYPES), fc.constantFrom(...countries), anyText, (type, country, taxId) => {
        expect([true, false, undefined]).toContain(check([type, country, taxId]));
      }),
      { numRuns: 500 },
    );
  });
});
