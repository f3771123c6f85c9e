/** @module Lists all payments for the merchant, with filters and search. */

import * as z from 'zod';
import { once } from '../core/once.ts';
import { DECLINE_CODES } from '../core/outcome.ts';
import { PROVIDER_SLOTS } from '../core/settings.ts';
import { booleanParameter, boundedText } from '../http/fields.ts';
import { wholeNumberParameter } from '../http/paging.ts';
import type { ApiRequest, Reply } from '../http/request.ts';
import { openDisputesOf } from '../payments/money-account.ts';
import { paymentRecord, type VisiblePayment } from '../payments/payment.ts';
import { paymentView, paymentViewSchema, REFUND_EXTENTS, refundStatusOf } from '../payments/payment-view.ts';
import { moment, paymentStatusList } from '../queries/parameters.ts';
import { payerFields, payersOf } from '../queries/payers.ts';
import { datedCells, paymentRow, settlementCells } from '../queries/payment-csv.ts';
import { endOfHold } from '../queries/payment-entry.ts';
import {
  type EveryDeps,
  type EveryKind,
  equalClauses,
  everyFields,
  isOrAny,
  isWithin,
  listEvery,
  notBefore,
} from './every-list.ts';

/** An amount in minor units. */
const amountParameter = wholeNumberParameter(0, Number.MAX_SAFE_INTEGER);

const FINGERPRINT = /^fp_[0-9a-f]{24}$/;

/** A provider's name for a brand or wallet, ignoring case. */
const methodNameParameter = boundedText(40)
  .transform((name) => name.trim().toLowerCase())
  .pipe(z.string().regex(/^[\w -]+$/, 'must be the name of a brand or a wallet'))
  .optional();

export const everyPaymentQuery = z
  .object({
    search: boundedText(255)
      .trim()
      .min(1)
      .optional()
      .meta({
        description: `A whole value: our id, the provider's id of the payment or a charge, an e-mail address, a reference code (case-insensitive), or
          the last four digits of a card or bank account, saved or not.`,
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
      .describe('Only payments in this currency, an ISO 4217 code (case-insensitive).'),
    min_cents: amountParameter
      .optional()
      .describe('Only payments with a total of at least this amount, in minor units.'),
    max_cents: amountParameter
      .optional()
      .describe('Only payments with a total of at most this amount, in minor units.'),
    refund_status: z.enum(REFUND_EXTENTS).optional().describe('Only payments with this refund status.'),
    disputed: booleanParameter.describe('True: only payments with an open dispute; false: only those without.'),
    card_brand: methodNameParameter.meta({
      description: 'Only payments whose last attempt was made with a card of this brand (case-insensitive).',
      examples: ['visa'],
    }),
    wallet_type: methodNameParameter.meta({
      description: 'Only payments whose last attempt was made with this wallet (case-insensitive).',
      examples: ['apple_pay'],
    }),
    fingerprint: boundedText(40)
      .regex(FINGERPRINT, 'must be a fingerprint of a payment method')
      .optional()
      .describe(
        'Only payments whose last attempt was made with this card or bank account: `fingerprint` of `payment_method_details`.',
      ),
    decline_code: z
      .enum(DECLINE_CODES)
      .optional()
      .describe('Only failed payments whose last attempt was declined with this code.'),
    capture_before: moment(true).meta({
      description:
        'Only held payments (`requires_capture`) whose hold ends by this time: a time, or a day in UTC (its last moment).',
      examples: ['2026-11-30'],
    }),
    ...everyFields('payments'),
  })
  .refine(({ from, to }) => from === undefined || to === undefined || from <= to, notBefore('to', 'from'))
  .refine(
    ({ min_cents: min, max_cents: max }) => min === undefined || max === undefined || min <= max,
    notBefore('max_cents', 'min_cents', 'must not be below min_cents'),
  );

type EveryPaymentQuery = z.output<typeof everyPaymentQuery>;

export const everyPaymentSchema = /* @__PURE__ */ once(() =>
  paymentViewSchema().extend(payerFields()).meta({
    id: 'ListedPayment',
    description: 'A payment in the list of all payments, with its payer.',
  }),
);

export const listEveryPayment = (deps: EveryDeps, request: ApiRequest<unknown, EveryPaymentQuery>): Promise<Reply> =>
  listEvery(deps, PAYMENTS, request);

/** Payments created in the query's range that pass the test, as CSV rows. */
export const listPaymentsWhere = (
  deps: EveryDeps,
  {
    query,
    csvPage,
  }: Pick<ApiRequest<unknown, Pick<EveryPaymentQuery, 'limit' | 'from' | 'to' | 'cursor'>>, 'query' | 'csvPage'>,
  passes: (payment: VisiblePayment) => boolean,
): Promise<Reply> =>
  listEvery(
    deps,
    {
      ...PAYMENTS,
      matches: passes,
      viewsOf: async (table, payments) => {
        const payers = await payersOf(table, payments);
        return payments.map((payment, index) => ({
          ...{ ...paymentRow(payment), ...settlementCells(payment), ...payers[index] },
          ...datedCells(payment),
        }));
      },
    },
    { query, csvPage },
  );

const PAYMENTS: EveryKind<VisiblePayment, EveryPaymentQuery> = {
  kind: 'PAY',
  idKind: 'payment',
  parse: paymentRecord.parse,
  clausesOf: (query) => [
    ...equalClauses([
      ['f.c', query.currency],
      ['f.r', query.refund_status],
      ['f.d', query.disputed],
      ['f.b', query.card_brand],
      ['f.w', query.wallet_type],
      ['f.x', query.decline_code],
    ]),
    ...(query.min_cents === undefined ? [] : [{ atLeast: ['f.a', query.min_cents] } as const]),
    ...(query.max_cents === undefined ? [] : [{ atMost: ['f.a', query.max_cents] } as const]),
    ...(query.capture_before === undefined ? [] : [{ atMost: ['f.h', query.capture_before] } as const]),
  ],
  wordOf: ({ fingerprint }) => fingerprint,
  matches: (payment, query) =>
    isOrAny(query.currency, payment.currency) &&
    isOrAny(query.refund_status, refundStatusOf(payment)) &&
    isOrAny(query.disputed, openDisputesOf(payment).length > 0) &&
    isWithin(payment.totalCents, query.min_cents, query.max_cents) &&
    hasMethod(payment, query) &&
    isOrAny(query.decline_code, payment.failureCode) &&
    isWithin(endOfHold(payment) ?? NEVER, undefined, query.capture_before),
  viewsOf: async (table, payments, isCsv) => {
    const payers = await payersOf(table, payments);
    const view = (payment: VisiblePayment) =>
      isCsv ? { ...paymentRow(payment), ...settlementCells(payment) } : paymentView(payment, 'staff');
    return payments.map((payment, index) => ({ ...view(payment), ...payers[index] }));
  },
};

/** Sorts after every time. */
const NEVER = '~';

const hasMethod = ({ details }: VisiblePayment, query: EveryPaymentQuery): boolean =>
  isOrAny(query.card_brand, details?.cardBrand) &&
  isOrAny(query.wallet_type, details?.walletType) &&
  isOrAny(query.fingerprint, details?.fingerprint);
