import { DAY, iso } from '../../shared/core/time.ts';
import type { MembershipStatus } from '../../shared/memberships/membership.ts';
import type { StoredStatus, Subscription } from '../../shared/subscriptions/subscription.ts';
import { NOON } from './payment.ts';

/**
 * A user's monthly subscription of 19.00 USD, made at noon and not charged yet; a test gives only the fields that it
 * needs.
 */
export const subscription = (fields: Partial<Subscription> = {}): Subscription => ({
  id: 'subs_00000000000000000000000a',
  version: 0,
  lock: 0,
  status: 'creating',
  createdAt: iso(NOON),
  updatedAt: iso(NOON),
  billingOwner: 'service',
  userId: 'user_1',
  userEmail: 'ann@example.com',
  customerId: 'cust_00000000000000000000000a',
  paymentMethodId: 'pmt_00000000000000000000000a',
  methodRef: 'pm_1',
  providerCustomerId: 'cus_1',
  providerId: 'provider_a',
  subtotalCents: 1_900,
  taxCents: 0,
  discountCents: 0,
  totalCents: 1_900,
  currency: 'USD',
  billingInterval: 'monthly',
  intervalMultiplier: 1,
  anchor: iso(NOON),
  period: 0,
  currentPeriodStart: iso(NOON),
  currentPeriodEnd: iso(NOON),
  cancelAtPeriodEnd: false,
  tierId: 'gold',
  ...fields,
});

/** The same with a trial of so many days. */
export const trial = (days: number, fields: Partial<Subscription> = {}): Subscription => {
  const trialEnd = iso(NOON + days * DAY);
  return subscription({ anchor: trialEnd, period: -1, currentPeriodEnd: trialEnd, trialEnd, ...fields });
};

export const DUNNING = { days: [1, 3, 7, 14], finalAction: 'cancel' } as const;

/** Bodies of POST /subscriptions: valid by default; a test gives only the fields that it needs. */
type Fields = Readonly<Record<string, unknown>>;

export const subscriptionBody = (fields: Fields = {}): Fields => ({
  subtotal_cents: fields['total_cents'] ?? 1_900,
  total_cents: 1_900,
  currency: 'USD',
  billing_interval: 'monthly',
  ...fields,
});

const MEMBERSHIP: Readonly<Record<StoredStatus, MembershipStatus | undefined>> = {
  creating: undefined,
  declined: undefined,
  trialing: 'pending',
  active: 'active',
  past_due: 'active',
  paused: 'expired',
  canceled: 'cancelled',
};

/**
 * The first payment grants the membership; a reactivation grants it again after its payment only. A free period keeps it, and a
 * provider that gives up ends it.
 */
export const expectedMembership = ({
  status,
  activeSince,
  charge,
  isUnpaid,
}: Subscription): MembershipStatus | undefined => {
  if (isUnpaid) return 'cancelled';
  if (status === 'trialing' && activeSince !== undefined) return 'active';
  if (MEMBERSHIP[status] === 'active' && activeSince === undefined) return 'pending';
  if (status === 'past_due' && charge?.cause === 'reactivate') return 'cancelled';
  if (status === 'past_due' && charge?.cause === 'resume') return 'expired';
  return MEMBERSHIP[status];
};

/** The end of the paid time, of a free period that lasts longer, or the cancellation before either; none before the first payment. */
export const expectedMembershipEnd = (of: Subscription): string | undefined => {
  const { status, activeSince, paidUntil, currentPeriodEnd, canceledAt } = of;
  if (activeSince === undefined) return undefined;
  const times = expectedMembership(of) === 'cancelled' ? [paidUntil, canceledAt] : [paidUntil];
  const isFree = status === 'trialing' && paidUntil !== undefined && currentPeriodEnd > paidUntil;
  return isFree ? currentPeriodEnd : times.filter((time) => time !== undefined).sort()[0];
};
