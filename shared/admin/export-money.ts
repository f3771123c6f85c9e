/**
 * @module CSV of payments and refunds for bookkeeping, by date of creation, completion or payout. The X-Totals header
 * contains a page's totals per settlement currency.
 */

import * as z from 'zod';
import { once } from '../core/once.ts';
import { DAY_MS, instant, iso } from '../core/time.ts';
import { wholeNumberParameter } from '../http/paging.ts';
import type { ApiRequest, Reply } from '../http/request.ts';
import type { StoreDeps } from '../platform/table.ts';
import { exportedRefunds, LISTED_REFUND_COLUMNS } from '../queries/list-refunds.ts';
import { cursorParameter, moment } from '../queries/parameters.ts';
import { EVERY_PAYMENT_COLUMNS } from '../queries/payment-csv.ts';
import { type EveryDeps, notBefore } from './every-list.ts';
import { listPaymentsWhere } from './list-every-payment.ts';

const EXPORT_DATES = ['created', 'completed', 'available'] as const;

const SETTLEMENT = ['fee_cents', 'net_cents', 'settlement_currency', 'available_on', 'exchange_rate'] as const;

export const EXPORT_PAYMENT_COLUMNS = [...EVERY_PAYMENT_COLUMNS, 'available_on', 'exchange_rate'] as const;
export const EXPORT_REFUND_COLUMNS = [...LISTED_REFUND_COLUMNS, ...SETTLEMENT] as const;

const cents = z.int().nullable();

export const exportRowSchema = /* @__PURE__ */ once(() =>
  z
    .looseObject({
      id: z.string().describe('Id of the payment or the refund.'),
      fee_cents: cents.describe("The provider's fee, in minor units of `settlement_currency`; null if unknown."),
      net_cents: cents.describe(
        'The net amount, in minor units of `settlement_currency`, negative for a refund; null if unknown.',
      ),
      settlement_currency: z.string().nullable().describe('The currency that you receive; null if unknown.'),
      available_on: z.string().nullable().describe('When the provider makes the money available; null if unknown.'),
      exchange_rate: z
        .string()
        .nullable()
        .describe('Units of `settlement_currency` for one unit of the currency; null if they are equal or unknown.'),
    })
    .meta({ id: 'ExportedRow', description: 'A payment or refund with its settlement, and the columns of its list.' }),
);

const MAX_ROWS = 100;

export const exportQuery = z
  .object({
    date: z
      .enum(EXPORT_DATES)
      .default('created')
      .describe('The date for `from` and `to`: creation, success, or availability of the money.'),
    from: moment(false).describe('The earliest date: a time, or a day in UTC (its first moment).'),
    to: moment(true).describe('The latest date: a time, or a day in UTC (its last moment).'),
    limit: wholeNumberParameter(1, MAX_ROWS).default(MAX_ROWS).describe('Rows per page.'),
    cursor: cursorParameter,
  })
  .refine(({ from, to }) => from === undefined || to === undefined || from <= to, notBefore('to', 'from'));
type ExportQuery = z.output<typeof exportQuery>;
type ExportRequest = Pick<ApiRequest<unknown, ExportQuery>, 'query' | 'csvPage'>;

/** The longest time that the export assumes from a payment's creation to its completion, and to its payout. */
const LATEST_MS = 120 * DAY_MS;

interface Dated {
  readonly createdAt: string;
  readonly completedAt?: string | undefined;
  readonly settlement?: { readonly availableOn?: string | undefined } | undefined;
}

/**
 * The earliest creation time to read. The list is in creation order, so reading starts before the range, to include
 * every record of the range.
 */
const creationsFrom = ({ date, from }: ExportQuery): string | undefined =>
  from === undefined || date === 'created' ? from : iso(instant(from) - LATEST_MS);

const dateOf = ({ createdAt, completedAt, settlement }: Dated, date: ExportQuery['date']): string | undefined =>
  ({ created: createdAt, completed: completedAt, available: settlement?.availableOn })[date];

const isInRange = (record: Dated, { date, from, to }: ExportQuery): boolean => {
  const at = dateOf(record, date);
  return at !== undefined && (from === undefined || at >= from) && (to === undefined || at <= to);
};

export const exportPayments = async (deps: EveryDeps, { query, csvPage }: ExportRequest): Promise<Reply> => {
  const { to, limit, cursor } = query;
  const listed = { limit, from: creationsFrom(query), to, cursor };
  const reply = await listPaymentsWhere(deps, { query: listed, csvPage }, (payment) => isInRange(payment, query));
  return withTotals(reply);
};

export const exportRefunds = async (deps: StoreDeps, { query, csvPage }: ExportRequest): Promise<Reply> => {
  const { to, limit, cursor } = query;
  const listed = { limit, from: creationsFrom(query), to, cursor };
  return withTotals(await exportedRefunds(deps, { query: listed, csvPage }, (refund) => isInRange(refund, query)));
};

const rowSchema = z.object({
  fee_cents: z.int().nullable(),
  net_cents: z.int().nullable(),
  settlement_currency: z.string().nullable(),
});

/**
 * Adds the X-Totals header, such as `USD fee=120 net=2380; EUR fee=0 net=500`, in minor units. The totals omit rows
 * without a settlement.
 */
const withTotals = (reply: Reply): Reply => {
  const totals = new Map<string, { fee: number; net: number }>();
  for (const { fee_cents: fee, net_cents: net, settlement_currency: currency } of z
    .array(rowSchema)
    .parse(reply.data)) {
    if (currency === null) continue;
    const sum = totals.get(currency) ?? { fee: 0, net: 0 };
    totals.set(currency, { fee: sum.fee + (fee ?? 0), net: sum.net + (net ?? 0) });
  }
  const text = [...totals]
    .toSorted(([one], [other]) => (one < other ? -1 : 1))
    .map(([currency, { fee, net }]) => `${currency} fee=${fee} net=${net}`)
    .join('; ');
  return { ...reply, headers: { ...reply.headers, 'x-totals': text } };
};
