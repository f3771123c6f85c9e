/**
 * @module Whether an organization exists, and the caller's role in it. Writes use a consistent read. Reads use a cache
 * of five minutes, which the cache epoch clears. For a key that acts for an organization, the cache lasts five seconds,
 * as for keys, so its access ends soon after the organization is deleted.
 */

import QuickLRU from 'quick-lru';
import { MINUTE_MS, type Now, SECOND_MS } from '../core/time.ts';
import type { Clause } from '../platform/expression.ts';
import { type Key, memberKey, organizationKey } from '../platform/keys.ts';
import type { Item, Table, TransactionStep } from '../platform/table.ts';
import type { CacheEpoch } from './cache-epoch.ts';
import { type MemberCaller, subjectOf } from './caller.ts';
import { ROLES, type Role } from './permissions.ts';

export interface Standing {
  readonly organizationId: string;
  readonly exists: boolean;
  readonly role: Role | undefined;
}

const CACHE_MS: Readonly<Record<MemberCaller['kind'], number>> = {
  session: 5 * MINUTE_MS,
  organization: 5 * SECOND_MS,
};
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
  role: roleOf(member),
});

/** The role of a membership; undefined without a membership. */
export const roleOf = (member: Item | undefined): Role | undefined => ROLES.find((role) => role === member?.['role']);

/** The keys of the items that determine the caller's standing in the organization. */
export const standingKeysOf = (caller: MemberCaller, organizationId: string): readonly Key[] =>
  caller.kind === 'session' ? standingKeys(caller.userId, organizationId) : [organizationKey(organizationId)];

/**
 * The caller's standing, from the items of `standingKeysOf`. A key that acts for an organization has the role billing
 * there.
 */
export const standingIn = (
  caller: MemberCaller,
  organizationId: string,
  [organization, member]: readonly (Item | undefined)[],
): Standing => {
  if (caller.kind === 'session') return standingOf(organizationId, organization, member);
  const role = caller.organizationId === organizationId ? 'billing' : undefined;
  return { ...standingOf(organizationId, organization, undefined), role };
};

export const ORGANIZATION_EXISTS: readonly Clause[] = [{ exists: true }, { lacks: 'deletedAt' }];

/** A condition that the record's organization still exists; empty for records without an organization. */
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

  /** The standing from the cache. Only reads may use it. */
  const cached = async (caller: MemberCaller, organizationId: string): Promise<Standing> => {
    const current = await deps.epoch.current('organization_membership');
    if (current !== epoch) cache.clear();
    epoch = current;
    const name = `${subjectOf(caller)}\n${organizationId}`;
    const known = cache.get(name);
    if (known && known.until > deps.now()) return known.standing;
    const standing = await read(caller, organizationId, false);
    cache.set(name, { standing, until: deps.now() + CACHE_MS[caller.kind] });
    return standing;
  };

  const read = async (caller: MemberCaller, organizationId: string, consistent: boolean): Promise<Standing> => {
    const items = await deps.table.getMany(standingKeysOf(caller, organizationId), { consistent });
    return standingIn(caller, organizationId, items);
  };

  return {
    cached,
    consistent: (caller: MemberCaller, organizationId: string) => read(caller, organizationId, true),
  };
};
