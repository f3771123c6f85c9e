import type { DeclineCode, Outcome } from '../../core/outcome.ts';
import type { ProviderSlot } from '../../core/settings.ts';
import type { CallOptions } from './call-options.ts';
import type { InvoiceNews, NativeSubscriptions, SubscriptionNews } from './subscriptions.ts';

/**
 * The port to a payment provider. What a provider cannot do is said by `can`, as data; no method answers "not
 * implemented". Every write carries our own key, derived from our id and attempt, so that a repeat is the same call.
 */
export interface Capabilities {
  readonly payments: boolean;
  readonly customers: boolean;
  /** Saves methods; else only one-time payments. */
  readonly methods: boolean;
  /** Takes raw card data (development only). */
  readonly rawCards: boolean;
  /** Takes billing details of a saved method. */
  readonly billingDetails: boolean;
  /** The payer's browser confirms with the client secret; else only the server can charge. */
  readonly clientConfirmation: boolean;
  /** A payer's approval at the provider stands in for a method, and leads to a capture of ours. */
  readonly capturesOnApproval: boolean;
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
  /** undefined, as the currency, where the provider no longer tells. */
  readonly amountCents: number | undefined;
  /** Upper-case ISO 4217. */
  readonly currency: string | undefined;
  /** Names the last attempt to charge; tells an attempt that reached the provider from one that did not. */
  readonly attemptRef: string | undefined;
  readonly failureCode: DeclineCode | undefined;
  readonly clientSecret: string | undefined;
  readonly nextAction: NextAction | undefined;
  /** The method that the provider holds for it. */
  readonly methodId: string | undefined;
  /** Our payment id, as we left it with the provider. */
  readonly ourPaymentId: string | undefined;
  /** Pending for us alone: the payer has approved it. */
  readonly awaitsCapture?: true;
}

/** Why a confirmation is refused whose intent can never be charged again: it failed for good, or has expired. */
export const INTENT_SPENT = 'intent_spent';

/** Why a method is not attached: the provider knows it and holds it for another customer, or will not hold it again. */
export const NOT_ATTACHABLE = 'not_attachable';

export interface CreateIntent extends CallOptions {
  readonly paymentId: string;
  readonly amountCents: number;
  readonly currency: string;
  readonly description: string | undefined;
  /** The provider's own id or one-time token of a method. */
  readonly method: string | undefined;
  /** The method is a saved one: it is charged only by a confirmation that has passed the rule of use. */
  readonly isSavedMethod?: boolean;
  readonly customerId: string | undefined;
  readonly saveMethod: boolean;
  readonly returnUrl: string | undefined;
}

export interface UpdateIntent extends CallOptions {
  readonly intentId: string;
  readonly amountCents: number;
  readonly currency: string;
  readonly description: string | undefined;
  /** undefined: as it is; null: none any more. */
  readonly method: string | null | undefined;
  /** As at creation. */
  readonly isSavedMethod?: boolean;
  readonly customerId: string | undefined;
  readonly saveMethod: boolean;
  readonly returnUrl: string | undefined;
}

export interface ConfirmIntent extends CallOptions {
  readonly intentId: string;
  readonly paymentId: string;
  readonly amountCents: number;
  readonly currency: string;
  readonly method: string | undefined;
  readonly customerId: string | undefined;
  /** The intent may name another customer than this one, for whom nothing is to be saved. */
  readonly mayNameOtherCustomer?: boolean;
  readonly saveMethod?: boolean;
  readonly returnUrl: string | undefined;
  /** A charge of a saved method that its payer does not attend. */
  readonly offSession?: boolean | undefined;
}

/** What the record knows of a payment, for its provider to find it by. */
export interface KnownPayment {
  readonly intentId: string;
  /** The last attempt that the provider has named. */
  readonly attemptRef: string | undefined;
  /** The method that the record holds; it decides between created and requires_payment_method where the provider cannot. */
  readonly method: string | undefined;
  /** What the record says; it stands where the provider keeps no trace of a refused attempt or a cancellation. */
  readonly status: ReportedStatus;
}

export interface KeepMethod extends KnownPayment, CallOptions {
  readonly customerId: string;
}

export interface CustomerDetails {
  readonly email: string | undefined;
  readonly name: string | undefined;
  readonly phone: string | undefined;
}

export interface CreateCustomer extends CustomerDetails, CallOptions {
  readonly ourCustomerId: string;
}

/** What is undefined stays as it is, unless it is named among `cleared`. */
export interface UpdateCustomer extends CustomerDetails, CallOptions {
  readonly customerId: string;
  readonly cleared: readonly (keyof CustomerDetails)[];
}

export interface ProviderCustomer {
  readonly customerId: string;
}

/** A saved method as the provider has it. */
export interface ProviderMethod {
  readonly methodId: string;
  readonly customerId: string | undefined;
  readonly type: 'card' | 'bank_account';
  readonly walletType: string | undefined;
  readonly cardBrand: string | undefined;
  readonly lastFour: string | undefined;
  /** MM */
  readonly expiryMonth: string | undefined;
  /** YYYY */
  readonly expiryYear: string | undefined;
}

export interface AttachMethod extends CallOptions {
  readonly token: string;
  readonly customerId: string;
}

