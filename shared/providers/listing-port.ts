/**
 * @module The port to a provider's own list of payments. An operator reads it after a restore of the table, because
 * payments made after the restored time exist only at the provider.
 */

import type { Outcome } from '../core/outcome.ts';
import type { CreateIntent, ProviderPayment } from './payment-port.ts';

/** A payment in the provider's list. Fields not returned by the provider are undefined. */
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

/** A live provider-billed subscription. */
export interface ListedSubscription {
  readonly subscriptionId: string;
  /** Our id in the provider's metadata. */
  readonly ourSubscriptionId: string;
  /** ISO 8601 */
  readonly createdAt: string;
}

export interface ListingPort {
  /** Describes which payments are missing from the list; undefined if the list is complete. */
  readonly leavesOut: string | undefined;
  /** The list may omit payments older than this; undefined if the list has no such limit. */
  readonly reachesBackMs: number | undefined;
  /**
   * The payments made since this time, oldest first, including payments without an id of this service. A payment with
   * several attempts is listed once.
   * @param since ISO 8601, inclusive
   */
  listPayments(since: string): Promise<Outcome<readonly ListedPayment[]>>;
  /** The live subscriptions of this service made since this time. Set if the provider bills subscriptions. */
  listSubscriptions?(since: string): Promise<Outcome<readonly ListedSubscription[]>>;
}
