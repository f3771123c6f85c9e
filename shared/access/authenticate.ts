/**
 * @module Authenticates a request by its session, bearer token, service key or guest token. Valid sessions are cached
 * for up to a minute, invalid credentials for five seconds. Raising the session cache epoch clears both caches.
 */

import QuickLRU from 'quick-lru';
import { DomainError, notFound } from '../core/errors.ts';
import { fingerprint } from '../core/ids.ts';
import { normalizedEmail } from '../core/text.ts';
import { type Instant, MINUTE_MS, type Now, SECOND_MS } from '../core/time.ts';
import type { CacheEpoch } from './cache-epoch.ts';
import type { Caller, KeyIdentity } from './caller.ts';
import type { GuestTokens } from './guest-token.ts';
import type { ServiceKeys } from './identify-key.ts';
import type { Identity, IdentitySession, IdentityUser } from './identity.ts';
import { meansSecret } from './service-key.ts';

/** Only the first credential counts, in the order X-Session-ID, Authorization, session_id in the query, guest token. */
export interface Credentials {
  readonly sessionId: string | undefined;
  readonly authorization: string | undefined;
  readonly querySession: string | undefined;
  readonly guestToken: string | undefined;
  /** The client's network address, for keys with allowed addresses. */
  readonly address: string;
}

/** The payer in X-Act-For. */
export type ActedFor =
  /** The key may send `email`, but only if there is no identity service. */
  | { readonly kind: 'user'; readonly userId: string; readonly email?: string | undefined }
  | { readonly kind: 'organization'; readonly organizationId: string }
  | { readonly kind: 'guest'; readonly guestId: string };

export interface AuthenticateOptions {
  readonly identity: Identity;
  readonly keys: ServiceKeys;
  readonly guestTokens: GuestTokens;
  /** Finds a guest by guest_id; undefined for an unknown guest. */
  readonly guestOf: (guestId: string) => Promise<{ readonly email: string } | undefined>;
  readonly adminUserIds: readonly string[];
  readonly allowQuerySession: boolean;
  readonly epoch: CacheEpoch;
  readonly now: Now;
}

const SESSION_CACHE_MS = MINUTE_MS;
/** How long an invalid or expired credential is cached. */
const INVALID_CACHE_MS = 5 * SECOND_MS;
const SESSION_CACHE_ENTRIES = 2_000;
const LOOKS_LIKE_JWT = /^[\w-]+\.[\w-]+\.[\w-]+$/;

/**
 * The end of a session's time in the cache. An expired session is cached only briefly, because it may have been
 * renewed.
 */
const knownUntil = ({ expiresAt }: IdentitySession, now: Instant): Instant =>
  expiresAt > now ? Math.min(now + SESSION_CACHE_MS, expiresAt) : now + INVALID_CACHE_MS;

export type Authenticate = ReturnType<typeof authenticator>;

