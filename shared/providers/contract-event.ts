/**
 * @module The interface's own event payload, `{id, type, provider, data: {object}, created}`, a subset of Stripe's
 * format. Each webhook route accepts this payload and its provider's own format.
 */

import * as z from 'zod';
import { secondsOf } from './adapter.ts';
import { INBOUND_EVENTS, type InboundEventType, type ProviderEvent } from './event-port.ts';
import type { ProviderMethod } from './method-port.ts';
import { countryCodeOf, fundingOf } from './reported-facts.ts';
import { readEventInvoice, readEventSubscription } from './subscription-payloads.ts';
import type { EventInvoice } from './subscription-port.ts';

const eventSchema = z.looseObject({
  id: z.string().check(z.minLength(1), z.maxLength(255)),
  type: z.string().check(z.minLength(1), z.maxLength(128)),
  created: z.int().check(z.nonnegative()),
  object: z.optional(z.unknown()),
  data: z.looseObject({
    object: z.looseObject({
      id: z.string().check(z.maxLength(255)),
      amount: z.nullish(z.int()),
      currency: z.nullish(z.string()),
      type: z.nullish(z.string()),
      card: z.nullish(
        z.looseObject({
          brand: z.nullish(z.string()),
          last4: z.nullish(z.string()),
          exp_month: z.nullish(z.int()),
          exp_year: z.nullish(z.int()),
          funding: z.nullish(z.string()),
          country: z.nullish(z.string()),
          wallet: z.nullish(z.looseObject({ type: z.nullish(z.string()) })),
        }),
      ),
      email: z.nullish(z.string()),
      name: z.nullish(z.string()),
      phone: z.nullish(z.string()),
      metadata: z.nullish(z.record(z.string(), z.unknown())),
    }),
  }),
});

/**
 * The value of the `object` field in Stripe's own envelope. The interface's payload lacks this field, and its amounts
 * are in ISO 4217 minor units.
 */
export const STRIPES_OWN = 'event';

const inboundType = (name: string): InboundEventType | undefined => INBOUND_EVENTS.find((known) => known === name);

/** @param ownNames the provider's own names of events that the service acts on. */
export const readContractEvent = (
  body: unknown,
  ownNames: ReadonlyMap<string, InboundEventType> = new Map(),
): ProviderEvent | undefined => {
  const parsed = eventSchema.safeParse(body);
  if (!parsed.success) return readOtherEvent(body, (name) => inboundType(name) !== undefined || ownNames.has(name));
  const { id, type, created, data } = parsed.data;
  const { object } = data;
  const isOfInterface = inboundType(type) !== undefined && parsed.data.object !== STRIPES_OWN;
  return {
    id,
    rawType: type,
    type: inboundType(type),
    createdAt: created,
    ...(isOfInterface && { isOfInterface }),
    object: {
      id: object.id,
      intentId: undefined,
      amountCents: object.amount ?? undefined,
      currency: object.currency?.toUpperCase(),
      attemptRef: undefined,
      failureCode: undefined,
      ourPaymentId: textIn(object.metadata, 'payment_id'),
      ...(type.startsWith('setup_intent.') && { ourMethodId: textIn(object.metadata, 'payment_method_id') }),
      method: object.card ? methodFacts(object) : undefined,
      customer: { email: object.email, name: object.name, phone: object.phone },
      ...(SUBSCRIPTION_EVENT.test(type) && { subscription: readEventSubscription(object) }),
      ...(type.startsWith('invoice.') && { invoice: invoiceOf(object, isOfInterface) }),
    },
  };
};

/**
 * In an invoice event of the interface, the object's id is the subscription's id. If the object also names a
 * subscription, the object's id is the invoice's id.
 */
const invoiceOf = (object: unknown, isOfInterface: boolean): EventInvoice | undefined => {
  const invoice = readEventInvoice(object);
  const namesSubscription = invoice?.subscriptionId !== undefined || invoice?.ourSubscriptionId !== undefined;
  return invoice && isOfInterface && !namesSubscription ? { ...invoice, subscriptionId: invoice.invoiceId } : invoice;
};

const textIn = (metadata: Readonly<Record<string, unknown>> | null | undefined, key: string): string | undefined => {
  const value = metadata?.[key];
  return typeof value === 'string' ? value : undefined;
};

/** The fields of every event, including thin events. Stripe writes the time of a thin event as a string. */
const envelopeSchema = z.looseObject({
  id: z.string().check(z.minLength(1), z.maxLength(255)),
  type: z.string().check(z.minLength(1), z.maxLength(128)),
  created: z.union([z.int().check(z.nonnegative()), z.iso.datetime({ offset: true })]),
});

/** Reads an event that the service does not act on, which needs no object. Any other unreadable event is refused. */
const readOtherEvent = (body: unknown, isActedOn: (name: string) => boolean): ProviderEvent | undefined => {
  const parsed = envelopeSchema.safeParse(body);
  if (!parsed.success || isActedOn(parsed.data.type)) return undefined;
  const { id, type, created } = parsed.data;
  const createdAt = typeof created === 'number' ? created : secondsOf(created);
  return { id, rawType: type, type: undefined, createdAt, object: NO_OBJECT };
};

export const NO_OBJECT: ProviderEvent['object'] = {
  id: '',
  intentId: undefined,
  amountCents: undefined,
  currency: undefined,
  attemptRef: undefined,
  failureCode: undefined,
  ourPaymentId: undefined,
  method: undefined,
  customer: undefined,
};

/** Stripe prefixes these event names with `customer.`. */
const SUBSCRIPTION_EVENT = /^(?:customer\.)?subscription\./;

/** A longer value of a method is ignored. */
const LONGEST_WORD = 255;

const word = (text: string | null | undefined): string | undefined =>
  text && text.length <= LONGEST_WORD ? text : undefined;

/** The stored fields of a method in the format of the event. */
export const methodFacts = (method: {
  readonly type?: string | null | undefined;
  readonly card?:
    | {
        readonly brand?: string | null | undefined;
        readonly last4?: string | null | undefined;
        readonly exp_month?: number | null | undefined;
        readonly exp_year?: number | null | undefined;
        readonly funding?: string | null | undefined;
        readonly country?: string | null | undefined;
        readonly wallet?: { readonly type?: string | null | undefined } | null | undefined;
      }
    | null
    | undefined;
}): Omit<ProviderMethod, 'methodId' | 'customerId'> => ({
  type: method.type === 'card' || method.card ? 'card' : 'bank_account',
  walletType: word(method.card?.wallet?.type),
  cardBrand: word(method.card?.brand),
  lastFour: word(method.card?.last4),
  expiryMonth: method.card?.exp_month ? monthText(method.card.exp_month) : undefined,
  expiryYear: method.card?.exp_year ? String(method.card.exp_year) : undefined,
  funding: fundingOf(method.card?.funding),
  country: countryCodeOf(method.card?.country),
});

/** A month in the format MM. */
export const monthText = (month: number): string => String(month).padStart(2, '0');
