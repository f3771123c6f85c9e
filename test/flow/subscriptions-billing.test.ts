import { expect, it, vi } from 'vitest';
import { billByTheClock } from './billing-run.ts';

vi.setConfig({ testTimeout: 600_000 });

it('charges every day of some weeks once, whoever sweeps', async () => {
  const charges = await billByTheClock({
    anchors: ['2027-01-29T10:11:12.345Z'],
    days: 50,
    groups: [
      { interval: 'daily', multiplier: 1, count: 10 },
      { interval: 'daily', multiplier: 5, count: 2 },
      { interval: 'daily', multiplier: 1, count: 1, trialDays: 20 },
      { interval: 'daily', multiplier: 2, count: 1, cancelAfter: { days: 20.3, atPeriodEnd: true } },
      { interval: 'daily', multiplier: 2, count: 1, cancelAfter: { days: 20.3, atPeriodEnd: false } },
    ],
  });
  expect(charges).toBeGreaterThan(500);
});
