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
import type { Item, StoreDeps, TransactionStep, Written } from '../platform/table.ts';
import {
  dueAttributes,
  type ItemShape,
  recordItem,
  recordStep,
  type VersionedShape,
  versionedRecord,
} from '../platform/versioned-record.ts';
import {
  countAttribute,
  type Member,
  memberSchema,
  newMember,
  type Organization,
  organizationOf,
} from './organization.ts';

const organizationShape: VersionedShape<Organization> = {
  key: organizationKey,
  parse: organizationOf,
  attributes: ({ members, ...organization }) => ({
    ...organization,
    [countAttribute('owner')]: members.owner,
    [countAttribute('admin')]: members.admin,
    [countAttribute('billing')]: members.billing,
    [countAttribute('member')]: members.member,
  }),
  asRead: () => ORGANIZATION_EXISTS,
  beside: (was, organization) => (was ? [] : [insertMember(ownerOf(organization))]),
};

/** An ended membership. Due work starts immediately, because the member's methods may still pay for subscriptions. */
interface EndedMembership extends Pick<Member, 'id' | 'organizationId' | 'userId'> {
  readonly isLastPass?: boolean | undefined;
  /** Start time of its due work. */
  readonly dueAt?: string;
}

export const endedMembershipShape: ItemShape<EndedMembership> = {
  key: endedMembershipKey,
  attributes: ({ id: _, dueAt: __, ...attributes }) => attributes,
  asRead: () => [{ exists: true }],
  dueAt: ({ dueAt }) => dueAt,
};

const memberItem = (member: Member): Item => ({
  ...memberKeyById(member.organizationId, member.id),
  ...member,
  owner: membershipPartition(member.userId),
  project: memberPartition(member.organizationId),
  sort: listSort(member.createdAt, member.id),
  f: { r: member.role, u: member.userId, o: member.organizationId },
});

const insertMember = (member: Member) => ({ put: memberItem(member), if: [{ absent: true }] }) as const;

const ownerOf = ({ id: organizationId, ownerUserId: userId, createdAt }: Organization): Member =>
  newMember({ organizationId, userId, role: 'owner' }, createdAt);

/** The write steps for a new organization with its owner and other members. Its counts already include them. */
export const insertSteps = (organization: Organization, others: readonly Member[] = []): readonly TransactionStep[] => [
  recordStep(organizationShape, undefined, organization),
  ...[ownerOf(organization), ...others].map(insertMember),
];

export const organizationStore = (deps: StoreDeps) => {
  const { table, now } = deps;
  const { find, insertOrFind } = versionedRecord(deps, organizationShape);

  /** Updates single fields, because rewriting the item could lose concurrent changes of the member counts. */
  const set = (id: string, fields: Readonly<Record<string, string | undefined>>): Promise<Written> =>
    table.update(organizationKey(id), { set: fields, add: { version: 1 } }, ORGANIZATION_EXISTS);

  /** @throws DomainError RESOURCE_NOT_FOUND if the organization is deleted. */
  const update = async (id: string, fields: Readonly<Record<string, string | undefined>>): Promise<Organization> => {
    const written = await set(id, { ...fields, updatedAt: iso(now()) });
    const updated = written.ok ? organizationOf(written.item) : undefined;
    if (!updated) throw notFound('organization');
    return updated;
  };

  /**
   * Marks the organization as deleted, to end all access. Due work then removes everything owned by the organization.
   * @throws DomainError RESOURCE_NOT_FOUND
   */
  const markDeleted = async (id: string): Promise<void> => {
    const at = iso(now());
    const written = await set(id, { deletedAt: at, ...dueAttributes(dueShard(id), at) });
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

  /** @returns the existing member if the user is already a member */
  const add = async (member: Member): Promise<Member | undefined> => {
    const added = await commit(member.organizationId, { step: insertMember(member), counts: [[member.role, 1]] });
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
    const { id, organizationId, userId, role } = member;
    const ended = { id, organizationId, userId, dueAt: iso(now()) };
    const removed = await commit(organizationId, {
      step: { delete: memberKeyById(organizationId, id), if: ifUnchanged(member) },
      counts: [[role, -1]],
      beside: [{ put: recordItem(endedMembershipShape, ended) }],
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

/** Requires that the member's role is unchanged since the read, and that the member is not the owner. */
const ifUnchanged = ({ role }: Member): readonly Clause[] => [
  { exists: true },
  { equals: ['role', role] },
  { differs: ['role', 'owner'] },
];
