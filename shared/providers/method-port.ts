/** @module The port to a provider's saved methods, and to set-ups that the payer must authenticate. */

import type { Funding } from '../core/fact-words.ts';
import type { Outcome } from '../core/outcome.ts';
import type { CallOptions, KnownPayment, NextAction } from './payment-port.ts';

/** Refusal reason. The method belongs to another customer at the provider, or can no longer be attached. */
export const NOT_ATTACHABLE = 'not_attachable';

export interface KeepMethod extends KnownPayment, CallOptions {
  readonly customerId: string;
}

export interface ProviderMethod {
  readonly methodId: string;
  readonly customerId: string | undefined;
  /** Our customer id, if the provider stores it with the method. */
  readonly ourCustomerId?: string | undefined;
  readonly type: 'card' | 'bank_account';
  readonly walletType: string | undefined;
  readonly cardBrand: string | undefined;
  readonly lastFour: string | undefined;
  /** Format MM. */
  readonly expiryMonth: string | undefined;
  /** Format YYYY. */
  readonly expiryYear: string | undefined;
  readonly funding?: Funding | undefined;
  /** The issuer's country, as an ISO 3166-1 alpha-2 code. */
  readonly country?: string | undefined;
  /** Our fingerprint, as in `MethodDetails`. */
  readonly fingerprint?: string | undefined;
  /** Set if the payer must authenticate before the provider attaches the method to its customer. */
  readonly setup?: OpenSetup | undefined;
}

export interface OpenSetup {
  readonly setupId: string;
  /** The secret that the payer's browser needs to authenticate. */
  readonly clientSecret: string | undefined;
  readonly nextAction: NextAction | undefined;
}

export interface ProviderSetup {
  readonly setupId: string;
  /** After `failed`, the payer may try again with the client secret. `succeeded` and `canceled` are final. */
  readonly status: 'requires_action' | 'failed' | 'succeeded' | 'canceled';
  /** The method that the set-up saves. After a failure, the payer may enter another method. */
  readonly method: ProviderMethod | undefined;
}

/** Set-ups of a provider that requires the payer to authenticate before it saves a method. */
export interface SetupsPort {
  /** An authoritative read. The status is also `canceled` if the provider no longer has the set-up. */
  find(setupId: string): Promise<Outcome<ProviderSetup>>;
  /** Returns `canceled`, or `succeeded` if the payer finished first. A canceled set-up attaches no method. */
  cancel(setupId: string): Promise<Outcome<ProviderSetup>>;
}

export interface AttachMethod extends CallOptions {
  /** Our id of the new method. */
  readonly paymentMethodId: string;
  readonly token: string;
  readonly customerId: string;
  /** Proof that the payer has authenticated. It is used in this call only and never stored. */
  readonly verificationToken?: string | undefined;
}

/** Card data in transit to the provider. It is never stored, logged or queued. */
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
