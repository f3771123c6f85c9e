/**
 * @module Our fingerprint of a card or bank account. Equal cards in one provider slot have equal fingerprints. Without
 * the secret, a leaked fingerprint does not identify a card at the provider.
 */

import { createHmac } from 'node:crypto';
import type { AdapterOptions } from './adapter.ts';

/** Returns undefined if the provider returns no fingerprint or the setting FINGERPRINT_SECRET is empty. */
export type FingerprintOf = (theirs: string | null | undefined) => string | undefined;

export const noFingerprint: FingerprintOf = () => undefined;

const DIGITS = 24;

export const fingerprintsOf =
  ({ slot, settings }: Pick<AdapterOptions, 'slot' | 'settings'>): FingerprintOf =>
  (theirs) => {
    const { FINGERPRINT_SECRET: secret } = settings;
    if (!theirs || secret === '') return undefined;
    return `fp_${createHmac('sha256', secret).update(`${slot}:${theirs}`).digest('hex').slice(0, DIGITS)}`;
  };
