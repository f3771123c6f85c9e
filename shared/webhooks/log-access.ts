/**
 * @module Access to the webhook log. Platform admins see all log entries. Other callers see those of the session's
 * organization, or their own if the session has none. Only platform admins, and owners and admins of the organization,
 * may send events.
 */

import { standingRefusal } from '../access/access.ts';
import type { Caller, SessionCaller } from '../access/caller.ts';
import type { Standing, Standings } from '../access/standing.ts';
import { DomainError, notFound } from '../core/errors.ts';
import type { LogRecord, LogScope } from '../event-log/log-entry.ts';

export interface LogAccessDeps {
  readonly standings: Standings;
}

export const logScopeOf = async ({ standings }: LogAccessDeps, caller: Caller): Promise<LogScope> => {
  const session = sessionOf(caller);
  if (session.isAdmin) return { kind: 'everybody' };
  const { organizationId, userId } = session;
  if (organizationId === undefined) return { kind: 'user', userId };
  requireMember(await standings.cached(session, organizationId));
  return { kind: 'organization', organizationId };
};

/** @throws DomainError RESOURCE_NOT_FOUND for an entry that the caller may not see */
export const requireVisible = async (
  { standings }: LogAccessDeps,
  caller: Caller,
  record: LogRecord | undefined,
): Promise<LogRecord> => {
  const session = sessionOf(caller);
  if (record && (session.isAdmin || (await isTheirs(standings, session, record)))) return record;
  throw notFound('webhook_log');
};

const isTheirs = async (standings: Standings, session: SessionCaller, record: LogRecord): Promise<boolean> =>
  record.organizationId === session.organizationId &&
  mayReadLogOf(session, record, (organizationId) => standings.cached(session, organizationId));

/** True for members of an organization on its entries, for users on their own, and for platform admins on all. */
export const mayReadLogOf = async (
  caller: Caller,
  { organizationId, userId }: Pick<LogRecord, 'organizationId' | 'userId'>,
  standingIn: (organizationId: string) => Promise<Standing>,
): Promise<boolean> => {
  if (caller.kind !== 'session') return false;
  if (caller.isAdmin) return true;
  if (organizationId === undefined) return userId === caller.userId;
  return standingRefusal(await standingIn(organizationId), 'read') === undefined;
};

/** @throws DomainError INSUFFICIENT_PERMISSIONS or ORGANIZATION_ACCESS_DENIED */
export const requireSender = async (
  { standings }: LogAccessDeps,
  caller: Caller,
  organizationId: string | undefined,
): Promise<void> => {
  const session = sessionOf(caller);
  if (session.isAdmin) return;
  if (organizationId === undefined) throw new DomainError('INSUFFICIENT_PERMISSIONS', { details: PLATFORM_ADMIN });
  const standing = await standings.consistent(session, organizationId);
  requireMember(standing);
  if (standing.role === 'owner' || standing.role === 'admin') return;
  throw new DomainError('INSUFFICIENT_PERMISSIONS', { details: { role: standing.role, required_role: 'admin' } });
};

const PLATFORM_ADMIN = { required: 'platform admin' };

const requireMember = (standing: Standing): void => {
  const refusal = standingRefusal(standing, 'read');
  if (refusal) throw refusal;
};

/** The endpoints accept sessions only. */
const sessionOf = (caller: Caller): SessionCaller => {
  if (caller.kind !== 'session') throw new DomainError('AUTHENTICATION_REQUIRED');
  return caller;
};
