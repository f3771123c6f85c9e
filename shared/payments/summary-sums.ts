/**
 * @module The sums behind the summaries. There is one item per scope (a user, an organization, or a shard of all
 * payments), UTC day and currency. Each item holds counts and amounts:
 * - by status: payments by their day of creation, with their refunds
 * - by method: succeeded payments by their day of completion, with their refunds
 * - by provider: succeeded payments by their day of completion, refunds by the day on which they succeeded, and lost
 *   disputes by the day of the loss
 *
 * The sums of all payments also hold the first payments of payers, and fees and net by settlement currency. The sums
 * always equal the shares of all payments.
 */

import { ownerOfRecord } from '../access/record-kind.ts';
import { fractionOf, roundedHalfUp } from '../core/fraction.ts';
import type { Settlement } from '../core/payment-facts.ts';
import { utcDay } from '../core/time.ts';
import { allScope, hasSums, type Key, ownerPartition, sumKey } from '../platform/keys.ts';
import { moneyAccount } from './money-account.ts';
import type { Payment } from './payment.ts';
import type { Refund } from './refunds/refund.ts';

/** The groups of the sums. In the group `settled`, the value is a settlement currency. */
const GROUPS = ['status', 'provider', 'method', 'settled'] as const;
export type Group = (typeof GROUPS)[number];
const MEASURES = ['count', 'cents', 'refunds', 'refunded', 'lost', 'payers', 'fee', 'net'] as const;
type Measure = (typeof MEASURES)[number];

/** An amount has two attributes, one for the billions, because large sums exceed the exact range of a number. */
const ATTRIBUTES = [
  ...(['count', 'cents', 'centsE9', 'refunds', 'refunded', 'refundedE9'] as const),
  ...(['lost', 'lostE9', 'payers', 'fee', 'feeE9', 'net', 'netE9'] as const),
] as const;
type Attribute = (typeof ATTRIBUTES)[number];

const COUNTS = ['count', 'refunds', 'payers'] as const;
type AmountMeasure = Exclude<Measure, (typeof COUNTS)[number]>;
const isAmount = (measure: Measure): measure is AmountMeasure => !COUNTS.some((count) => count === measure);

const BILLION = 1_000_000_000;

const inParts = (measure: Measure, by: number): readonly (readonly [Attribute, number])[] =>
  isAmount(measure)
    ? [
        [measure, by % BILLION],
        [`${measure}E9`, Math.trunc(by / BILLION)],
      ]
    : [[measure, by]];

export type AttributeSums = Record<Attribute, number>;
export const NO_SUMS: Readonly<AttributeSums> = {
  count: 0,
  cents: 0,
  centsE9: 0,
  refunds: 0,
  refunded: 0,
  refundedE9: 0,
  lost: 0,
  lostE9: 0,
  payers: 0,
  fee: 0,
  feeE9: 0,
  net: 0,
  netE9: 0,
};

/** The sum of an amount from its two attributes; rounded above 53 bits. */
export const amountSum = (measure: AmountMeasure, sums: AttributeSums): number =>
  Number(BigInt(sums[measure]) + BigInt(sums[`${measure}E9`]) * BigInt(BILLION));

/** The number that a payment or a refund adds to one attribute of one item. */
export interface Share {
  readonly key: Key;
  readonly name: string;
  readonly by: number;
}

/** The attribute of a sum, such as `provider#provider_a#cents`. */
const nameOf = (group: Group, value: string, attribute: Attribute): string => `${group}#${value}#${attribute}`;

/** The parts of an attribute's name; undefined if the attribute is not a sum. */
export const sumNamed = (name: string): { group: Group; value: string; attribute: Attribute } | undefined => {
  const [first, value = '', last] = name.split('#');
  const group = GROUPS.find((known) => known === first);
  const attribute = ATTRIBUTES.find((known) => known === last);
  return group && attribute ? { group, value, attribute } : undefined;
};

/** The scopes whose sums include the payment. Guests have no summary. */
const scopesOf = (payment: Payment, spread: string): readonly string[] => {
  const owner = ownerOfRecord(payment);
  return [allScope(spread), ...(owner ? [ownerPartition(owner, 'PAY')].filter(hasSums) : [])];
};

interface Amounts {
  readonly day: string;
  readonly measures: Partial<Readonly<Record<Measure, number | undefined>>>;
  /** Chooses the shard of the sums of all payments. */
  readonly spread: string;
}

const share = (payment: Payment, group: readonly [Group, string], amounts: Amounts): Share[] =>
  scopesOf(payment, amounts.spread).flatMap((scope) => shareIn(scope, payment.currency, group, amounts));

const shareIn = (
  scope: string,
  currency: string,
  [group, value]: readonly [Group, string],
  { day, measures }: Amounts,
): readonly Share[] =>
  MEASURES.flatMap((measure) => inParts(measure, measures[measure] ?? 0))
    .filter(([, by]) => by !== 0)
    .map(([name, by]) => ({ key: sumKey(scope, day, currency), name: nameOf(group, value, name), by }));

/** Fee and net are only in the sums of all payments, because only the merchant sees the provider's fees. */
const settledShare = (
  currency: string,
  { feeCents: fee, netCents: net, currency: settled }: Pick<Settlement, 'feeCents' | 'netCents' | 'currency'>,
  { day, spread }: Pick<Amounts, 'day' | 'spread'>,
): readonly Share[] =>
  shareIn(allScope(spread), currency, ['settled', settled], { day, measures: { fee, net }, spread });

