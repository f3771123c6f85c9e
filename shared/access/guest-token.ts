import { createHash } from 'node:crypto';
import { decodeProtectedHeader, jwtVerify, SignJWT } from 'jose';
import { DomainError } from '../core/errors.ts';
import { epochSeconds, iso, type Now, SECOND } from '../core/time.ts';

/**
 * Guest tokens are signed and carry the lower-cased e-mail and a random guest_id. Both must match the record, so another
 * person's e-mail gives no access to any record. The first secret signs; every listed secret verifies (rotation).
 */
export interface GuestIdentity {
  readonly email: string;
  readonly guestId: string;
}

export interface GuestTokenOptions {
  readonly secrets: () => Promise<readonly string[]>;
  readonly ttlSeconds: number;
  readonly now: Now;
}

const ISSUER = 'payments:guest';
const keyId = (secret: string): string => createHash('sha256').update(`kid:${secret}`).digest('hex').slice(0, 8);
const keyOf = (secret: string): Uint8Array => new TextEncoder().encode(secret);

export type GuestTokens = ReturnType<typeof guestTokens>;

export const guestTokens = (options: GuestTokenOptions) => {
  const issue = async (guest: GuestIdentity): Promise<{ token: string; expiresAt: string } | undefined> => {
    const [secret] = await options.secrets();
    if (!secret) return undefined;
    const issuedAt = epochSeconds(options.now());
    const expiresAt = issuedAt + options.ttlSeconds;
    const token = await new SignJWT({ email: guest.email, guest_id: guest.guestId })
      .setProtectedHeader({ alg: 'HS256', kid: keyId(secret) })
      .setIssuer(ISSUER)
      .setIssuedAt(issuedAt)
      .setExpirationTime(expiresAt)
      .sign(keyOf(secret));
    return { token, expiresAt: iso(expiresAt * SECOND) };
  };

  /** @throws DomainError SESSION_INVALID for a forged or expired token. */
  const read = async (token: string): Promise<GuestIdentity> => {
    const secrets = await options.secrets();
    try {
      const { kid } = decodeProtectedHeader(token);
      const secret = secrets.find((candidate) => keyId(candidate) === kid);
      if (!secret) throw new Error('no such key');
      const { payload } = await jwtVerify(token, keyOf(secret), {
        issuer: ISSUER,
        algorithms: ['HS256'],
        currentDate: new Date(options.now()),
      });
      const { email, guest_id: guestId } = payload;
      if (typeof email !== 'string' || typeof guestId !== 'string') throw new Error('claims missing');
      return { email, guestId };
    } catch (error) {
      throw new DomainError('SESSION_INVALID', { message: 'The guest token is not valid', cause: error });
    }
  };

  return { issue, read };
};
