import * as z from 'zod';
import { booleanParameter, idSchema } from '../http/fields.ts';
import { offsetQuery } from '../http/paging.ts';
import { SUBSCRIPTION_STATUSES } from '../subscriptions/record/subscription.ts';

const statusList = z
  .string()
  .max(200)
  .transform((list) => list.split(',').map((status) => status.trim()))
  .pipe(z.array(z.enum(SUBSCRIPTION_STATUSES)).min(1));

export const listSubscriptionsQuery = z.object({
  ...offsetQuery,
  status: statusList.optional(),
  organization_id: z.string().max(64).optional(),
  project_id: idSchema.optional(),
  include_projects: booleanParameter.optional(),
  include_pm: booleanParameter.optional(),
});

export type ListSubscriptionsQuery = z.output<typeof listSubscriptionsQuery>;

export const guestSubscriptionsQuery = z.object({ ...offsetQuery, token: z.string().max(2048).optional() });

export type GuestSubscriptionsQuery = z.output<typeof guestSubscriptionsQuery>;
