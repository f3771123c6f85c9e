/**
 * @module PayPal's verification service. It verifies the exact bytes of `webhook_event` in the body. A caller that
 * parses and rewrites the event gets FAILURE, as at PayPal.
 */

import * as z from 'zod';
import type { Answer } from '../../protocol/vendor.ts';
import { answer, type PayPalRequest, type PayPalRoute, readPayPalBody } from '../wire/request.ts';
import { ALGORITHM, CERTIFICATE_URL, isSignedHere } from '../wire/signing.ts';

export const verifyRoutes: readonly PayPalRoute[] = [
  { method: 'POST', path: '/v1/notifications/verify-webhook-signature', run: (request) => verify(request) },
];

const verifyRequest = z.looseObject({
  auth_algo: z
    .string()
    .max(100)
    .regex(/^[a-zA-Z0-9]+$/),
  cert_url: z.url().max(500),
  transmission_id: z
    .string()
    .max(50)
    .regex(/^(?!\d+$)\w+\S+/),
  transmission_sig: z
    .string()
    .max(500)
    .regex(/^(?!\d+$)\w+\S+/),
  transmission_time: z.iso.datetime({ offset: true }).max(100),
  webhook_id: z
    .string()
    .max(50)
    .regex(/^[a-zA-Z0-9]+$/),
  webhook_event: z.looseObject({}),
});

/** Responds 200 for valid and invalid signatures. */
const verify = ({ call }: PayPalRequest): Answer => {
  const sent = readPayPalBody(call, verifyRequest);
  const transmission = { id: sent.transmission_id, time: sent.transmission_time, webhookId: sent.webhook_id };
  const raw = rawField(call.body, 'webhook_event');
  const isGood =
    sent.auth_algo === ALGORITHM &&
    sent.cert_url === CERTIFICATE_URL &&
    raw !== undefined &&
    isSignedHere(transmission, raw, sent.transmission_sig);
  return answer(200, { verification_status: isGood ? 'SUCCESS' : 'FAILURE' });
};

/** The text of a top-level field, byte for byte. The input is valid JSON. */
const rawField = (json: string, name: string): string | undefined => {
  const tokens = json.matchAll(/"(?:[^"\\]|\\.)*(?:"|\\?$)|[{}[\],:]/gs);
  let depth = 0;
  let key: string | undefined;
  let start: number | undefined;
  for (const { 0: token, index } of tokens) {
    if (depth === 1) {
      if (start !== undefined && ENDS_VALUE.has(token)) return json.slice(start, index).trim();
      if (token === ':' && key === JSON.stringify(name)) start ??= index + 1;
      if (token.startsWith('"')) key = token;
    }
    depth += DEPTH_CHANGES[token] ?? 0;
  }
  return undefined;
};

const ENDS_VALUE: ReadonlySet<string> = new Set([',', '}']);
const DEPTH_CHANGES: Readonly<Record<string, number>> = { '{': 1, '[': 1, '}': -1, ']': -1 };
