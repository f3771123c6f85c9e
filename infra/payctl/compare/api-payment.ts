import * as z from 'zod';
import type { Api } from '../installation/api.ts';
import { NotReachable } from '../installation/control.ts';

const paymentSchema = z.object({
  id: z.string(),
  status: z.string(),
  total_cents: z.int(),
  refundable_cents: z.int(),
  captured_cents: z.int(),
  refunded_cents: z.int(),
  disputed_cents: z.int(),
  lost_cents: z.int(),
  currency: z.string(),
  provider_id: z.string(),
  provider_payment_id: z.string().nullish(),
});
export type ApiPayment = z.output<typeof paymentSchema>;

/** The payment with this id, ours or its provider's. Requires the scope payments:read. @throws NotReachable */
export const readApiPayment = async (api: Api, id: string): Promise<ApiPayment> => {
  const ours = id.startsWith('pay_') ? id : await searchPayment(api, id);
  if (ours === undefined) throw new NotReachable(`there is no payment ${id}`);
  return paymentSchema.parse((await api.get(`/payments/${encodeURIComponent(ours)}`)).data);
};

const foundSchema = z.array(
  z.object({
    id: z.string(),
    provider_payment_id: z.string().nullish(),
    provider_intent_id: z.string().nullish(),
    provider_subscription_id: z.string().nullish(),
  }),
);

/** Checks the ids of the results, because a search also finds records by shared words, such as a reference code. */
const searchIn =
  (list: 'payments' | 'subscriptions') =>
  async (api: Api, id: string): Promise<string | undefined> => {
    const found = foundSchema.parse((await api.get(`/admin/${list}?search=${encodeURIComponent(id)}`)).data);
    return found.find((one) =>
      [one.provider_payment_id, one.provider_intent_id, one.provider_subscription_id].includes(id),
    )?.id;
  };

/** @returns our payment id for a provider's id. @throws NotReachable */
export const searchPayment = searchIn('payments');

/** @returns our subscription id for a provider's id. @throws NotReachable */
export const searchSubscription = searchIn('subscriptions');
