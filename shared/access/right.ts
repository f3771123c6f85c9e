/**
 * @module The caller's right to act for an organization, as conditions of a write. A member may be removed or demoted,
 * or the organization deleted, after the access check. So the write that claims a charge, an update or a save checks
 * again.
 */

import { DomainError } from '../core/errors.ts';
import { memberKey } from '../platform/keys.ts';
import type { TransactionStep } from '../platform/table.ts';
import { type Action, rolesWith, standingRefusal } from './access.ts';
import { type Caller, isMemberCaller } from './caller.ts';
import { organizationCheck, type Standings } from './standing.ts';

export interface CallerRight {
  /** The organization exists, and the membership has a role that permits the action. Empty for a personal record. */
  readonly onlyIf: readonly TransactionStep[];
  /**
   * Reads the membership again, for a write whose conditions have failed.
   * @throws DomainError ORGANIZATION_ACCESS_DENIED or INSUFFICIENT_PERMISSIONS if the right is lost
   */
  readonly requireStill: () => Promise<void>;
}

/** The right of a caller who acts on a personal record, as a guest, or for the merchant. */
export const NO_CONDITIONS: CallerRight = { onlyIf: [], requireStill: async () => {} };

/**
 * Runs a use case. If it refuses because the caller has lost the right meanwhile, the caller gets that refusal. After a
 * decline the attempt was made, so the caller gets its outcome.
 */
export const underRight = async <T>({ requireStill }: CallerRight, run: () => Promise<T>): Promise<T> => {
  try {
    return await run();
  } catch (error) {
    if (error instanceof DomainError && error.status < 500 && error.code !== 'PAYMENT_DECLINED') await requireStill();
    throw error;
  }
};

interface Permitted {
  readonly caller: Caller;
  readonly action: Action;
  readonly organizationId: string | undefined;
}

export const rightOf = (
  standings: Pick<Standings, 'consistent'>,
  { caller, action, organizationId }: Permitted,
): CallerRight => {
  const isMembers = action !== 'read' && action !== 'merchant';
  if (!isMemberCaller(caller) || organizationId === undefined || !isMembers) return NO_CONDITIONS;
  const hasRole = { any: rolesWith(action).map((role) => ({ equals: ['role', role] as const })) };
  return {
    onlyIf: [
      ...organizationCheck({ organizationId }),
      ...(caller.kind === 'session' ? [{ check: memberKey(organizationId, caller.userId), if: [hasRole] }] : []),
    ],
    requireStill: async () => {
      const refusal = standingRefusal(await standings.consistent(caller, organizationId), action);
      if (refusal) throw refusal;
    },
  };
};
