/** @module The port to a payment provider. `can` lists capabilities. Every write has our own idempotency key. */

import type { Capabilities } from '../core/capabilities.ts';
import type { Outcome } from '../core/outcome.ts';
import type { AdapterName } from '../core/settings.ts';
import type {
  CreateCustomer,
  CustomerDetails,
  ProviderCustomer,
  ReportedDetails,
  UpdateCustomer,
} from './customer-port.ts';
import type { EventReceiver } from './event-port.ts';
import type { HoldsPort } from './hold-port.ts';
import type { HoldingsPort } from './holdings-port.ts';
import type { ListingPort } from './listing-port.ts';
import type { AttachMethod, BillingDetails, KeepMethod, ProviderMethod, RawCard, SetupsPort } from './method-port.ts';
import type {
  Amount,
  AmountRefusal,
  CallOptions,
  ConfirmIntent,
  CreateIntent,
  KnownPayment,
  ProviderPayment,
  UpdateIntent,
} from './payment-port.ts';
import type { RefundsPort } from './refund-port.ts';
import type { SubscriptionsPort } from './subscription-port.ts';

/** An address to which a provider sends events. */
export interface EventEndpoint {
  readonly url: string;
  readonly isEnabled: boolean;
  /** The API version of the events; undefined for the account's default version. */
  readonly version: string | undefined;
}

/** Set if a provider's events have versions. */
interface EventVersions {
  /** The version that the adapter reads. */
  readonly pinned: string;
  endpoints(): Promise<Outcome<readonly EventEndpoint[]>>;
}

/** A provider's report about a host that shows wallets. */
export interface PayDomain {
  /** True if Apple Pay is shown on the host. */
  readonly isActive: boolean;
  readonly problem?: string | undefined;
}

interface PayDomainsPort {
  register(host: string): Promise<Outcome<PayDomain>>;
}

export interface PaymentProvider extends Pick<EventReceiver, 'slot' | 'readEvent'> {
  readonly adapter: AdapterName;
  readonly can: Capabilities;
  /**
   * Set if the provider can bill subscriptions. The provider bills new subscriptions only if `can.subscriptions` is
   * `native`.
   */
  readonly subscriptions?: SubscriptionsPort | undefined;
  /** Set if the provider may ask the payer to authenticate before it saves a method. */
  readonly setups?: SetupsPort | undefined;
  /** Set if the provider can hold an amount for a later capture; `can.capturesLater` is then true. */
  readonly holds?: HoldsPort | undefined;
  /** Set if the provider accepts payments. */
  readonly refunds?: RefundsPort | undefined;
  readonly eventVersions?: EventVersions | undefined;
  /** Set if the provider shows Apple Pay only on registered hosts. */
  readonly payDomains?: PayDomainsPort | undefined;
  /** Set if customers of another integration can be imported. */
  readonly holdings?: HoldingsPort | undefined;
  /** Set if the provider can list its payments. */
  readonly listing?: ListingPort | undefined;
  /** True if the id's form shows a stored method, false for a one-time token, undefined if only a read can tell. */
  isStoredMethod(id: string): boolean | undefined;
  /**
   * Checks whether the amount can be charged, before any other call. Only Square's adapter calls its API here.
   * @returns undefined if the amount can be charged
   */
  checkAmount(amount: Amount): Promise<AmountRefusal | undefined>;
  /** Set if the account accepts only one currency. `refused` if the adapter cannot charge in that currency. */
  onlyCurrency?(): Promise<Outcome<string>>;
  createIntent(input: CreateIntent): Promise<Outcome<ProviderPayment>>;
  updateIntent(input: UpdateIntent): Promise<Outcome<ProviderPayment>>;
  confirmIntent(input: ConfirmIntent): Promise<Outcome<ProviderPayment>>;
  cancelIntent(input: KnownPayment & CallOptions): Promise<Outcome<ProviderPayment>>;
  /** An authoritative read. */
  findPayment(known: KnownPayment): Promise<Outcome<ProviderPayment>>;
  /** Saves the method of a succeeded payment for the customer of that payment. */
  keepMethod(input: KeepMethod): Promise<Outcome<ProviderMethod>>;
  createCustomer(input: CreateCustomer): Promise<Outcome<ProviderCustomer>>;
  updateCustomer(input: UpdateCustomer): Promise<Outcome<ProviderCustomer>>;
  /**
   * The contact details as the provider stores them. The provider may limit names, phone numbers and e-mail addresses.
   */
  keptContact(details: CustomerDetails): CustomerDetails;
  /** An authoritative read of the contact details. */
  findCustomer(customerId: string): Promise<Outcome<ReportedDetails>>;
  /** The outcome is `done` also if the provider no longer has the customer. */
  deleteCustomer(customerId: string): Promise<Outcome<ProviderCustomer>>;
  /** Exchanges raw card data for a token to attach. */
  tokenizeCard(input: RawCard & CallOptions): Promise<Outcome<{ readonly token: string }>>;
  attachMethod(input: AttachMethod): Promise<Outcome<ProviderMethod>>;
  findMethod(methodId: string): Promise<Outcome<ProviderMethod>>;
  /** The outcome is `done` also if the provider no longer has the method. */
  detachMethod(methodId: string): Promise<Outcome<{ readonly methodId: string }>>;
  updateBilling(
    input: { readonly methodId: string; readonly billing: BillingDetails } & CallOptions,
  ): Promise<Outcome<ProviderMethod>>;
}
