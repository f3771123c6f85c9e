/**
 * @module The caller's right to act for an organization, as write conditions. After the access check, a member may be
 * removed or demoted, or the organization deleted. The write that claims a charge, an update or a save therefore checks
 * the right again.
 */

import { DomainError } from '../core/errors.ts';
import { memberKey } from '../platform/keys.ts';
import type { TransactionStep } from '../platform/table.ts';
import { type Action, rolesWith, standingRefusal } from './access.ts';
import { type Caller, isMemberCaller } from './caller.ts';
import { organizationCheck, type Standings } from './standing.ts';

export interface CallerRight {
  /**
   * Conditions that the organization exists and the membership's role permits the action. Empty for a personal record.
   */
  readonly onlyIf: readonly TransactionStep[];
  /**
   * Reads the membership again after the conditions of a write have failed.
   * @throws DomainError ORGANIZATION_ACCESS_DENIED or INSUFFICIENT_PERMISSIONS if the right is lost
   */
  readonly requireStill: () => Promise<void>;
}

/** The right to act on a personal record, as a guest, or for the merchant, without conditions. */
export const NO_CONDITIONS: CallerRight = { onlyIf: [], requireStill: async () => {} };

/**
 * Runs a use case. If the use case fails and the caller has lost the right, the caller gets the refusal for the lost
 * right. A decline is returned as it is, because the attempt was made.
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
