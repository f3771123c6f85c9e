import type { DeclineCode, Outcome } from '../core/outcome.ts';

/** The options of every call that writes at a provider. */
export interface CallOptions {
  /** Derived from our id and attempt, so that a repeat is the same call. */
  readonly idempotencyKey: string;
}

/** The statuses of a payment that a provider can report. */
export type ReportedStatus =
  | 'requires_payment_method'
  | 'created'
  | 'pending'
  | 'processing'
  | 'succeeded'
  | 'failed'
  | 'canceled';

/** The next step of the payer. */
export interface NextAction {
  readonly type: 'use_provider_sdk' | 'redirect_to_url';
  readonly url: string | undefined;
}

/** The state of a payment at the provider. */
export interface ProviderPayment {
  /** The intent or order, known from its creation. */
  readonly intentId: string;
  /** The payment or capture; equals intentId before the first payment or capture. */
  readonly paymentId: string;
  readonly status: ReportedStatus;
  /** Amount and currency are undefined if the provider no longer reports them. */
  readonly amountCents: number | undefined;
  /** Upper-case ISO 4217. */
  readonly currency: string | undefined;
  /** The last attempt to charge; shows whether an attempt reached the provider. */
  readonly attemptRef: string | undefined;
  readonly failureCode: DeclineCode | undefined;
  readonly clientSecret: string | undefined;
  readonly nextAction: NextAction | undefined;
  /** The method of the payment at the provider. */
  readonly methodId: string | undefined;
  /** Our payment id in the provider's metadata. */
  readonly ourPaymentId: string | undefined;
  /** The payer has approved the payment: the service must capture it. */
  readonly awaitsCapture?: true;
  /** The provider has given back some or all of the money. The status stays `succeeded`. */
  readonly isRefunded?: true;
}

/** Refusal reason of a confirmation: the intent can never be charged again, because it failed for good or has expired. */
export const INTENT_SPENT = 'intent_spent';

export interface CreateIntent extends CallOptions {
  readonly paymentId: string;
  readonly amountCents: number;
  readonly currency: string;
  readonly description: string | undefined;
  /** The provider's own id or one-time token of a method. */
  readonly method: string | undefined;
  /** A saved method is charged only by a confirmation that passed the rule of use. */
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
  /** undefined: unchanged; null: removed. */
  readonly method: string | null | undefined;
  /** As at creation. */
  readonly isSavedMethod?: boolean;
  readonly customerId: string | undefined;
  readonly saveMethod: boolean;
  readonly returnUrl: string | undefined;
}

/** What a provider must know of a saved method to charge it. A wallet is an account at the provider. */
export type MethodKind = 'card' | 'bank_account' | 'wallet';

export interface ConfirmIntent extends CallOptions {
  readonly intentId: string;
  readonly paymentId: string;
  readonly amountCents: number;
  readonly currency: string;
  readonly method: string | undefined;
  /** undefined: not known here; a provider that needs it reads the method first. */
  readonly methodKind?: MethodKind | undefined;
  readonly customerId: string | undefined;
  /** The intent may name another customer, for whom the method must not be saved. */
  readonly mayNameOtherCustomer?: boolean;
  readonly saveMethod?: boolean;
  readonly returnUrl: string | undefined;
  /** A charge of a saved method that its payer does not attend. */
  readonly offSession?: boolean | undefined;
  /** Proof that the payer has authenticated; used in this call only, never stored. */
  readonly verificationToken?: string | undefined;
  /** One of the charges of a subscription. */
  readonly isRecurring?: boolean | undefined;
}

/** The fields of a record by which the provider finds its payment. */
export interface KnownPayment {
  readonly intentId: string;
  /** The last attempt that the provider has reported. */
  readonly attemptRef: string | undefined;
  /** The method in the record; it decides between created and requires_payment_method if the provider cannot tell. */
  readonly method: string | undefined;
  /** The status in the record; it counts if the provider stores no refused attempt or cancelation. */
  readonly status: ReportedStatus;
}

export interface Amount {
  /** ISO 4217 minor units. */
  readonly amountCents: number;
  /** Upper-case ISO 4217. */
  readonly currency: string;
}

/** Why a provider cannot charge an amount. */
export type AmountRefusal =
  /** `only`: the single currency that the provider takes. */
  | { readonly kind: 'currency'; readonly only?: string }
  | { readonly kind: 'not expressible'; readonly multipleOf: number }
  | { readonly kind: 'too small'; readonly minimumCents: number }
  | { readonly kind: 'too large'; readonly maximumCents: number }
  /** The provider must decide, and the call to it failed. */
  | { readonly kind: 'not known'; readonly outcome: Exclude<Outcome<never>, { kind: 'done' }> };
