/** @module Stores organizations and members. Every change updates the member counts in the same transaction. */

import type { Role } from '../access/permissions.ts';
import { ORGANIZATION_EXISTS } from '../access/standing.ts';
import { notFound } from '../core/errors.ts';
import { iso } from '../core/time.ts';
import type { Clause } from '../platform/expression.ts';
import {
  dueShard,
  endedMembershipKey,
  listSort,
  memberKey,
  memberKeyById,
  memberPartition,
  membershipPartition,
  organizationKey,
} from '../platform/keys.ts';
import { type Found, foundIn } from '../platform/record-store.ts';
import type { Item, StoreDeps, TransactionStep } from '../platform/table.ts';
import {
  countAttribute,
  type Member,
  memberSchema,
  newMember,
  type Organization,
  organizationOf,
} from './organization.ts';

const organizationItem = ({ members, ...organization }: Organization): Item => ({
  ...organizationKey(organization.id),
  ...organization,
  [countAttribute('owner')]: members.owner,
  [countAttribute('admin')]: members.admin,
  [countAttribute('billing')]: members.billing,
  [countAttribute('member')]: members.member,
});

/** Due immediately, because subscriptions that the member's own methods pay for need another method. */
const endedItem = ({ id, organizationId, userId }: Member, at: string): Item => ({
  ...endedMembershipKey(id),
  organizationId,
  userId,
  due: dueShard(id),
  due_at: at,
});

const memberItem = (member: Member): Item => ({
  ...memberKeyById(member.organizationId, member.id),
  ...member,
  owner: membershipPartition(member.userId),
  project: memberPartition(member.organizationId),
  sort: listSort(member.createdAt, member.id),
  f: { r: member.role, u: member.userId, o: member.organizationId },
});

/** Stores a new organization with its owner and further members, which its counts already include. */
export const insertSteps = (organization: Organization, others: readonly Member[] = []): readonly TransactionStep[] => {
  const { id: organizationId, ownerUserId: userId, createdAt } = organization;
  const owner = newMember({ organizationId, userId, role: 'owner' }, createdAt);
  return [
    { put: organizationItem(organization), if: [{ absent: true }] },
    ...[owner, ...others].map((member) => ({ put: memberItem(member), if: [{ absent: true }] as const })),
  ];
};

export const organizationStore = ({ table, now }: StoreDeps) => {
  const foundOf = (item: Item | undefined): Found<Organization> | undefined =>
    item && foundIn(item, organizationOf(item));

  const find = async (id: string): Promise<Found<Organization> | undefined> =>
    foundOf(await table.get(organizationKey(id)));

  /** Stores the organization with its owner. @returns the existing organization if the id is taken. */
  const insertOrFind = async (organization: Organization): Promise<Found<Organization> | undefined> => {
    const written = await table.transact(insertSteps(organization));
    if (written.ok) return undefined;
    const found = foundOf(written.found[0]);
    if (!found) throw new Error('the organization of the member is missing');
    return found;
  };

  /** @throws DomainError RESOURCE_NOT_FOUND if the organization is deleted. */
  const update = async (id: string, set: Readonly<Record<string, string | undefined>>): Promise<Organization> => {
    const changes = { set: { ...set, updatedAt: iso(now()) }, add: { version: 1 } };
    const written = await table.update(organizationKey(id), changes, ORGANIZATION_EXISTS);
    const updated = written.ok ? organizationOf(written.item) : undefined;
    if (!updated) throw notFound('organization');
    return updated;
  };

  /**
   * Ends all access. Due work then removes everything that the organization owns.
   * @throws DomainError RESOURCE_NOT_FOUND
   */
  const markDeleted = async (id: string): Promise<void> => {
    const at = iso(now());
    const set = { deletedAt: at, due: dueShard(id), due_at: at };
    const written = await table.update(organizationKey(id), { set, add: { version: 1 } }, ORGANIZATION_EXISTS);
    if (!written.ok) throw notFound('organization');
  };

  return { find, insertOrFind, update, markDeleted };
};

export const memberStore = ({ table, now }: StoreDeps) => {
  const parse = (item: Item | undefined): Member | undefined => item && memberSchema.parse(item);

  const load = async (organizationId: string, memberId: string): Promise<Member | undefined> =>
    parse(await table.get(memberKeyById(organizationId, memberId)));

  const loadOf = async (organizationId: string, userId: string): Promise<Member | undefined> =>
    parse(await table.get(memberKey(organizationId, userId)));

  /**
   * Changes a membership and the member counts in one transaction.
   * @throws DomainError RESOURCE_NOT_FOUND if the organization is deleted.
   */
  const commit = async (organizationId: string, { step, counts, beside = [] }: MembershipChange) => {
    const add = Object.fromEntries(counts.map(([role, by]) => [countAttribute(role), by]));
    const written = await table.transact([
      step,
      { update: organizationKey(organizationId), changes: { add }, if: ORGANIZATION_EXISTS },
      ...beside,
    ]);
    if (written.ok) return { done: true } as const;
    if (written.failed.includes(1)) throw notFound('organization');
    return { done: false, found: parse(written.found[0]) } as const;
  };

  /** @returns the existing member if the user is a member already. */
  const add = async (member: Member): Promise<Member | undefined> => {
    const step = { put: memberItem(member), if: [{ absent: true }] } as const;
    const added = await commit(member.organizationId, { step, counts: [[member.role, 1]] });
    return added.done ? undefined : added.found;
  };

  /** @returns undefined if another request has changed the membership. */
  const changeRole = async (member: Member, role: Role): Promise<Member | undefined> => {
    const updatedAt = iso(now());
    const changed = await commit(member.organizationId, {
      step: {
        update: memberKeyById(member.organizationId, member.id),
        changes: { set: { role, updatedAt, 'f.r': role } },
        if: ifUnchanged(member),
      },
      counts: [
        [member.role, -1],
        [role, 1],
      ],
    });
    return changed.done ? { ...member, role, updatedAt } : undefined;
  };

  /** @returns false if another request has changed the membership. */
  const remove = async (member: Member): Promise<boolean> => {
    const key = memberKeyById(member.organizationId, member.id);
    const removed = await commit(member.organizationId, {
      step: { delete: key, if: ifUnchanged(member) },
      counts: [[member.role, -1]],
      beside: [{ put: endedItem(member, iso(now())) }],
    });
    return removed.done;
  };

  return { load, loadOf, add, changeRole, remove };
};

interface MembershipChange {
  readonly step: TransactionStep;
  readonly counts: readonly (readonly [role: Role, by: number])[];
  readonly beside?: readonly TransactionStep[];
}

/** The member still has the role that was read, and the role is not `owner`. */
const ifUnchanged = ({ role }: Member): readonly Clause[] => [
  { exists: true },
  { equals: ['role', role] },
  { differs: ['role', 'owner'] },
];
