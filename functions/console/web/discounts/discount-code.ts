/** @module A discount code in the console. The API has one schema for reference records of all kinds. */

import { answerOf, api, done } from '../api/client.ts';
import { majorText } from './discount-amounts.ts';

export interface DiscountCode {
  readonly id: string;
  readonly name: string;
  /** `25%`, or amounts such as `5.00 USD`. */
  readonly cut: string;
  readonly duration: string;
  readonly isActive: boolean;
  /** `3 of 10`; null without a limit. */
  readonly used: string | null;
  readonly updatedAt: string;
  /** All fields, because a change sends the whole record back. */
  readonly record: Readonly<Record<string, unknown>>;
}

const BASIS_POINTS_OF_PERCENT = 100;

const textOf = (value: unknown): string => (typeof value === 'string' ? value : '');
const numberOf = (value: unknown): number | undefined => (typeof value === 'number' ? value : undefined);

export const codeOfRecord = (record: Readonly<Record<string, unknown>>): DiscountCode => ({
  id: textOf(record['id']),
  name: textOf(record['name']),
  cut: cutOf(record),
  duration: durationOf(record),
  isActive: record['is_active'] === true,
  used: usedOf(record),
  updatedAt: textOf(record['updated_at']),
  record,
});

const cutOf = ({ percent_bp, amounts }: Readonly<Record<string, unknown>>): string => {
  const points = numberOf(percent_bp);
  if (points !== undefined) return `${points / BASIS_POINTS_OF_PERCENT}%`;
  return Object.entries(amounts ?? {})
    .map(([currency, cents]) => majorText(Number(cents), currency))
    .join(', ');
};

const durationOf = ({ duration, duration_periods: periods }: Readonly<Record<string, unknown>>): string =>
  duration === 'repeating' ? `${Number(periods)} periods` : duration === 'forever' ? 'Forever' : 'Once';

const usedOf = ({ reserved, redeemed, max_redemptions: most }: Readonly<Record<string, unknown>>): string | null => {
  const [open, paid, limit] = [numberOf(reserved), numberOf(redeemed), numberOf(most)];
  return limit === undefined ? null : `${(open ?? 0) + (paid ?? 0)} of ${limit}`;
};

const pathOf = (id: string) => ({ path: { kind: 'discounts', id } });

export const readCode = async (id: string): Promise<DiscountCode> =>
  codeOfRecord((await answerOf(api.GET('/admin/{kind}/{id}', { params: pathOf(id) }))).data.data);

export const putCode = async (id: string, body: Readonly<Record<string, unknown>>): Promise<void> => {
  await answerOf(api.PUT('/admin/{kind}/{id}', { params: pathOf(id), body }));
};

export const removeCode = async (id: string): Promise<void> => {
  await done(api.DELETE('/admin/{kind}/{id}', { params: pathOf(id) }));
};
