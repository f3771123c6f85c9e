import type { Capabilities } from '../core/capabilities.ts';
import type { Outcome } from '../core/outcome.ts';
import type {
  CreateCustomer,
  CustomerDetails,
  ProviderCustomer,
  ReportedDetails,
  UpdateCustomer,
} from './customer-port.ts';
import type { EventReceiver } from './event-port.ts';
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

/**
 * The port to a payment provider. `can` has the provider's capabilities as data. Every write has our own key, derived
 * from our id and attempt, so that the provider recognizes a repeat.
 */
export interface PaymentProvider extends Pick<EventReceiver, 'slot' | 'readEvent'> {
  readonly can: Capabilities;
  /** Set if the provider can bill subscriptions; `can.subscriptions` tells whether it bills new subscriptions. */
  readonly subscriptions?: SubscriptionsPort | undefined;
  /** Set if the provider may ask the payer to authenticate before it saves a method. */
  readonly setups?: SetupsPort | undefined;
  /** Set if the provider takes payments. */
  readonly refunds?: RefundsPort | undefined;
  /**
   * True if the form of the id shows an instrument that the provider stores, false for a one-time token; undefined if a read of the
   * method alone shows it.
   */
  isStoredMethod(id: string): boolean | undefined;
  /** Called before any write or other call. @returns undefined if the provider can charge it. Only Square needs a call. */
  checkAmount(amount: Amount): Promise<AmountRefusal | undefined>;
  /** Set where the account takes one currency only. `refused` if the adapter cannot charge in it. */
  onlyCurrency?(): Promise<Outcome<string>>;
  createIntent(input: CreateIntent): Promise<Outcome<ProviderPayment>>;
  updateIntent(input: UpdateIntent): Promise<Outcome<ProviderPayment>>;
  confirmIntent(input: ConfirmIntent): Promise<Outcome<ProviderPayment>>;
  cancelIntent(input: KnownPayment & CallOptions): Promise<Outcome<ProviderPayment>>;
  /** An authoritative read. */
  findPayment(known: KnownPayment): Promise<Outcome<ProviderPayment>>;
  /** Saves the method of a succeeded payment for its customer. */
  keepMethod(input: KeepMethod): Promise<Outcome<ProviderMethod>>;
  createCustomer(input: CreateCustomer): Promise<Outcome<ProviderCustomer>>;
  updateCustomer(input: UpdateCustomer): Promise<Outcome<ProviderCustomer>>;
  /** The details that the provider keeps of ours: it may have limits on names, phone numbers and e-mail addresses. */
  keptContact(details: CustomerDetails): CustomerDetails;
  /** An authoritative read of the contact details. */
  findCustomer(customerId: string): Promise<Outcome<ReportedDetails>>;
  /** Done also if the provider no longer has the customer. */
  deleteCustomer(customerId: string): Promise<Outcome<ProviderCustomer>>;
  /** Turns raw card data into a token to attach. */
  tokenizeCard(input: RawCard & CallOptions): Promise<Outcome<{ readonly token: string }>>;
  attachMethod(input: AttachMethod): Promise<Outcome<ProviderMethod>>;
  findMethod(methodId: string): Promise<Outcome<ProviderMethod>>;
  /** Done also if the provider no longer has the method. */
  detachMethod(methodId: string): Promise<Outcome<{ readonly methodId: string }>>;
  updateBilling(
    input: { readonly methodId: string; readonly billing: BillingDetails } & CallOptions,
  ): Promise<Outcome<ProviderMethod>>;
}
