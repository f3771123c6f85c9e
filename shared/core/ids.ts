/** @module Ids and fingerprints. Pure, because new ids get their random bytes from the caller. */

import { hash } from 'node:crypto';

/** A prefix and 96 bits in hex, as `pay_` + 24 digits. No prefix is a provider's (`pm_` is Stripe's, `pmt_` ours). */
export const ID_PREFIX = {
  payment: 'pay',
  payment_method: 'pmt',
  address: 'addr',
  customer: 'cust',
  subscription: 'subs',
  refund: 'ref',
  dispute: 'dsp',
  organization: 'org',
  member: 'mem',
  membership: 'mbr',
  order: 'ord',
  guest: 'gst',
  log: 'log',
  erasure: 'ers',
  key: 'key',
  change: 'chg',
  /** An outbound event. */
  message: 'msg',
} as const;

export type IdKind = keyof typeof ID_PREFIX;

const HEX_LENGTH = 24;

/** Readers outside the service may take an id for a card number whose hex begins with more digits. */
const LOOKS_LIKE_CARD = /^\d{13}/;

/** The first drawn id that looks like no card number. @param draw 24 hex digits or more, others for each number */
export const drawnId = (kind: IdKind, draw: (number: number) => string): string => {
  for (let number = 0; ; number += 1) {
    const hex = draw(number);
    if (!LOOKS_LIKE_CARD.test(hex)) return idOfHex(kind, hex);
  }
};

/** @param random 12 bytes, others at each call */
export const randomId = (kind: IdKind, random: () => Uint8Array): string =>
  drawnId(kind, () => Buffer.from(random()).toString('hex'));

const idOfHex = (kind: IdKind, hex: string): string => `${ID_PREFIX[kind]}_${hex.slice(0, HEX_LENGTH)}`;

const OUR_IDS = new RegExp(
  `(?<![\\p{L}\\p{N}])(?:${Object.values(ID_PREFIX).join('|')})_[0-9a-f]{${HEX_LENGTH}}(?![\\p{L}\\p{N}])`,
  'gu',
);

/** The text with `_` for each character of our ids, so that nothing else changes its place. */
export const withoutOurIds = (text: string): string => text.replace(OUR_IDS, (id) => '_'.repeat(id.length));

/** The same parts always give the same id, so that a repeated command names the same record. */
export const derivedId = (kind: IdKind, ...parts: readonly string[]): string => idOfHex(kind, fingerprint(...parts));

export const isIdOf = (kind: IdKind, value: string): boolean =>
  value.length === ID_PREFIX[kind].length + 1 + HEX_LENGTH &&
  new RegExp(`^${ID_PREFIX[kind]}_[0-9a-f]{${HEX_LENGTH}}$`).test(value);

/** SHA-256 over the parts. Each part is length-prefixed, so that different lists never hash alike. */
export const fingerprint = (...parts: readonly string[]): string =>
  hash('sha256', parts.map((part) => `${Buffer.byteLength(part)}:${part}`).join(''), 'hex');
