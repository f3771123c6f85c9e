import { describe, expect, test } from 'vitest';
import { epochSeconds, instant, iso, MINUTE_MS } from '../../shared/core/time.ts';
import { applyChange, removeChange } from '../../shared/subscriptions/plan-changes/plan-change-steps.ts';
import type { PlanChange } from '../../shared/subscriptions/record/plan-change.ts';
import type { Subscription } from '../../shared/subscriptions/record/subscription.ts';
import { NOON } from '../builders/payment.ts';
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

describe('the read of a subscription after a change of its plan that', () => {
  test.each(ENDS)(
    '%s: is due if the provider that bills reported meanwhile, because the price of the report was left out',
    (_, end) => {
      expect(end(changing({ knownAt: epochSeconds(NOON) })).syncAt).toBe(iso(ENDED_AT));
    },
  );

  test.each(ENDS)('%s: keeps its time if no report came meanwhile', (_, end) => {
    expect(end(changing({ knownAt: epochSeconds(NOON) - 1 })).syncAt).toBe(NEXT_READ);
    expect(end(changing({ knownAt: undefined })).syncAt).toBe(NEXT_READ);
  });

  test.each(ENDS)('%s: is not due if the service bills', (_, end) => {
    const own = changing({ billingOwner: 'service', syncAt: undefined, knownAt: epochSeconds(NOON) });
    expect(end(own).syncAt).toBeUndefined();
  });
});
