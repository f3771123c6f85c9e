/** @module Signs and verifies guest tokens. Functions load this file only to issue or read a token. */

import { createHash } from 'node:crypto';
import { decodeProtectedHeader, jwtVerify, SignJWT } from 'jose';
import type { Instant } from '../core/time.ts';

const ISSUER = 'payments:guest';
const keyId = (secret: string): string => createHash('sha256').update(`kid:${secret}`).digest('hex').slice(0, 8);
const keyOf = (secret: string): Uint8Array => new TextEncoder().encode(secret);

export interface GuestClaims {
  readonly email: string;
  readonly guest_id: string;
  /** Set if the token opens only this record; otherwise the token opens every record of the guest_id. */
  readonly record?: string | undefined;
}

/** The validity of a token, in epoch seconds. */
interface Validity {
  readonly issuedAt: number;
  readonly expiresAt: number;
}

export const signGuestToken = (
  { email, guest_id, record }: GuestClaims,
  secret: string,
  { issuedAt, expiresAt }: Validity,
): Promise<string> =>
  new SignJWT({ email, guest_id, ...(record !== undefined && { record }) })
    .setProtectedHeader({ alg: 'HS256', kid: keyId(secret) })
    .setIssuer(ISSUER)
    .setIssuedAt(issuedAt)
    .setExpirationTime(expiresAt)
    .sign(keyOf(secret));

/** @throws for a forged or expired token, and for a token without the required claims */
export const verifyGuestToken = async (
  token: string,
  secrets: readonly string[],
  now: Instant,
): Promise<GuestClaims> => {
  const { kid } = decodeProtectedHeader(token);
  const secret = secrets.find((candidate) => keyId(candidate) === kid);
  if (!secret) throw new Error('no such key');
  const { payload } = await jwtVerify(token, keyOf(secret), {
    issuer: ISSUER,
    algorithms: ['HS256'],
    currentDate: new Date(now),
  });
  const { email, guest_id, record } = payload;
  if (typeof email !== 'string' || typeof guest_id !== 'string') throw new Error('claims missing');
  if (record !== undefined && typeof record !== 'string') throw new Error('a claim is malformed');
  return { email, guest_id, record };
};
