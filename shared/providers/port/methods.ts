import type { CallOptions } from './call-options.ts';
import type { KnownPayment } from './payments.ts';

/** Refusal reason: the provider stores the method for another customer, or does not store it a second time. */
export const NOT_ATTACHABLE = 'not_attachable';

export interface KeepMethod extends KnownPayment, CallOptions {
  readonly customerId: string;
}

/** The state of a saved method at the provider. */
export interface ProviderMethod {
  readonly methodId: string;
  /** The provider's id of the customer. */
  readonly customerId: string | undefined;
  /** Our id of the customer, where the provider stores it beside the method. */
  readonly ourCustomerId?: string | undefined;
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
  /** Proof that the payer has authenticated; used in this call only, never stored. */
  readonly verificationToken?: string | undefined;
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
