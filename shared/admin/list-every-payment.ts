/** @module Lists all payments for platform admins, with filters, search, and the source that each request reads. */

import * as z from 'zod';
import type { Identity } from '../access/identity.ts';
import { isIdOf } from '../core/ids.ts';
import { PROVIDER_SLOTS } from '../core/settings.ts';
import { iso } from '../core/time.ts';
import type { CsvPage } from '../http/csv.ts';
import { booleanParameter, boundedText, emailSchema, idParameter } from '../http/fields.ts';
import { runList, wholeNumberParameter } from '../http/paging.ts';
import type { ApiRequest, Reply } from '../http/request.ts';
import { paymentRecord, type VisiblePayment } from '../payments/payment.ts';
import { paymentView, REFUND_EXTENTS, refundStatusOf } from '../payments/payment-view.ts';
import { findAliasAnywhere } from '../platform/alias.ts';
import { decodeCursor, encodeCursor } from '../platform/cursor.ts';
import type { Clause } from '../platform/expression.ts';
import {
  guestEntriesPartition,
  organizationEntriesPartition,
  paymentKey,
  userEntriesPartition,
} from '../platform/keys.ts';
import type { IndexRow } from '../platform/listing.ts';
import type { StoreDeps } from '../platform/table.ts';
import { cursorParameter, moment, paymentStatusList } from '../queries/parameters.ts';
import { referenceHash } from '../queries/payment-entry.ts';
import { cursorAt, type EntriesFound, type EntrySource, everyEntry, ownersEntries, together } from './entry-sources.ts';

const MAX_PER_PAGE = 100;
const PER_PAGE = 25;

const notBefore = (path: string, than: string) => ({
  path: [path],
  message: `must not be before ${than}`,
  params: { rule: 'range' },
});

/** An amount in minor units. */
const amountParameter = wholeNumberParameter(0, Number.MAX_SAFE_INTEGER);

export const everyPaymentQuery = z
  .object({
    search: boundedText(255)
      .trim()
      .min(1)
      .optional()
      .meta({
        description: `A whole value, in any case: our id, the provider's id, an e-mail address, a reference code, or the last four digits of a
          card.`,
        examples: ['4242'],
      }),
    status: paymentStatusList.meta({
      description: 'Only payments in one of these statuses, separated by commas.',
      examples: ['succeeded,failed'],
    }),
    provider_id: z.enum(PROVIDER_SLOTS).optional().describe('Only payments at this provider slot.'),
    currency: boundedText(10)
      .regex(/^[A-Za-z]{3}$/, 'must be an ISO 4217 code')
      .transform((code) => code.toUpperCase())
      .optional()
      .describe('Only payments in this currency, an ISO 4217 code in any case.'),
    min_cents: amountParameter
      .optional()
      .describe('Only payments with a total of at least this amount, in minor units.'),
    max_cents: amountParameter
      .optional()
      .describe('Only payments with a total of at most this amount, in minor units.'),
    from: moment(false).describe('The earliest time of creation: a time, or a day in UTC (its first moment).'),
    to: moment(true).describe('The latest time of creation: a time, or a day in UTC (its last moment).'),
    user_id: idParameter.describe('Only payments of this user.'),
    organization_id: idParameter.describe('Only payments of this organization.'),
    refund_status: z.enum(REFUND_EXTENTS).optional().describe('Only payments with this refund status.'),
    disputed: booleanParameter.describe('True: only payments with an open dispute; false: only those without.'),
    limit: wholeNumberParameter(1, MAX_PER_PAGE)
      .default(PER_PAGE)
      .describe('How many payments a page holds at most, 1 to 100; 25 if absent. It does not apply to CSV.'),
    cursor: cursorParameter,
  })
  .refine(({ from, to }) => from === undefined || to === undefined || from <= to, notBefore('to', 'from'))
  .refine(({ min_cents: min, max_cents: max }) => min === undefined || max === undefined || min <= max, {
    ...notBefore('max_cents', 'min_cents'),
    message: 'must not be below min_cents',
  });

type EveryPaymentQuery = z.output<typeof everyPaymentQuery>;

interface EveryPaymentDeps extends StoreDeps {
  readonly identity: Pick<Identity, 'userByEmail'>;
}

/** Newest first. A page may be short or empty while `has_more` is true, because a request reads a bounded number. */
export const listEveryPayment = async (
  deps: EveryPaymentDeps,
  { query, csvPage }: ApiRequest<unknown, EveryPaymentQuery>,
): Promise<Reply> =>
  runList(deps.table, {
    findPage: () => find(deps, query, pageOf(query, csvPage)),
    keyOf: ({ sort }) => paymentKey(sort.slice(sort.indexOf('#') + 1)),
    // The entry lags behind the record by moments, so the record decides whether the payment matches.
    recordOf: (item) => {
      const payment = paymentRecord.parse(item);
      return payment && matches(payment, query) ? payment : undefined;
    },
    viewsOf: (payments) => payments.map(paymentView),
    replyOf: (views, { knownFrom }) => {
      const cursor = knownFrom === undefined ? null : encodeCursor(cursorAt(knownFrom), EVERY_PAYMENT);
      return {
        data: views,
        meta: { limit: query.limit, has_more: cursor !== null, next_cursor: cursor },
        ...(cursor !== null && { next: { limit: String(query.limit), cursor } }),
        ...(cursor !== null && { more: { cursor } }),
      };
    },
  });

