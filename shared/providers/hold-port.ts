/** @module The port to holds, which are amounts that a provider reserves until the merchant captures or releases them. */

import type { MethodKind } from '../core/fact-words.ts';
import type { Outcome } from '../core/outcome.ts';
import type { CallOptions, KnownPayment, ProviderPayment } from './payment-port.ts';

export interface CaptureHold extends KnownPayment, CallOptions {
  /** Ours. */
  readonly paymentId: string;
  /** The payment or authorization at the provider that holds the amount. */
  readonly providerPaymentId: string;
  /** What is held, in minor units. */
  readonly authorizedCents: number;
  /** What to take, in minor units, from 1 to what can be captured. The rest is released. */
  readonly amountCents: number;
  readonly currency: string;
}

export interface ReleaseHold extends KnownPayment, CallOptions {
  readonly providerPaymentId: string;
}

/** A refusal of either call says only that the provider did nothing. The caller then reads the payment. */
export interface HoldsPort {
  /** False if an amount cannot be held on this method. The id is the method's, or the one-time token's, at the provider. */
  takes(method: { readonly id: string; readonly kind: MethodKind | undefined }): boolean;
  /** Takes the amount once; the same key takes it once however often it is sent. */
  capture(input: CaptureHold): Promise<Outcome<ProviderPayment>>;
  /** Ends the hold without taking anything. */
  release(input: ReleaseHold): Promise<Outcome<ProviderPayment>>;
}
