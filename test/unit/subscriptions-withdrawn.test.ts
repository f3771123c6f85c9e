import { describe, expect, test } from 'vitest';
import { iso } from '../../shared/core/time.ts';
import { withdrawReturn } from '../../shared/subscriptions/billing/lifecycle.ts';
import { firstPeriod } from '../../shared/subscriptions/billing/periods.ts';
import { abandonCharge, openCharge } from '../../shared/subscriptions/billing/subscription-charge.ts';
import { NOON } from '../builders/payment.ts';
import { subscription } from '../builders/subscription.ts';

/** A canceled subscription, whose payer requests a reactivation and then withdraws the request. */
const ended = subscription({ status: 'canceled', version: 3, canceledAt: iso(NOON) });

describe('the withdrawal of a reactivation', () => {
  test('leaves a subscription without an open charge unchanged', () => {
    expect(withdrawReturn(ended, NOON)).toBe(ended);
  });

  test('ends the charge, and changes nothing that readers see', () => {
    const opened = openCharge(ended, firstPeriod(ended, NOON), { cause: 'reactivate', now: NOON });
    const withdrawn = withdrawReturn(opened, NOON);
    expect(withdrawn).toMatchObject({ status: 'canceled', version: 3, canceledAt: iso(NOON) });
    expect(withdrawn.charge).toMatchObject({ paymentId: opened.charge?.paymentId, abandoned: true });
    expect(withdrawn.charge?.lookAt).toBe(opened.charge?.lookAt);
  });

  test('has no effect the second time', () => {
    const opened = openCharge(ended, firstPeriod(ended, NOON), { cause: 'reactivate', now: NOON });
    const withdrawn = { ...opened, ...abandonCharge(opened, NOON) };
    expect(withdrawReturn(withdrawn, NOON + 1)).toBe(withdrawn);
  });
});
