import * as z from 'zod';
import { INBOUND_EVENTS, type InboundEventType, type ProviderEvent } from '../provider.ts';
import { methodFacts } from './methods.ts';
import { declineCode, idOf } from './report.ts';

/** Both vocabularies: Stripe's own event, and the interface's payload, whose shape is a part of Stripe's. */
const reference = z.union([z.string(), z.looseObject({ id: z.string() })]).nullish();

const eventSchema = z.looseObject({
  id: z.string().min(1).max(255),
  type: z.string().min(1).max(128),
  created: z.int().nonnegative(),
  data: z.looseObject({
    object: z.looseObject({
      id: z.string().max(255),
      amount: z.int().nullish(),
      currency: z.string().nullish(),
      latest_charge: reference,
      last_payment_error: z.looseObject({ code: z.string().nullish(), decline_code: z.string().nullish() }).nullish(),
      type: z.string().nullish(),
      card: z
        .looseObject({
          brand: z.string().nullish(),
          last4: z.string().nullish(),
          exp_month: z.int().nullish(),
          exp_year: z.int().nullish(),
          wallet: z.looseObject({ type: z.string().nullish() }).nullish(),
        })
        .nullish(),
      email: z.string().nullish(),
      name: z.string().nullish(),
      phone: z.string().nullish(),
      metadata: z.record(z.string(), z.unknown()).nullish(),
    }),
  }),
});

const STRIPE_NAMES: Readonly<Record<string, InboundEventType>> = {
  'payment_intent.payment_failed': 'payment_intent.failed',
  'payment_method.automatically_updated': 'payment_method.updated',
  'customer.subscription.created': 'subscription.created',
  'customer.subscription.updated': 'subscription.updated',
  'customer.subscription.paused': 'subscription.updated',
  'customer.subscription.resumed': 'subscription.updated',
  'customer.subscription.deleted': 'subscription.deleted',
  'customer.subscription.trial_will_end': 'subscription.trial_will_end',
};

const typeOf = (rawType: string): InboundEventType | undefined =>
  STRIPE_NAMES[rawType] ?? INBOUND_EVENTS.find((known) => known === rawType);

export const readStripeEvent = (body: unknown): ProviderEvent | undefined => {
  const parsed = eventSchema.safeParse(body);
  if (!parsed.success) return undefined;
  const { id, type, created, data } = parsed.data;
  const { object } = data;
  const paymentId = object.metadata?.['payment_id'];
  return {
    id,
    rawType: type,
    type: typeOf(type),
    createdAt: created,
    object: {
      id: object.id,
      amountCents: object.amount ?? undefined,
      currency: object.currency?.toUpperCase(),
      attemptRef: idOf(object.latest_charge),
      failureCode: object.last_payment_error ? declineCode(object.last_payment_error) : undefined,
      ourPaymentId: typeof paymentId === 'string' ? paymentId : undefined,
      method: object.card ? methodFacts(object) : undefined,
      customer: {
        email: object.email ?? undefined,
        name: object.name ?? undefined,
        phone: object.phone ?? undefined,
      },
    },
  };
};
