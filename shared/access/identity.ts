/** @module The client of the identity service. An outage causes a 503 and never makes a caller anonymous. */

import * as z from 'zod';
import { assertNever, DomainError } from '../core/errors.ts';
import type { ClaimSources } from '../core/setting.ts';
import { normalizedEmail } from '../core/text.ts';
import { HOUR_MS, type Instant, instant, MINUTE_MS, type Now, SECOND_MS } from '../core/time.ts';
import { type FetchInit, fetchOverHttp } from '../platform/fetch.ts';
import type { VerifiedBearer } from './bearer-token.ts';
import { mappedClaims } from './mapped-claims.ts';
import { STAFF_ROLES, type StaffRole } from './scopes.ts';

const optionalText = z
  .string()
  .nullish()
  .transform((value) => value || undefined);

const optionalEmail = optionalText.transform((value) => value && normalizedEmail(value));

/** The common fields of sessions and token claims. */
const userFields = {
  email: z.string().transform(normalizedEmail),
  organization_id: optionalText,
  is_admin: z
    .boolean()
    .nullish()
    .transform((value) => value === true),
  // An unknown role counts as no role.
  staff_role: z
    .unknown()
    .optional()
    .transform((value) => STAFF_ROLES.find((role) => role === value)),
};
const sessionSchema = z.object({
  ...userFields,
  user_id: z.string().min(1),
  // A session without a valid expiry counts as absent.
  expires_at: z.unknown().optional(),
});
const expirySchema = z.iso.datetime({ offset: true });
const claimsSchema = z.lazy(() =>
  z.object({ ...userFields, email: optionalEmail, sub: z.string().min(1), exp: z.number() }),
);
const userSchema = z.lazy(() =>
  z.object({
    id: z.string(),
    email: z.string(),
    name: z.string().nullish(),
    last_name: z.string().nullish(),
    picture: z.string().nullish(),
  }),
);

export type IdentityUser = z.infer<typeof userSchema>;

export interface IdentitySession {
  readonly userId: string;
  /** Absent only for a bearer token, if IDENTITY_EMAIL is optional. */
  readonly email: string | undefined;
  readonly organizationId: string | undefined;
  readonly isAdmin: boolean;
  readonly staffRole: StaffRole | undefined;
  readonly expiresAt: number;
}

export interface IdentityOptions {
  readonly url: string;
  /** False without an identity service. Users then need bearer tokens. */
  readonly looksUp: boolean;
  readonly jwksUri: string;
  readonly issuer: string;
  /** If empty, the audience is not checked. */
  readonly audiences: readonly string[];
  readonly claims: ClaimSources;
  readonly needsEmail: boolean;
  /** The time-out of one call. */
  readonly timeoutMs: number;
  readonly now: Now;
}

export type Identity = ReturnType<typeof identityClient>;

/** Statuses for an unknown session or user, or for a malformed or overlong id. */
const NOT_KNOWN: ReadonlySet<number> = new Set([400, 404, 414, 431]);

const unavailable = (cause: unknown): DomainError => new DomainError('IDENTITY_UNAVAILABLE', { cause });

/** An unexpected response. Its message points the operator at the identity service instead of the network. */
const malformed = (cause: unknown): DomainError =>
  new DomainError('IDENTITY_UNAVAILABLE', { message: 'The identity service returned an unexpected response', cause });

