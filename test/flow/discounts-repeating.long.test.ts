import { describe, expect, test } from 'vitest';
import { DAY_MS, SECOND_MS } from '../../shared/core/time.ts';
import { MINUTE_SECONDS, YEAR_SECONDS } from '../builders/seconds.ts';
import { putCode } from './discounts.ts';
import { PATIENT, signIn } from './flow.ts';
import { withHost } from './host.ts';
import { saveReadyMethod } from './payers.ts';
import { changeTo, plan, preview } from './plan-changes.ts';
import type { ParsedJson } from './routes.ts';
import { command, patch, paymentsOf, readSubscription, type Subscriber, subscribe, subscriber } from './subscribers.ts';

/** A code for three periods, over four intervals and three providers, with a decline, a pause and a change of the plan. */
const service = withHost({ frozen: true, env: PATIENT });

const NO_PRICE = {
  subtotal_cents: undefined,
  total_cents: undefined,
  currency: undefined,
  billing_interval: undefined,
};

const PLACES = [
  { provider_id: 'provider_a', declinesOnce: 'pm_sim_ok_1_then_pickup', good: 'pm_card_visa' },
  { provider_id: 'provider_b', declinesOnce: 'SIM-OK-1-THEN-CLOSED', good: 'SIM-OK' },
  { provider_id: 'provider_c', declinesOnce: 'cnon:sim-ok-1-then-stopped', good: 'cnon:card-nonce-ok' },
] as const;
const INTERVALS = ['daily', 'weekly', 'monthly', 'yearly'] as const;

const LONGEST_MOVE_MS = 60 * DAY_MS;

/** Moves the clock in steps, because one long move would exceed the client's time limit. */
const moveOn = async (until: number): Promise<void> => {
  while (service.now() < until) {
    const next = Math.min(until, service.now() + LONGEST_MOVE_MS);
    await service.moveTo(new Date(next).toISOString());
  }
};

/** The same payer with a new session, because no session lasts for years. */
const signedInAgain = async (who: Subscriber, userId: string): Promise<Subscriber> => {
  const { options } = await signIn(service, { user_id: userId, expires_in: YEAR_SECONDS });
  return { ...who, options };
};

describe.each(PLACES)('at $provider_id', ({ provider_id, declinesOnce, good }) => {
  test.each(INTERVALS)(
    'a code reduces three periods billed %s, and then the full price applies',
    { timeout: 900_000 },
    async (interval) => {
      const fields = { billing_interval: interval };
      const [from, to] = [await plan(service, 1_000, fields), await plan(service, 3_000, fields)];
      await putCode(service, 'THREE', { percent_bp: 5_000, duration: 'repeating', duration_periods: 3 });
      const made = await subscriber(service, declinesOnce, provider_id === 'provider_a' ? {} : { provider_id });
      let who: Subscriber = made;
      const { id } = await subscribe(service, who, { ...NO_PRICE, product_id: from, discount_code: 'THREE' });
      const toNextPeriod = async () => {
        const { current_period_end: end } = await readSubscription(service, who, id);
        await moveOn(Date.parse(end) + 2 * MINUTE_SECONDS * SECOND_MS);
        who = await signedInAgain(made, made.user.userId);
        return readSubscription(service, who, id);
      };
      expect(await readSubscription(service, who, id)).toMatchObject({
        billing_owner: 'service',
        discount: { periods_left: 2 },
      });
      expect(await toNextPeriod()).toMatchObject({
        status: 'past_due',
        total_cents: 500,
        discount: { periods_left: 1 },
      });
      const method = await saveReadyMethod(service, who.options, { provider_payment_method_token: good, provider_id });
      const paid = await patch(service, who, { id, body: { payment_method_id: method.id } });
      expect(paid).toMatchObject({ body: { status: 'active', discount: { periods_left: 1 } } });
      expect((await command(service, who, { id, name: 'pause' })).status).toBe(200);
      expect((await command(service, who, { id, name: 'resume' })).body).toMatchObject({
        discount: { periods_left: 1 },
      });
      const change = { product_id: to, when: 'period_end' };
      const shown = await preview(service, { who, id }, change);
      expect(shown.body).toMatchObject({ next_total_cents: 1_500, discount: { code: 'THREE', periods_left: 1 } });
      expect((await changeTo(service, { who, id }, change)).status).toBe(200);
      expect(await toNextPeriod()).toMatchObject({
        status: 'active',
        total_cents: 1_500,
        discount: { periods_left: 0 },
      });
      expect(await toNextPeriod()).toMatchObject({ status: 'active', total_cents: 3_000, discount: null });
      const settled = (await paymentsOf(service, who, id)).filter(({ status }: ParsedJson) => status === 'succeeded');
      expect(settled.map(({ total_cents }: ParsedJson) => total_cents)).toEqual([500, 500, 1_500, 3_000]);
      for (const payment of settled) {
        const { charges } = await service.ledger(payment.id);
        const taken = charges.filter(({ status }: ParsedJson) => status === 'succeeded');
        expect(taken).toHaveLength(1);
        expect(Number(taken[0]?.amount)).toBe(payment.total_cents);
      }
    },
  );
});
