/** @module An invariant about people who lose their rights while their requests run. */
import type { HistoryClaim, Oracle } from '../model/history.ts';
import { modelOf } from '../model/owners.ts';
import { recordsOf } from '../model/records.ts';
import { mayManage } from '../model/standing.ts';

/**
 * The request may have been checked before the loss of rights, so its claim must check again. Acts of earlier claims
 * may continue. The table dates the claims, so clock differences do not matter.
 */
export const rightsHeldAtClaims: Oracle = {
  sentence:
    'After a removal, a demotion or a deletion, its person claims no charge, no amount and no method for the organization',
  atRestOnly: false,
  violations: (history) => {
    const { payment } = recordsOf(history);
    const { standing } = modelOf(history);
    const organizationOf = ({ organizationId, id }: HistoryClaim): string | undefined =>
      organizationId ?? payment(id)?.['organizationId'];
    return history.claims.flatMap((claim) => {
      const { userId, what, id, at } = claim;
      const organizationId = organizationOf(claim);
      if (organizationId === undefined) return [];
      return mayManage(standing.rolesBetween({ userId, organizationId }, at, at))
        ? []
        : [`${userId} claimed ${what} of ${organizationId} by ${id}`];
    });
  },
};
