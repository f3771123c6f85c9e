import * as z from 'zod';
import { booleanParameter, idSchema, tokenParameter } from '../http/fields.ts';
import { offsetQuery } from '../http/paging.ts';
import { SUBSCRIPTION_STATUSES } from '../subscriptions/record/subscription.ts';

const statusList = z
  .string()
  .max(200)
  .transform((list) => list.split(',').map((status) => status.trim()))
  .pipe(z.array(z.enum(SUBSCRIPTION_STATUSES)).min(1));

export const listSubscriptionsQuery = z.object({
  ...offsetQuery,
  status: statusList.optional().meta({
    description: 'Only subscriptions in one of these states, separated by commas.',
    examples: ['active,past_due'],
  }),
  organization_id: z
    .string()
    .max(64)
    .optional()
    .describe("Only subscriptions of this organization; the session's organization if absent. Empty: personal ones."),
  project_id: idSchema.optional().describe('Only subscriptions of this project. The caller needs to see it.'),
  include_projects: booleanParameter
    .optional()
    .describe('True adds the project of each subscription as `project`; null where there is none.'),
  include_pm: booleanParameter
    .optional()
    .describe('True adds the payment method of each subscription as `payment_method`; null where there is none.'),
});

export type ListSubscriptionsQuery = z.output<typeof listSubscriptionsQuery>;

export const guestSubscriptionsQuery = z.object({ ...offsetQuery, token: tokenParameter });

export type GuestSubscriptionsQuery = z.output<typeof guestSubscriptionsQuery>;
