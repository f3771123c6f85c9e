/** @module Renewal notices after the interval of a plan has changed. */

import { describe, expect, test } from 'vitest';
import { DAY_SECONDS, HOUR_SECONDS } from '../builders/seconds.ts';
import { withHost } from './host.ts';
import { changeTo, PLAN_PLACES, plan, subscribed } from './plan-changes.ts';
import { readSubscription } from './subscribers.ts';

const DAY_MS = DAY_SECONDS * 1_000;
const NOTICE = { RENEWAL_NOTICE_DAYS: '2', RENEWAL_NOTICE_MIN_MONTHS: '1' };

describe.each(PLAN_PLACES)('a weekly plan at %s that becomes monthly with its next period', (_, place) => {
  const service = withHost({ frozen: true, env: { ...NOTICE, ...place.settings } });

  test('announces its first monthly renewal two days in advance', async () => {
    const weekly = await plan(service, 1_900, { billing_interval: 'weekly' });
    const of = await subscribed(service, place, { product_id: weekly });
    const monthly = await plan(service, 1_500, { billing_interval: 'monthly' });
    const changed = await changeTo(service, of, { product_id: monthly, when: 'period_end' });
    expect(changed).toMatchObject({ status: 200, body: { scheduled_change: { product_id: monthly } } });
    await service.advance(7 * DAY_SECONDS + HOUR_SECONDS);
    await service.settle();
    const { current_period_end: end, billing_interval } = await readSubscription(service, of.who, of.id);
    expect(billing_interval).toBe('monthly');
    await service.moveTo(new Date(Date.parse(end) - DAY_MS).toISOString());
    await service.settle();
    const notices = (await service.busEvents('subscription.updated'))
      .map(({ detail }) => detail.payload)
      .filter(({ data }) => data.subscription_id === of.id && data.reason === 'renewal_due');
    expect(notices).toMatchObject([{ data: { amount: 1_500, next_billing_date: end } }]);
    const early = Date.parse(end) - Date.parse(notices[0]?.timestamp ?? '');
    expect(Math.abs(early - 2 * DAY_MS)).toBeLessThan(HOUR_SECONDS * 1_000);
  });
});
