import { describe, expect, test } from 'vitest';
import { PATIENT } from './flow.ts';
import { withHost } from './host.ts';
import { deleteCustomers, erasePeople, expectFigures, live, openShop, weeksOf } from './summary-figures.ts';

describe.each([1, 2])('the figures of a shop after random weeks %i', (seed) => {
  const service = withHost({ frozen: true, env: { ...PATIENT, CUSTOMER_DELETE_HISTORY: 'true' } });

  test('match its records for net, losses, new payers, recurring revenue and the previous period', async () => {
    const shop = await openShop(service);
    const steps = weeksOf(seed, 70);
    for (const [index, step] of steps.entries()) {
      await live(shop, step);
      if (index % 35 === 34) await expectFigures(shop, 20);
    }
    await live(shop, { do: 'wait', of: 3, cents: 0 });
    expect(await expectFigures(shop, 31)).toBeGreaterThan(5);
    expect(await deleteCustomers(shop)).toBeGreaterThan(0);
    await expectFigures(shop, 31);
    await erasePeople(shop);
    await expectFigures(shop, 31);
  });
});