/**
 * The shares of a payment, with its refunds and losses by status and method. `refundShares` adds the refunds by
 * provider, on their own days.
 * @param spread chooses the shard
 */
export const sharesOf = (payment: Payment, spread: string): readonly Share[] => {
  const measures = { count: 1, cents: payment.totalCents };
  const { refunded, lost } = moneyAccount(payment);
  const moneyBack = { refunds: payment.refundedCount, refunded, lost };
  const made = share(payment, ['status', payment.status], {
    day: utcDay(payment.createdAt),
    measures: { ...measures, ...moneyBack },
    spread,
  });
  if (payment.status !== 'succeeded') return made;
  const day = utcDay(payment.completedAt ?? payment.createdAt);
  return [
    ...made,
    ...share(payment, ['provider', payment.providerId], { day, measures, spread }),
    ...share(payment, ['method', methodKeyOf(payment)], { day, measures: { ...measures, ...moneyBack }, spread }),
    ...settledShare(payment.currency, settlementOf(payment), { day, spread }),
    ...(payment.disputes ?? []).flatMap((dispute) => lossShares(payment, dispute, spread)),
  ];
};

/** Without a known settlement, a payment counts its total without a fee. */
const settlementOf = ({ settlement, totalCents, currency }: Payment): Settlement =>
  settlement ?? { feeCents: 0, netCents: totalCents, currency };

/** The share of a lost dispute, on the day of the loss. */
const lossShares = (
  payment: Payment,
  { amountCents, lostAt }: NonNullable<Payment['disputes']>[number],
  spread: string,
): readonly Share[] => {
  if (lostAt === undefined) return [];
  const day = utcDay(lostAt);
  return [
    ...share(payment, ['provider', payment.providerId], { day, measures: { lost: amountCents }, spread }),
    ...settledShare(payment.currency, lossAsSettled(payment, amountCents), { day, spread }),
  ];
};

/** The loss in the settlement currency, at the rate of the payment, rounded half up. */
const lossAsSettled = (payment: Payment, lostCents: number) => {
  const { feeCents, netCents, currency } = settlementOf(payment);
  const isConverted = currency !== payment.currency && payment.totalCents > 0;
  const gross = feeCents + netCents;
  const loss = isConverted ? roundedHalfUp(fractionOf(lostCents, gross, payment.totalCents)) : lostCents;
  return { feeCents: 0, netCents: -loss, currency };
};

/** The share of a payer's first successful payment, on the day of its success. */
export const payerShares = (payment: Payment, spread: string): readonly Share[] => {
  const day = utcDay(payment.completedAt ?? payment.createdAt);
  return shareIn(allScope(spread), payment.currency, ['provider', payment.providerId], {
    day,
    measures: { payers: 1 },
    spread,
  });
};

/**
 * The key of the method: the card's brand or `card`, the type of the wallet or `wallet`, or `bank_account`. The key is
 * empty while the details are unknown.
 */
const methodKeyOf = ({ details }: Payment): string => {
  if (!details) return '';
  const { type, cardBrand, walletType } = details;
  const name = { card: cardBrand, wallet: walletType, bank_account: undefined }[type] ?? type;
  // `#` separates the parts of a sum's name.
  return name.replaceAll('#', '');
};

/** A refund's change, as stored in a version of its payment. */
export type CountedRefund = Pick<NonNullable<Payment['refund']>, 'status' | 'was' | 'completedAt'> & {
  /** The change of the payment's refunded sum, in cents. The provider may report another amount later. */
  readonly refundedBy: number;
};

/** The share of a refund, on the day of its success. If the refund fails later, the share is taken back. */
export const refundShares = (
  payment: Payment,
  { status, was, completedAt, refundedBy }: CountedRefund,
  spread: string,
): Share[] => {
  const by = Number(status === 'succeeded') - Number(was === 'succeeded');
  const measures = { refunds: by, refunded: refundedBy };
  const day = utcDay(completedAt ?? payment.updatedAt);
  return share(payment, ['provider', payment.providerId], { day, measures, spread });
};

type RefundedMoney = Pick<Refund, 'amountCents' | 'currency' | 'settlement'> & { readonly completedAt: string };

/**
 * A succeeded refund's share of the net, on the day of its success. Without a settlement, the refund's amount is
 * subtracted.
 */
export const refundNetShares = (refund: RefundedMoney, spread: string): readonly Share[] => {
  const { amountCents, currency, completedAt, settlement } = refund;
  const settled = settlement ?? { feeCents: 0, netCents: -amountCents, currency };
  return settledShare(currency, settled, { day: utcDay(completedAt), spread });
};

export const takenBack = (shares: readonly Share[]): readonly Share[] =>
  shares.map(({ by, ...rest }) => ({ ...rest, by: -by }));

/** The updates that add the shares, one per item. Shares that cancel out need no update. */
export const additionsOf = (shares: readonly Share[]): readonly { key: Key; add: Record<string, number> }[] => {
  const items = new Map<string, { key: Key; add: Map<string, number> }>();
  for (const { key, name, by } of shares) {
    const id = `${key.pk}\n${key.sk}`;
    const item = items.get(id) ?? { key, add: new Map<string, number>() };
    item.add.set(name, (item.add.get(name) ?? 0) + by);
    items.set(id, item);
  }
  return [...items.values()].flatMap(({ key, add }) => {
    const changed = [...add].filter(([, by]) => by !== 0);
    return changed.length > 0 ? [{ key, add: Object.fromEntries(changed) }] : [];
  });
};
