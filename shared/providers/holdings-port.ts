/**
 * @module The port to a provider's data about a customer created by another integration. The port only reads, so
 * planning an import charges and changes nothing.
 */

import type { Outcome } from '../core/outcome.ts';
import type { ReportedDetails } from './customer-port.ts';
import type { ProviderMethod } from './method-port.ts';
import type { NewProviderSubscription, ProviderPricing, ProviderSubscription } from './subscription-port.ts';

/** Refusal reasons. Any other outcome means that the provider cannot be read now. */
export const NO_CUSTOMER = 'customer_not_found';
export const CUSTOMER_DELETED = 'customer_deleted';

/** Reasons why the service cannot take over a subscription from the provider's billing. */
export const OBSTACLES = [
  'several_items',
  'metered',
  'tiered',
  'schedule',
  'send_invoice',
  'paused',
  'incomplete',
] as const;
export type Obstacle = (typeof OBSTACLES)[number];

/** Amounts are in minor units, times are epoch seconds. */
export interface HeldTerms {
  /** The first obstacle, in the order of `OBSTACLES`. If set, other fields may describe only the first item. */
  readonly obstacle: Obstacle | undefined;
  readonly priceId: string;
  readonly quantity: number;
  /** The price of a period before discounts, for the whole quantity; undefined if the service cannot express it. */
  readonly listCents: number | undefined;
  /** Upper-case ISO 4217. */
  readonly currency: string;
  readonly unit: NewProviderSubscription['unit'];
  readonly count: number;
  readonly pricing: ProviderPricing;
  readonly isTaxed: boolean;
  /** The subscription's own method; undefined if the customer's default pays. */
  readonly methodId: string | undefined;
  readonly anchor: number;
  readonly startedAt: number;
  /** The invoice that paid for the current period, and its paid amount after refunds. */
  readonly openedBy: { readonly invoice: string; readonly paidCents: number } | undefined;
}

export interface HeldSubscription {
  readonly report: ProviderSubscription;
  readonly terms: HeldTerms;
}

export interface Holdings {
  readonly contact: ReportedDetails;
  readonly defaultMethodId: string | undefined;
  /** The methods that the service can charge. */
  readonly methods: readonly ProviderMethod[];
  /** The live subscriptions. */
  readonly subscriptions: readonly HeldSubscription[];
}

export interface HoldingsPort {
  /** Authoritative reads. Refused with `NO_CUSTOMER` or `CUSTOMER_DELETED`. */
  holdingsOf(customerId: string): Promise<Outcome<Holdings>>;
}
