/**
 * @module PayPal signs the transmission's id, time, webhook and the CRC32 of the sent bytes with RSA. The key pair is
 * created on first use and lives in this process, because events are verified moments after signing.
 */

import { createSign, createVerify, generateKeyPairSync, type KeyPairKeyObjectResult, randomUUID } from 'node:crypto';
import { crc32 } from 'node:zlib';
import type { Signing } from '../../protocol/vendor.ts';

/** In the format of PayPal's URLs. No certificate is fetched, because the same process signs and verifies. */
export const CERTIFICATE_URL = 'https://api.sandbox.paypal.com/v1/notifications/certs/CERT-simulated';
export const ALGORITHM = 'SHA256withRSA';

/** Age of a stale event, as if PayPal retried it after ten minutes. */
const STALE_MS = 600_000;

let made: KeyPairKeyObjectResult | undefined;
const keyPair = () => {
  // A short key suffices. A longer key would delay the first call.
  made ??= generateKeyPairSync('rsa', { modulusLength: 1_024 });
  return made;
};

export interface Transmission {
  readonly id: string;
  readonly time: string;
  readonly webhookId: string;
}

const signedText = ({ id, time, webhookId }: Transmission, raw: string): string =>
  `${id}|${time}|${webhookId}|${crc32(raw)}`;

export const paypalSignatureHeaders = ({ raw, slot, at, kind }: Signing): Record<string, string> => {
  if (kind === 'missing') return {};
  const time = `${new Date(kind === 'stale' ? at - STALE_MS : at).toISOString().slice(0, 19)}Z`;
  const webhookId = kind === 'invalid' ? `${slot.webhookSecret}OFSOMEBODYELSE` : slot.webhookSecret;
  const { id, signature } = signed({ time, webhookId }, raw);
  return {
    'paypal-auth-algo': ALGORITHM,
    'paypal-auth-version': 'v2',
    'paypal-cert-url': CERTIFICATE_URL,
    'paypal-transmission-id': id,
    'paypal-transmission-time': time,
    'paypal-transmission-sig': signature,
  };
};

/**
 * PayPal documents that a signature starts with a letter or digit. One in 32 Base64 signatures does not, so the
 * function then signs another id. The number of tries depends on the process's key, so only the first id is random and
 * later ids derive from it.
 */
const signed = (about: Omit<Transmission, 'id'>, raw: string): { readonly id: string; readonly signature: string } => {
  const drawn = randomUUID();
  for (let count = 0; ; count += 1) {
    const id = count === 0 ? drawn : `${drawn}-${count}`;
    const signature = createSign('sha256')
      .update(signedText({ id, ...about }, raw))
      .sign(keyPair().privateKey, 'base64');
    if (/^\w/.test(signature)) return { id, signature };
  }
};

export const isSignedHere = (transmission: Transmission, raw: string, signature: string): boolean =>
  createVerify('sha256').update(signedText(transmission, raw)).verify(keyPair().publicKey, signature, 'base64');
