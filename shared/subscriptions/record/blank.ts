import { type Instant, iso } from '../../core/time.ts';
import { codeOnly } from '../../observability/person-fields.ts';
import { membershipKey } from '../../table/keys.ts';
import type { Table } from '../../table/table.ts';
import { membershipOf } from './membership-of.ts';
import type { Subscription } from './subscription.ts';
import { edit } from './versions.ts';

/**
 * The next version of a subscription without its person. Amounts, dates, ids and the status stay. A subscription of an
 * organization keeps the organization's texts. @returns the same subscription if there is nothing to blank
 */
export const blankSubscription = (subscription: Subscription, now: Instant): Subscription => {
  const { organizationId, erasedAt, userEmail, referenceCode, category } = subscription;
  const isPersonal = organizationId === undefined;
  if (isPersonal ? erasedAt !== undefined : userEmail === undefined) return subscription;
  const fields = isPersonal
    ? {
        guestEmail: undefined,
        guestName: undefined,
        concept: undefined,
        description: undefined,
        tags: undefined,
        metadata: undefined,
        referenceCode: codeOnly(referenceCode),
        category: codeOnly(category),
        erasedAt: iso(now),
      }
    : {};
  return edit(subscription, { reason: 'updated', now }, { userEmail: undefined, ...fields });
};

/** The membership of a subscription repeats the e-mail address of its person. */
export const blankMembershipOf = async (table: Table, subscription: Subscription): Promise<void> => {
  const membership = membershipOf(subscription);
  if (!membership) return;
  await table.update(membershipKey(membership.id), { remove: ['userEmail', 'guestEmail'] }, [{ has: 'pk' }]);
};
