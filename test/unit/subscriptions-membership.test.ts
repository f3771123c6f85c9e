import { describe, expect, test } from 'vitest';
import { DAY_MS, iso } from '../../shared/core/time.ts';
import { isSameMembership, membershipOf } from '../../shared/subscriptions/record/membership-of.ts';
import type { Charge, Subscription } from '../../shared/subscriptions/record/subscription.ts';
import { NOON } from '../builders/payment.ts';
import { subscription } from '../builders/subscription.ts';

const day = (days: number): string => iso(NOON + days * DAY_MS);

/** A subscription that is active since noon and paid until day 31. */
const paid = (fields: Partial<Subscription> = {}): Subscription =>
  subscription({
    status: 'active',
    version: 2,
    activeSince: day(0),
    currentPeriodEnd: day(31),
    paidUntil: day(31),
    ...fields,
  });

const charge: Charge = {
  ...{ cause: 'reactivate', anchor: day(45), period: 0, start: day(45), end: day(76) },
  ...{ paymentId: 'pay_1', generation: 0, attempts: 0 },
};

/** The status and end of a subscription's membership. */
const CASES: readonly (readonly [what: string, Partial<Subscription>, status: string, endsAt: string | undefined])[] = [
  ['that is paid', {}, 'active', day(31)],
  ['whose renewal is retried', { status: 'past_due', currentPeriodEnd: day(62) }, 'active', day(31)],
  ['in a free time that its provider gives', { status: 'trialing', currentPeriodEnd: day(40) }, 'active', day(40)],
  ['in a free time within its paid time', { status: 'trialing', currentPeriodEnd: day(20) }, 'active', day(31)],
  ['that ends with its period', { cancelAtPeriodEnd: true }, 'active', day(31)],
  ['that was reactivated after a cancellation', { canceledAt: day(5) }, 'active', day(31)],
  ['that is paused', { status: 'paused' }, 'expired', day(31)],
  ['that was canceled in its paid time', { status: 'canceled', canceledAt: day(5) }, 'cancelled', day(5)],
  ['that was canceled after its paid time', { status: 'canceled', canceledAt: day(45) }, 'cancelled', day(31)],
  ['that its provider has given up', { status: 'past_due', isUnpaid: true }, 'cancelled', day(31)],
  ['whose reactivation is not paid yet', { status: 'past_due', canceledAt: day(5), charge }, 'cancelled', day(5)],
  [
    'whose first charge is not paid yet',
    { status: 'past_due', activeSince: undefined, paidUntil: undefined },
    'pending',
    undefined,
  ],
  ['of a free product', { totalCents: 0, tierUnpaidSince: day(0) }, 'active', day(31)],
  ['whose tier is not paid yet', { tierUnpaidSince: day(0) }, 'pending', undefined],
  [
    'whose tier is not paid yet, and whose renewal is retried',
    { status: 'past_due', tierUnpaidSince: day(0), charge: { ...charge, cause: 'renew' } },
    ...(['pending', undefined] as const),
  ],
  [
    'whose tier is not paid yet, in a free time that its provider gives',
    { status: 'trialing', tierUnpaidSince: day(0) },
    ...(['pending', undefined] as const),
  ],
  [
    'whose tier is not paid yet, and that is paused',
    { status: 'paused', tierUnpaidSince: day(0) },
    'expired',
    undefined,
  ],
  [
    'that was canceled before its tier was paid',
    { status: 'canceled', canceledAt: day(5), tierUnpaidSince: day(0) },
    ...(['cancelled', undefined] as const),
  ],
  [
    'of a free product in its trial',
    {
      ...{ status: 'trialing', totalCents: 0, tierUnpaidSince: day(0) },
      ...{ activeSince: undefined, paidUntil: undefined, currentPeriodEnd: day(7) },
    },
    ...(['active', day(7)] as const),
  ],
  [
    'in its trial',
    { status: 'trialing', activeSince: undefined, paidUntil: undefined, currentPeriodEnd: day(7) },
    'pending',
    undefined,
  ],
];

describe('the membership of a subscription', () => {
  test.each(CASES)('is derived from a subscription %s: %j results in %s until %s', (...row) => {
    const [, fields, status, endsAt] = row;
    const given = membershipOf(paid(fields));
    expect(given).toMatchObject({ status, tierId: 'gold', version: 2 });
    expect(given?.endsAt).toBe(endsAt);
    expect(given?.startsAt).toBe(endsAt === undefined ? undefined : day(0));
  });

  test('does not exist without a tier or before the subscription is shown', () => {
    expect(membershipOf(paid({ tierId: undefined }))).toBeUndefined();
    expect(membershipOf(paid({ status: 'creating' }))).toBeUndefined();
    expect(membershipOf(paid({ status: 'declined' }))).toBeUndefined();
  });

  test('is written again only if it lasts longer, begins at another time or has another status', () => {
    const [now, ...others] = [
      paid(),
      paid({ paidUntil: day(62) }),
      paid({ activeSince: day(1) }),
      paid({ status: 'paused' }),
    ]
      .map(membershipOf)
      .filter((one) => one !== undefined);
    if (!now) throw new Error('there is no membership');
    expect(others.map((other) => isSameMembership(now, other))).toEqual([false, false, false]);
    expect(isSameMembership(now, { ...now, version: 3, updatedAt: day(1) })).toBe(true);
  });

  test.each([
    [{ projectId: 'proj_1', organizationId: 'org_1' }, 'project', 'proj_1'],
    [{ organizationId: 'org_1' }, 'organization', 'org_1'],
    [{}, 'user', 'user_1'],
    [{ userId: undefined, guestId: 'gst_1' }, 'user', 'gst_1'],
  ] as const)('with the owner %j belongs to the %s %s', (fields, entityType, entityId) => {
    expect(membershipOf(paid(fields))).toMatchObject({ entityType, entityId });
  });
});
