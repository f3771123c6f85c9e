import * as z from 'zod';
import { assertNever, DomainError } from '../core/errors.ts';
import { normalizedEmail } from '../core/text.ts';
import { instant, type Now, SECOND } from '../core/time.ts';
import { type FetchInit, fetchOverHttp } from '../platform/fetch.ts';
import type { VerifiedBearer } from './bearer-token.ts';

/**
 * The client of the identity service: users by session, token, e-mail or id. An outage is a 503; a caller never becomes
 * anonymous by it.
 */

const optionalText = z
  .string()
  .nullish()
  .transform((value) => value || undefined);

/** What a session and the claims of a token say of their user. */
const userFields = {
  email: z.string().transform(normalizedEmail),
  organization_id: optionalText,
  is_admin: z
    .boolean()
    .nullish()
    .transform((value) => value === true),
};
const sessionSchema = z.object({
  ...userFields,
  user_id: z.string().min(1),
  // A session without a valid expiry counts as absent.
  expires_at: z.unknown().optional(),
});
const expirySchema = z.iso.datetime({ offset: true });
const claimsSchema = z.object({ ...userFields, sub: z.string().min(1), exp: z.number() });
const userSchema = z.object({
  id: z.string(),
  email: z.string(),
  name: z.string().nullish(),
  last_name: z.string().nullish(),
  picture: z.string().nullish(),
});

export type IdentityUser = z.infer<typeof userSchema>;

export interface IdentitySession {
  readonly userId: string;
  readonly email: string;
  readonly organizationId: string | undefined;
  readonly isAdmin: boolean;
  readonly expiresAt: number;
}

export interface IdentityOptions {
  readonly url: string;
  readonly jwksUri: string;
  readonly issuer: string;
  /** Empty: the audience is not checked. */
  readonly audience: string;
  /** Of one call. */
  readonly timeoutMs: number;
  readonly now: Now;
}

export type Identity = ReturnType<typeof identityClient>;

/** How the service says that it does not know a session or user: also that it cannot be an id of one, or is too long for one. */
const NOT_KNOWN: ReadonlySet<number> = new Set([400, 404, 414, 431]);

const unavailable = (cause: unknown): DomainError => new DomainError('IDENTITY_UNAVAILABLE', { cause });

export const identityClient = (options: IdentityOptions) => {
  /** @throws DomainError IDENTITY_UNAVAILABLE on an outage, a time-out, or a malformed response. */
  const ask = async <T>(path: string, schema: z.ZodType<T>, init: FetchInit = {}): Promise<T | undefined> => {
    try {
      const response = await fetchOverHttp(`${options.url}${path}`, {
        ...init,
        signal: AbortSignal.timeout(options.timeoutMs),
      });
      if (NOT_KNOWN.has(response.status)) return undefined;
      if (!response.ok) throw new Error(`identity service answered ${response.status}`);
      return schema.parse(await response.json());
    } catch (error) {
      throw unavailable(error);
    }
  };

  const session = async (id: string): Promise<IdentitySession | undefined> => {
    // In a path these name a folder, not a session.
    if (id === '.' || id === '..') return undefined;
    const found = await ask(`/sessions/${encodeURIComponent(id)}`, sessionSchema);
    const expiry = expirySchema.safeParse(found?.expires_at);
    if (!found || !expiry.success) return undefined;
    return {
      userId: found.user_id,
      email: found.email,
      organizationId: found.organization_id,
      isAdmin: found.is_admin,
      expiresAt: instant(expiry.data),
    };
  };

  const verify = bearerVerifier(options);

  /** The session of a JWT; undefined where its signature or claims are invalid. */
  const sessionOfToken = async (token: string): Promise<IdentitySession | undefined> => {
    const verified = await verify(token);
    switch (verified.kind) {
      case 'valid': {
        const claims = claimsSchema.safeParse(verified.claims);
        if (!claims.success) return undefined;
        const { sub, email, organization_id, is_admin, exp } = claims.data;
        return { userId: sub, email, organizationId: organization_id, isAdmin: is_admin, expiresAt: exp * SECOND };
      }
      case 'invalid':
        return undefined;
      case 'expired':
        throw new DomainError('SESSION_EXPIRED');
      case 'unavailable':
        throw unavailable(verified.cause);
      default:
        return assertNever(verified);
    }
  };

  const userByEmail = (email: string): Promise<IdentityUser | undefined> =>
    ask(`/users?email=${encodeURIComponent(normalizedEmail(email))}`, userSchema);

  /** The users of all ids, with names and pictures, in one call. */
  const users = async (ids: readonly string[]): Promise<readonly IdentityUser[]> =>
    ids.length === 0
      ? []
      : ((await ask('/users/lookup', z.array(userSchema), {
          method: 'POST',
          headers: { 'content-type': 'application/json' },
          body: JSON.stringify({ ids }),
        })) ?? []);

  return { session, sessionOfToken, userByEmail, users };
};

const bearerVerifier = ({ jwksUri, issuer, audience, timeoutMs }: IdentityOptions) => {
  const read = async (uri: string): Promise<ArrayBuffer> => {
    const response = await fetchOverHttp(uri, { signal: AbortSignal.timeout(timeoutMs) });
    if (!response.ok) throw new Error(`status ${response.status}`);
    return response.arrayBuffer();
  };
  let verify: ((token: string) => Promise<VerifiedBearer>) | undefined;
  return async (token: string): Promise<VerifiedBearer> => {
    if (jwksUri === '') return { kind: 'invalid' };
    verify ??= (await import('./bearer-token.ts')).openBearerTokens({ jwksUri, issuer, audience, read });
    return verify(token);
  };
};
