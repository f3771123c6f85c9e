import * as z from 'zod/mini';
import type { InboundEventType, ProviderEvent } from '../port/events.ts';
import { readContractEvent } from '../wire/contract-event.ts';
import { stripeAmounts } from './currencies.ts';
import { idOf, stripeDeclineCode } from './report.ts';

/** Reads Stripe's own events, and the interface's payload, which is a subset of Stripe's format. */
const reference = z.nullish(z.union([z.string(), z.looseObject({ id: z.string() })]));

/** Fields that only Stripe's own events have. */
const ownFields = z.looseObject({
  object: z.optional(z.unknown()),
  data: z.looseObject({
    object: z.looseObject({
      latest_charge: reference,
      last_payment_error: z.nullish(
        z.looseObject({ code: z.nullish(z.string()), decline_code: z.nullish(z.string()) }),
      ),
    }),
  }),
});

const STRIPE_NAMES: ReadonlyMap<string, InboundEventType> = new Map(
  Object.entries({
    'payment_intent.payment_failed': 'payment_intent.failed',
    'setup_intent.setup_failed': 'setup_intent.failed',
    'payment_method.automatically_updated': 'payment_method.updated',
    'customer.subscription.created': 'subscription.created',
    'customer.subscription.updated': 'subscription.updated',
    'customer.subscription.paused': 'subscription.updated',
    'customer.subscription.resumed': 'subscription.updated',
    'customer.subscription.deleted': 'subscription.deleted',
    'customer.subscription.trial_will_end': 'subscription.trial_will_end',
  } as const),
);

export const readStripeEvent = (body: unknown): ProviderEvent | undefined => {
  const event = readContractEvent(body, STRIPE_NAMES);
  if (!event) return undefined;
  const type = STRIPE_NAMES.get(event.rawType) ?? event.type;
  if (type === undefined) return event;
  const own = ownFields.safeParse(body);
  if (!own.success) return undefined;
  const { latest_charge: charge, last_payment_error: error } = own.data.data.object;
  return {
    ...event,
    type,
    object: {
      ...(own.data.object === STRIPES_OWN ? inCents(event.object) : event.object),
      attemptRef: idOf(charge),
      failureCode: error ? stripeDeclineCode(error) : undefined,
    },
  };
};

/** The `object` of Stripe's own envelope. The interface's payload lacks it, and has its amounts in minor units already. */
const STRIPES_OWN = 'event';

type EventObject = ProviderEvent['object'];

/** Amounts of Stripe's own objects, in ISO 4217 minor units. */
const inCents = (object: EventObject): EventObject => ({
  ...object,
  amountCents: centsOf(object),
  ...(object.invoice && { invoice: { ...object.invoice, amountCents: centsOf(object.invoice) } }),
});

const centsOf = ({
  amountCents: units,
  currency,
}: Pick<EventObject, 'amountCents' | 'currency'>): number | undefined =>
  units === undefined || currency === undefined ? units : stripeAmounts.toCents(units, currency);
