/** @module The port to a provider's events, with the handled event types, the parsed event and the receiver. */

import type { DeclineCode } from '../core/outcome.ts';
import type { PaymentFacts } from '../core/payment-facts.ts';
import type { ProviderSlot } from '../core/settings.ts';
import { DAY_MS } from '../core/time.ts';
import type { ReportedDetails } from './customer-port.ts';
import type { ProviderMethod } from './method-port.ts';
import type { ProviderHold } from './payment-port.ts';
import type { ProviderDispute, ProviderRefund } from './refund-port.ts';
import type { EventInvoice, EventSubscription } from './subscription-port.ts';

/**
 * The event types of the interface, and the setup_intent types. The interface is the API specification of this service.
 * Each adapter maps its provider's names to these types.
 */
export const INBOUND_EVENTS = [
  'payment_intent.succeeded',
  'payment_intent.failed',
  'payment_intent.canceled',
  'payment_intent.processing',
  'payment_intent.requires_action',
  'payment_method.attached',
  'payment_method.detached',
  'payment_method.updated',
  'setup_intent.succeeded',
  'setup_intent.failed',
  'subscription.created',
  'subscription.updated',
  'subscription.deleted',
  'subscription.trial_will_end',
  'invoice.payment_succeeded',
  'invoice.payment_failed',
  'customer.created',
  'customer.updated',
  'customer.deleted',
] as const;

/** The event that reports a held amount. The interface has no payload for this type. */
const HOLD_EVENTS = ['payment_intent.amount_capturable_updated'] as const;

/**
 * The events about refunds and disputes. The interface has no payload for these types. `charge.refunded` names only the
 * payment, so the service then reads the refunds from the provider.
 */
export const MONEY_BACK_EVENTS = ['charge.refunded', 'refund.updated', 'dispute.updated'] as const;
export type MoneyBackEventType = (typeof MONEY_BACK_EVENTS)[number];

export const isMoneyBackEvent = (type: InboundEventType | undefined): type is MoneyBackEventType =>
  MONEY_BACK_EVENTS.some((known) => known === type);

export const ACTED_ON_EVENTS = [...INBOUND_EVENTS, ...HOLD_EVENTS, ...MONEY_BACK_EVENTS] as const;
export type InboundEventType = (typeof ACTED_ON_EVENTS)[number];

/** How long an event is stored. During this time, an event with the same id is a duplicate and is not applied. */
export const EVENT_KEPT_MS = 30 * DAY_MS;

/** A parsed event of a provider. `type` is undefined for an event that the service does not act on. */
export interface ProviderEvent {
  readonly id: string;
  readonly rawType: string;
  readonly type: InboundEventType | undefined;
  /** Epoch seconds. */
  readonly createdAt: number;
  /**
   * True if the event has the interface's shape. No provider sends this shape, so the event is applied without a read.
   */
  readonly isOfInterface?: true;
  readonly object: {
    readonly id: string;
    /** The intent or order, if the object is one of its payments or captures. */
    readonly intentId: string | undefined;
    readonly amountCents: number | undefined;
    /** Upper-case ISO 4217. */
    readonly currency: string | undefined;
    readonly attemptRef: string | undefined;
    readonly failureCode: DeclineCode | undefined;
    readonly facts?: PaymentFacts | undefined;
    /** As in `ProviderPayment`. */
    readonly hold?: ProviderHold | undefined;
    readonly ourPaymentId: string | undefined;
    /** Our payment method id in the provider's metadata, set for setup_intent events. */
    readonly ourMethodId?: string | undefined;
    /** True if the payer has approved the payment and the service must capture it. */
    readonly awaitsCapture?: true;
    /** Set for payment_method events. */
    readonly method: Omit<ProviderMethod, 'methodId' | 'customerId' | 'ourCustomerId'> | undefined;
    /** Set for payment_method events if the provider names the customer of the method. */
    readonly methodOf?: Pick<ProviderMethod, 'customerId' | 'ourCustomerId'> | undefined;
    /** Set for customer events. */
    readonly customer: ReportedDetails | undefined;
    /** Set for subscription events. */
    readonly subscription?: EventSubscription | undefined;
    /** Set for invoice events. */
    readonly invoice?: EventInvoice | undefined;
    /** The provider's ids of the charged payment (intent, order, capture), set for refund and dispute events. */
    readonly chargedAs?: readonly string[] | undefined;
    /** Set for refund.updated. */
    readonly refund?: ProviderRefund | undefined;
    /** Set for dispute.updated. */
    readonly dispute?: ProviderDispute | undefined;
  };
}

/**
 * Verifies and reads the events of a slot's provider. The receiver needs no API key, unless verification calls the
 * provider.
 */
export interface EventReceiver {
  readonly slot: ProviderSlot;
  /** `unavailable` if verification is not possible now and the provider must send the event again. */
  verifyWebhook(request: WebhookRequest): Promise<'valid' | 'invalid' | 'unavailable'>;
  /** Reads an event in the provider's own format or in the interface's format; undefined for any other format. */
  readEvent(body: unknown): ProviderEvent | undefined;
}

export interface WebhookRequest {
  readonly raw: Buffer;
  readonly headers: Readonly<Record<string, string | undefined>>;
  /** Epoch milliseconds. */
  readonly now: number;
  /** Awaited before each verification call to the provider. Throws if the sender has reached its limit. */
  readonly beforeAsking?: () => Promise<void>;
}
