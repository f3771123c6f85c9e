/**
 * @module A service key: a program of the merchant that calls with its own secret. The table holds only hashes of the
 * secret's last part. A former last part stays valid until its grace ends.
 */

import { hash, timingSafeEqual } from 'node:crypto';
import * as z from 'zod';
import { DAY_MS, epochSeconds, type Instant, instant, iso } from '../core/time.ts';
import { KEYS_PARTITION, keyKey, listSort } from '../platform/keys.ts';
import type { Item } from '../platform/table.ts';
import { asVersion, storedRecordFields, type VersionedShape } from '../platform/versioned-record.ts';
import { SCOPES } from './scopes.ts';

const secretSchema = z.lazy(() =>
  z.object({
    hash: z.string(),
    until: z.string().optional(),
    /** The request that made the secret by a rotation, if it had an Idempotency-Key. */
    made: z.object({ scope: z.string(), requestHash: z.string(), at: z.string() }).optional(),
    /** The platform admin who got the secret, with the hash of the e-mail address. */
    maker: z.object({ userId: z.string(), emailHash: z.string().optional() }).optional(),
  }),
);
type StoredSecret = z.output<typeof secretSchema>;

const scopeSchema = z.lazy(() => z.string().transform((text) => SCOPES.find((scope) => scope === text)));

export const serviceKeySchema = z.lazy(() =>
  z.object({
    ...storedRecordFields,
    name: z.string(),
    /** A scope that no longer exists permits nothing. */
    scopes: z.array(scopeSchema).transform((scopes) => scopes.filter((scope) => scope !== undefined)),
    allowedIps: z.array(z.string()),
    expiresAt: z.string().optional(),
    createdBy: z.string(),
    revokedAt: z.string().optional(),
    /** The newest first; only former ones have an end. */
    secrets: z.array(secretSchema),
  }),
);
export type StoredKey = z.output<typeof serviceKeySchema>;

export const serviceKeyOf = (item: Item): StoredKey | undefined => serviceKeySchema.safeParse(item).data;

export type KeyStatus = 'active' | 'revoked' | 'expired';

export const statusOfKey = ({ revokedAt, expiresAt }: StoredKey, now: Instant): KeyStatus => {
  if (revokedAt !== undefined) return 'revoked';
  return expiresAt !== undefined && instant(expiresAt) <= now ? 'expired' : 'active';
};

/** Every secret begins so, also a malformed one, and scanners of secrets look for it. */
const SECRET_PREFIX = 'psk_';
const FORM = /^psk_([0-9a-f]{24})_([\w-]{43})$/;

/** Matches also after quotes, spaces and a second `Bearer`, which clients add by mistake. */
const MEANS_SECRET = /^(?:[^a-z0-9]|bearer)*psk_/i;

/** True if a credential is the secret of a key, well-formed or not. */
export const meansSecret = (credential: string): boolean => MEANS_SECRET.test(credential);

/** The start of the secret, which names the key. */
export const prefixOf = (id: string): string => `${SECRET_PREFIX}${id.slice(id.indexOf('_') + 1)}`;

/** @param last 256 random bits in base64url */
export const secretOf = (id: string, last: string): string => `${prefixOf(id)}_${last}`;

export interface SentSecret {
  readonly id: string;
  readonly last: string;
}

export const readSecret = (text: string): SentSecret | undefined => {
  const [, id, last] = FORM.exec(text) ?? [];
  return id === undefined || last === undefined ? undefined : { id: `key_${id}`, last };
};

export const hashOfSecret = (last: string): string => hash('sha256', last, 'hex');

/** The current secret, and the former ones that a rotation leaves valid for a time. */
const MOST_SECRETS = 3;
const NO_HASH = hashOfSecret('');

interface Rotation {
  /** The new secret. */
  readonly next: StoredSecret;
  readonly now: Instant;
  /** When the grace of the present secret ends. */
  readonly until: Instant;
}

/**
 * The secrets after a rotation. A former secret keeps the grace that it has, the third rotation ends the oldest, and a
 * rotation without a grace ends all of them.
 */
export const rotated = ({ secrets }: StoredKey, { next, now, until }: Rotation): readonly StoredSecret[] => {
  if (until <= now) return [next];
  const former = secrets
    .map((secret) => ({ ...secret, until: secret.until ?? iso(until) }))
    .filter((secret) => instant(secret.until) > now);
  return [next, ...former].slice(0, MOST_SECRETS);
};

/** The key's valid secret with this last part. Takes the same time for a key that does not exist. */
export const matchingSecret = (key: StoredKey | undefined, last: string, now: Instant): StoredSecret | undefined => {
  const sent = Buffer.from(hashOfSecret(last), 'hex');
  let found: StoredSecret | undefined;
  for (let at = 0; at < MOST_SECRETS; at += 1) {
    const secret = key?.secrets[at];
    const isSame = timingSafeEqual(sent, Buffer.from(secret?.hash ?? NO_HASH, 'hex'));
    if (isSame && secret && (secret.until === undefined || instant(secret.until) > now)) found = secret;
  }
  return found;
};

/** How long a revoked key stays. */
const KEPT_MS = 400 * DAY_MS;

/** A key has a place in the list of all keys. */
export const serviceKeyShape: VersionedShape<StoredKey> = {
  key: keyKey,
  parse: serviceKeyOf,
  attributes: (key) => ({
    ...key,
    owner: KEYS_PARTITION,
    sort: listSort(key.createdAt, key.id),
    ...(key.revokedAt !== undefined && { ttl: epochSeconds(instant(key.revokedAt) + KEPT_MS) }),
  }),
  asRead: asVersion,
};
