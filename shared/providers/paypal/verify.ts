/**
 * @module Verifies PayPal's webhooks with a call to PayPal. The call sends the event back byte for byte, because the
 * signature covers the exact bytes. Events clearly not from PayPal are refused without a call.
 */

import { createHash } from 'node:crypto';
import * as z from 'zod';
import { EVENT_KEPT_MS, type WebhookRequest } from '../event-port.ts';
import type { PayPalExchange } from './outcome.ts';

export type SignatureCheck = 'valid' | 'invalid' | 'unavailable';

export interface VerifyOptions {
  readonly exchange: PayPalExchange;
  readonly webhookId: string;
  /** Certificates at this base URL are trusted as well. If it is empty, only PayPal's certificates are trusted. */
  readonly baseUrl: string;
}

const MAX_REMEMBERED = 1_000;

const headersSchema = z.object({
  'paypal-auth-algo': z.literal('SHA256withRSA'),
  // Excludes characters that a URL parser would drop.
  'paypal-cert-url': z.pipe(z.string().check(z.regex(/^[!-~]{1,500}$/)), z.url()),
  'paypal-transmission-id': z.string().check(z.regex(/^[\w-]{1,50}$/)),
  // Several base64 strings decode to the same bytes. Only the canonical string is valid.
  'paypal-transmission-sig': z.base64().check(
    z.minLength(1),
    z.maxLength(500),
    z.refine((text) => Buffer.from(text, 'base64').toString('base64') === text),
  ),
  'paypal-transmission-time': z.iso.datetime({ offset: true }).check(z.maxLength(100)),
});
type Signed = z.infer<typeof headersSchema>;

const verdictAnswer = z.looseObject({ verification_status: z.enum(['SUCCESS', 'FAILURE']) });

export const webhookVerifier = (options: VerifyOptions) => {
  const remembered = new Map<string, { readonly of: string; readonly verdict: SignatureCheck }>();

  const remember = (id: string, of: string, verdict: SignatureCheck): SignatureCheck => {
    const oldest = remembered.keys().next();
    if (remembered.size >= MAX_REMEMBERED && !oldest.done) remembered.delete(oldest.value);
    remembered.set(id, { of, verdict });
    return verdict;
  };

  return async ({ raw, headers, now, beforeAsking }: WebhookRequest): Promise<SignatureCheck> => {
    const parsed = headersSchema.safeParse(headers);
    const text = jsonObjectText(raw);
    if (!parsed.success || text === undefined) return 'invalid';
    const signed = parsed.data;
    if (!isTrusted(signed['paypal-cert-url'], options.baseUrl)) return 'invalid';
    // A retry may have the time of the first try. A message older than the stored events is refused, because the
    // service can no longer detect a duplicate.
    if (now - Date.parse(signed['paypal-transmission-time']) > EVENT_KEPT_MS) return 'invalid';
    const id = signed['paypal-transmission-id'];
    const of = fingerprintOf(signed, raw);
    const known = remembered.get(id);
    // A transmission id is not secret, so the remembered result counts only for the same message.
    if (known?.of === of) return known.verdict;
    await beforeAsking?.();
    const verdict = await ask(options, signed, text);
    return verdict === 'unavailable' ? verdict : remember(id, of, verdict);
  };
};

/** The bytes as text if they are exactly one JSON object, which is safe to embed in the larger JSON text. */
const jsonObjectText = (raw: Buffer): string | undefined => {
  const text = raw.toString('utf8');
  try {
    const value: unknown = JSON.parse(text);
    const isObject = typeof value === 'object' && text.startsWith('{') && text.endsWith('}');
    return isObject && Buffer.from(text, 'utf8').equals(raw) ? text : undefined;
  } catch {
    return undefined;
  }
};

const isTrusted = (certificateUrl: string, baseUrl: string): boolean => {
  const { protocol, hostname, origin, username, port } = new URL(certificateUrl);
  if (baseUrl !== '' && origin === new URL(baseUrl).origin) return true;
  return protocol === 'https:' && hostname.endsWith('.paypal.com') && username === '' && port === '';
};

const fingerprintOf = (signed: Signed, raw: Buffer): string =>
  createHash('sha256').update(JSON.stringify(signed)).update(raw).digest('hex');

/** A refusal of a malformed request counts as FAILURE. After any other refusal, the signature stays unverified. */
const MALFORMED: readonly number[] = [400, 422];

const ask = async ({ exchange, webhookId }: VerifyOptions, signed: Signed, event: string): Promise<SignatureCheck> => {
  const fields = JSON.stringify({
    auth_algo: signed['paypal-auth-algo'],
    cert_url: signed['paypal-cert-url'],
    transmission_id: signed['paypal-transmission-id'],
    transmission_sig: signed['paypal-transmission-sig'],
    transmission_time: signed['paypal-transmission-time'],
    webhook_id: webhookId,
  });
  const answer = await exchange({
    method: 'POST',
    path: '/v1/notifications/verify-webhook-signature',
    headers: { 'content-type': 'application/json' },
    body: `${fields.slice(0, -1)},"webhook_event":${event}}`,
    answer: verdictAnswer,
  });
  if (answer.kind === 'done') return answer.value.verification_status === 'SUCCESS' ? 'valid' : 'invalid';
  return answer.kind === 'answered no' && MALFORMED.includes(answer.status) ? 'invalid' : 'unavailable';
};
