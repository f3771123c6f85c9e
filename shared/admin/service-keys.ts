/**
 * @module Service keys for platform admins: create, list, change, rotate and revoke. The response that creates a secret
 * shows it once; the table stores its hash.
 */

import { isIP } from 'node:net';
import * as z from 'zod';
import type { Caller } from '../access/caller.ts';
import { SCOPES } from '../access/scopes.ts';
import {
  hashOfSecret,
  prefixOf,
  rotated,
  type StoredKey,
  secretOf,
  serviceKeyOf,
  serviceKeyShape,
  statusOfKey,
} from '../access/service-key.ts';
import { DomainError, notFound } from '../core/errors.ts';
import type { IdDeps } from '../core/keyed-ids.ts';
import { type Instant, instant, iso, SECOND_MS } from '../core/time.ts';
import { networkOf } from '../http/client-address.ts';
import { createOnce, isKeyInForce } from '../http/create-once.ts';
import { boundedList, boundedText, idSchema, timeField, timestamp } from '../http/fields.ts';
import { keyReusedError } from '../http/idempotency.ts';
import { cursorReply, runList, wholeNumberParameter } from '../http/paging.ts';
import type { ApiRequest, Reply } from '../http/request.ts';
import { decodeCursor, encodeCursor } from '../platform/cursor.ts';
import { emailHash, KEYS_PARTITION, keyKey, keyUseKey } from '../platform/keys.ts';
import { listRows } from '../platform/listing.ts';
import type { Item, StoreDeps } from '../platform/table.ts';
import { type Found, firstVersion, versionedRecord } from '../platform/versioned-record.ts';
import { cursorParameter } from '../queries/parameters.ts';

const MAX_RANGES = 20;
const MAX_GRACE_SECONDS = 604_800;

/**
 * True for a range in CIDR notation. An IPv4 address must not be written as IPv6. Zones are refused, because no client
 * address has a zone.
 */
const isRange = (text: string): boolean => {
  const [, address = '', bits = ''] = RANGE.exec(text) ?? [];
  if (isIP(address) === 4) return Number(bits) <= 32;
  return isIP(address) === 6 && isIP(networkOf(address)) !== 4 && Number(bits) <= 128;
};
const RANGE = /^([0-9A-Fa-f.:]+)\/(\d{1,3})$/;

const nameField = boundedText(100).trim().min(1);
const scopesField = boundedList(SCOPES.length, boundedText(40).pipe(z.enum(SCOPES))).refine(
  (scopes) => scopes.length > 0,
  'must name at least one scope',
);
const rangesField = boundedList(
  MAX_RANGES,
  boundedText(50).refine(isRange, 'must be a range of addresses, such as 203.0.113.0/24'),
);

const NAME = 'The purpose of the key, at most 100 characters.';
const SCOPES_GIVEN = 'The scopes of the key, at least one.';
const RANGES = 'Ranges of addresses that may use the key, at most 20; any address if empty.';
const ENDS = 'Expiry time of the key; never expires if absent.';

export const createKeyBody = z
  .object({
    name: nameField.meta({ description: NAME, examples: ['Shop backend'] }),
    scopes: scopesField.meta({ description: SCOPES_GIVEN, examples: [['payments:read', 'payments:write']] }),
    allowed_ips: rangesField.nullish().describe(RANGES),
    expires_at: timeField().nullish().describe(ENDS),
  })
  .meta({
    id: 'CreateKey',
    description: 'The name, scopes, allowed addresses and expiry of the new key.',
  });

export const updateKeyBody = z
  .object({
    name: nameField.optional().describe(NAME),
    scopes: scopesField.optional().describe(`${SCOPES_GIVEN} They replace the current scopes within five seconds.`),
    allowed_ips: rangesField.nullish().describe(`${RANGES} They replace the current ranges.`),
    expires_at: timeField()
      .nullish()
      .describe('Expiry time of the key; null removes it. A later time makes an expired key active again.'),
  })
  .meta({ id: 'UpdateKey', description: 'The fields to change.' });

export const rotateKeyBody = z
  .object({
    grace_seconds: z
      .int()
      .min(0)
      .max(MAX_GRACE_SECONDS)
      .nullish()
      .describe(
        'Seconds for which the current secret stays valid, at most 7 days; a day if absent. 0 ends every former secret immediately.',
      ),
  })
  .meta({ id: 'RotateKey', description: 'The remaining lifetime of the current secret.' });

export const keyParams = z.object({ id: idSchema.describe('Names the key, `key_…`.') });

export const listKeysQuery = z.object({
  limit: wholeNumberParameter(1, 100).default(25).describe('Maximum number of keys per page, 1 to 100; 25 if absent.'),
  cursor: cursorParameter,
});