/** Card data on its way to the provider: never stored, logged or queued. */
export interface RawCard {
  readonly number: string;
  readonly expiryMonth: string;
  readonly expiryYear: string;
  readonly cvc: string | undefined;
}

export interface BillingDetails {
  readonly name: string | undefined;
  readonly line1: string | undefined;
  readonly line2: string | undefined;
  readonly city: string | undefined;
  readonly state: string | undefined;
  readonly postalCode: string | undefined;
  readonly country: string;
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
    /** The intent or order, where the object is a payment or capture of it. */
    readonly intentId: string | undefined;
    readonly amountCents: number | undefined;
    /** Upper-case ISO 4217. */
    readonly currency: string | undefined;
    readonly attemptRef: string | undefined;
    readonly failureCode: DeclineCode | undefined;
    readonly ourPaymentId: string | undefined;
    /** The payer has approved it: our capture is to follow. */
    readonly awaitsCapture?: true;
    /** Of payment_method events: what the provider says of the method. */
    readonly method: Omit<ProviderMethod, 'methodId' | 'customerId'> | undefined;
    /** Of customer events. */
    readonly customer: CustomerDetails | undefined;
    /** Of subscription events. */
    readonly subscription?: SubscriptionNews | undefined;
    /** Of invoice events. */
    readonly invoice?: InvoiceNews | undefined;
  };
}

export interface WebhookRequest {
  readonly raw: Buffer;
  readonly headers: Readonly<Record<string, string | undefined>>;
  /** Epoch milliseconds. */
  readonly now: number;
  /** Awaited before each call that verification makes to the provider; throws where the sender may cause no more. */
  readonly beforeAsking?: () => Promise<void>;
}

export interface PaymentProvider {
  readonly slot: ProviderSlot;
  readonly can: Capabilities;
  /** False where the secret that verifies its webhooks is missing: their route is closed. */
  readonly acceptsWebhooks: boolean;
  /** There where it bills subscriptions by itself; whether new ones are left to it, `can` says. */
  readonly subscriptions?: NativeSubscriptions | undefined;
  /**
   * Does this id, by its form, name an instrument that the provider stores (not a one-time token)? Stripe's forms do not
   * tell; Stripe itself refuses a method that is attached to another customer.
   */
  isStoredMethod(id: string): boolean;
  /** Asked before anything is written or sent; undefined where the provider can charge this. Needs no call, but at Square. */
  checkAmount(amount: Amount): Promise<AmountRefusal | undefined>;
  createIntent(input: CreateIntent): Promise<Outcome<ProviderPayment>>;
  updateIntent(input: UpdateIntent): Promise<Outcome<ProviderPayment>>;
  confirmIntent(input: ConfirmIntent): Promise<Outcome<ProviderPayment>>;
  cancelIntent(input: KnownPayment & CallOptions): Promise<Outcome<ProviderPayment>>;
  /** An authoritative read. */
  findPayment(known: KnownPayment): Promise<Outcome<ProviderPayment>>;
  /** The method that a succeeded payment was made with, kept for its customer. */
  keepMethod(input: KeepMethod): Promise<Outcome<ProviderMethod>>;
  createCustomer(input: CreateCustomer): Promise<Outcome<ProviderCustomer>>;
  updateCustomer(input: UpdateCustomer): Promise<Outcome<ProviderCustomer>>;
  /** Done, too, where the provider no longer has it. */
  deleteCustomer(customerId: string): Promise<Outcome<ProviderCustomer>>;
  /** Turns raw card data into a token to attach. */
  tokenizeCard(input: RawCard & CallOptions): Promise<Outcome<{ readonly token: string }>>;
  attachMethod(input: AttachMethod): Promise<Outcome<ProviderMethod>>;
  findMethod(methodId: string): Promise<Outcome<ProviderMethod>>;
  /** Done, too, where the provider no longer has it. */
  detachMethod(methodId: string): Promise<Outcome<{ readonly methodId: string }>>;
  updateBilling(
    input: { readonly methodId: string; readonly billing: BillingDetails } & CallOptions,
  ): Promise<Outcome<ProviderMethod>>;
  /** `unavailable`: nobody can tell now, the provider shall send it again. */
  verifyWebhook(request: WebhookRequest): Promise<'valid' | 'invalid' | 'unavailable'>;
  /** Reads an event in the provider's own vocabulary or the interface's; undefined where it is neither. */
  readEvent(body: unknown): ProviderEvent | undefined;
}

export interface Amount {
  /** ISO 4217 minor units. */
  readonly amountCents: number;
  /** Upper-case ISO 4217. */
  readonly currency: string;
}

/** Why a provider cannot charge an amount. */
export type AmountRefusal =
  /** @param only the one currency that it takes, where there is one */
  | { readonly kind: 'currency'; readonly only?: string }
  | { readonly kind: 'not expressible'; readonly multipleOf: number }
  | { readonly kind: 'too small'; readonly minimumCents: number }
  | { readonly kind: 'too large'; readonly maximumCents: number }
  /** The provider decides, and could not be asked. */
  | { readonly kind: 'not known'; readonly outcome: Exclude<Outcome<never>, { kind: 'done' }> };
