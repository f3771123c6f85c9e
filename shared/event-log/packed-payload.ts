/**
 * @module A log entry's payload, stored as deflated JSON with a dictionary of common event words. Packed, an entry
 * fits into one write unit. A payload of 2 KB in attributes would not.
 */

import { deflateRawSync, inflateRawSync } from 'node:zlib';
import { DICTIONARY } from './payload-dictionary.ts';

/** The first byte of a packed payload. Another dictionary gets another number. */
const DICTIONARY_NUMBER = 1;

const dictionary = Buffer.from(DICTIONARY);

export const packedPayload = (payload: unknown): Uint8Array =>
  Buffer.concat([Uint8Array.of(DICTIONARY_NUMBER), deflateRawSync(JSON.stringify(payload) ?? 'null', { dictionary })]);

/**
 * The payload of a stored entry. Also reads the unpacked entries of 0.2.0.
 * @throws Error for bytes not made by `packedPayload`
 */
export const payloadOf = (stored: unknown): unknown => {
  if (!(stored instanceof Uint8Array)) return stored;
  if (stored[0] !== DICTIONARY_NUMBER) throw new Error(`no dictionary ${stored[0]} of payloads`);
  return JSON.parse(inflateRawSync(stored.subarray(1), { dictionary }).toString('utf8'));
};
