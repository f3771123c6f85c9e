import { DomainError, notFound } from '../core/errors.ts';
import type { Reply } from '../http/reply.ts';
import type { ApiRequest } from '../http/request.ts';
import { type Member, type Organization, requireAssignable, requireChangeable, userIdOf } from './organization.ts';
import type { ChangeRoleBody } from './requests.ts';
import { memberStore, type StoreDeps } from './store.ts';
import { memberView } from './view.ts';

interface MemberPath {
  readonly memberId: string;
}

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

/** Reads and writes again while somebody else changes the same membership in between. */
const untilItHolds = async <T>(change: () => Promise<T | undefined>): Promise<T> => {
  for (let tries = 0; tries < TRIES; tries += 1) {
    const changed = await change();
    if (changed !== undefined) return changed;
  }
  throw new DomainError('VERSION_CONFLICT');
};
