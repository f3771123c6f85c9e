import { describe, expect, test } from 'vitest';
import { iso } from '../../shared/core/time.ts';
import { HOUR_SECONDS } from '../builders/seconds.ts';
import { withHost } from './host.ts';
import { changeTo, type PlanHolder, plan, subscribed } from './plan-changes.ts';
import { OWN_BILLING, paymentsOf, readSubscription } from './subscribers.ts';

const VISA = { slot: 'provider_a', token: 'pm_card_visa' } as const;

describe.each([
  ['Stripe, which bills', {}],
  ['Stripe, billed here', OWN_BILLING],
])('a scheduled change of a subscription with billing day 31 at %s', (_, env) => {
  const service = withHost({ frozen: true, env });

  /** Subscribes at noon on the next 31 January. */
  const onLastOfJanuary = async (): Promise<PlanHolder & { readonly year: number }> => {
    const year = new Date(service.now()).getUTCFullYear() + 1;
    await service.moveTo(iso(Date.UTC(year, 0, 31, 12)));
    const of = await subscribed(service, VISA, { product_id: await plan(service, 4_900) });
    await service.settle();
    return { ...of, year };
  };

  const renewed = async ({ who, id }: PlanHolder) => {
    const { current_period_end } = await readSubscription(service, who, id);
    await service.moveTo(current_period_end);
    await service.advance(3 * HOUR_SECONDS);
    await service.settle();
    return readSubscription(service, who, id);
  };

  const dayOf = (time: string): string => time.slice(5, 10);
  const lastOfFebruary = (year: number): string => iso(Date.UTC(year, 2, 0)).slice(5, 10);

  test('keeps the billing day for the same interval, so 31 March follows 28 February', async () => {
    const of = await onLastOfJanuary();
    const product_id = await plan(service, 1_900);
    expect(await changeTo(service, of, { product_id, when: 'period_end' })).toMatchObject({ status: 200 });
    const changed = await renewed(of);
    expect(changed).toMatchObject({ product_id, scheduled_change: null, status: 'active' });
    expect(dayOf(changed.current_period_start)).toBe(lastOfFebruary(of.year));
    expect(dayOf(changed.current_period_end)).toBe('03-31');
    const next = await renewed(of);
    expect([dayOf(next.current_period_start), dayOf(next.current_period_end)]).toEqual(['03-31', '04-30']);
    const totals = (await paymentsOf(service, of.who, of.id)).map(({ total_cents }) => total_cents);
    expect(totals).toEqual([4_900, 1_900, 1_900]);
  });
});