const keyFields = {
  id: z.string().meta({ description: 'Our id of the key.', examples: ['key_814fd0524add4278431c499b'] }),
  name: z.string().describe('The purpose of the key.'),
  scopes: z.array(z.enum(SCOPES)).describe('The scopes that the key grants.'),
  prefix: z.string().describe('The start of the secret, which identifies the key of a found secret.'),
  allowed_ips: z.array(z.string()).describe('The ranges of addresses that may use the key; any address if empty.'),
  expires_at: timestamp.nullable().describe('Expiry time of the key.'),
  last_used_at: timestamp.nullable().describe('When the key was last used, to the hour.'),
  status: z.enum(['active', 'revoked', 'expired']).describe('Only an active key is accepted.'),
  created_by: z.string().describe('The user id of the platform admin who created the key.'),
  created_at: timestamp.describe('When the key was created.'),
  revoked_at: timestamp.nullable().describe('When the key was revoked.'),
};

export const keyViewSchema = z.object(keyFields).meta({
  id: 'ServiceKey',
  description: 'A service key with its scopes, without its secret.',
});

export const keyWithSecretSchema = z
  .object({
    ...keyFields,
    secret: z.string().nullable().describe('The secret, shown in this response only; null in a repeat of the request.'),
  })
  .meta({
    id: 'ServiceKeyWithSecret',
    description: 'A service key with its secret, which is shown only once.',
  });

interface KeyDeps extends StoreDeps, IdDeps {
  /** Makes the last part of a secret, 256 random bits in base64url. */
  readonly newSecret: () => string;
}

const viewOf = (key: StoredKey, use: Item | undefined, now: number) => ({
  id: key.id,
  name: key.name,
  scopes: key.scopes,
  prefix: prefixOf(key.id),
  allowed_ips: key.allowedIps,
  expires_at: key.expiresAt ?? null,
  last_used_at: typeof use?.['at'] === 'string' ? use['at'] : null,
  status: statusOfKey(key, now),
  created_by: key.createdBy,
  created_at: key.createdAt,
  revoked_at: key.revokedAt ?? null,
});

/** @returns the key, with its secret on creation only */
export const createKey = async (
  deps: KeyDeps,
  { body, caller, idempotency }: ApiRequest<unknown, unknown, z.output<typeof createKeyBody>>,
): Promise<Reply> => {
  const last = deps.newSecret();
  const at = iso(deps.now());
  const { record, replayed } = await createOnce<StoredKey>(deps, {
    store: storeOf(deps),
    kind: 'key',
    idempotency,
    build: async (id) => ({
      id,
      ...firstVersion(at, idempotency),
      name: body.name,
      scopes: [...new Set(body.scopes)],
      allowedIps: body.allowed_ips ?? [],
      expiresAt: body.expires_at ? iso(instant(body.expires_at)) : undefined,
      createdBy: caller.kind === 'session' ? caller.userId : '',
      secrets: [{ hash: hashOfSecret(last), maker: makerOfSecret(caller) }],
    }),
  });
  const use = replayed ? await deps.table.get(keyUseKey(record.id)) : undefined;
  return {
    data: { ...viewOf(record, use, deps.now()), secret: replayed ? null : secretOf(record.id, last) },
    ...(replayed && { headers: { 'idempotent-replayed': 'true' } }),
  };
};

/** The admin who sees the secret. A secret's holder may not decide about their own payment (own-payment.ts). */
const makerOfSecret = (caller: Caller): StoredKey['secrets'][number]['maker'] =>
  caller.kind === 'session' ? { userId: caller.userId, emailHash: caller.email && emailHash(caller.email) } : undefined;

const storeOf = (deps: StoreDeps) => {
  const store = versionedRecord(deps, serviceKeyShape);
  const insertOrFind = async (key: StoredKey): Promise<Found<StoredKey> | undefined> => {
    const found = await store.insertOrFind(key);
    // If a response is lost, the SDK repeats the write and then finds its own record. Such a record counts as new.
    const isOurs = found?.kind === 'record' && found.record.secrets[0]?.hash === key.secrets[0]?.hash;
    return isOurs ? undefined : found;
  };
  return { ...store, insertOrFind };
};

const LIST = 'service keys';

/** Lists the keys, newest first. */
export const listKeys = (
  { table, now }: StoreDeps,
  { query: { limit, cursor } }: ApiRequest<unknown, z.output<typeof listKeysQuery>>,
): Promise<Reply> =>
  runList(table, {
    findPage: () =>
      listRows(table, {
        ...{ index: 'owner', partition: KEYS_PARTITION, descending: true, filter: [], offset: 0, limit },
        ...(cursor !== undefined && { cursor: decodeCursor(cursor, { list: LIST }) }),
      }),
    recordOf: serviceKeyOf,
    readAlongside: ({ rows }) => table.getMany(rows.map(({ pk }) => keyUseKey(idIn(pk)))),
    viewsOf: (keys, uses = []) => {
      const usedBy = new Map(uses.flatMap((use) => (use ? [[idIn(String(use['pk'])), use] as const] : [])));
      return keys.map((key) => viewOf(key, usedBy.get(key.id), now()));
    },
    replyOf: (views, { next }) => cursorReply(views, { limit, cursor: next && encodeCursor(next, LIST) }),
  });

