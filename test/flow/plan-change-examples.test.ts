import { describe, expect, test } from 'vitest';
import { startTestHost } from './host.ts';
import { PLAN_PLACES, plan, preview, subscribed } from './plan-changes.ts';

/** Worked examples with a period, a time within it, two products and the expected preview. */
const EXAMPLES = [
  {
    ...{ start: '2027-11-01T00:00:00.000Z', at: '2027-11-16T00:00:00.000Z' },
    ...{ from: { total_cents: 1_000 }, to: { total_cents: 3_000 } },
    says: { kind: 'upgrade', when: 'now', unused_cents: 500, due_now_cents: 1_000, next_total_cents: 3_000 },
  },
  {
    ...{ start: '2027-11-01T00:00:00.000Z', at: '2027-11-10T12:00:00.000Z' },
    ...{ from: { total_cents: 1_900 }, to: { total_cents: 4_900 } },
    says: { kind: 'upgrade', unused_cents: 1_298, due_now_cents: 2_050 },
  },
  {
    ...{ start: '2027-11-01T00:00:00.000Z', at: '2027-11-16T00:00:00.000Z' },
    ...{ from: { total_cents: 2_380, tax_cents: 380 }, to: { total_cents: 4_760, tax_cents: 760 } },
    says: { kind: 'upgrade', unused_cents: 1_190, due_now_cents: 1_190 },
  },
  {
    ...{ start: '2027-01-31T10:00:00.000Z', at: '2027-02-03T10:00:00.000Z' },
    ...{ from: { total_cents: 700 }, quantities: [3, 5] },
    says: { unused_cents: 1_875, due_now_cents: 1_250, current_period_end: '2027-02-28T10:00:00.000Z' },
  },
  {
    ...{ start: '2027-11-01T00:00:00.000Z', at: '2027-11-16T00:00:00.000Z' },
    ...{ from: { total_cents: 1_000 }, to: { total_cents: 10_000, billing_interval: 'yearly' } },
    says: {
      ...{ kind: 'upgrade', unused_cents: 500, due_now_cents: 9_500, next_total_cents: 10_000 },
      ...{ current_period_end: '2028-11-16T00:00:00.000Z', next_billing_date: '2028-11-16T00:00:00.000Z' },
    },
  },
  {
    ...{ start: '2027-11-01T00:00:00.000Z', at: '2027-11-10T12:00:00.000Z' },
    ...{ from: { total_cents: 4_900 }, to: { total_cents: 1_900 } },
    says: { kind: 'downgrade', when: 'period_end', due_now_cents: 0, forfeited_cents: 0 },
  },
] as const;

describe.each(PLAN_PLACES)('a preview at %s', (_, place) => {
  test.each(EXAMPLES)('matches the worked example: $says', async (example) => {
    const started = await startTestHost({ frozen: true, env: place.settings });
    try {
      await started.moveTo(example.start);
      const { from, says, at } = example;
      const [quantity, next] = 'quantities' in example ? example.quantities : [1, 1];
      const product = await plan(started, from.total_cents, from);
      const { who, id } = await subscribed(started, place, { product_id: product, quantity });
      await started.moveTo(at);
      const to = 'to' in example ? await plan(started, example.to.total_cents, example.to) : product;
      const { status, body } = await preview(started, { who, id }, { product_id: to, quantity: next });
      expect({ status, body }).toMatchObject({ status: 200, body: { proration_at: at, ...says } });
      const sum = body.lines.reduce((all: number, line: { amount_cents: number }) => all + line.amount_cents, 0);
      expect(sum).toBe(body.due_now_cents);
    } finally {
      await started.stop();
    }
  });
});
