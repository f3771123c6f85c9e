import { createHash } from 'node:crypto';

/**
 * Ids are a prefix and 96 bits in hex: `pay_` + 24 characters. A prefix belongs to one kind of record, so that an id of
 * ours is never taken for a provider's (`pm_…` is Stripe's; a saved method here is `pmt_…`).
 */
export const ID_PREFIX = {
  payment: 'pay',
  payment_method: 'pmt',
  address: 'addr',
  customer: 'cust',
  subscription: 'subs',
  organization: 'org',
  member: 'mem',
  membership: 'mbr',
  order: 'ord',
  guest: 'gst',
  log: 'log',
  /** An event on its way out. */
  message: 'msg',
} as const;

export type IdKind = keyof typeof ID_PREFIX;

const HEX_LENGTH = 24;

/** A new random id; the randomness is the caller's. */
export const idFromBytes = (kind: IdKind, bytes: Uint8Array): string =>
  `${ID_PREFIX[kind]}_${Buffer.from(bytes).toString('hex').slice(0, HEX_LENGTH)}`;

/** The id that the same parts always give: a repeated command names the same record. */
export const derivedId = (kind: IdKind, ...parts: readonly string[]): string =>
  `${ID_PREFIX[kind]}_${fingerprint(...parts).slice(0, HEX_LENGTH)}`;

export const isIdOf = (kind: IdKind, value: string): boolean =>
  value.length === ID_PREFIX[kind].length + 1 + HEX_LENGTH &&
  new RegExp(`^${ID_PREFIX[kind]}_[0-9a-f]{${HEX_LENGTH}}$`).test(value);

/** SHA-256 over the parts, each length-prefixed, so that no two lists of parts run together. */
export const fingerprint = (...parts: readonly string[]): string => {
  const hash = createHash('sha256');
  for (const part of parts) hash.update(`${Buffer.byteLength(part)}:`).update(part);
  return hash.digest('hex');
};
