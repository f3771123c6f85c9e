/**
 * @module The port to a provider's own list of payments. An operator reads it after the table was restored, because
 * payments that were made after the restored time exist only there.
 */

import type { Outcome } from '../core/outcome.ts';
import type { CreateIntent, ProviderPayment } from './payment-port.ts';

/** A payment as its provider lists it. A field that the provider does not return is undefined. */
export interface ListedPayment {
  readonly report: ProviderPayment;
  /** ISO 8601; when the intent, the order or the charge was made. */
  readonly createdAt: string;
  /** ISO 8601; when the last attempt was made. */
  readonly attemptedAt: string | undefined;
  /** The provider's id of the customer. */
  readonly customerId: string | undefined;
  readonly description: string | undefined;
  readonly captureMethod: CreateIntent['captureMethod'];
}

/** A live subscription that the provider bills. */
export interface ListedSubscription {
  readonly subscriptionId: string;
  /** Our id in the provider's metadata. */
  readonly ourSubscriptionId: string;
  /** ISO 8601 */
  readonly createdAt: string;
}

export interface ListingPort {
  /** The payments that the list leaves out, in words; undefined if it is complete. */
  readonly leavesOut: string | undefined;
  /** The list may leave out payments that were made longer ago; undefined if it has no such limit. */
  readonly reachesBackMs: number | undefined;
  /**
   * The payments that were made since this time, oldest first; also those that name no payment of this service. A
   * payment with several attempts is listed once.
   * @param since ISO 8601, inclusive
   */
  listPayments(since: string): Promise<Outcome<readonly ListedPayment[]>>;
  /** The live subscriptions of this service that were made since this time. Set if the provider bills subscriptions. */
  listSubscriptions?(since: string): Promise<Outcome<readonly ListedSubscription[]>>;
}
