import type { DeclineCode } from '../core/outcome.ts';
import type { ProviderSlot } from '../core/settings.ts';
import { DAY } from '../core/time.ts';
import type { ReportedDetails } from './customer-port.ts';
import type { ProviderMethod } from './method-port.ts';
import type { ProviderDispute, ProviderRefund } from './refund-port.ts';
import type { EventInvoice, EventSubscription } from './subscription-port.ts';

/** The event types of the interface, and the setup_intent types; each adapter maps its provider's names to them. */
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

/**
 * Events about money that goes back. The interface has no payload for them: each adapter maps its provider's own names.
 * `charge.refunded` names only the payment, so its refunds are read at the provider.
 */
export const MONEY_BACK_EVENTS = ['charge.refunded', 'refund.updated', 'dispute.updated'] as const;
export type MoneyBackEventType = (typeof MONEY_BACK_EVENTS)[number];

export const isMoneyBackEvent = (type: InboundEventType | undefined): type is MoneyBackEventType =>
  MONEY_BACK_EVENTS.some((known) => known === type);

/** Every type that the service acts on. */
export const ACTED_ON_EVENTS = [...INBOUND_EVENTS, ...MONEY_BACK_EVENTS] as const;
export type InboundEventType = (typeof ACTED_ON_EVENTS)[number];

/** A received event is stored this long. In that time an event with the same id is a duplicate, and is not applied again. */
export const EVENT_KEPT_MS = 30 * DAY;

/** A parsed event of a provider. `type` is undefined if the service does not act on it. */
export interface ProviderEvent {
  readonly id: string;
  readonly rawType: string;
  readonly type: InboundEventType | undefined;
  /** Whole seconds, epoch. */
  readonly createdAt: number;
  /** The event has the shape of the interface, which no provider sends, so the record follows it as it says. */
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
    readonly ourPaymentId: string | undefined;
    /** Our payment method id in the provider's metadata, of setup_intent events. */
    readonly ourMethodId?: string | undefined;
    /** The payer has approved the payment: the service must capture it. */
    readonly awaitsCapture?: true;
    /** Of payment_method events. */
    readonly method: Omit<ProviderMethod, 'methodId' | 'customerId' | 'ourCustomerId'> | undefined;
    /** Of payment_method events, where the provider tells whose the method is. */
    readonly methodOf?: Pick<ProviderMethod, 'customerId' | 'ourCustomerId'> | undefined;
    /** Of customer events. */
    readonly customer: ReportedDetails | undefined;
    /** Of subscription events. */
    readonly subscription?: EventSubscription | undefined;
    /** Of invoice events. */
    readonly invoice?: EventInvoice | undefined;
    /** Of events about refunds and disputes: the provider's ids of the charged payment (intent, order, capture). */
    readonly chargedAs?: readonly string[] | undefined;
    /** Of refund.updated. */
    readonly refund?: ProviderRefund | undefined;
    /** Of dispute.updated. */
    readonly dispute?: ProviderDispute | undefined;
  };
}

/** Verifies and reads the events of a slot's provider. It has no key, unless the provider verifies them when it is called. */
export interface EventReceiver {
  readonly slot: ProviderSlot;
  /** `unavailable`: the check is not possible now; the provider must send the event again. */
  verifyWebhook(request: WebhookRequest): Promise<'valid' | 'invalid' | 'unavailable'>;
  /** Reads an event in the provider's own format or the interface's; undefined if it is neither. */
  readEvent(body: unknown): ProviderEvent | undefined;
}

export interface WebhookRequest {
  readonly raw: Buffer;
  readonly headers: Readonly<Record<string, string | undefined>>;
  /** Epoch milliseconds. */
  readonly now: number;
  /** Awaited before each call that verification makes to the provider; throws if the sender has reached its limit. */
  readonly beforeAsking?: () => Promise<void>;
}
