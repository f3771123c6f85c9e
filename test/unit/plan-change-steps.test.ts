import { describe, expect, test } from 'vitest';
import { DAY_MS, epochSeconds, HOUR_MS, instant, iso, MINUTE_MS } from '../../shared/core/time.ts';
import {
  applyChange,
  isChangeOver,
  removeChange,
  scheduleChange,
  settleChange,
  withdrawScheduled,
} from '../../shared/subscriptions/plan-changes/plan-change-steps.ts';
import { planAtProvider } from '../../shared/subscriptions/record/held-plan.ts';
import type { PlanChange } from '../../shared/subscriptions/record/plan-change.ts';
import type { Subscription } from '../../shared/subscriptions/record/subscription.ts';
import { NOON, payment } from '../builders/payment.ts';
import { subscription } from '../builders/subscription.ts';

const CLAIMED_AT = iso(NOON);
const ENDED_AT = instant(iso(NOON + MINUTE_MS));
const NEXT_READ = '2027-01-01T00:00:00.000Z';

const changing = (fields: Partial<Subscription>): Subscription => {
  const known = subscription({ billingOwner: 'provider', syncAt: NEXT_READ, ...fields });
  const prices = { subtotalCents: 500, taxCents: 0, discountCents: 0, totalCents: 500 };
  const change: PlanChange = {
    ...{ id: 'chg_1', step: 'paid', at: CLAIMED_AT, due: prices, lines: [], lookAt: CLAIMED_AT },
    ...{ periodStart: known.currentPeriodStart, periodEnd: known.currentPeriodEnd },
    plan: { ...prices, billingInterval: 'monthly', intervalMultiplier: 1, quantity: 1 },
  };
  return { ...known, change };
};

const ENDS = [
  ['is applied', (current: Subscription) => applyChange(current, ENDED_AT)],
  ['fails', (current: Subscription) => removeChange(current, 'plan_change_failed', ENDED_AT)],
] as const;

describe('the next read of a subscription after a plan change', () => {
  test.each(ENDS)(
    'is due immediately if the change %s and a report came during the change, because its price was ignored',
    (_, end) => {
      expect(end(changing({ knownAt: epochSeconds(NOON) })).syncAt).toBe(iso(ENDED_AT));
    },
  );

  test.each(ENDS)('keeps its time if the change %s and no report came during the change', (_, end) => {
    expect(end(changing({ knownAt: epochSeconds(NOON) - 1 })).syncAt).toBe(NEXT_READ);
    expect(end(changing({ knownAt: undefined })).syncAt).toBe(NEXT_READ);
  });

  test.each(ENDS)('is absent if the change %s and the service bills', (_, end) => {
    const own = changing({ billingOwner: 'service', syncAt: undefined, knownAt: epochSeconds(NOON) });
    expect(end(own).syncAt).toBeUndefined();
  });
});

describe('the tier of a change during a free trial that the billing provider added', () => {
  const inFreeTrial = (change: Partial<PlanChange>): Subscription => {
    const known = changing({ status: 'trialing', trialEnd: iso(NOON + 10 * DAY_MS), activeSince: CLAIMED_AT });
    const { plan } = known.change ?? {};
    const other = plan && { ...plan, tierId: 'platinum' };
    return { ...known, change: known.change && { ...known.change, ...change, plan: other ?? known.change.plan } };
  };

  test.each([
    ['is paid', 'by the payment of the change', { paymentId: payment().id }],
    ['is paid', 'by the credit of the paid period', {}],
    ['is not paid', 'because the change was made in the trial', { inTrial: true as const }],
  ])('%s %s', (outcome, _, change) => {
    const { tierUnpaidSince, status } = applyChange(inFreeTrial(change), ENDED_AT);
    expect(status).toBe('trialing');
    expect(tierUnpaidSince === undefined).toBe(outcome === 'is paid');
  });
});

describe('a plan change that waits for its payer', () => {
  const asks = payment({ status: 'pending', nextAction: { type: 'use_provider_sdk' } });

  const waiting = (leftMs: number, fields: Partial<Subscription> = {}): Subscription => {
    const known = changing({ status: 'active', currentPeriodEnd: iso(NOON + leftMs), ...fields });
    const change = known.change && { ...known.change, step: 'claimed' as const, paymentId: asks.id };
    return settleChange({ ...known, change }, asks, instant(iso(NOON)));
  };

  test.each([
    ['after 23 hours, in the middle of a period', 10 * DAY_MS, 23 * HOUR_MS],
    ['after 23 hours, if the period ends 10 minutes later', 23 * HOUR_MS + 10 * MINUTE_MS, 23 * HOUR_MS],
    ['10 minutes before the end of a period that is a minute shorter', 23 * HOUR_MS + 9 * MINUTE_MS, 1_379 * MINUTE_MS],
    ['10 minutes before the end of a period that ends in an hour', HOUR_MS, 50 * MINUTE_MS],
  ])('expires %s', (_, leftMs, afterMs) => {
    const expiresAt = iso(NOON + afterMs);
    const known = waiting(leftMs);
    expect(known.change).toMatchObject({ step: 'awaiting_payment', expiresAt });
    expect(isChangeOver(known, instant(iso(NOON + afterMs - 1)))).toBe(false);
    expect(isChangeOver(known, instant(expiresAt))).toBe(true);
  });

  test('keeps its expiry at a later lookup', () => {
    const known = waiting(HOUR_MS);
    const again = settleChange(known, asks, instant(iso(NOON + 30 * MINUTE_MS)));
    expect(again.change?.expiresAt).toBe(known.change?.expiresAt);
  });
});

describe('a change scheduled at the billing provider', () => {
  const cheap = { subtotalCents: 500, taxCents: 0, discountCents: 0, totalCents: 500 };

  test.each(['monthly', 'yearly'] as const)(
    'restores the old price at the provider if it is withdrawn (%s)',
    (interval) => {
      const known = subscription({ status: 'active', billingOwner: 'provider' });
      const plan = { ...cheap, billingInterval: interval, intervalMultiplier: 1, quantity: 1 };
      const scheduled = { ...scheduleChange(known, plan, { id: 'chg_1', now: NOON }), priceUpdate: undefined };
      expect(planAtProvider(scheduled).totalCents).toBe(500);
      const withdrawn = withdrawScheduled(scheduled, NOON + MINUTE_MS);
      expect(withdrawn).toMatchObject({ scheduledChange: undefined, priceUpdate: { id: 'chg_1_withdrawn' } });
      expect(planAtProvider(withdrawn).totalCents).toBe(1_900);
      // The provider begins another interval immediately, and charges nothing within the paid time.
      const freeUntil = interval === 'yearly' ? known.currentPeriodEnd : undefined;
      expect(withdrawn.priceUpdate?.freeUntil).toBe(freeUntil);
    },
  );

  test('sends the provider nothing if the service bills', () => {
    const known = subscription({ status: 'active', billingOwner: 'service' });
    const plan = { ...cheap, billingInterval: 'monthly' as const, intervalMultiplier: 1, quantity: 1 };
    const scheduled = scheduleChange(known, plan, { id: 'chg_1', now: NOON });
    expect(withdrawScheduled(scheduled, NOON).priceUpdate).toBeUndefined();
  });
});
