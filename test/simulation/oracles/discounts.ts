/** @module Invariants about the counters, limits and discounts of codes. */
import {
  CODE_LIST,
  type Code,
  codesAtCreation,
  listPriceOf,
  type PriceParts,
  reducedBy,
  totalOf,
} from '../model/codes.ts';
import type { History, HistoryItem, HistoryJson, Oracle } from '../model/history.ts';
import { wasHeld } from '../model/holds.ts';
import { changedThere } from '../model/outside.ts';
import { recordsOf } from '../model/records.ts';

/** A use of a code. `none` is a returned use. */
interface Use {
  readonly state: 'reserved' | 'redeemed' | 'none';
  /**
   * True if the payment succeeded after its use was returned. The counters include such a use, but it may exceed the
   * limits.
   */
  readonly isLate: boolean;
  readonly payer: string | undefined;
}

const RUNS = new Set(['active', 'trialing']);

const payerOf = ({ organizationId, userId }: HistoryItem): string | undefined => {
  if (organizationId !== undefined) return `ORG#${organizationId}`;
  return userId === undefined ? undefined : `USER#${userId}`;
};

const STATE_OF_PAYMENT: Readonly<Record<string, Use['state']>> = { succeeded: 'redeemed', canceled: 'none' };

/** The uses of the code by payments. An open update reserves a use. */
const usesByPayments = (history: History, code: string): readonly Use[] => {
  const { payments, versionsOf } = recordsOf(history);
  return payments.flatMap((payment) => {
    const { id, status, discount, draft } = payment;
    const state = STATE_OF_PAYMENT[status] ?? 'reserved';
    const isLate = state === 'redeemed' && versionsOf(id).some((version) => version['status'] === 'canceled');
    const holds = (one: HistoryJson): boolean => one?.code === code && one.redemption !== undefined;
    const drafted = holds(draft?.discount) && draft.discount.redemption !== discount?.redemption;
    const payer = payerOf(payment);
    return [
      ...(holds(discount) ? [{ state, isLate, payer }] : []),
      ...(drafted ? [{ state: 'reserved', isLate: false, payer } as const] : []),
    ];
  });
};

const usesBySubscriptions = (history: History, code: string): readonly Use[] => {
  const { subscriptions, versionsOf } = recordsOf(history);
  const began = codesAtCreation(history);
  return subscriptions
    .filter(({ id }) => began.get(id)?.id === code)
    .map((subscription) => {
      const statuses: readonly string[] = versionsOf(subscription['id']).map(({ status }) => status);
      const firstRun = statuses.findIndex((status) => RUNS.has(status));
      const wasCanceled = statuses.slice(0, firstRun < 0 ? statuses.length : firstRun).includes('canceled');
      const isKept = subscription['discount']?.code === code;
      const state = firstRun >= 0 ? 'redeemed' : wasCanceled || !isKept ? 'none' : 'reserved';
      return { state, isLate: firstRun >= 0 && wasCanceled, payer: payerOf(subscription) };
    });
};

const usesOf = (history: History, code: string): readonly Use[] =>
  [...usesByPayments(history, code), ...usesBySubscriptions(history, code)].filter(({ state }) => state !== 'none');

const itemAt = ({ items }: History, pk: string): HistoryItem | undefined =>
  items.find((item) => item['pk'] === pk && String(item['sk']).startsWith('DISCOUNT'));

export const usesCounted: Oracle = {
  sentence: 'At rest the counters of a discount code are the uses of its payments and subscriptions',
  atRestOnly: true,
  violations: (history) =>
    CODE_LIST.flatMap(({ id }) => {
      const uses = usesOf(history, id);
      const wanted = `${uses.length} taken, ${uses.filter(({ state }) => state === 'redeemed').length} redeemed`;
      const { taken = 0, redeemed = 0 } = itemAt(history, `DISCOUNTCOUNT#${id}`) ?? {};
      const said = `${taken} taken, ${redeemed} redeemed`;
      return [...(said === wanted ? [] : [`${id}: ${said}, the records say ${wanted}`]), ...byPayer(history, id, uses)];
    }),
};

/**
 * Compares the counter of each payer. After an erasure it compares nothing, because a use may stay counted for a payer
 * without records.
 */
const byPayer = (history: History, code: string, uses: readonly Use[]): readonly string[] => {
  if (recordsOf(history).erasures.length > 0) return [];
  return [...Map.groupBy(uses, ({ payer }) => payer)].flatMap(([payer, own]) => {
    const { count = 0 } = itemAt(history, `DISCOUNTUSE#${code}#${payer}`) ?? {};
    return payer === undefined || count === own.length
      ? []
      : [`${code}: ${count} uses of ${payer}, the records say ${own.length}`];
  });
};

