/**
 * @module Finds the service key of a request by its secret. Keys are read consistently and cached for five seconds, so
 * revocations and changed scopes apply within that time. A key's use is recorded once an hour.
 */

import { BlockList, isIP } from 'node:net';
import QuickLRU from 'quick-lru';
import { HOUR_MS, type Instant, iso, type Now, SECOND_MS } from '../core/time.ts';
import { keyKey, keyUseKey } from '../platform/keys.ts';
import type { Table } from '../platform/table.ts';
import type { KeyIdentity } from './caller.ts';
import { matchingSecret, readSecret, type StoredKey, serviceKeyOf, statusOfKey } from './service-key.ts';

const CACHE_MS = 5 * SECOND_MS;
const CACHE_ENTRIES = 1_000;

export type ServiceKeys = ReturnType<typeof serviceKeys>;

export const serviceKeys = ({ table, now }: { readonly table: Table; readonly now: Now }) => {
  type Cached = { readonly key: StoredKey | undefined; readonly until: Instant };
  // quick-lru keeps up to twice `maxSize` entries. Unknown ids have their own cache, so made-up ids cannot evict keys.
  const known = new QuickLRU<string, Cached>({ maxSize: CACHE_ENTRIES / 2 });
  const unknown = new QuickLRU<string, Cached>({ maxSize: CACHE_ENTRIES / 2 });
  const noted = new QuickLRU<string, number>({ maxSize: CACHE_ENTRIES / 2 });

  const find = async (id: string): Promise<StoredKey | undefined> => {
    const cached = known.get(id) ?? unknown.get(id);
    if (cached && cached.until > now()) return cached.key;
    const until = now() + CACHE_MS;
    const item = await table.get(keyKey(id));
    const key = item && serviceKeyOf(item);
    (key ? known : unknown).set(id, { key, until });
    return key;
  };

  const noteUse = async (id: string): Promise<void> => {
    const hour = Math.floor(now() / HOUR_MS);
    if (noted.get(id) === hour) return;
    noted.set(id, hour);
    try {
      await table.update(keyUseKey(id), { set: { at: iso(hour * HOUR_MS) } });
    } catch {
      // Failing to record the use must not fail the request.
      noted.delete(id);
    }
  };

  /**
   * @returns undefined for an unknown, malformed, expired or revoked secret, or for an address not allowed by the key
   */
  const identify = async (secret: string, address: string): Promise<KeyIdentity | undefined> => {
    const sent = readSecret(secret);
    if (!sent) return undefined;
    const key = await find(sent.id);
    const found = matchingSecret(key, sent.last, now());
    if (!key || !found || statusOfKey(key, now()) !== 'active' || !isAllowed(key, address)) return undefined;
    await noteUse(key.id);
    const holders = [...new Set([key.createdBy, ...(found.maker ? [found.maker.userId] : [])])];
    return { id: key.id, scopes: key.scopes, holders, holderEmailHash: found.maker?.emailHash };
  };

  return { identify };
};

const isAllowed = ({ allowedIps }: StoredKey, address: string): boolean =>
  allowedIps.length === 0 || allowedIps.some((range) => isWithin(address, range));

/** True if the address is in the range. An IPv4 address in IPv6 form also matches IPv4 ranges. */
const isWithin = (address: string, range: string): boolean => {
  const [base = '', bits] = range.split('/');
  if (isIP(base) === 0 || isIP(address) === 0) return false;
  const subnet = new BlockList();
  subnet.addSubnet(base, Number(bits), familyOf(base));
  return subnet.check(address, familyOf(address));
};

const familyOf = (address: string): 'ipv4' | 'ipv6' => (isIP(address) === 4 ? 'ipv4' : 'ipv6');
