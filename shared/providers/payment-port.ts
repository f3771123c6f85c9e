/** @module The port to a provider's payments. Amounts are ISO 4217 minor units, currencies upper-case codes. */

import type { MethodKind } from '../core/fact-words.ts';
import type { DeclineCode, Outcome } from '../core/outcome.ts';
import type { PaymentFacts } from '../core/payment-facts.ts';

/** The options of every call that writes at a provider. */
export interface CallOptions {
  /** Derived from our id and the attempt, so that a retry uses the same key. */
  readonly idempotencyKey: string;
}

/** The statuses of a payment that a provider can report. */
export type ReportedStatus =
  | 'requires_payment_method'
  | 'created'
  | 'pending'
  | 'processing'
  | 'requires_capture'
  | 'succeeded'
  | 'failed'
  | 'canceled';

export interface NextAction {
  readonly type: 'use_provider_sdk' | 'redirect_to_url';
  readonly url: string | undefined;
}

/** A hold for the merchant, as the provider reports it. */
export interface ProviderHold {
  /** The originally held amount, in minor units. */
  readonly authorizedCents: number;
  /** The still capturable amount, in minor units; 0 once the hold is captured or has ended. */
  readonly capturableCents: number;
  /** ISO 8601; when the hold expires at the provider, if reported. */
  readonly captureBefore: string | undefined;
  /** ISO 8601; until then, the provider guarantees the capture. */
  readonly guaranteedUntil?: string | undefined;
  /** ISO 8601; when the hold ended without a capture, if reported. */
  readonly endedAt?: string | undefined;
  /** Why the bank declined the last capture, if the provider stores declined captures. */
  readonly captureDeclined?: DeclineCode | undefined;
}

/** One of several captures of a hold. */
export interface ProviderCapture {
  readonly captureId: string;
  readonly amountCents: number;
}

export interface ProviderPayment {
  /** The id of the intent or order, known since its creation. */
  readonly intentId: string;
  /** The id of the payment or capture; equal to intentId before the first payment or capture. */
  readonly paymentId: string;
  readonly status: ReportedStatus;
  /**
   * The amount of the payment. For a hold, the held amount, and after a capture the captured amount. Undefined, like
   * the currency, if the provider no longer reports it.
   */
  readonly amountCents: number | undefined;
  /** Upper-case ISO 4217. */
  readonly currency: string | undefined;
  /** The provider's id of the last attempt. It shows whether an attempt reached the provider. */
  readonly attemptRef: string | undefined;
  readonly failureCode: DeclineCode | undefined;
  readonly clientSecret: string | undefined;
  readonly nextAction: NextAction | undefined;
  readonly methodId: string | undefined;
  /** Our payment id in the provider's metadata. */
  readonly ourPaymentId: string | undefined;
  /** True if the payer has approved the payment and the service must capture it. */
  readonly awaitsCapture?: true;
  /** True if the provider has refunded some or all of the money. The status stays `succeeded`. */
  readonly isRefunded?: true;
  /** The facts of the last attempt with a known outcome. */
  readonly facts?: PaymentFacts | undefined;
  /** Set once an amount was held for a later capture. Stays set after the capture or the end of the hold. */
  readonly hold?: ProviderHold | undefined;
  /** Set if several captures took the amount, oldest first. */
  readonly captures?: readonly ProviderCapture[] | undefined;
}

/** Refusal reason of a confirmation. The intent failed permanently or expired, and can never be charged again. */
export const INTENT_SPENT = 'intent_spent';

export interface CreateIntent extends CallOptions {
  readonly paymentId: string;
  readonly amountCents: number;
  readonly currency: string;
  readonly description: string | undefined;
  /** The provider's id of a saved method, or its one-time token. */
  readonly method: string | undefined;
  /** True for a saved method. It is charged only by a confirmation, after our check that it may be used. */
  readonly isSavedMethod?: boolean;
  readonly customerId: string | undefined;
  readonly saveMethod: boolean;
  readonly returnUrl: string | undefined;
  /** Set if the payment only holds the amount until the merchant captures it. */
  readonly captureMethod?: 'manual' | undefined;
}

export interface UpdateIntent extends CallOptions {
  readonly intentId: string;
  readonly amountCents: number;
  readonly currency: string;
  readonly description: string | undefined;
  /** undefined leaves the method unchanged; null removes it. */
  readonly method: string | null | undefined;
  /** As in `CreateIntent`. */
  readonly isSavedMethod?: boolean;
  readonly customerId: string | undefined;
  readonly saveMethod: boolean;
  readonly returnUrl: string | undefined;
  /** Undefined if the payment is captured automatically both before and after the update. */
  readonly captureMethod?: 'manual' | 'automatic' | undefined;
}

export interface ConfirmIntent extends CallOptions {
  readonly intentId: string;
  readonly paymentId: string;
  readonly amountCents: number;
  readonly currency: string;
  readonly method: string | undefined;
  /** Undefined if unknown. An adapter that needs the kind then reads the method first. */
  readonly methodKind?: MethodKind | undefined;
  readonly customerId: string | undefined;
  /** True if the intent may name another customer, for whom the method must not be saved. */
  readonly mayNameOtherCustomer?: boolean;
  readonly saveMethod?: boolean;
  readonly returnUrl: string | undefined;
  /** True for a charge of a saved method without the payer present. */
  readonly offSession?: boolean | undefined;
  /** Proof that the payer has authenticated. It is used in this call only and never stored. */
  readonly verificationToken?: string | undefined;
  readonly isRecurring?: boolean | undefined;
  /** Set if the payment only holds the amount until the merchant captures it. */
  readonly captureMethod?: 'manual' | undefined;
}

/** The fields of our record that identify the payment at its provider. */
export interface KnownPayment {
  readonly intentId: string;
  /** The last attempt that the provider has reported. */
  readonly attemptRef: string | undefined;
  /** Our record's method. It decides between created and requires_payment_method if the provider does not. */
  readonly method: string | undefined;
  /** The status in our record, for providers that store neither refused attempts nor cancellations. */
  readonly status: ReportedStatus;
  /** As in `CreateIntent`. */
  readonly captureMethod?: 'manual' | undefined;
  /** True to read the settlement as well, which may take longer. */
  readonly withSettlement?: true;
}

export interface Amount {
  /** ISO 4217 minor units. */
  readonly amountCents: number;
  /** Upper-case ISO 4217. */
  readonly currency: string;
}

export type AmountRefusal =
  /** `only` is the single currency that the provider accepts. */
  | { readonly kind: 'currency'; readonly only?: string }
  | { readonly kind: 'not expressible'; readonly multipleOf: number }
  | { readonly kind: 'too small'; readonly minimumCents: number }
  | { readonly kind: 'too large'; readonly maximumCents: number }
  /** Only the provider can decide, but the call to it failed. */
  | { readonly kind: 'not known'; readonly outcome: Exclude<Outcome<never>, { kind: 'done' }> };
