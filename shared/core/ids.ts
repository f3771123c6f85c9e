/**
 * @module Ids and fingerprints. Pure, because callers pass in random bytes and secrets. A new id is random, keyed or
 * plain. Computing a keyed id needs the secret; anyone who knows the parts can compute a plain id.
 */

import { createHmac, hash } from 'node:crypto';

/**
 * An id has a prefix and 96 bits in hex, such as `pay_` + 24 digits. Providers use other prefixes (`pm_` is Stripe's,
 * `pmt_` ours).
 */
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
  /** The use of a discount code by one payment or subscription. */
  redemption: 'rdm',
  payment_link: 'lnk',
  /** An outbound event. */
  message: 'msg',
} as const;

export type IdKind = keyof typeof ID_PREFIX;

const HEX_LENGTH = 24;

/** External systems may mistake an id for a card number if its hex part begins with this many digits. */
const LOOKS_LIKE_CARD = /^\d{13}/;

/**
 * The first drawn id that does not look like a card number.
 * @param draw returns 24 or more hex digits, different for each number
 */
export const drawnId = (kind: IdKind, draw: (number: number) => string): string => {
  for (let number = 0; ; number += 1) {
    const hex = draw(number);
    if (!LOOKS_LIKE_CARD.test(hex)) return idOfHex(kind, hex);
  }
};

/** @param random returns 12 bytes, different at each call */
export const randomId = (kind: IdKind, random: () => Uint8Array): string =>
  drawnId(kind, () => Buffer.from(random()).toString('hex'));

/** @param hex 24 hex digits or more */
export const idOfHex = (kind: IdKind, hex: string): string => `${ID_PREFIX[kind]}_${hex.slice(0, HEX_LENGTH)}`;

const OUR_IDS = new RegExp(
  `(?<![\\p{L}\\p{N}])(?:${Object.values(ID_PREFIX).join('|')})_[0-9a-f]{${HEX_LENGTH}}(?![\\p{L}\\p{N}])`,
  'gu',
);

/** Replaces each character of our ids with `_`, so other positions in the text stay the same. */
export const withoutOurIds = (text: string): string => text.replace(OUR_IDS, (id) => '_'.repeat(id.length));

/** The kinds with plain derived ids, because an id alone gives no access. */
const PLAIN_KINDS = ['refund', 'dispute', 'order', 'member', 'membership', 'message', 'log'] as const;
export type PlainIdKind = (typeof PLAIN_KINDS)[number];
export const isPlainKind = (kind: IdKind): kind is PlainIdKind => PLAIN_KINDS.some((plain) => plain === kind);

/**
 * The same parts always give the same id. Ids that begin with 13 digits are not redrawn, because existing records are
 * found by deriving their ids.
 */
export const plainId = (kind: PlainIdKind, ...parts: readonly string[]): string => idOfHex(kind, fingerprint(...parts));

/** The id of a subscription's payment: a renewal, a plan change, or a provider's invoice. */
export const subscriptionPaymentId = (subscriptionId: string, ...parts: readonly string[]): string =>
  idOfHex('payment', fingerprint(subscriptionId, ...parts));

/**
 * The same secret, kind and parts always give the same id. The hash includes the kind, so an id does not reveal the id
 * of another record with the same parts.
 */
export const keyedId = (secret: string, kind: IdKind, ...parts: readonly string[]): string =>
  drawnId(kind, (draw) => keyedHash(secret, 'id', kind, String(draw), ...parts));

/** HMAC-SHA-256 in hex. Each part is length-prefixed, as in `fingerprint`. */
export const keyedHash = (secret: string, ...parts: readonly string[]): string =>
  createHmac('sha256', secret).update(textOf(parts)).digest('hex');

export const isIdOf = (kind: IdKind, value: string): boolean =>
  value.length === ID_PREFIX[kind].length + 1 + HEX_LENGTH &&
  new RegExp(`^${ID_PREFIX[kind]}_[0-9a-f]{${HEX_LENGTH}}$`).test(value);

/** True if the value has the form of one of our ids, of any kind. */
export const isOurId = (value: string): boolean => new RegExp(`^${OUR_IDS.source}$`, 'u').test(value);

/** SHA-256 over the parts. Each part is length-prefixed, so different lists have different hashes. */
export const fingerprint = (...parts: readonly string[]): string => hash('sha256', textOf(parts), 'hex');

const textOf = (parts: readonly string[]): string => parts.map((part) => `${Buffer.byteLength(part)}:${part}`).join('');
