import * as z from 'zod';
import { booleanParameter, idSchema } from '../http/fields.ts';
import { PAYMENT_STATUSES } from '../payments/record/payment.ts';

/** Query parameters of the payment lists and of get. */
export const wholeNumberParameter = (min: number, max: number) =>
  z
    .string()
    .regex(/^\d{1,9}$/, 'must be a whole number')
    .transform(Number)
    .pipe(z.int().min(min).max(max));

const MAX_PAGE = 1_000_000;
const PAYMENTS_PER_PAGE = 20;
const MAX_PAYMENTS_PER_PAGE = 50;

/** A time, or a day (UTC): its first or last moment. */
export const moment = (dayEnd: boolean) =>
  z
    .union([
      z.iso.datetime({ offset: true }),
      z.iso.date().transform((day) => `${day}T${dayEnd ? '23:59:59.999' : '00:00:00.000'}Z`),
    ])
    .transform((text) => new Date(text).toISOString());

export const paymentStatusList = z
  .string()
  .max(200)
  .transform((text) => text.split(',').map((status) => status.trim()))
  .pipe(z.array(z.enum(PAYMENT_STATUSES)).min(1));

const pageQuery = {
  page: wholeNumberParameter(1, MAX_PAGE).default(1),
  limit: wholeNumberParameter(1, MAX_PAYMENTS_PER_PAGE).default(PAYMENTS_PER_PAGE),
  cursor: z.string().max(1000).optional(),
};

export const INCLUDES = ['payment_method', 'project', 'organization', 'subscription', 'product', 'order'] as const;
export type PaymentInclude = (typeof INCLUDES)[number];
/** The includes of a list. */
const LIST_INCLUDES = ['payment_method'] as const satisfies readonly PaymentInclude[];

/** A comma list of includes; `pm` is another name of `payment_method`. */
const includeList = (allowed: readonly PaymentInclude[]) => {
  const names: readonly string[] = [...allowed, 'pm'];
  return z
    .string()
    .max(200)
    .transform((text) => text.split(',').map((name) => name.trim()))
    .refine((asked) => asked.every((name) => names.includes(name)), {
      message: `must be a comma list of ${names.join(', ')}`,
      params: { rule: 'include' },
    });
};

const ORDERS = ['created_at', 'amount_cents', 'status', 'updated_at'] as const;

export const listPaymentsQuery = z
  .object({
    ...pageQuery,
    status: paymentStatusList.optional(),
    search: z.string().trim().max(200).optional(),
    created_at_from: moment(false).optional(),
    created_at_to: moment(true).optional(),
    orderBy: z.enum(ORDERS).default('created_at'),
    orderDir: z.enum(['asc', 'desc']).default('desc'),
    include: includeList(LIST_INCLUDES).optional(),
    include_pm: booleanParameter.optional(),
    include_payment_method: booleanParameter.optional(),
    organization_id: z.string().max(64).optional(),
    project_id: idSchema.optional(),
    product_id: idSchema.optional(),
    token: z.string().max(2048).optional(),
  })
  .refine(({ created_at_from: from, created_at_to: to }) => from === undefined || to === undefined || from <= to, {
    path: ['created_at_to'],
    message: 'must not be before created_at_from',
    params: { rule: 'range' },
  });
export type ListPaymentsQuery = z.output<typeof listPaymentsQuery>;

export const guestPaymentsQuery = z.object({ ...pageQuery, token: z.string().max(2048).optional() });
export type GuestPaymentsQuery = z.output<typeof guestPaymentsQuery>;

export const getPaymentQuery = z.object({
  token: z.string().max(2048).optional(),
  organization_id: idSchema.optional(),
  project_id: idSchema.optional(),
  product_id: idSchema.optional(),
  include: includeList(INCLUDES).optional(),
  include_pm: booleanParameter.optional(),
  include_payment_method: booleanParameter.optional(),
  include_project: booleanParameter.optional(),
  include_organization: booleanParameter.optional(),
  include_subscription: booleanParameter.optional(),
  include_product: booleanParameter.optional(),
  include_order: booleanParameter.optional(),
});
export type GetPaymentQuery = z.output<typeof getPaymentQuery>;

/** The requested includes, by `include=` or a boolean shorthand. */
export const includesOf = (query: Asked): readonly PaymentInclude[] => {
  const listed = query.include ?? [];
  const pm = listed.includes('pm') || query.include_pm === true;
  return INCLUDES.filter(
    (name) => listed.includes(name) || query[`include_${name}`] === true || (name === 'payment_method' && pm),
  );
};

type Asked = { readonly include?: readonly string[] | undefined } & {
  readonly [name in `include_${PaymentInclude | 'pm'}`]?: boolean | undefined;
};
