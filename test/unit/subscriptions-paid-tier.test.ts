import { describe, expect, test } from 'vitest';
import { DAY_MS, epochSeconds, iso } from '../../shared/core/time.ts';
import {
  isPeriodPaid,
  isTierPaid,
  unpaidAfterReport,
  unpaidByPlan,
  unpaidOncePaid,
} from '../../shared/subscriptions/record/paid-tier.ts';
import { NOON } from '../builders/payment.ts';
import { subscription } from '../builders/subscription.ts';

const day = (days: number): string => iso(NOON + days * DAY_MS);
const seconds = (days: number): number => epochSeconds(NOON + days * DAY_MS);

describe('a tier', () => {
  test.each([
    ['is paid for after its first payment', {}, true],
    ['is not paid for before its first payment', { tierUnpaidSince: day(0) }, false],
    ['needs no payment if the plan costs nothing', { tierUnpaidSince: day(0), totalCents: 0 }, true],
  ])('%s', (_, fields, expected) => {
    expect(isTierPaid(subscription(fields))).toBe(expected);
  });

  test.each([
    ['another tier', {}, 'platinum', day(9)],
    ['no tier', {}, undefined, day(9)],
    ['the same tier, which is paid for', {}, 'gold', undefined],
    ['the same tier, which is not paid for', { tierUnpaidSince: day(0) }, 'gold', day(9)],
  ] as const)(
    'counts as unpaid from the start of a plan, unless it is the same tier and paid for: %s',
    (...[, fields, tierId, expected]) => {
      const after = unpaidByPlan(subscription(fields), { tierId }, NOON + 9 * DAY_MS);
      expect(after).toEqual({ tierUnpaidSince: expected });
    },
  );

  test('is paid by a period with a price, but not by a free period', () => {
    const unpaid = { tierUnpaidSince: day(0) };
    expect(unpaidOncePaid(subscription(unpaid)).tierUnpaidSince).toBeUndefined();
    expect(unpaidOncePaid(subscription({ ...unpaid, totalCents: 0 }))).toEqual(unpaid);
  });

  const SCHEDULED = { tierUnpaidSince: day(30) };
  const TRIAL = { tierUnpaidSince: day(0), trialEnd: day(14) };
  test.each([
    ['an invoice of its first period', SCHEDULED, { isPaid: true, paidUntil: seconds(60) }, true],
    ['an invoice of the period before its start', SCHEDULED, { isPaid: true, paidUntil: seconds(30) }, false],
    ['an invoice of its trial', TRIAL, { isPaid: true, paidUntil: seconds(14) }, false],
    ['an invoice after its trial', TRIAL, { isPaid: true, paidUntil: seconds(44) }, true],
    ['a payment without a period', SCHEDULED, { isPaid: true }, true],
    ['a report without a paid invoice', SCHEDULED, { isPaid: false }, false],
    ['a report that says nothing of invoices', SCHEDULED, {}, false],
    ['an invoice of a free period', { ...SCHEDULED, totalCents: 0 }, { isPaid: true, paidUntil: seconds(60) }, false],
  ] as const)('counts as paid, or stays unpaid, after a report of %s', (...[, fields, report, isPaid]) => {
    const { tierUnpaidSince } = unpaidAfterReport(subscription(fields), report);
    expect(tierUnpaidSince).toBe(isPaid ? undefined : fields.tierUnpaidSince);
  });

  test('stays paid after any report', () => {
    expect(unpaidAfterReport(subscription(), { isPaid: false }).tierUnpaidSince).toBeUndefined();
  });
});

describe('a period', () => {
  test.each([
    ['was paid until its end', { paidUntil: day(31) }, true],
    ['was paid until its end in whole seconds', { paidUntil: iso(NOON + 31 * DAY_MS - 999) }, true],
    ['costs nothing', { totalCents: 0 }, true],
    ['was never paid', {}, false],
    ['follows the paid time', { paidUntil: day(0) }, false],
  ])('that %s, with %j, counts as paid: %s', (_, fields, expected) => {
    expect(isPeriodPaid(subscription({ currentPeriodEnd: day(31), ...fields }))).toBe(expected);
  });
});
