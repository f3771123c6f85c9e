import * as z from 'zod';
import { PROVIDER_SLOTS } from '../core/settings.ts';
import { booleanParameter, idSchema } from '../http/fields.ts';
import { REFUND_EXTENTS } from '../payments/record/view.ts';
import { moment, paymentStatusList, wholeNumberParameter } from '../queries/parameters.ts';

/** Query parameters of the list of all payments. */
const MAX_PER_PAGE = 100;
const PER_PAGE = 25;
const MAX_CENTS = 99_999_999;

const notBefore = (path: string, than: string) => ({
  path: [path],
  message: `must not be before ${than}`,
  params: { rule: 'range' },
});

export const everyPaymentQuery = z
  .object({
    search: z.string().trim().min(1).max(255).optional(),
    status: paymentStatusList.optional(),
    provider_id: z.enum(PROVIDER_SLOTS).optional(),
    currency: z
      .string()
      .regex(/^[A-Za-z]{3}$/, 'must be an ISO 4217 code')
      .transform((code) => code.toUpperCase())
      .optional(),
    min_cents: wholeNumberParameter(0, MAX_CENTS).optional(),
    max_cents: wholeNumberParameter(0, MAX_CENTS).optional(),
    from: moment(false).optional(),
    to: moment(true).optional(),
    user_id: idSchema.optional(),
    organization_id: idSchema.optional(),
    refund_status: z.enum(REFUND_EXTENTS).optional(),
    disputed: booleanParameter.optional(),
    limit: wholeNumberParameter(1, MAX_PER_PAGE).default(PER_PAGE),
    cursor: z.string().max(1000).optional(),
  })
  .refine(({ from, to }) => from === undefined || to === undefined || from <= to, notBefore('to', 'from'))
  .refine(({ min_cents: min, max_cents: max }) => min === undefined || max === undefined || min <= max, {
    ...notBefore('max_cents', 'min_cents'),
    message: 'must not be below min_cents',
  });

export type EveryPaymentQuery = z.output<typeof everyPaymentQuery>;
