/**
 * @module Access to the webhook log. The merchant sees all entries. Other callers see the entries of the session's
 * organization, or their own entries if the session has none. Only the merchant, and owners and admins of the
 * organization, may send events.
 */

import { scopeMissing, standingRefusal } from '../access/access.ts';
import { type Caller, isMemberCaller, type MemberCaller, mayAsMerchant } from '../access/caller.ts';
import type { Standing, Standings } from '../access/standing.ts';
import { DomainError, notFound } from '../core/errors.ts';
import type { LogRecord, LogScope } from '../event-log/log-entry.ts';

export interface LogAccessDeps {
  readonly standings: Standings;
}

export const logScopeOf = async ({ standings }: LogAccessDeps, caller: Caller): Promise<LogScope> => {
  if (mayAsMerchant(caller, 'webhooks:read')) return { kind: 'everybody' };
  const member = memberOf(caller);
  if (member.kind === 'session' && member.organizationId === undefined) return { kind: 'user', userId: member.userId };
  const organizationId = member.organizationId ?? '';
  requireMember(await standings.cached(member, organizationId));
  return { kind: 'organization', organizationId };
};

/** @throws DomainError RESOURCE_NOT_FOUND for an entry that the caller may not see */
export const requireVisible = async (
  { standings }: LogAccessDeps,
  caller: Caller,
  record: LogRecord | undefined,
): Promise<LogRecord> => {
  if (record && (maySeeAll(caller) || (await isTheirs(standings, memberOf(caller), record)))) return record;
  throw notFound('webhook_log');
};

/** True if the caller may see every entry. A key that may replay entries may also find them, without a second scope. */
const maySeeAll = (caller: Caller): boolean =>
  mayAsMerchant(caller, 'webhooks:read') || mayAsMerchant(caller, 'webhooks:write');

const isTheirs = async (standings: Standings, session: MemberCaller, record: LogRecord): Promise<boolean> =>
  record.organizationId === session.organizationId &&
  mayReadLogOf(session, record, (organizationId) => standings.cached(session, organizationId));

/** True for members of an organization on its entries, for users on their own, and for the merchant on all. */
export const mayReadLogOf = async (
  caller: Caller,
  { organizationId, userId }: Pick<LogRecord, 'organizationId' | 'userId'>,
  standingIn: (organizationId: string) => Promise<Standing>,
): Promise<boolean> => {
  if (mayAsMerchant(caller, 'webhooks:read')) return true;
  if (!isMemberCaller(caller)) return false;
  if (organizationId === undefined) return caller.kind === 'session' && userId === caller.userId;
  return standingRefusal(await standingIn(organizationId), 'read') === undefined;
};

/**
 * Requires that the caller may send events of this organization.
 * @throws DomainError INSUFFICIENT_PERMISSIONS or ORGANIZATION_ACCESS_DENIED
 */
export const requireSender = async (
  { standings }: LogAccessDeps,
  caller: Caller,
  organizationId: string | undefined,
): Promise<void> => {
  if (mayAsMerchant(caller, 'webhooks:write')) return;
  const member = memberOf(caller);
  const refusal =
    organizationId === undefined
      ? new DomainError('INSUFFICIENT_PERMISSIONS', { details: PLATFORM_ADMIN })
      : senderRefusal(await standings.consistent(member, organizationId));
  if (refusal) throw mayAsMerchant(caller, 'webhooks:read') ? scopeMissing('webhooks:write') : refusal;
};

const senderRefusal = (standing: Standing): DomainError | undefined => {
  const refusal = standingRefusal(standing, 'read');
  if (refusal) return refusal;
  if (standing.role === 'owner' || standing.role === 'admin') return undefined;
  return new DomainError('INSUFFICIENT_PERMISSIONS', { details: { role: standing.role, required_role: 'admin' } });
};

const PLATFORM_ADMIN = { required: 'platform admin' };

const requireMember = (standing: Standing): void => {
  const refusal = standingRefusal(standing, 'read');
  if (refusal) throw refusal;
};

/** The caller as a user or an organization. The endpoints accept no guests. */
const memberOf = (caller: Caller): MemberCaller => {
  if (!isMemberCaller(caller)) throw new DomainError('AUTHENTICATION_REQUIRED');
  return caller;
};
