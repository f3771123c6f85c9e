/** @module Notices before a renewal and before a card expires, once per cause over 400 days. */

import { describe, expect, test } from 'vitest';
import { present } from '../builders/present.ts';
import { DAY_SECONDS, HOUR_SECONDS } from '../builders/seconds.ts';
import { atStripe } from './at-stripe.ts';
import { putCode } from './discounts.ts';
import { signIn } from './flow.ts';
import { withHost } from './host.ts';
import { storedRecord } from './payers.ts';
import { BILLERS, command, paymentsOf, subscribe, subscriber } from './subscribers.ts';

const DAY_MS = DAY_SECONDS * 1_000;
const HOUR_MS = HOUR_SECONDS * 1_000;

describe.each(BILLERS)('a subscription billed by %s', (_, billing) => {
  const service = withHost({ frozen: true, env: { RENEWAL_NOTICE_DAYS: '14', ...billing } });
  const noticesOf = async (id: string) =>
    (await service.busEvents('subscription.updated'))
      .map(({ detail }) => detail.payload)
      .filter(({ data }) => data.subscription_id === id && /renewal_due|method_expiring/.test(data.reason))
      .map(({ timestamp, data }) => ({ ...data, at: Date.parse(timestamp) }));

  test('publishes one notice per cause at the right hour, and none after its cancellation', async () => {
    const who = await subscriber(service);
    const method = await storedRecord(service, 'PM', who.names.payment_method_id);
    const ends = new Date(service.now() + 100 * DAY_MS);
    const [month, year] = [ends.getUTCMonth() + 1, ends.getUTCFullYear()];
    await atStripe(service, `POST payment_methods/${method.providerMethodId}`, {
      'card[exp_month]': String(month),
      'card[exp_year]': String(year),
    });
    await service.settle();
    const yearly = await subscribe(service, who, { billing_interval: 'yearly', total_cents: 9_900 });
    const monthly = await subscribe(service, who);
    const ended = await subscribe(service, who, { billing_interval: 'yearly' });
    await command(service, who, { id: ended.id, name: 'cancel' });
    for (let day = 0; day < 400; day += 25) {
      await service.advance(25 * DAY_SECONDS);
      await service.settle();
    }
    const notices = await noticesOf(yearly.id);
    expect(notices).toHaveLength(2);
    const [expiring, renewal] = [present(notices[0]), present(notices[1])];
    const cardEnds = Date.UTC(year, month);
    expect(expiring).toMatchObject({ reason: 'method_expiring' });
    expect(renewal).toMatchObject({
      reason: 'renewal_due',
      amount: 9_900,
      next_billing_date: yearly.current_period_end,
    });
    expect(Math.abs(expiring.at - (cardEnds - 30 * DAY_MS))).toBeLessThan(HOUR_MS);
    expect(Math.abs(renewal.at - (Date.parse(yearly.current_period_end) - 14 * DAY_MS))).toBeLessThan(HOUR_MS);
    expect((await noticesOf(monthly.id)).map(({ reason }) => reason)).toEqual(['method_expiring']);
    expect(await noticesOf(ended.id)).toEqual([]);
  });

  test.each([
    ['once', 9_900],
    ['forever', 4_950],
  ])('announces the renewal price with a discount code of duration %s', async (duration, amount) => {
    const code = `NOTICE-${duration.toUpperCase()}`;
    await putCode(service, code, { percent_bp: 5_000, duration });
    const who = await subscriber(service);
    const price = { billing_interval: 'yearly', subtotal_cents: 9_900, total_cents: 4_950 };
    const { id } = await subscribe(service, who, { ...price, discount_code: code });
    for (let day = 0; day < 375; day += 25) {
      await service.advance(25 * DAY_SECONDS);
      await service.settle();
    }
    expect((await noticesOf(id)).map((notice) => [notice.reason, notice.amount])).toEqual([['renewal_due', amount]]);
    const mine = await signIn(service, { user_id: who.user.userId });
    const renewed = (await paymentsOf(service, { ...who, options: mine.options }, id)).at(-1);
    expect(renewed).toMatchObject({ billing_reason: 'subscription_cycle', total_cents: amount });
  });
});
