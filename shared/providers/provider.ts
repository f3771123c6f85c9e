import type { DeclineCode, Outcome } from '../core/outcome.ts';
import type { ProviderSlot } from '../settings.ts';

/**
 * The port to a payment provider. What a provider cannot do is said by `can`, as data; no method answers "not
 * implemented". Every write carries our own key, derived from our id and attempt, so that a repeat is the same call.
 */
export interface Capabilities {
  readonly payments: boolean;
  readonly customers: boolean;
  /** The payer's browser confirms with the client secret; else only the server can charge. */
  readonly clientConfirmation: boolean;
  readonly subscriptions: 'native' | 'service';
}

/** A payment's status, as far as a provider can tell it. */
export type ReportedStatus =
  | 'requires_payment_method'
  | 'created'
  | 'pending'
  | 'processing'
  | 'succeeded'
  | 'failed'
  | 'canceled';

/** What the payer has to do next. */
export interface NextAction {
  readonly type: 'use_provider_sdk' | 'redirect_to_url';
  readonly url: string | undefined;
}

/** A payment as the provider has it. */
export interface ProviderPayment {
  /** The intent or order, known from its creation. */
  readonly intentId: string;
  /** The payment or capture; equals intentId until there is one. */
  readonly paymentId: string;
  readonly status: ReportedStatus;
  readonly amountCents: number;
  /** Upper-case ISO 4217. */
  readonly currency: string;
  /** Names the last attempt to charge; tells an attempt that reached the provider from one that did not. */
  readonly attemptRef: string | undefined;
  readonly failureCode: DeclineCode | undefined;
  readonly clientSecret: string | undefined;
  readonly nextAction: NextAction | undefined;
  /** The method that the provider holds for it. */
  readonly methodId: string | undefined;
  /** Our payment id, as we left it with the provider. */
  readonly ourPaymentId: string | undefined;
}

export interface CallOptions {
  readonly idempotencyKey: string;
}

export interface CreateIntent extends CallOptions {
  readonly paymentId: string;
  readonly amountCents: number;
  readonly currency: string;
  readonly description: string | undefined;
  /** The provider's own id or one-time token of a method. */
  readonly method: string | undefined;
  readonly customerId: string | undefined;
  readonly saveMethod: boolean;
  readonly returnUrl: string | undefined;
}

export interface UpdateIntent extends CallOptions {
  readonly intentId: string;
  readonly amountCents: number;
  readonly currency: string;
  readonly description: string | undefined;
  readonly method: string | undefined;
  readonly customerId: string | undefined;
  readonly saveMethod: boolean;
}

export interface ConfirmIntent extends CallOptions {
  readonly intentId: string;
  readonly paymentId: string;
  readonly amountCents: number;
  readonly currency: string;
  readonly method: string | undefined;
  readonly customerId: string | undefined;
  readonly returnUrl: string | undefined;
}

/** The event types of the interface; whatever a provider calls them. */
export const INBOUND_EVENTS = [
  'payment_intent.succeeded',
  'payment_intent.failed',
  'payment_intent.canceled',
  'payment_intent.processing',
  'payment_intent.requires_action',
  'payment_method.attached',
  'payment_method.detached',
  'payment_method.updated',
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
export type InboundEventType = (typeof INBOUND_EVENTS)[number];

/** A provider's event, read. `type` is undefined for one that the service does not act on. */
export interface ProviderEvent {
  readonly id: string;
  readonly rawType: string;
  readonly type: InboundEventType | undefined;
  /** Whole seconds, epoch. */
  readonly createdAt: number;
  readonly object: {
    readonly id: string;
    readonly amountCents: number | undefined;
    /** Upper-case ISO 4217. */
    readonly currency: string | undefined;
    readonly attemptRef: string | undefined;
    readonly failureCode: DeclineCode | undefined;
    readonly ourPaymentId: string | undefined;
  };
}

export interface WebhookRequest {
  readonly raw: Buffer;
  readonly headers: Readonly<Record<string, string | undefined>>;
  /** Epoch milliseconds. */
  readonly now: number;
}

export interface PaymentProvider {
  readonly slot: ProviderSlot;
  readonly can: Capabilities;
  /** False where the secret that verifies its webhooks is missing: their route is closed. */
  readonly acceptsWebhooks: boolean;
  createIntent(input: CreateIntent): Promise<Outcome<ProviderPayment>>;
  updateIntent(input: UpdateIntent): Promise<Outcome<ProviderPayment>>;
  confirmIntent(input: ConfirmIntent): Promise<Outcome<ProviderPayment>>;
  cancelIntent(input: CallOptions & { readonly intentId: string }): Promise<Outcome<ProviderPayment>>;
  /** An authoritative read. */
  findPayment(intentId: string): Promise<Outcome<ProviderPayment>>;
  /** `unavailable`: nobody can tell now, the provider shall send it again. */
  verifyWebhook(request: WebhookRequest): Promise<'valid' | 'invalid' | 'unavailable'>;
  /** Reads an event in the provider's own vocabulary or the interface's; undefined where it is neither. */
  readEvent(body: unknown): ProviderEvent | undefined;
}
