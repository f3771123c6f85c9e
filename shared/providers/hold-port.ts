/** @module The port to holds, which are amounts that a provider reserves until the merchant captures or releases them. */

import type { MethodKind } from '../core/fact-words.ts';
import type { Outcome } from '../core/outcome.ts';
import type { CallOptions, KnownPayment, ProviderPayment } from './payment-port.ts';

export interface CaptureHold extends KnownPayment, CallOptions {
  /** Our payment id. */
  readonly paymentId: string;
  /** The payment or authorization at the provider that holds the amount. */
  readonly providerPaymentId: string;
  /** The held amount, in minor units. */
  readonly authorizedCents: number;
  /** The amount to capture, in minor units, from 1 to the capturable amount. The rest is released. */
  readonly amountCents: number;
  readonly currency: string;
}

export interface ReleaseHold extends KnownPayment, CallOptions {
  readonly providerPaymentId: string;
}

/** If the provider refuses a capture or a release, it did nothing. The caller then reads the payment. */
export interface HoldsPort {
  /** False if no amount can be held on this method. `id` is the provider's id of a method, or a one-time token. */
  takes(method: { readonly id: string; readonly kind: MethodKind | undefined }): boolean;
  /** Captures the amount. Repeated calls with the same key capture it once. */
  capture(input: CaptureHold): Promise<Outcome<ProviderPayment>>;
  /** Ends the hold without a capture. */
  release(input: ReleaseHold): Promise<Outcome<ProviderPayment>>;
}