export const usesLimited: Oracle = {
  sentence: 'No discount code is used more often than it allows, unless late money takes a use that was given back',
  atRestOnly: true,
  violations: (history) =>
    CODE_LIST.flatMap(({ id, max_redemptions: most, max_per_payer: mostOfPayer = Number.POSITIVE_INFINITY }) => {
      const uses = usesOf(history, id).filter(({ isLate }) => !isLate);
      const payers = Map.groupBy(uses, ({ payer }) => payer);
      return [
        ...(uses.length > most ? [`${id} is used ${uses.length} times`] : []),
        ...[...payers].flatMap(([payer, own]) =>
          payer !== undefined && own.length > mostOfPayer ? [`${id} is used ${own.length} times by ${payer}`] : [],
        ),
      ];
    }),
};

/** The prices without and with the code. */
interface Priced {
  readonly what: string;
  readonly code: string;
  readonly isProduct: boolean;
  readonly full: PriceParts;
  readonly reduced: PriceParts & { readonly totalCents: number };
}

const ofPayments = (history: History): readonly Priced[] => {
  const isOdd = changedThere(history);
  return (
    recordsOf(history)
      .payments.filter(({ discount }) => discount !== undefined)
      .filter((payment) => !isOdd.has(payment['subscriptionId']) && payment['anomaly'] === undefined)
      // Excludes plan changes, which charge a difference, and holds, which may be captured in part.
      .filter((payment) => payment['billingReason'] !== 'subscription_change' && !wasHeld(payment))
      .map((payment) => {
        const { id, taxCents = 0, discountCents = 0, totalCents, discount, productId } = payment;
        // The table omits the subtotal, which follows from the other parts.
        const { subtotalCents = totalCents - taxCents + discountCents } = payment;
        const { code, cents, fullTaxCents = taxCents } = discount;
        const own = discountCents - cents;
        const full = { subtotalCents, taxCents: fullTaxCents, discountCents: own };
        const reduced = { subtotalCents, taxCents, discountCents, totalCents };
        // The payment of a period does not state the tax without the code, so the product's price is compared at the
        // subscription.
        const isProduct = productId !== undefined && discount.fullTaxCents !== undefined;
        return { what: id, code, isProduct, full, reduced };
      })
  );
};

const ofSubscriptions = (history: History): readonly Priced[] => {
  const isOdd = changedThere(history);
  return recordsOf(history)
    .subscriptions.filter(({ id, discount }) => discount !== undefined && !isOdd.has(id))
    .map(({ id, discount, productId, subtotalCents, taxCents, discountCents, totalCents }) => ({
      ...{ what: id, code: discount.code, isProduct: productId !== undefined, full: discount.full },
      reduced: { subtotalCents, taxCents, discountCents, totalCents },
    }));
};

const partsOf = (price: PriceParts, total = totalOf(price)): string =>
  `${price.subtotalCents} + ${price.taxCents} - ${price.discountCents} = ${total}`;

export const codesCutExactly: Oracle = {
  sentence: 'A discount code cuts exactly its part of a price',
  atRestOnly: false,
  violations: (history) => [
    ...[...ofPayments(history), ...ofSubscriptions(history)].flatMap(
      ({ what, code: name, isProduct, full, reduced }) => {
        const code = CODE_LIST.find(({ id }) => id === name);
        const expected = code && partsOf(reducedBy(code, full, isProduct));
        const said = partsOf(reduced, reduced.totalCents);
        return said === expected ? [] : [`${what} with ${name} is ${said}, not ${expected}`];
      },
    ),
    ...recordsOf(history)
      .subscriptions.filter(
        ({ discount, productId, quantity }) => discount && !isListPrice({ discount, productId, quantity }),
      )
      .map(({ id }) => `${id} has another price before its code than its product`),
  ],
};

const isListPrice = ({ discount, productId, quantity }: HistoryItem): boolean => {
  const listed = listPriceOf(productId, quantity ?? 1);
  return listed === undefined || partsOf(listed) === partsOf(discount.full);
};

const PERIODS: Readonly<Record<Code['duration'], (code: Code) => number>> = {
  once: () => 1,
  repeating: ({ duration_periods: periods = 0 }) => periods,
  forever: () => Number.POSITIVE_INFINITY,
};

export const codesEnd: Oracle = {
  sentence: 'A discount code reduces no more periods than it lasts',
  atRestOnly: false,
  violations: (history) => {
    const reduced = recordsOf(history).payments.filter(
      ({ status, subscriptionId, billingReason, discount }) =>
        status === 'succeeded' && subscriptionId && billingReason !== 'subscription_change' && discount !== undefined,
    );
    return CODE_LIST.flatMap((code) =>
      [
        ...Map.groupBy(
          reduced.filter(({ discount }) => discount.code === code.id),
          ({ subscriptionId }) => subscriptionId,
        ),
      ].flatMap(([id, all]) =>
        all.length > PERIODS[code.duration](code) ? [`${id} has ${all.length} payments with ${code.id}`] : [],
      ),
    );
  },
};
