import { describe, expect, test } from 'vitest';
import { discountCountOf } from '../../shared/catalog/discount.ts';
import { giveBackUse, type Redemption, redeem } from '../../shared/discounts/redemption.ts';
import { discountCountKey, discountUseKey } from '../../shared/platform/keys.ts';
import { memoryTable } from '../builders/memory-table.ts';
import { NOON } from '../builders/payment.ts';

/** The reports of the stream about one use. They can come in any order and number. */
const REPORTS = { paid: redeem, back: giveBackUse } as const;
type Report = keyof typeof REPORTS;

/** Every sequence of at most four reports. */
const SEQUENCES = Array.from({ length: 4 }, (_, more) => more + 1).flatMap((length) =>
  Array.from({ length: 2 ** length }, (_, bits) =>
    Array.from({ length }, (_, at): Report => ((bits >> at) % 2 === 0 ? 'paid' : 'back')),
  ),
);

const CODE = 'SPRING';
const PAYER = 'USER#u';

/** The counts of a reserved use after these reports. */
const countsAfter = async (reports: readonly Report[], use: Redemption) => {
  const { table } = memoryTable({ now: () => NOON });
  if (use.isCounted) await table.put({ ...discountCountKey(CODE), taken: 1 });
  if (use.payer) await table.put({ ...discountUseKey(CODE, PAYER), count: 1 });
  for (const report of reports) await REPORTS[report](table, use);
  const [counter, used] = await table.getMany([discountCountKey(CODE), discountUseKey(CODE, PAYER)]);
  return { ...discountCountOf(counter), used: Number(used?.['count'] ?? 0) };
};

/** A paid use stays paid. A returned use counts again after its payment. */
const expected = (reports: readonly Report[], { isCounted, payer }: Redemption) => {
  const isPaid = reports.includes('paid');
  return { taken: isCounted && isPaid ? 1 : 0, redeemed: isCounted && isPaid ? 1 : 0, used: payer && isPaid ? 1 : 0 };
};

describe.each([
  ['a code with a limit', { isCounted: true, payer: PAYER }],
  ['a code without a limit', { payer: PAYER }],
  ['a code whose payer was erased', { isCounted: true }],
] as const)('a use of %s', (_, fields) => {
  test.each(SEQUENCES.map((reports) => [reports.join(', '), reports] as const))(
    'has the expected counts after the reports %s',
    async (...[, reports]) => {
      const use: Redemption = { code: CODE, redemption: 'rdm_1', ...fields };
      expect(await countsAfter(reports, use)).toEqual(expected(reports, use));
    },
  );
});
