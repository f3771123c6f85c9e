/**
 * @module The sums for recurring revenue count active and past-due subscriptions and add their prices per period, by
 * currency and interval. A day's item holds that day's changes; PRESENT_SUMS holds the current sums. Amounts per month
 * are computed as exact fractions when the sums are read.
 */

import type { BillingInterval } from '../../catalog/billing-intervals.ts';
import { type Fraction, NO_FRACTION, roundedHalfUp } from '../../core/fraction.ts';
import { rowOf } from '../../core/rows.ts';
import { utcDay } from '../../core/time.ts';
import type { Projection } from '../../payments/payment-history.ts';
import { additionsOf, type Share, takenBack } from '../../payments/summary-sums.ts';
import { historyKey, type Key, PRESENT_SUMS, subscriptionScope, sumKey } from '../../platform/keys.ts';
import type { Item, Table } from '../../platform/table.ts';
import { isVisibleSubscription, type Subscription } from './subscription.ts';
import { subscriptionEntry } from './subscription-history.ts';

const COUNTED = ['active', 'past_due'] as const;
type CountedStatus = (typeof COUNTED)[number];
const MEASURES = ['count', 'cents', 'centsE9'] as const;
type PlanMeasure = (typeof MEASURES)[number];

const BILLION = 1_000_000_000;

const isCounted = (status: string): status is CountedStatus => COUNTED.some((counted) => counted === status);

/** A subscription's shares, by attribute such as `active#yearly/1#cents`. Whole billions have their own attribute. */
const sharesOf = (subscription: Subscription, keys: readonly Key[]): readonly Share[] => {
  const { status, billingInterval, intervalMultiplier, totalCents } = subscription;
  if (!isCounted(status)) return [];
  const measures: Readonly<Record<PlanMeasure, number>> = {
    count: 1,
    cents: totalCents % BILLION,
    centsE9: Math.trunc(totalCents / BILLION),
  };
  return keys.flatMap((key) =>
    MEASURES.filter((measure) => measures[measure] !== 0).map((measure) => ({
      key,
      name: `${status}#${billingInterval}/${intervalMultiplier}#${measure}`,
      by: measures[measure],
    })),
  );
};

export interface SummedChange {
  readonly before: Subscription | undefined;
  readonly after: Subscription;
}

/** @param wasSummed true if the sums include the version before */
const changeShares = (
  { before, after }: SummedChange,
  { spread, wasSummed }: { readonly spread: string; readonly wasSummed: boolean },
): readonly Share[] => {
  const scope = subscriptionScope(spread);
  const keysOf = ({ currency }: Subscription): readonly Key[] =>
    [PRESENT_SUMS, utcDay(after.updatedAt)].map((day) => sumKey(scope, day, currency));
  const shares = [
    ...(before && wasSummed ? takenBack(sharesOf(before, keysOf(before))) : []),
    ...sharesOf(after, keysOf(after)),
  ];
  return additionsOf(shares).flatMap(({ key, add }) => Object.entries(add).map(([name, by]) => ({ key, name, by })));
};

/**
 * The history entries of visible changes, with their shares. A subscription stored before the sums were introduced
 * counts from its next version on. `isSummed` marks the counted versions.
 */
export const subscriptionProjections = async (
  table: Table,
  changes: readonly SummedChange[],
): Promise<readonly Projection[]> => {
  const spread = changes[0]?.after.id ?? '';
  const entries = changes.flatMap((change) => {
    const history = subscriptionEntry(change.before, change.after);
    return history ? [{ ...change, history: { ...history, isSummed: true } }] : [];
  });
  const summed = await summedBefore(table, entries);
  return entries.map(({ before, after, history }) => ({
    history,
    shares: changeShares(
      { before, after },
      { spread, wasSummed: before !== undefined && summed.has(versionOf(before)) },
    ),
  }));
};

const versionOf = ({ id, version }: Subscription): string => `${id} ${version}`;

/** The previous versions included in the sums, already or after this batch. */
const summedBefore = async (table: Table, changes: readonly SummedChange[]): Promise<ReadonlySet<string>> => {
  const own = new Set(changes.map(({ after }) => versionOf(after)));
  const earlier = changes.flatMap(({ before }) =>
    before && isVisibleSubscription(before) && isCounted(before.status) && !own.has(versionOf(before)) ? [before] : [],
  );
  const items = await table.getMany(
    earlier.map(({ id, version }) => historyKey({ kind: 'SUB', id }, version)),
    { consistent: true },
  );
  const found = earlier.filter((_, index) => items[index]?.['isSummed'] === true);
  return new Set([...own, ...found.map(versionOf)]);
};

/** The number of periods in a number of months, such as 52 weekly periods in 12 months. */
const MONTHS: Readonly<Record<BillingInterval, readonly [periods: bigint, months: bigint]>> = {
  daily: [365n, 12n],
  weekly: [52n, 12n],
  monthly: [1n, 1n],
  quarterly: [1n, 3n],
  yearly: [1n, 12n],
};

/** Adds up the attributes of sums items. The caller subtracts the items of days outside the range. */
export const recurringSums = () => {
  const cents = new Map<string, bigint>();
  const counts: Record<CountedStatus, number> = { active: 0, past_due: 0 };
  const addOne = (name: string, by: number): void => {
    const [status = '', plan = '', measure] = name.split('#');
    if (!isCounted(status)) return;
    if (measure !== 'count') cents.set(plan, (cents.get(plan) ?? 0n) + BigInt(by) * unitOf(measure));
    else counts[status] += by;
  };
  /** Ignores attributes other than sums. @param sign −1 subtracts */
  const add = (item: Item, sign: 1 | -1): void => {
    for (const [name, by] of Object.entries(item)) if (typeof by === 'number') addOne(name, sign * by);
  };
  /** Monthly revenue in minor units, rounded half up once, and the number of active and past-due subscriptions. */
  const figures = () => {
    const months = [...cents].map(([plan, sum]) => perMonth(plan, sum));
    return {
      mrr_cents: roundedHalfUp(months.reduce(plus, NO_FRACTION)),
      active_subscriptions: counts.active,
      past_due_subscriptions: counts.past_due,
    };
  };
  return { add, figures };
};

const unitOf = (measure: string | undefined): bigint => (measure === 'centsE9' ? BigInt(BILLION) : 1n);

const perMonth = (plan: string, cents: bigint): Fraction => {
  const [interval = '', multiplier = '1'] = plan.split('/');
  const [periods, months] = rowOf(MONTHS, interval) ?? MONTHS.monthly;
  return { top: cents * periods, bottom: months * BigInt(multiplier) };
};

const plus = (left: Fraction, right: Fraction): Fraction => ({
  top: left.top * right.bottom + right.top * left.bottom,
  bottom: left.bottom * right.bottom,
});
