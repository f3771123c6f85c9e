/** @module The cache epochs. Raising a cache's epoch empties that cache in every instance within five seconds. */

import { type Now, SECOND_MS } from '../core/time.ts';
import { cacheEpochKey } from '../platform/keys.ts';
import type { Table } from '../platform/table.ts';

export const CACHE_TYPES = ['organization_membership', 'session'] as const;
export type CacheType = (typeof CACHE_TYPES)[number];

const READ_EVERY_MS = 5 * SECOND_MS;

export type CacheEpoch = ReturnType<typeof cacheEpoch>;

export const cacheEpoch = (deps: { readonly table: Table; readonly now: Now }) => {
  let known: Readonly<Record<string, unknown>> = {};
  let readAt = Number.NEGATIVE_INFINITY;

  const current = async (type: CacheType): Promise<string> => {
    if (deps.now() - readAt >= READ_EVERY_MS) {
      readAt = deps.now();
      known = (await deps.table.get(cacheEpochKey, { consistent: false })) ?? {};
    }
    return String(known[type] ?? 0);
  };

  const raise = async (types: readonly CacheType[]): Promise<void> => {
    const add = Object.fromEntries(types.map((type) => [type, 1]));
    await deps.table.update(cacheEpochKey, { add });
    readAt = Number.NEGATIVE_INFINITY;
  };

  return { current, raise };
};
