import { describe, expect, test } from 'vitest';
import { HOUR_MS, iso, MINUTE_MS } from '../../shared/core/time.ts';
import { HOUR_SECONDS, MINUTE_SECONDS } from '../builders/seconds.ts';
import { withHost } from './host.ts';
import { changeTo, plan, planEvents, subscribed } from './plan-changes.ts';
import { anotherMethod, OWN_BILLING, patch, paymentsOf, readSubscription } from './subscribers.ts';

const VISA = { slot: 'provider_a', token: 'pm_card_visa' } as const;

describe.each([
  ['Stripe, which bills', {}],
  ['Stripe, billed here', OWN_BILLING],
])('a plan change that awaits payment at %s', (_, env) => {
  const service = withHost({ frozen: true, env });

  /** Starts a change to a much more expensive plan, `leftMs` before the period or trial ends. */
  const asking = async (leftMs: number, fields: object = {}) => {
    const of = await subscribed(service, VISA, { product_id: await plan(service, 1_000, { ...fields }) });
    const card = await anotherMethod(service, of.who, 'pm_card_authenticationRequired');
    await patch(service, of.who, { id: of.id, body: { payment_method_id: card } });
    const end = Date.parse(of.first.current_period_end);
    await service.moveTo(iso(end - leftMs));
    const { body } = await changeTo(service, of, { product_id: await plan(service, 90_000) });
    expect(body).toMatchObject({ pending_change: { status: 'awaiting_payment' } });
    return { of, end, pending: body.pending_change };
  };

  test('expires after 23 hours if the period lasts longer', async () => {
    const { end, pending } = await asking(30 * HOUR_MS);
    expect(pending.expires_at).toBe(iso(end - 7 * HOUR_MS));
  });

  test.each([
    ['period', {}],
    ['trial', { trial_days: 5 }],
  ])('expires 10 minutes before the %s ends, and the payer can no longer pay', async (_name, fields) => {
    const { of, end, pending } = await asking(2 * HOUR_MS, fields);
    expect(pending.expires_at).toBe(iso(end - 10 * MINUTE_MS));
    await service.moveTo(iso(end - 9 * MINUTE_MS));
    await service.settle();
    expect(await readSubscription(service, of.who, of.id)).toMatchObject({ total_cents: 1_000, pending_change: null });
    expect(await planEvents(service, of.id)).toEqual(['plan_change_failed']);
    const payments = await paymentsOf(service, of.who, of.id);
    expect(payments.find(({ id }) => id === pending.payment.id)).toMatchObject({ status: 'canceled' });
    await service.advance(2 * HOUR_SECONDS + 10 * MINUTE_SECONDS);
    await service.settle();
    expect(await readSubscription(service, of.who, of.id)).toMatchObject({ total_cents: 1_000, pending_change: null });
  });
});
