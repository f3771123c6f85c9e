/** @module The query parameters to read one payment, and the payment's possible included records. */

import * as z from 'zod';
import { booleanParameter, boundedText, idParameter } from '../http/fields.ts';
import { tokenParameter } from '../http/guest-fields.ts';

export const INCLUDES = ['payment_method', 'project', 'organization', 'subscription', 'product', 'order'] as const;

/** Read-only fields of a payment response, accepted by an update without comparison to the payment. */
export const PAYMENT_SENT_BACK = {
  expanded: INCLUDES,
  moving: [
    ...['authorized_cents', 'captured_cents', 'capturable_cents', 'refunded_cents', 'refundable_cents'],
    ...['disputed_cents', 'lost_cents'],
    'settlement',
  ],
} as const;
export type PaymentInclude = (typeof INCLUDES)[number];

/** A comma-separated list of includes, in any case. `pm` is another name for `payment_method`. */
export const includeList = (allowed: readonly PaymentInclude[]) => {
  const names: readonly string[] = [...allowed, 'pm'];
  return boundedText(200)
    .transform((text) => text.split(',').map((name) => name.trim().toLowerCase()))
    .refine((asked) => asked.every((name) => names.includes(name)), {
      message: `must be a comma list of ${names.join(', ')}`,
      params: { rule: 'include' },
    });
};

export const getPaymentQuery = z.object({
  token: tokenParameter,
  organization_id: idParameter.describe('A guard: 404 unless the payment belongs to this organization.'),
  project_id: idParameter.describe('A guard: 404 unless the payment belongs to this project.'),
  product_id: idParameter.describe('A guard: 404 unless the payment is for this product.'),
  include: includeList(INCLUDES)
    .optional()
    .meta({
      description: `Records to show beside the payment, separated by commas: \`payment_method\` (or \`pm\`), \`project\`, \`organization\`,
      \`subscription\`, \`product\`, \`order\`. A record that is absent, or that the caller may not read, is null.`,
      examples: ['payment_method,project'],
    }),
  include_pm: booleanParameter.describe('`true` has the effect of `include=payment_method`.'),
  include_payment_method: booleanParameter.describe('`true` has the effect of `include=payment_method`.'),
  include_project: booleanParameter.describe('`true` has the effect of `include=project`.'),
  include_organization: booleanParameter.describe('`true` has the effect of `include=organization`.'),
  include_subscription: booleanParameter.describe('`true` has the effect of `include=subscription`.'),
  include_product: booleanParameter.describe('`true` has the effect of `include=product`.'),
  include_order: booleanParameter.describe('`true` has the effect of `include=order`.'),
});
export type GetPaymentQuery = z.output<typeof getPaymentQuery>;

/** The requested includes, from `include=` or a boolean shorthand. */
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
