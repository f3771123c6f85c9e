/**
 * @module A caller's standing, which says whether the organization exists and which role the caller has in it. Writes
 * decide on a consistent read; reads use a cache of five minutes, which the cache epoch clears.
 */

import QuickLRU from 'quick-lru';
import { MINUTE_MS, type Now } from '../core/time.ts';
import type { Clause } from '../platform/expression.ts';
import { type Key, memberKey, organizationKey } from '../platform/keys.ts';
import type { Item, Table, TransactionStep } from '../platform/table.ts';
import type { CacheEpoch } from './cache-epoch.ts';
import type { SessionCaller } from './caller.ts';
import { ROLES, type Role } from './permissions.ts';

export interface Standing {
  readonly organizationId: string;
  readonly exists: boolean;
  readonly role: Role | undefined;
}

const CACHE_MS = 5 * MINUTE_MS;
const CACHE_ENTRIES = 2_000;

export const standingKeys = (userId: string, organizationId: string): readonly [Key, Key] => [
  organizationKey(organizationId),
  memberKey(organizationId, userId),
];

export const standingOf = (
  organizationId: string,
  organization: Item | undefined,
  member: Item | undefined,
): Standing => ({
  organizationId,
  exists: organization !== undefined && organization['deletedAt'] === undefined,
  role: ROLES.find((role) => role === member?.['role']),
});

export const ORGANIZATION_EXISTS: readonly Clause[] = [{ exists: true }, { lacks: 'deletedAt' }];

/** The condition that the organization of a record still exists; empty if the record has no organization. */
export const organizationCheck = ({
  organizationId,
}: {
  readonly organizationId?: string | undefined;
}): readonly TransactionStep[] =>
  organizationId === undefined ? [] : [{ check: organizationKey(organizationId), if: ORGANIZATION_EXISTS }];

export type Standings = ReturnType<typeof standings>;

export const standings = (deps: { readonly table: Table; readonly now: Now; readonly epoch: CacheEpoch }) => {
  // quick-lru keeps up to twice `maxSize` entries.
  const cache = new QuickLRU<string, { readonly standing: Standing; readonly until: number }>({
    maxSize: CACHE_ENTRIES / 2,
  });
  let epoch = '';

  /** For reads only. */
  const cached = async (caller: SessionCaller, organizationId: string): Promise<Standing> => {
    const current = await deps.epoch.current('organization_membership');
    if (current !== epoch) cache.clear();
    epoch = current;
    const name = `${caller.userId}\n${organizationId}`;
    const known = cache.get(name);
    if (known && known.until > deps.now()) return known.standing;
    const standing = await read(caller, organizationId, false);
    cache.set(name, { standing, until: deps.now() + CACHE_MS });
    return standing;
  };

  const read = async (caller: SessionCaller, organizationId: string, consistent: boolean): Promise<Standing> => {
    const keys = standingKeys(caller.userId, organizationId);
    const [organization, member] = await deps.table.getMany(keys, { consistent });
    return standingOf(organizationId, organization, member);
  };

  return {
    cached,
    consistent: (caller: SessionCaller, organizationId: string) => read(caller, organizationId, true),
  };
};
