/** @module The short names of facts in a payment's item, which keep a payment within one write unit. */

import type { MethodDetails, Settlement } from '../core/payment-facts.ts';

const NAMES_OF_DETAILS: Readonly<Record<keyof MethodDetails, string>> = {
  type: 't',
  walletType: 'w',
  cardBrand: 'b',
  lastFour: 'l',
  expiryMonth: 'm',
  expiryYear: 'y',
  funding: 'f',
  country: 'c',
  bankName: 'n',
  threeDSecure: 's',
  fingerprint: 'p',
};
const NAMES_OF_SETTLEMENT: Readonly<Record<keyof Settlement, string>> = {
  feeCents: 'f',
  netCents: 'n',
  currency: 'c',
  exchangeRate: 'x',
  availableOn: 'a',
};

type Names = Readonly<Record<string, string>>;
interface Facts {
  readonly details?: unknown;
  readonly settlement?: unknown;
}

export const packedFacts = ({ details, settlement }: Facts): Facts => ({
  ...(details !== undefined && { details: renamed(NAMES_OF_DETAILS, details) }),
  ...(settlement !== undefined && { settlement: renamed(NAMES_OF_SETTLEMENT, settlement) }),
});

export const unpackedFacts = ({ details, settlement }: Facts): Facts => ({
  ...(details !== undefined && { details: renamed(LONG_DETAILS, details) }),
  ...(settlement !== undefined && { settlement: renamed(LONG_SETTLEMENT, settlement) }),
});

const inverted = (names: Names): Names =>
  Object.fromEntries(Object.entries(names).map(([long, short]) => [short, long]));
const LONG_DETAILS = inverted(NAMES_OF_DETAILS);
const LONG_SETTLEMENT = inverted(NAMES_OF_SETTLEMENT);

const renamed = (names: Names, fields: unknown): unknown =>
  typeof fields === 'object' && fields !== null
    ? Object.fromEntries(Object.entries(fields).map(([name, value]) => [names[name] ?? name, value]))
    : fields;
