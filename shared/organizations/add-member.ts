import { DomainError } from '../core/errors.ts';
import { iso } from '../core/time.ts';
import type { Reply } from '../http/reply.ts';
import type { ApiRequest } from '../http/request.ts';
import type { Identity } from '../identity/identity.ts';
import { newMember, type Organization, requireAssignable } from './organization.ts';
import type { AddMemberBody } from './requests.ts';
import { memberStore, type StoreDeps } from './store.ts';
import { memberView } from './view.ts';

/** Adds the user with that e-mail address. */
export const addMember = async (
  deps: StoreDeps & { readonly identity: Pick<Identity, 'userByEmail'> },
  { record, body, idempotency }: ApiRequest<unknown, unknown, AddMemberBody, Organization>,
): Promise<Reply> => {
  requireAssignable(body.role);
  const user = await deps.identity.userByEmail(body.email);
  if (!user) throw new DomainError('USER_NOT_FOUND');
  const wanted = { organizationId: record.id, userId: user.id, role: body.role };
  const member = { ...newMember(wanted, iso(deps.now())), addedUnder: idempotency?.scope };
  const standing = await memberStore(deps).add(member);
  // What stands there may be this very request's, which was stopped before it could answer.
  const isOurs = idempotency !== undefined && standing?.addedUnder === idempotency.scope;
  if (standing && !isOurs) throw new DomainError('ALREADY_MEMBER');
  return { data: memberView(standing ?? member), message: 'The member was added' };
};
