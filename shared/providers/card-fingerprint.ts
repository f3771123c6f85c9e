/**
 * @module Our fingerprint of a card or bank account. It is equal for equal cards of one provider slot, and useless
 * without the secret, so a leaked fingerprint names no card at the provider.
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
