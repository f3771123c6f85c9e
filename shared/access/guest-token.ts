/**
 * @module Issues and reads guest tokens. A signed token contains the lower-cased e-mail and a random guest_id. Both
 * must match the record, so another person's e-mail gives no access. If a create continues a guest_id without a token,
 * its new token opens only the created record. The first secret signs, and every listed secret verifies, so that
 * secrets can be rotated.
 */

import { DomainError } from '../core/errors.ts';
import { normalizedEmail } from '../core/text.ts';
import { epochSeconds, iso, type Now, SECOND_MS } from '../core/time.ts';
import type { Caller, GuestCaller } from './caller.ts';

export interface GuestIdentity {
  readonly email: string;
  readonly guestId: string;
  /** Set if the token opens only this record; undefined if it opens every record of the guest_id. */
  readonly onlyRecord?: string | undefined;
}

export interface GuestTokenOptions {
  readonly secrets: () => Promise<readonly string[]>;
  readonly ttlSeconds: number;
  readonly now: Now;
}

export type GuestTokens = ReturnType<typeof guestTokens>;

export const guestTokens = (options: GuestTokenOptions) => {
  const issue = async (guest: GuestIdentity): Promise<{ token: string; expiresAt: string } | undefined> => {
    const [secret] = await options.secrets();
    if (!secret) return undefined;
    const { signGuestToken } = await import('./guest-signature.ts');
    const issuedAt = epochSeconds(options.now());
    const expiresAt = issuedAt + options.ttlSeconds;
    const claims = { email: guest.email, guest_id: guest.guestId, record: guest.onlyRecord };
    const token = await signGuestToken(claims, secret, { issuedAt, expiresAt });
    return { token, expiresAt: iso(expiresAt * SECOND_MS) };
  };

  /** @throws DomainError SESSION_INVALID for a forged or expired token */
  const read = async (token: string): Promise<GuestIdentity> => {
    const secrets = await options.secrets();
    const { verifyGuestToken } = await import('./guest-signature.ts');
    try {
      const { email, guest_id: guestId, record } = await verifyGuestToken(token, secrets, options.now());
      return { email: normalizedEmail(email), guestId, onlyRecord: record };
    } catch (error) {
      throw new DomainError('SESSION_INVALID', { message: 'The guest token is not valid', cause: error });
    }
  };

  return { issue, read };
};

interface RecordOfGuest {
  readonly id: string;
  readonly guestId?: string | undefined;
  readonly guestEmail?: string | undefined;
  readonly guestNetwork?: string | undefined;
}

/**
 * The guest fields in the response to a guest's create. A service key also gets the guest_id for later X-Act-For
 * requests, but no token if it already acts for the guest. A repeat from another network gets no token, because an
 * Idempotency-Key may be guessed.
 */
export const guestTokenFields = async (
  tokens: GuestTokens,
  caller: Caller,
  { id, guestId, guestEmail, guestNetwork }: RecordOfGuest,
): Promise<GuestFields> => {
  if (caller.kind !== 'guest' || !guestId || !guestEmail) return {};
  if (!caller.key) return tokenFields(tokens, caller, { id, guestId, guestEmail, guestNetwork });
  const token = caller.byToken ? {} : await tokenFields(tokens, caller, { id, guestId, guestEmail, guestNetwork });
  return { guest_id: guestId, ...token };
};

interface GuestFields {
  readonly guest_id?: string;
  readonly guest_token?: string;
  readonly guest_token_expires_at?: string;
}

const tokenFields = async (
  tokens: GuestTokens,
  caller: GuestCaller,
  { id, guestId, guestEmail, guestNetwork }: RecordOfGuest & { readonly guestId: string; readonly guestEmail: string },
): Promise<GuestFields> => {
  if (!caller.byToken && (guestNetwork === undefined || guestNetwork !== caller.network)) return {};
  const issued = await tokens.issue({ guestId, email: guestEmail, onlyRecord: caller.proven && id });
  return issued ? { guest_token: issued.token, guest_token_expires_at: issued.expiresAt } : {};
};
