/**
 * @module The merchant refunds the period's payment after the plan change has read this payment and before the claim.
 */

import { expect, test } from 'vitest';
import { present } from '../builders/present.ts';
import { DAY_SECONDS } from '../builders/seconds.ts';
import { PATIENT } from './flow.ts';
import type { TestHost } from './host.ts';
import { giveBack } from './paid-periods.ts';
import { changeTo, plan, subscribed } from './plan-changes.ts';
import { withStops } from './stops.ts';
import { OWN_BILLING, paymentsOf, readSubscription } from './subscribers.ts';

const stoppable = withStops({ ...PATIENT, ...OWN_BILLING });
const VISA = { slot: 'provider_a', token: 'pm_card_visa' } as const;

const ready = async (service: TestHost) => {
  const of = await subscribed(service, VISA, { product_id: await plan(service, 3_000) });
  await service.settle();
  await service.advance(10 * DAY_SECONDS);
  return { of, dearer: await plan(service, 9_000) };
};

test('a plan change credits no amount refunded before its claim', async () => {
  const { service, watch, overtaken } = stoppable();
  const first = await ready(service);
  const calls = await watch(async () =>
    expect((await changeTo(service, first.of, { product_id: first.dearer })).status).toBe(200),
  );
  const claim = calls.findIndex((name) => /^(PutItem|TransactWriteItems)$/.test(name)) + 1;
  expect(claim).toBeGreaterThan(1);
  for (let at = 1; at < claim; at += 1) {
    const { of, dearer } = await ready(service);
    const [opening] = await paymentsOf(service, of.who, of.id);
    const back = () => giveBack({ service, place: VISA }, present(opening).id);
    const { status, body } = await overtaken(at, back, () => changeTo(service, of, { product_id: dearer }));
    const where = `at ${at} of ${calls.join(', ')}`;
    if (status === 409) {
      expect({ where, code: body.code }).toEqual({ where, code: 'VERSION_CONFLICT' });
      expect(await readSubscription(service, of.who, of.id)).toMatchObject({ total_cents: 3_000 });
      continue;
    }
    expect({ where, status }).toEqual({ where, status: 200 });
    const { current_period_start: start, current_period_end: end } = body;
    const [left, whole] = [start, end].map((time) => Date.parse(end) - Date.parse(time));
    const payments = await paymentsOf(service, of.who, of.id);
    const paid = present(payments.at(-1)).total_cents;
    // No amount is credited, so the rest of the period costs its full share.
    expect({ where, isFull: paid > 9_000 * 0.6, left, whole }).toMatchObject({ where, isFull: true });
  }
});
