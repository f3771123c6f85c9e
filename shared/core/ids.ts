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

export const idFromBytes = (kind: IdKind, bytes: Uint8Array): string =>
  `${ID_PREFIX[kind]}_${Buffer.from(bytes).toString('hex').slice(0, HEX_LENGTH)}`;

/** The same parts always give the same id, so that a repeated command names the same record. */
export const derivedId = (kind: IdKind, ...parts: readonly string[]): string =>
  `${ID_PREFIX[kind]}_${fingerprint(...parts).slice(0, HEX_LENGTH)}`;

export const isIdOf = (kind: IdKind, value: string): boolean =>
  value.length === ID_PREFIX[kind].length + 1 + HEX_LENGTH &&
  new RegExp(`^${ID_PREFIX[kind]}_[0-9a-f]{${HEX_LENGTH}}$`).test(value);

/** SHA-256 over the parts. Each part is length-prefixed, so that different lists never hash alike. */
export const fingerprint = (...parts: readonly string[]): string =>
  hash('sha256', parts.map((part) => `${Buffer.byteLength(part)}:${part}`).join(''), 'hex');