interface Page {
  readonly limit: number;
  /** The position in the list that the page starts below. */
  readonly before: string | undefined;
}

/** Every filter uses the same list name, because a cursor is a position among all payments. */
const EVERY_PAYMENT = 'every payment';

const pageOf = (query: EveryPaymentQuery, csvPage: CsvPage | undefined): Page => {
  const { limit, cursor } = csvPage ?? query;
  const range = { list: EVERY_PAYMENT, from: query.from, to: query.to };
  return { limit, before: cursor === undefined ? undefined : decodeCursor(cursor, range).sort };
};

const find = async (deps: EveryPaymentDeps, query: EveryPaymentQuery, page: Page): Promise<EntriesFound> => {
  const { limit, before } = page;
  const id = query.search === undefined ? undefined : await paymentIdOf(deps, query.search);
  if (id !== undefined) return { rows: before === undefined ? [rowOf(id)] : [], knownFrom: undefined };
  const { from, to = iso(deps.now()) } = query;
  if (from !== undefined && before !== undefined && before <= from) return { rows: [], knownFrom: undefined };
  const source = await sourceOf(deps, query);
  const isInRange = before !== undefined && before < `${to}#~`;
  return source({ from, to, filter: filterOf(query), limit, before: isInRange ? before : undefined });
};

const rowOf = (id: string): IndexRow => ({ ...paymentKey(id), sort: `#${id}`, fields: {} });

/** Finds a payment by our id or by a provider's id. */
const paymentIdOf = async ({ table }: EveryPaymentDeps, search: string): Promise<string | undefined> => {
  if (isIdOf('payment', search)) return search;
  if (isEmail(search) || LAST_FOUR.test(search)) return undefined;
  const alias = await findAliasAnywhere(table, PROVIDER_SLOTS, search);
  return alias?.kind === 'PAY' ? alias.id : undefined;
};

const LAST_FOUR = /^\d{4}$/;
const isEmail = (search: string): boolean => emailSchema.safeParse(search).success;

/** The shortest list that holds every match. */
const sourceOf = async (deps: EveryPaymentDeps, query: EveryPaymentQuery): Promise<EntrySource> => {
  const { search, user_id: userId, organization_id: organizationId } = query;
  if (search !== undefined && isEmail(search)) return entriesOfEmail(deps, emailSchema.parse(search));
  if (userId !== undefined) return ownersEntries(deps.table, 'owner', userEntriesPartition(userId));
  if (organizationId !== undefined) {
    return ownersEntries(deps.table, 'project', organizationEntriesPartition(organizationId));
  }
  return everyEntry(deps.table);
};

/** The payments of guests with this e-mail address, and of the user whom the identity service knows by it. */
const entriesOfEmail = async ({ table, identity }: EveryPaymentDeps, email: string): Promise<EntrySource> => {
  const user = await identity.userByEmail(email);
  const partitions = [guestEntriesPartition(email), ...(user ? [userEntriesPartition(user.id)] : [])];
  return together(partitions.map((partition) => ownersEntries(table, 'owner', partition)));
};

const filterOf = (query: EveryPaymentQuery): readonly Clause[] => {
  const equal: readonly (readonly [string, string | boolean | undefined])[] = [
    ['f.p', query.provider_id],
    ['f.c', query.currency],
    ['f.u', query.user_id],
    ['f.o', query.organization_id],
    ['f.r', query.refund_status],
    ['f.d', query.disputed],
  ];
  return [
    ...(query.status ? [{ oneOf: ['f.s', query.status] } as const] : []),
    ...equal.flatMap(([name, value]) => (value === undefined ? [] : [{ equals: [name, value] } as const])),
    ...(query.min_cents === undefined ? [] : [{ atLeast: ['f.a', query.min_cents] } as const]),
    ...(query.max_cents === undefined ? [] : [{ atMost: ['f.a', query.max_cents] } as const]),
    ...(query.search === undefined || isEmail(query.search) ? [] : [textClause(query.search)]),
  ];
};

const textClause = (search: string): Clause => {
  const reference: Clause = { equals: ['f.k', referenceHash(search)] };
  return LAST_FOUR.test(search) ? { any: [{ equals: ['f.l', search] }, reference] } : reference;
};

const matches = (payment: VisiblePayment, query: EveryPaymentQuery): boolean =>
  (query.status?.includes(payment.status) ?? true) &&
  isOrAny(query.provider_id, payment.providerId) &&
  isOrAny(query.currency, payment.currency) &&
  isOrAny(query.user_id, payment.userId) &&
  isOrAny(query.organization_id, payment.organizationId) &&
  isOrAny(query.refund_status, refundStatusOf(payment)) &&
  isOrAny(query.disputed, (payment.openDisputes?.length ?? 0) > 0) &&
  isWithin(payment.totalCents, query.min_cents, query.max_cents) &&
  isWithin(payment.createdAt, query.from, query.to);

const isOrAny = <T>(asked: T | undefined, value: T | undefined): boolean => asked === undefined || asked === value;

const isWithin = <T extends number | string>(value: T, min: T | undefined, max: T | undefined): boolean =>
  (min === undefined || value >= min) && (max === undefined || value <= max);
