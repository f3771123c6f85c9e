/**
 * @module The sums behind the summaries, with one item per scope (user, organization, or a shard of all payments), UTC
 * day and currency. Each item holds counts and amounts by status (payments by their day of creation, with their
 * refunds), by method (succeeded payments by their day of completion, with their refunds) and by provider (succeeded
 * payments by their day of completion, refunds by the day on which they succeeded, lost disputes by the day of the loss).
 * The sums always equal the shares of
 * all payments.
 */

import { ownerOfRecord } from '../access/record-kind.ts';
import { utcDay } from '../core/time.ts';
import { allScope, hasSums, type Key, ownerPartition, sumKey } from '../platform/keys.ts';
import { moneyAccount } from './money-account.ts';
import type { Payment } from './payment.ts';

const GROUPS = ['status', 'provider', 'method'] as const;
export type Group = (typeof GROUPS)[number];
const MEASURES = ['count', 'cents', 'refunds', 'refunded', 'lost'] as const;
type Measure = (typeof MEASURES)[number];

/** An amount has two attributes, with the billions apart, because large sums exceed what a number holds exactly. */
const ATTRIBUTES = [
  ...(['count', 'cents', 'centsE9', 'refunds', 'refunded', 'refundedE9'] as const),
  ...(['lost', 'lostE9'] as const),
] as const;
type Attribute = (typeof ATTRIBUTES)[number];

type AmountMeasure = Exclude<Measure, 'count' | 'refunds'>;
const isAmount = (measure: Measure): measure is AmountMeasure => measure !== 'count' && measure !== 'refunds';

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
};

/** The sum of an amount; rounded to 53 bits if it is larger. */
export const amountSum = (measure: AmountMeasure, sums: AttributeSums): number =>
  Number(BigInt(sums[measure]) + BigInt(sums[`${measure}E9`]) * BigInt(BILLION));

/** The addition of a payment or a refund to one number of one item. */
export interface Share {
  readonly key: Key;
  readonly name: string;
  readonly by: number;
}

/** The attribute of a sum, such as `provider#provider_a#cents`. */
const nameOf = (group: Group, value: string, attribute: Attribute): string => `${group}#${value}#${attribute}`;

/** The parts of an attribute's name; undefined for an attribute that is no sum. */
export const sumNamed = (name: string): { group: Group; value: string; attribute: Attribute } | undefined => {
  const [first, value = '', last] = name.split('#');
  const group = GROUPS.find((known) => known === first);
  const attribute = ATTRIBUTES.find((known) => known === last);
  return group && attribute ? { group, value, attribute } : undefined;
};

/** A guest has no summary. */
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

const share = (
  payment: Payment,
  [group, value]: readonly [Group, string],
  { day, measures, spread }: Amounts,
): Share[] =>
  scopesOf(payment, spread).flatMap((scope) =>
    MEASURES.flatMap((measure) => inParts(measure, measures[measure] ?? 0))
      .filter(([, by]) => by !== 0)
      .map(([name, by]) => ({ key: sumKey(scope, day, payment.currency), name: nameOf(group, value, name), by })),
  );

/**
 * A payment's refunds and losses move with its status and its method; `refundShares` adds refunds to their days.
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
    ...(payment.disputes ?? []).flatMap((dispute) => lossShares(payment, dispute, spread)),
  ];
};

/** A lost dispute on the day of the loss. */
const lossShares = (
  payment: Payment,
  { amountCents, lostAt }: NonNullable<Payment['disputes']>[number],
  spread: string,
): readonly Share[] =>
  lostAt === undefined
    ? []
    : share(payment, ['provider', payment.providerId], {
        day: utcDay(lostAt),
        measures: { lost: amountCents },
        spread,
      });

/** The brand of a card, also of a card in a wallet; `bank_account`; or the wallet. Empty while it is not known. */
const methodKeyOf = ({ details }: Payment): string => {
  if (!details) return '';
  const { type, cardBrand, walletType } = details;
  const name = { card: cardBrand, wallet: walletType, bank_account: undefined }[type] ?? type;
  // `#` separates the parts of a sum's name.
  return name.replaceAll('#', '');
};

/** A change of a refund, as a version of its payment holds it. */
export type CountedRefund = Pick<NonNullable<Payment['refund']>, 'status' | 'was' | 'completedAt'> & {
  /** The refund's change of the payment's sum, in cents. The provider may report another amount later. */
  readonly refundedBy: number;
};

/** The share of a refund on the day of its success. A refund that fails after its success is taken back. */
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

export const takenBack = (shares: readonly Share[]): readonly Share[] =>
  shares.map(({ by, ...rest }) => ({ ...rest, by: -by }));

/** The updates that add the shares, one per item. Shares that cancel each other out need no update. */
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
