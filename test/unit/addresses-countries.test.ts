import { describe, expect, test } from 'vitest';
import { isCountry, requiresPostalCode } from '../../shared/customers/address-rules.ts';

/** ISO 3166-1 alpha-2, officially assigned. */
const ASSIGNED = `
AD AE AF AG AI AL AM AO AQ AR AS AT AU AW AX AZ BA BB BD BE BF BG BH BI BJ BL BM BN BO BQ BR BS BT BV BW BY BZ
CA CC CD CF CG CH CI CK CL CM CN CO CR CU CV CW CX CY CZ DE DJ DK DM DO DZ EC EE EG EH ER ES ET FI FJ FK FM FO FR
GA GB GD GE GF GG GH GI GL GM GN GP GQ GR GS GT GU GW GY HK HM HN HR HT HU ID IE IL IM IN IO IQ IR IS IT JE JM JO JP
KE KG KH KI KM KN KP KR KW KY KZ LA LB LC LI LK LR LS LT LU LV LY MA MC MD ME MF MG MH MK ML MM MN MO MP MQ MR MS MT
MU MV MW MX MY MZ NA NC NE NF NG NI NL NO NP NR NU NZ OM PA PE PF PG PH PK PL PM PN PR PS PT PW PY QA RE RO RS RU RW
SA SB SC SD SE SG SH SI SJ SK SL SM SN SO SR SS ST SV SX SY SZ TC TD TF TG TH TJ TK TL TM TN TO TR TT TV TW TZ
UA UG UM US UY UZ VA VC VE VG VI VN VU WF WS YE YT ZA ZM ZW`
  .trim()
  .split(/\s+/);

const LETTERS = [...'ABCDEFGHIJKLMNOPQRSTUVWXYZ'];
const PAIRS = LETTERS.flatMap((first) => LETTERS.map((second) => first + second));

describe('countries', () => {
  test('are exactly the 249 codes that ISO 3166-1 assigns', () => {
    expect(ASSIGNED).toHaveLength(249);
    expect(PAIRS.filter(isCountry)).toEqual(ASSIGNED);
  });

  test.each(['', 'U', 'USA', 'us', 'U1', '12', 'EU', 'UK', 'XK', 'ÅX', ' US', 'US\n'])('do not include %j', (code) => {
    expect(isCountry(code)).toBe(false);
  });
});

const NOT_REQUIRED = 'IE CL CO NG VN PE KW LB BM VG MA MG TW HK AE QA PA BO AG UG ZW MO FJ ID KE'.split(' ');

describe('a postal code', () => {
  test.each(['US', 'DE', 'GB', 'IL', 'CA', 'JP', 'BR', 'MX', 'SG', 'IN', 'MC', 'PR', 'BG', 'CY'])(
    'is required in %s',
    (country) => {
      expect(requiresPostalCode(country)).toBe(true);
    },
  );

  test.each(NOT_REQUIRED)('is optional in %s', (country) => {
    expect(requiresPostalCode(country)).toBe(false);
  });

  test('is required only in known countries', () => {
    expect(PAIRS.filter((pair) => requiresPostalCode(pair) && !isCountry(pair))).toEqual([]);
  });
});
