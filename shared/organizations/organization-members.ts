/**
 * @module Commands on the members of an organization. The owner's membership never changes. If another request changes
 * the same membership, a command reads it again and retries.
 */

import { type Caller, keyOfCaller } from '../access/caller.ts';
import type { Identity } from '../access/identity.ts';
import { DomainError, invalid, notFound } from '../core/errors.ts';
import { iso } from '../core/time.ts';
import type { ApiRequest, Reply } from '../http/request.ts';
import type { StoreDeps } from '../platform/table.ts';
import {
  type Member,
  memberView,
  newMember,
  type Organization,
  requireAssignable,
  requireChangeable,
  userIdOf,
} from './organization.ts';
import type { AddMemberBody, ChangeRoleBody } from './organization-requests.ts';
import { memberStore } from './organization-store.ts';

export const addMember = async (
  deps: StoreDeps & { readonly identity: Pick<Identity, 'userByEmail' | 'looksUp'> },
  { record, body, idempotency, caller }: ApiRequest<unknown, unknown, AddMemberBody, Organization>,
): Promise<Reply> => {
  requireAssignable(body.role);
  const wanted = { organizationId: record.id, userId: await userIdOfNew(deps.identity, caller, body), role: body.role };
  const member = { ...newMember(wanted, iso(deps.now())), addedUnder: idempotency?.scope };
  const existing = await memberStore(deps).add(member);
  // An earlier try of this request may have added the member without responding.
  const isOurs = idempotency !== undefined && existing?.addedUnder === idempotency.scope;
  if (existing && !isOurs) throw new DomainError('ALREADY_MEMBER');
  return { data: memberView(existing ?? member), message: 'The member was added' };
};

/** @throws DomainError USER_NOT_FOUND, or VALIDATION_ERROR for a user_id forbidden to the caller */
const userIdOfNew = async (
  { looksUp, userByEmail }: Pick<Identity, 'userByEmail' | 'looksUp'>,
  caller: Caller,
  { email = '', user_id: said }: AddMemberBody,
): Promise<string> => {
  if (said === undefined) {
    const user = await userByEmail(email);
    if (user) return user.id;
    if (looksUp) throw new DomainError('USER_NOT_FOUND');
    throw new DomainError('USER_NOT_FOUND', {
      message: 'IDENTITY_LOOKUP is off, so no user can be found by e-mail; send user_id with a service key',
    });
  }
  if (!looksUp && keyOfCaller(caller)) return said;
  const message = looksUp ? 'send email, because an identity service knows the users' : 'is only for service keys';
  throw invalid([{ path: 'user_id', rule: 'unknown', message }]);
};

interface MemberPath {
  readonly memberId: string;
}

/** The member in the path, as lists show it without the user's details. */
export const memberAsRead = async (
  deps: StoreDeps,
  { record, params }: ApiRequest<MemberPath, unknown, unknown, Organization>,
) => {
  const member = await memberStore(deps).load(record.id, params.memberId);
  return member && memberView(member);
};

/** Gives a member another role; the last change wins. */
export const changeRole = async (
  deps: StoreDeps,
  { record, params, body, caller }: ApiRequest<MemberPath, unknown, ChangeRoleBody, Organization>,
): Promise<Reply> => {
  requireAssignable(body.role);
  const store = memberStore(deps);
  const changed = await untilItHolds(async () => {
    const member = await store.load(record.id, params.memberId);
    if (!member) throw notFound('member');
    requireChangeable(member, userIdOf(caller));
    return member.role === body.role ? member : store.changeRole(member, body.role);
  });
  return { data: memberView(changed), message: 'The role was changed' };
};

export const removeMember = async (
  deps: StoreDeps,
  { record, params, caller }: ApiRequest<MemberPath, unknown, unknown, Organization>,
): Promise<Reply> => {
  const store = memberStore(deps);
  await untilItHolds(async () => {
    const member = await store.load(record.id, params.memberId);
    if (!member) throw notFound('member');
    requireChangeable(member, userIdOf(caller));
    return gone(await store.remove(member), member);
  });
  return { data: undefined, message: 'The member was removed' };
};

export const leaveOrganization = async (
  deps: StoreDeps,
  { record, caller }: ApiRequest<unknown, unknown, unknown, Organization>,
): Promise<Reply> => {
  const store = memberStore(deps);
  const left = await untilItHolds(async () => {
    const member = await store.loadOf(record.id, userIdOf(caller));
    if (!member) throw new DomainError('ORGANIZATION_ACCESS_DENIED');
    if (member.role === 'owner') throw new DomainError('OWNER_CANNOT_LEAVE');
    return gone(await store.remove(member), member);
  });
  return { data: { organization_id: left.organizationId }, message: 'You have left the organization' };
};

const gone = (removed: boolean, member: Member): Member | undefined => (removed ? member : undefined);

const TRIES = 10;

/** Retries read and write while other requests change the same membership. */
const untilItHolds = async <T>(change: () => Promise<T | undefined>): Promise<T> => {
  for (let tries = 0; tries < TRIES; tries += 1) {
    const changed = await change();
    if (changed !== undefined) return changed;
  }
  throw new DomainError('VERSION_CONFLICT');
};
