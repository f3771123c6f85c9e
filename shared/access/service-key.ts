/**
 * @module A service key for API calls by a program of the merchant. The table stores only hashes of the secret's last
 * part. After a rotation, a former secret stays valid until its grace period ends.
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
    /** The rotation request that made the secret. Set if the request had an Idempotency-Key. */
    made: z.object({ scope: z.string(), requestHash: z.string(), at: z.string() }).optional(),
    /** The platform admin who received the secret, with the hash of the e-mail address. */
    maker: z.object({ userId: z.string(), emailHash: z.string().optional() }).optional(),
  }),
);
type StoredSecret = z.output<typeof secretSchema>;

const scopeSchema = z.lazy(() => z.string().transform((text) => SCOPES.find((scope) => scope === text)));

export const serviceKeySchema = z.lazy(() =>
  z.object({
    ...storedRecordFields,
    name: z.string(),
    /** Removed scopes are ignored. */
    scopes: z.array(scopeSchema).transform((scopes) => scopes.filter((scope) => scope !== undefined)),
    allowedIps: z.array(z.string()),
    expiresAt: z.string().optional(),
    createdBy: z.string(),
    revokedAt: z.string().optional(),
    /** Newest first; only former secrets have `until`. */
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

/** The prefix of every secret, which secret scanners search for. */
const SECRET_PREFIX = 'psk_';
const FORM = /^psk_([0-9a-f]{24})_([\w-]{43})$/;

/** Also matches a secret after quotes, spaces or a second `Bearer`, which clients add by mistake. */
const MEANS_SECRET = /^(?:[^a-z0-9]|bearer)*psk_/i;

/** True if a credential looks like the secret of a key, even if it is malformed. */
export const meansSecret = (credential: string): boolean => MEANS_SECRET.test(credential);

/** The start of the secret, which identifies the key. */
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

/** Maximum number of a key's secrets, including former secrets within their grace period. */
const MOST_SECRETS = 3;
const NO_HASH = hashOfSecret('');

interface Rotation {
  /** The new secret. */
  readonly next: StoredSecret;
  readonly now: Instant;
  /** The end of the current secret's grace period. */
  readonly until: Instant;
}

/**
 * The secrets after a rotation. Former secrets keep their grace period. The third rotation removes the oldest secret,
 * and a rotation without a grace period removes all former secrets.
 */
export const rotated = ({ secrets }: StoredKey, { next, now, until }: Rotation): readonly StoredSecret[] => {
  if (until <= now) return [next];
  const former = secrets
    .map((secret) => ({ ...secret, until: secret.until ?? iso(until) }))
    .filter((secret) => instant(secret.until) > now);
  return [next, ...former].slice(0, MOST_SECRETS);
};

/** The key's valid secret with this last part. The search takes the same time for an unknown key. */
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

/** The retention of a revoked key. */
const KEPT_MS = 400 * DAY_MS;

/** How keys are stored. One partition lists every key, by creation time. */
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
