/**
 * @module Releases uses of discount codes, or counts them as paid, once each, from the changes of their payments and
 * subscriptions. A batch may repeat, and changes of different records may come in any order.
 */

import type { DynamoDBRecord } from 'aws-lambda';
import { giveBackUse, type Redemption, redeem } from '../discounts/redemption.ts';
import { redemptionsOf } from '../payments/discount-of-payment.ts';
import { type Payment, paymentOf } from '../payments/payment.ts';
import { changeOf, removedItem } from '../platform/stream-images.ts';
import type { Item, Table } from '../platform/table.ts';
import { type Subscription, subscriptionOf } from '../subscriptions/record/subscription.ts';
import { redemptionOfSubscription } from '../subscriptions/record/subscription-discount.ts';

/** The uses settled by a change, either as paid or as given back. */
interface Decided {
  readonly paid: readonly Redemption[];
  readonly back: readonly Redemption[];
}

interface Images {
  readonly before: Item | undefined;
  readonly after: Item | undefined;
}

/** Settles the redemptions of changed records, in the order of the stream. A later change never releases a paid use. */
export const settleRedemptions = async (
  { table }: { readonly table: Table },
  kind: 'PAY' | 'SUB',
  records: readonly DynamoDBRecord[],
): Promise<void> => {
  for (const record of records) {
    const { paid, back } = DECIDERS[kind](changeOf(record) ?? { before: removedItem(record), after: undefined });
    for (const held of paid) await redeem(table, held);
    for (const held of back) await giveBackUse(table, held);
  }
};

const DECIDERS: Readonly<Record<'PAY' | 'SUB', (images: Images) => Decided>> = {
  PAY: ({ before, after }) => ofPayment(before && paymentOf(before), after && paymentOf(after)),
  SUB: ({ before, after }) => ofSubscription(before && subscriptionOf(before), after && subscriptionOf(after)),
};

const NOTHING: Decided = { paid: [], back: [] };

/** Exported for its unit tests. */
export const ofPayment = (before: Payment | undefined, after: Payment | undefined): Decided => {
  const [held, holds] = [redemptionsOf(before), redemptionsOf(after)];
  if (held.length + holds.length === 0) return NOTHING;
  // A removed payment keeps its uses, unless its creation was unfinished.
  if (!after) return before?.status === 'creating' ? { paid: [], back: held } : NOTHING;
  const left = held.filter(({ redemption }) => !holds.some((one) => one.redemption === redemption));
  if (before?.status === after.status) return { paid: [], back: left };
  if (after.status === 'succeeded') return { paid: holds, back: left };
  return { paid: [], back: after.status === 'canceled' ? [...left, ...holds] : left };
};

export const ofSubscription = (before: Subscription | undefined, after: Subscription | undefined): Decided => {
  const [held, holds] = [redemptionOfSubscription(before), redemptionOfSubscription(after)];
  if (!after) return before?.status === 'creating' ? { paid: [], back: held } : NOTHING;
  // A price from the billing provider may end a code before the first payment. A change that also starts the
  // subscription still counts the use as paid.
  const used = holds.length > 0 ? holds : held;
  const left = holds.length > 0 ? [] : held;
  if (before?.status === after.status) return { paid: [], back: left };
  switch (after.status) {
    case 'active':
    case 'trialing':
      return { paid: used, back: [] };
    case 'declined':
    case 'canceled':
      return { paid: [], back: used };
    default:
      return { paid: [], back: left };
  }
};
