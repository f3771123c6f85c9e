/** @module Discount codes and their discounts, in exact integer arithmetic. */
import { CODES, PRODUCTS } from '../world/people.ts';
import type { History, HistoryJson } from './history.ts';

export type Code = (typeof CODES)[number] & {
  readonly percent_bp?: number;
  readonly amounts?: { readonly USD: number };
  readonly max_per_payer?: number;
  readonly duration_periods?: number;
};

export const CODE_LIST: readonly Code[] = CODES;

export interface PriceParts {
  readonly subtotalCents: number;
  readonly taxCents: number;
  readonly discountCents: number;
}

/** `amount` × `part` / `whole`. Half a minor unit is rounded up. */
const shareOf = (amount: number, part: number, whole: number): number =>
  Number((2n * BigInt(amount) * BigInt(part) + BigInt(whole)) / (2n * BigInt(whole)));

const cutOf = ({ percent_bp: bp, amounts }: Code, base: number): number =>
  bp === undefined ? Math.min(amounts?.USD ?? 0, base) : shareOf(base, bp, 10_000);

/** The price with the code. A product's tax falls in proportion to its discounted base. */
export const reducedBy = (code: Code, full: PriceParts, isProduct: boolean): PriceParts => {
  const { subtotalCents, taxCents: fullTax, discountCents: own } = full;
  const base = subtotalCents - own;
  const cut = cutOf(code, base);
  const taxCents = isProduct && base > 0 ? shareOf(fullTax, base - cut, base) : fullTax;
  return { subtotalCents, taxCents, discountCents: own + cut };
};

export const totalOf = ({ subtotalCents, taxCents, discountCents }: PriceParts): number =>
  subtotalCents + taxCents - discountCents;

interface Sold {
  readonly id: string;
  readonly total_cents: number;
  readonly tax_cents?: number;
}

const SOLD: readonly Sold[] = Object.values(PRODUCTS);

/** The price of a product without a code; undefined for an unknown product. */
export const listPriceOf = (productId: string | undefined, quantity: number): PriceParts | undefined => {
  const product = SOLD.find(({ id }) => id === productId);
  if (!product) return undefined;
  const { total_cents: total, tax_cents: tax = 0 } = product;
  return { subtotalCents: (total - tax) * quantity, taxCents: tax * quantity, discountCents: 0 };
};

/** The results by the list of items. The list of events is no key, because it is one array that grows during a run. */
const kept = new WeakMap<History['items'], ReadonlyMap<string, Code>>();

/**
 * The codes of subscriptions at their creation, by the subscription's id, from the creation events. A subscription's
 * record drops a code that has ended.
 */
export const codesAtCreation = ({ bus, items }: Pick<History, 'bus' | 'items'>): ReadonlyMap<string, Code> => {
  const known = kept.get(items) ?? new Map(bus.flatMap(codeOfCreation));
  kept.set(items, known);
  return known;
};

const codeOfCreation = ({ 'detail-type': name, detail }: HistoryJson): readonly (readonly [string, Code])[] => {
  if (name !== 'subscription.created') return [];
  const { discount_code: used, subscription_id: id } = detail.payload.data;
  const code = CODE_LIST.find((one) => one.id === used);
  return code ? [[id, code]] : [];
};
