import { describe, expect, test } from 'vitest';
import { DAY_MS, iso } from '../../shared/core/time.ts';
import { nextNotice } from '../../shared/subscriptions/commands/notices.ts';
import type { Subscription } from '../../shared/subscriptions/record/subscription.ts';
import { NOON } from '../builders/payment.ts';
import { savedCard } from '../builders/saved-card.ts';
import { subscription } from '../builders/subscription.ts';

const POLICY = { renewalDays: 14, renewalMinMonths: 6, methodDays: 30 };
const [END, CARD_ENDS] = [NOON + 400 * DAY_MS, Date.UTC(2031, 7)];
const active = (fields: Partial<Subscription> = {}): Subscription =>
  subscription({ status: 'active', billingInterval: 'yearly', currentPeriodEnd: iso(END), ...fields });
const card = savedCard({ expiryMonth: '07', expiryYear: '2031' });

const noticeAt = (now: number, one = active(), method: typeof card | undefined = undefined, policy = POLICY) =>
  nextNotice(one, method, { policy, now });

describe('the notice of a renewal', () => {
  test.each([
    ['yearly', 1, 12],
    ['quarterly', 1, 3],
    ['quarterly', 2, 6],
    ['monthly', 1, 1],
    ['monthly', 5, 5],
    ['monthly', 6, 6],
    ['weekly', 52, 0],
    ['daily', 400, 0],
  ] as const)(
    'for %s times %i is sent only if the period has at least the configured months',
    (...[unit, times, months]) => {
      const one = active({ billingInterval: unit, intervalMultiplier: times });
      for (const renewalMinMonths of [1, 3, 5, 6, 7, 12, 13]) {
        const found = noticeAt(NOON, one, undefined, { ...POLICY, renewalMinMonths });
        expect([renewalMinMonths, found?.reason]).toEqual([
          renewalMinMonths,
          months >= renewalMinMonths ? 'renewal_due' : undefined,
        ]);
      }
    },
  );

  test('is due the configured number of days before the renewal, and is not sent at or after the renewal', () => {
    expect(noticeAt(NOON)).toMatchObject({ reason: 'renewal_due', at: END - 14 * DAY_MS });
    expect(noticeAt(END - 1)).toMatchObject({ at: END - 14 * DAY_MS });
    expect(noticeAt(END)).toBeUndefined();
  });

  test('is sent once per renewal', () => {
    expect(noticeAt(NOON, active({ renewalNoticed: iso(END) }))).toBeUndefined();
    expect(noticeAt(NOON, active({ renewalNoticed: iso(END - DAY_MS) }))?.reason).toBe('renewal_due');
  });
});

describe('the notice of an expiring card', () => {
  const monthly = active({ billingInterval: 'monthly' });

  test('is due the configured number of days before the card expires, and is not sent at or after the expiry', () => {
    expect(noticeAt(NOON, monthly, card)).toMatchObject({ reason: 'method_expiring', at: CARD_ENDS - 30 * DAY_MS });
    expect(noticeAt(CARD_ENDS - 1, monthly, card)?.reason).toBe('method_expiring');
    expect(noticeAt(CARD_ENDS, monthly, card)).toBeUndefined();
  });

  test('is sent once per card and expiry month', () => {
    const expiryNoticed = noticeAt(NOON, monthly, card)?.sent.expiryNoticed;
    const noticed = active({ billingInterval: 'monthly', expiryNoticed });
    expect(noticeAt(NOON, noticed, card)).toBeUndefined();
    for (const other of [{ id: 'pmt_other' }, { expiryMonth: '08' }, { expiryYear: '2032' }]) {
      expect(noticeAt(NOON, noticed, { ...card, ...other })?.reason).toBe('method_expiring');
    }
  });
});

test.each([
  ['is paused', { status: 'paused' }],
  ['is past due', { status: 'past_due' }],
  ['is canceled', { status: 'canceled' }],
  ['ends with its period', { cancelAtPeriodEnd: true }],
  ['ends at a date within its period', { cancelAtPeriodEnd: true, cancelAt: iso(END) }],
] as const)('a subscription has no notice if it %s', (_, fields) => {
  expect(noticeAt(NOON, active(fields), card)).toBeUndefined();
});
