import * as z from 'zod';
import type { Api } from '../installation/api.ts';

const subscriptionSchema = z.object({
  id: z.string(),
  status: z.string(),
  total_cents: z.int(),
  currency: z.string(),
  billing_interval: z.string(),
  provider_id: z.string(),
  billing_owner: z.string(),
  user_id: z.string().nullish(),
  organization_id: z.string().nullish(),
});
export type ApiSubscription = z.output<typeof subscriptionSchema>;

/** Requires the scope subscriptions:read. @throws NotReachable */
export const readApiSubscription = async (api: Api, id: string): Promise<ApiSubscription> =>
  subscriptionSchema.parse((await api.get(`/subscriptions/${encodeURIComponent(id)}`)).data);
