import type { Bug } from './bug.ts';

/** Mistakes with discount codes. */
export const DISCOUNT_BUGS: readonly Bug[] = [
  {
    name: 'use-never-given-back',
    what: 'A canceled payment keeps the place of its code',
    file: 'shared/workers/settle-redemptions.ts',
    text: '    for (const held of back) await giveBackUse(table, held);\n',
    replacement: '',
  },
  {
    name: 'use-counted-twice',
    what: 'A stream that comes again counts a use twice',
    file: 'shared/discounts/redemption.ts',
    text: '{ put: paid, if: [{ absent: true }] }, ...countOf(held, { redeemed: 1 })',
    replacement: '{ put: paid }, ...countOf(held, { redeemed: 1 })',
  },
  {
    name: 'code-never-ends',
    what: 'A code reduces every period, not only those that it lasts',
    file: 'shared/subscriptions/record/subscription-discount.ts',
    text: 'Math.max(0, discount.periodsLeft - 1)',
    replacement: 'discount.periodsLeft',
  },
  {
    name: 'cut-rounded-down',
    what: 'A percentage is rounded down',
    file: 'shared/discounts/discount-price.ts',
    text: 'return roundedHalfUp(fractionOf(baseCents, percentBp, WHOLE_BASIS_POINTS));',
    replacement: 'return Math.floor((baseCents * percentBp) / WHOLE_BASIS_POINTS);',
  },
];
