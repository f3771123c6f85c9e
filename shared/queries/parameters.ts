/** @module Query parameters of the lists of payments and subscriptions. */

import * as z from 'zod';
import {
  booleanParameter,
  boundedText,
  dayField,
  idParameter,
  organizationParameter,
  timeField,
} from '../http/fields.ts';
import { tokenParameter } from '../http/guest-fields.ts';
import { offsetQuery, wholeNumberParameter } from '../http/paging.ts';
import { PAYMENT_STATUSES } from '../payments/payment.ts';
import { SUBSCRIPTION_STATUSES } from '../subscriptions/record/subscription.ts';
import { includeList, type PaymentInclude } from './includes.ts';

const MAX_PAGE = 1_000_000;
const PAYMENTS_PER_PAGE = 20;
const MAX_PAYMENTS_PER_PAGE = 50;

/** A time, or a UTC day, which stands for its first or last moment. Undefined if the parameter is absent. */
export const moment = (dayEnd: boolean) =>
  z
    .union([timeField(), dayField().transform((day) => `${day}T${dayEnd ? '23:59:59.999' : '00:00:00.000'}Z`)])
    .transform((text) => new Date(text).toISOString())
    .optional();

/** A comma-separated list of statuses, in any case. */
const statusList = <const S extends readonly string[]>(statuses: S) =>
  boundedText(200)
    .transform((text) => text.split(',').map((status) => status.trim().toLowerCase()))
    .pipe(z.array(z.enum(statuses)).min(1))
    .optional();
export const paymentStatusList = statusList(PAYMENT_STATUSES);
export const subscriptionStatusList = statusList(SUBSCRIPTION_STATUSES);

/** The cursor of a list that pages by cursor. */
export const cursorParameter = boundedText(1_000)
  .optional()
  .describe('`next_cursor` of the previous page; for CSV, the cursor in its header `Link`.');

const pageQuery = {
  page: wholeNumberParameter(1, MAX_PAGE)
    .default(1)
    .describe('The number of the page, from 1. For deep pages follow `next_cursor` instead.'),
  limit: wholeNumberParameter(1, MAX_PAYMENTS_PER_PAGE)
    .default(PAYMENTS_PER_PAGE)
    .describe('Payments per page, 1 to 50; 20 if absent. It does not apply to CSV.'),
  cursor: cursorParameter,
};

const LIST_INCLUDES = ['payment_method'] as const satisfies readonly PaymentInclude[];
const ORDERS = ['created_at', 'amount_cents', 'status', 'updated_at'] as const;

export const listPaymentsQuery = z
  .object({
    ...pageQuery,
    status: paymentStatusList.meta({
      description: 'Only payments in one of these statuses, separated by commas.',
      examples: ['succeeded,failed'],
    }),
    search: boundedText(200)
      .trim()
      .optional()
      .describe('A payment id, or a part of an e-mail address or description (case-insensitive).'),
    created_at_from: moment(false).meta({
      description: 'The earliest time of creation: a time, or a day in UTC (its first moment).',
      examples: ['2026-11-01'],
    }),
    created_at_to: moment(true).meta({
      description: 'The latest time of creation: a time, or a day in UTC (its last moment).',
      examples: ['2026-11-30'],
    }),
    orderBy: z
      .enum(ORDERS)
      .default('created_at')
      .describe(
        'The field to sort by. Every field except `created_at` works on up to 10,000 payments in the range, and without a cursor.',
      ),
    orderDir: z
      .enum(['asc', 'desc'])
      .default('desc')
      .describe('`desc` lists the newest or largest first, `asc` the oldest or smallest.'),
    include: includeList(LIST_INCLUDES)
      .optional()
      .describe('`payment_method` (or `pm`) shows the saved method of each payment beside its id.'),
    include_pm: booleanParameter.describe('`true` has the effect of `include=payment_method`.'),
    include_payment_method: booleanParameter.describe('`true` has the effect of `include=payment_method`.'),
    organization_id: organizationParameter.describe(
      "Lists the payments of this organization, by default the session's. Empty lists personal payments.",
    ),
    project_id: idParameter.describe('Lists the payments of this project, which the caller must be allowed to see.'),
    product_id: idParameter.describe('Only payments for this product.'),
    token: tokenParameter,
  })
  .refine(({ created_at_from: from, created_at_to: to }) => from === undefined || to === undefined || from <= to, {
    path: ['created_at_to'],
    message: 'must not be before created_at_from',
    params: { rule: 'range' },
  });
export type ListPaymentsQuery = z.output<typeof listPaymentsQuery>;

export const guestPaymentsQuery = z.object({ ...pageQuery, token: tokenParameter });
export type GuestPaymentsQuery = z.output<typeof guestPaymentsQuery>;

export const listSubscriptionsQuery = z.object({
  ...offsetQuery,
  status: subscriptionStatusList.meta({
    description: 'Only subscriptions in one of these states, separated by commas.',
    examples: ['active,past_due'],
  }),
  organization_id: organizationParameter.describe(
    "Only subscriptions of this organization; the session's organization if absent. Empty lists personal subscriptions.",
  ),
  project_id: idParameter.describe('Only subscriptions of this project, which the caller must be allowed to see.'),
  include_projects: booleanParameter.describe(
    'True adds the project of each subscription as `project`; null for a subscription without a project.',
  ),
  include_pm: booleanParameter.describe(
    'True adds the payment method of each subscription as `payment_method`; null for a subscription without a method.',
  ),
});

export type ListSubscriptionsQuery = z.output<typeof listSubscriptionsQuery>;

export const guestSubscriptionsQuery = z.object({ ...offsetQuery, token: tokenParameter });

export type GuestSubscriptionsQuery = z.output<typeof guestSubscriptionsQuery>;