const idIn = (pk: string): string => pk.slice(pk.indexOf('#') + 1);

type OfKey<Body = unknown> = ApiRequest<z.output<typeof keyParams>, unknown, Body>;

/** @throws DomainError RESOURCE_NOT_FOUND */
export const keyAsRead = async ({ table, now }: StoreDeps, { params: { id } }: OfKey) => {
  const [item, use] = await table.getMany([keyKey(id), keyUseKey(id)], { consistent: true });
  const key = item && serviceKeyOf(item);
  if (!key) throw notFound('service_key');
  return viewOf(key, use, now());
};

export const getKey = async (deps: StoreDeps, request: OfKey): Promise<Reply> => ({
  data: await keyAsRead(deps, request),
});

/** Changes the newest version. @throws DomainError VERSION_CONFLICT, or RESOURCE_NOT_FOUND */
const changed = async (
  deps: StoreDeps,
  id: string,
  change: (key: StoredKey) => StoredKey | undefined,
): Promise<StoredKey> => {
  const store = storeOf(deps);
  const key = await store.load(id);
  if (!key) throw notFound('service_key');
  const { record } = await store.change(key, (known) => {
    const next = change(known);
    return next && { ...next, version: known.version + 1, updatedAt: iso(deps.now()) };
  });
  return record;
};

const requireUnrevoked = ({ revokedAt }: StoredKey): void => {
  if (revokedAt !== undefined)
    throw new DomainError('INVALID_STATE', { message: 'The key is revoked; create another' });
};

export const updateKey = async (
  deps: StoreDeps,
  { params: { id }, body }: OfKey<z.output<typeof updateKeyBody>>,
): Promise<Reply> => {
  const key = await changed(deps, id, (known) => {
    requireUnrevoked(known);
    return {
      ...known,
      ...(body.name !== undefined && { name: body.name }),
      ...(body.scopes !== undefined && { scopes: [...new Set(body.scopes)] }),
      ...(body.allowed_ips !== undefined && { allowedIps: body.allowed_ips ?? [] }),
      ...(body.expires_at !== undefined && {
        expiresAt: body.expires_at === null ? undefined : iso(instant(body.expires_at)),
      }),
    };
  });
  return { data: viewOf(key, await deps.table.get(keyUseKey(id)), deps.now()) };
};

const DEFAULT_GRACE_SECONDS = 86_400;

/**
 * Makes a new secret for a key. A repeat under the same Idempotency-Key does not rotate again.
 * @throws DomainError IDEMPOTENCY_KEY_REUSED
 */
export const rotateKey = async (
  deps: KeyDeps,
  { params: { id }, body, caller, idempotency }: OfKey<z.output<typeof rotateKeyBody>>,
): Promise<Reply> => {
  const last = deps.newSecret();
  const key = await changed(deps, id, (known) => {
    requireUnrevoked(known);
    const now = deps.now();
    if (isNewest(known, last) || isRepeat(known, idempotency, now)) return undefined;
    const until = now + (body.grace_seconds ?? DEFAULT_GRACE_SECONDS) * SECOND_MS;
    const made = idempotency && { ...idempotency, at: iso(now) };
    return {
      ...known,
      secrets: [
        ...rotated(known, { next: { hash: hashOfSecret(last), made, maker: makerOfSecret(caller) }, now, until }),
      ],
    };
  });
  const isNew = isNewest(key, last);
  return {
    data: {
      ...viewOf(key, await deps.table.get(keyUseKey(id)), deps.now()),
      secret: isNew ? secretOf(id, last) : null,
    },
    ...(!isNew && { headers: { 'idempotent-replayed': 'true' } }),
  };
};

const isNewest = ({ secrets }: StoredKey, last: string): boolean => secrets[0]?.hash === hashOfSecret(last);

/** True if the same Idempotency-Key already created a secret. @throws DomainError IDEMPOTENCY_KEY_REUSED */
const isRepeat = ({ secrets }: StoredKey, request: ApiRequest['idempotency'], now: Instant): boolean => {
  const made = secrets.find((secret) => request && secret.made?.scope === request.scope)?.made;
  if (!made || !isKeyInForce(made.at, now)) return false;
  if (made.requestHash !== request?.requestHash) throw keyReusedError();
  return true;
};

/** Revokes the key. The record stays, with the status revoked. */
export const revokeKey = async (deps: StoreDeps, { params: { id } }: OfKey): Promise<Reply> => {
  await changed(deps, id, (key) =>
    key.revokedAt === undefined ? { ...key, revokedAt: iso(deps.now()), secrets: [] } : undefined,
  );
  return { data: undefined };
};
