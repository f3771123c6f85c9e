import * as z from 'zod';
import { PROVIDER_SLOTS } from '../core/settings.ts';
import { booleanParameter, idSchema } from '../http/fields.ts';
import { REFUND_EXTENTS } from '../payments/record/view.ts';
import { cursorParameter, moment, paymentStatusList, wholeNumberParameter } from '../queries/parameters.ts';

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
    search: z
      .string()
      .trim()
      .min(1)
      .max(255)
      .optional()
      .meta({
        description: `One of: our id, the provider's id, an e-mail address, a reference code, the last four digits of a card. The whole value, in any
          case.`,
        examples: ['4242'],
      }),
    status: paymentStatusList.optional().meta({
      description: 'Only payments in one of these statuses, separated by commas.',
      examples: ['succeeded,failed'],
    }),
    provider_id: z.enum(PROVIDER_SLOTS).optional().describe('Only payments at this provider slot.'),
    currency: z
      .string()
      .regex(/^[A-Za-z]{3}$/, 'must be an ISO 4217 code')
      .transform((code) => code.toUpperCase())
      .optional()
      .describe('Only payments in this currency, an ISO 4217 code in any case.'),
    min_cents: wholeNumberParameter(0, MAX_CENTS).optional().describe('Only totals of at least this, in minor units.'),
    max_cents: wholeNumberParameter(0, MAX_CENTS).optional().describe('Only totals of at most this, in minor units.'),
    from: moment(false)
      .optional()
      .describe('The earliest time of creation: a time, or a day in UTC (its first moment).'),
    to: moment(true).optional().describe('The latest time of creation: a time, or a day in UTC (its last moment).'),
    user_id: idSchema.optional().describe('Only payments of this user.'),
    organization_id: idSchema.optional().describe('Only payments of this organization.'),
    refund_status: z.enum(REFUND_EXTENTS).optional().describe('Only payments of which this much has been refunded.'),
    disputed: booleanParameter
      .optional()
      .describe('True: only payments with an open dispute; false: only those without.'),
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

export type EveryPaymentQuery = z.output<typeof everyPaymentQuery>;
