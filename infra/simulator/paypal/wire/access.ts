/**
 * @module Authentication. The client exchanges its id and secret for a token, which authorizes all other calls. A token
 * contains its slot and expiry and is signed, so tokens need not be stored.
 */

import { createHmac, timingSafeEqual } from 'node:crypto';
import * as z from 'zod';
import type { ProviderSlot } from '../../../../shared/core/settings.ts';
import type { Answer, Call, VendorCaller } from '../../protocol/vendor.ts';
import type { SlotOptions } from '../../state/options.ts';
import { paypalError } from './errors.ts';
import { answer, type PayPalRequest, type PayPalRoute } from './request.ts';

const TOKEN_PATH = '/v1/oauth2/token';
const LIFETIME_SECONDS = 32_400;

export const accessRoutes: readonly PayPalRoute[] = [
  { method: 'POST', path: TOKEN_PATH, run: (request) => grant(request) },
];

type Slots = readonly (readonly [ProviderSlot, SlotOptions])[];

const claims = z.object({ slot: z.string(), until: z.int() });

/** @returns the caller, or the refusal. `refusedToken` checks the token's expiry. */
export const identify = (call: Call, slots: Slots): VendorCaller | Answer => {
  const [scheme = '', value = ''] = (call.headers.get('authorization') ?? '').split(' ');
  const slot = call.path === TOKEN_PATH ? slotOfClient(scheme, value, slots) : slotOfToken(scheme, value, slots);
  if (slot) return { slot, kind: 'adapter' };
  return call.path === TOKEN_PATH ? badClient() : paypalError(401);
};

const badClient = (): Answer => ({
  status: 401,
  body: JSON.stringify({ error: 'invalid_client', error_description: 'Client Authentication failed' }),
  began: false,
});

const slotOfClient = (scheme: string, value: string, slots: Slots): ProviderSlot | undefined => {
  if (scheme.toLowerCase() !== 'basic') return undefined;
  const given = Buffer.from(value, 'base64').toString('utf8');
  return slots.find(([, { apiKey }]) => apiKey !== '' && apiKey === given)?.[0];
};

const slotOfToken = (scheme: string, value: string, slots: Slots): ProviderSlot | undefined => {
  if (scheme.toLowerCase() !== 'bearer') return undefined;
  const [content = '', seal = ''] = value.split('.');
  return slots.find(
    ([slot, { apiKey }]) => apiKey !== '' && claimsOf(content)?.slot === slot && isSealed(content, seal),
  )?.[0];
};

const claimsOf = (content: string): z.infer<typeof claims> | undefined => {
  try {
    return claims.parse(JSON.parse(Buffer.from(content, 'base64url').toString('utf8')));
  } catch {
    return undefined;
  }
};

/** Detects adapter bugs, not attackers, because the signing key is public. */
const sealOf = (content: string): string =>
  createHmac('sha256', 'simulated access token').update(content).digest('base64url');

const isSealed = (content: string, seal: string): boolean => {
  const [expected, given] = [Buffer.from(sealOf(content)), Buffer.from(seal)];
  return expected.length === given.length && timingSafeEqual(expected, given);
};

const grant = ({ call, caller, unit }: PayPalRequest): Answer => {
  if (new URLSearchParams(call.body).get('grant_type') !== 'client_credentials') {
    return { status: 400, body: JSON.stringify({ error: 'unsupported_grant_type' }), began: false };
  }
  const until = unit.at + LIFETIME_SECONDS * 1_000;
  const content = Buffer.from(JSON.stringify({ slot: caller.slot, until })).toString('base64url');
  return answer(200, {
    scope: 'https://uri.paypal.com/services/payments/payment',
    access_token: `${content}.${sealOf(content)}`,
    token_type: 'Bearer',
    app_id: 'APP-80W284485P519543T',
    expires_in: LIFETIME_SECONDS,
    nonce: new Date(unit.at).toISOString(),
  });
};

/** The refusal for an expired token. */
export const refusedToken = (call: Call, at: number): Answer | undefined => {
  if (call.path === TOKEN_PATH) return undefined;
  const token = (call.headers.get('authorization') ?? '').split(' ')[1] ?? '';
  const until = claimsOf(token.split('.')[0] ?? '')?.until ?? 0;
  if (until > at) return undefined;
  const body = { error: 'invalid_token', error_description: 'The token has expired' };
  return { status: 401, body: JSON.stringify(body), began: false };
};