export const authenticator = (options: AuthenticateOptions) => {
  // quick-lru keeps up to twice `maxSize` entries.
  const cache = new QuickLRU<string, { session: IdentitySession; until: number }>({
    maxSize: SESSION_CACHE_ENTRIES / 2,
  });

  // Invalid credentials have their own cache, so made-up credentials cannot evict valid sessions.
  const invalid = new QuickLRU<string, number>({ maxSize: SESSION_CACHE_ENTRIES / 4 });

  let epoch = '';
  const clearIfAsked = async (): Promise<void> => {
    const current = await options.epoch.current('session');
    if (current !== epoch) {
      cache.clear();
      invalid.clear();
    }
    epoch = current;
  };

  const find = async (kind: 'session' | 'bearer', value: string): Promise<IdentitySession | undefined> => {
    const key = fingerprint(kind, value);
    await clearIfAsked();
    const cached = cache.get(key);
    if (cached && cached.until > options.now()) return cached.session;
    if ((invalid.get(key) ?? 0) > options.now()) return undefined;
    const session =
      kind === 'bearer' && LOOKS_LIKE_JWT.test(value)
        ? await options.identity.sessionOfToken(value)
        : await options.identity.session(value);
    if (session) cache.set(key, { session, until: knownUntil(session, options.now()) });
    else invalid.set(key, options.now() + INVALID_CACHE_MS);
    return session;
  };

  const signedIn = async (kind: 'session' | 'bearer', value: string): Promise<Caller> => {
    // The secret of a key never reaches the identity service, whatever header or form it arrives in.
    if (meansSecret(value)) throw new DomainError('API_KEY_INVALID');
    const session = await find(kind, value);
    if (!session) throw new DomainError('SESSION_INVALID');
    if (session.expiresAt <= options.now()) throw new DomainError('SESSION_EXPIRED');
    return {
      kind: 'session',
      userId: session.userId,
      email: session.email,
      organizationId: session.organizationId,
      isAdmin: session.isAdmin || options.adminUserIds.includes(session.userId),
      ...(session.staffRole && { staffRole: session.staffRole }),
    };
  };

  const identified = async (secret: string, address: string): Promise<Caller> => {
    const key = await options.keys.identify(secret, address);
    if (!key) throw new DomainError('API_KEY_INVALID');
    return { kind: 'key', key };
  };

  const authorized = async (authorization: string, address: string): Promise<Caller> => {
    const bearer = /^Bearer +(\S+)$/i.exec(authorization)?.[1];
    if (meansSecret(bearer ?? authorization)) return identified(bearer ?? '', address);
    if (!bearer) throw new DomainError('SESSION_INVALID');
    return signedIn('bearer', bearer);
  };

  /**
   * Returns `anonymous` without a credential.
   * @throws DomainError SESSION_INVALID, SESSION_EXPIRED, API_KEY_INVALID or IDENTITY_UNAVAILABLE
   */
  const authenticate = async (credentials: Credentials): Promise<Caller> => {
    if (credentials.sessionId !== undefined) return signedIn('session', credentials.sessionId);
    if (credentials.authorization !== undefined) return authorized(credentials.authorization, credentials.address);
    if (credentials.querySession !== undefined && options.allowQuerySession) {
      return signedIn('session', credentials.querySession);
    }
    if (credentials.guestToken === undefined) return { kind: 'anonymous' };
    const guest = await options.guestTokens.read(credentials.guestToken);
    return { kind: 'guest', ...guest, name: undefined, phone: undefined, byToken: true };
  };

  /**
   * The caller for a key that acts for this payer.
   * @throws DomainError USER_NOT_FOUND, RESOURCE_NOT_FOUND or IDENTITY_UNAVAILABLE
   */
  const actFor = async (key: KeyIdentity, payer: ActedFor): Promise<Caller> => {
    if (payer.kind === 'organization') return { ...payer, key };
    if (payer.kind === 'guest') return guestCaller(options, key, payer.guestId);
    const member = { kind: 'session', organizationId: undefined, isAdmin: false, key } as const;
    if (!options.identity.looksUp) return { ...member, userId: payer.userId, email: payer.email };
    const cached = users.get(payer.userId);
    const user = cached && cached.until > options.now() ? cached.user : await lookUp(payer.userId);
    return { ...member, userId: user.id, email: user.email };
  };

  const users = new QuickLRU<string, { user: IdentityUser; until: number }>({ maxSize: SESSION_CACHE_ENTRIES / 2 });

  const lookUp = async (userId: string): Promise<IdentityUser> => {
    const until = options.now() + SESSION_CACHE_MS;
    const found = (await options.identity.users([userId])).find(({ id }) => id === userId);
    if (!found) throw new DomainError('USER_NOT_FOUND');
    const user = { ...found, email: normalizedEmail(found.email) };
    users.set(userId, { user, until });
    return user;
  };

  return { looksUp: options.identity.looksUp, authenticate, actFor };
};

/** The guest represented by a key counts as having a token, so the key needs no proof of the guest_id. */
const guestCaller = async (
  { guestOf }: Pick<AuthenticateOptions, 'guestOf'>,
  key: KeyIdentity,
  guestId: string,
): Promise<Caller> => {
  const found = await guestOf(guestId);
  if (!found) throw notFound('guest');
  return { kind: 'guest', guestId, email: found.email, name: undefined, phone: undefined, byToken: true, key };
};