export const identityClient = (options: IdentityOptions) => {
  /** @throws DomainError IDENTITY_UNAVAILABLE on an outage, a time-out, or a malformed response */
  const ask = async <T>(path: string, schema: z.ZodType<T>, init: FetchInit = {}): Promise<T | undefined> => {
    const signal = AbortSignal.timeout(options.timeoutMs);
    const response = await fetchOverHttp(`${options.url}${path}`, { ...init, signal }).catch((error: unknown) => {
      throw unavailable(error);
    });
    if (NOT_KNOWN.has(response.status)) return undefined;
    if (!response.ok) throw malformed(new Error(`the identity service returned status ${response.status}`));
    const text = await response.text().catch((error: unknown) => {
      throw unavailable(error);
    });
    try {
      return schema.parse(JSON.parse(text));
    } catch (error) {
      throw malformed(error);
    }
  };

  const session = async (id: string): Promise<IdentitySession | undefined> => {
    // `encodeURIComponent` keeps dots, so the ids `.` and `..` would change the path.
    if (!options.looksUp || id === '.' || id === '..') return undefined;
    const found = await ask(`/sessions/${encodeURIComponent(id)}`, sessionSchema);
    const expiry = expirySchema.safeParse(found?.expires_at);
    if (!found || !expiry.success) return undefined;
    return {
      userId: found.user_id,
      email: found.email,
      organizationId: found.organization_id,
      isAdmin: found.is_admin,
      staffRole: found.staff_role,
      expiresAt: instant(expiry.data),
    };
  };

  const verify = bearerVerifier(options);

  /** The session of a JWT; undefined if signature or claims are invalid. */
  const sessionOfToken = async (token: string): Promise<IdentitySession | undefined> => {
    const verified = await verify(token);
    switch (verified.kind) {
      case 'valid': {
        const claims = claimsSchema.safeParse(mappedClaims(verified.claims, options.claims));
        if (!claims.success) return undefined;
        const { sub, email, organization_id, is_admin, staff_role, exp } = claims.data;
        if (email === undefined && options.needsEmail) return undefined;
        return {
          ...{ userId: sub, email, organizationId: organization_id, expiresAt: exp * SECOND_MS },
          ...{ isAdmin: is_admin, staffRole: staff_role },
        };
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

  const userByEmail = async (email: string): Promise<IdentityUser | undefined> =>
    options.looksUp ? ask(`/users?email=${encodeURIComponent(normalizedEmail(email))}`, userSchema) : undefined;

  /** Looks up all ids in one call, with names and pictures. */
  const users = async (ids: readonly string[]): Promise<readonly IdentityUser[]> =>
    ids.length === 0 || !options.looksUp
      ? []
      : ((await ask('/users/lookup', z.array(userSchema), {
          method: 'POST',
          headers: { 'content-type': 'application/json' },
          body: JSON.stringify({ ids }),
        })) ?? []);

  return { looksUp: options.looksUp, session, sessionOfToken, userByEmail, users };
};

/**
 * A verifier is replaced after this time. It keeps every key that it has read, so a removed key stays valid until the
 * next verifier opens.
 */
const KEYS_CACHE_MS = 5 * MINUTE_MS;
/** If reading the keys fails, the previous keys stay valid for this long. Reads are retried every minute. */
const KEYS_KEPT_MS = HOUR_MS;
const KEYS_RETRY_MS = MINUTE_MS;

interface Verifier {
  readonly verify: (token: string) => Promise<VerifiedBearer>;
  readonly openedAt: Instant;
  /** When the next verifier must be opened. */
  readonly until: Instant;
}

const bearerVerifier = ({ jwksUri, issuer, audiences, timeoutMs, now }: IdentityOptions) => {
  const read = async (uri: string): Promise<ArrayBuffer> => {
    const response = await fetchOverHttp(uri, { signal: AbortSignal.timeout(timeoutMs) });
    if (!response.ok) throw new Error(`status ${response.status}`);
    return response.arrayBuffer();
  };
  let known: Verifier | undefined;
  const open = async (): Promise<Verifier> => {
    const { openBearerTokens } = await import('./bearer-token.ts');
    const openedAt = now();
    return {
      verify: openBearerTokens({ jwksUri, issuer, audiences, read }),
      openedAt,
      until: openedAt + KEYS_CACHE_MS,
    };
  };
  return async (token: string): Promise<VerifiedBearer> => {
    if (jwksUri === '') return { kind: 'invalid' };
    if (known && known.until > now()) return known.verify(token);
    const [former, next] = [known, await open()];
    const verified = await next.verify(token);
    const isKept = verified.kind === 'unavailable' && former && now() < former.openedAt + KEYS_KEPT_MS;
    known = isKept ? { ...former, until: now() + KEYS_RETRY_MS } : next;
    return isKept ? former.verify(token) : verified;
  };
};
