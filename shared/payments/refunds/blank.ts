import { type Instant, iso } from '../../core/time.ts';
import type { Refund } from './refund.ts';

/**
 * The next version of a refund without its person. Amounts, dates, ids and the status stay. A refund of an organization's
 * payment keeps the organization's texts. @returns the same refund if there is nothing to blank
 */
export const blankRefund = (refund: Refund, now: Instant): Refund => {
  const { organizationId, guestEmail, description, metadata } = refund;
  const hasPerson = guestEmail !== undefined || description !== undefined || metadata !== undefined;
  if (organizationId !== undefined || !hasPerson) return refund;
  return {
    ...refund,
    guestEmail: undefined,
    description: undefined,
    metadata: undefined,
    version: refund.version + 1,
    updatedAt: iso(now),
  };
};
