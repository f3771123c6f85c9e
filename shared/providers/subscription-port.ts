import type { DeclineCode, Outcome } from '../core/outcome.ts';
import type { CallOptions, NextAction } from './payment-port.ts';

/**
 * The port to a provider that bills subscriptions. The provider charges on its own calendar and reports each charge; the
 * service records it and never charges a second time. Times are epoch seconds.
 */
export interface ProviderInvoice {
  readonly invoiceId: string;
  /** The intent that collects the invoice; undefined for an invoice of zero. */
  readonly intentId: string | undefined;
  readonly subscriptionId: string;
  readonly status: 'succeeded' | 'failed' | 'processing' | 'pending';
  /** Its payer owes it, and the provider may still collect it. */
  readonly isOpen?: boolean | undefined;
  /** Failed for good: its intent is canceled. */
  readonly isVoid?: boolean | undefined;
  /** Paid past the provider: its intent is canceled. */
  readonly isPaidElsewhere?: boolean | undefined;
  readonly amountCents: number;
  /** Upper-case ISO 4217. */
  readonly currency: string;
  /** The period that the invoice pays for. */
  readonly periodStart: number;
  readonly periodEnd: number;
  /** Number of tries to collect the invoice; each try is an attempt of one payment. */
  readonly attempts: number;
  readonly failureCode: DeclineCode | undefined;
  /** How the amount comes about; undefined: not reported. */
  readonly prices?: InvoicePrices | undefined;
  readonly reason?: InvoiceReason | undefined;
  /** The method that was tried last, or has paid. */
  readonly methodId?: string | undefined;
  /** What the payer's browser needs to pay an open invoice; undefined: none, or not reported. */
  readonly clientSecret?: string | undefined;
  readonly nextAction?: NextAction | undefined;
  /** Time of the provider's next try; null: no further try; undefined: not reported. */
  readonly nextAttempt: number | null | undefined;
}

/** amount = subtotal + tax − discount. What a customer's balance has paid counts as discount. */
export interface InvoicePrices {
  readonly subtotalCents: number;
  readonly taxCents: number;
  readonly discountCents: number;
}

/** Why the provider has made the invoice. */
export type InvoiceReason = 'create' | 'cycle' | 'change';

/** The state of a subscription at the provider. */
export interface ProviderSubscription {
  readonly subscriptionId: string;
  /** Our id in the provider's metadata. */
  readonly ourSubscriptionId: string | undefined;
  readonly status: 'trialing' | 'active' | 'past_due' | 'canceled' | 'paused';
  readonly currentPeriodStart: number;
  readonly currentPeriodEnd: number;
  readonly trialEnd: number | undefined;
  /** The trial is of this service: it covers time that is paid for already. */
  readonly isBridge: boolean;
  /** It ends by itself: with its period, or at `cancelAt`. */
  readonly cancelAtPeriodEnd: boolean;
  /** The date of its end; null: none of its own. */
  readonly cancelAt: number | null;
  /** The provider has given up collecting: it makes no further try. */
  readonly isUnpaid: boolean;
  /** What a period costs before discounts, taxes and balance: its items, price × quantity. */
  readonly price: { readonly amountCents: number; readonly currency: string } | undefined;
  readonly methodId: string | undefined;
  /** The first charge was never paid: unless the payer pays it within a day, the provider ends the subscription. */
  readonly isIncomplete: boolean;
  /** The newest invoice above zero. */
  readonly latestInvoice: ProviderInvoice | undefined;
  /** What is owed: every open invoice, oldest first. Also those that this call has paid or voided. */
  readonly owed: readonly ProviderInvoice[];
}

type Reported<T> = { readonly [Field in keyof T]: T[Field] | undefined };

/** A subscription in an event; the event may leave out fields. */
export type EventSubscription = Pick<ProviderSubscription, 'subscriptionId'> &
  Reported<Omit<ProviderSubscription, 'subscriptionId' | 'isIncomplete' | 'latestInvoice' | 'owed'>>;

/** An invoice in an event; the event may leave out fields. */
export type EventInvoice = Pick<ProviderInvoice, 'invoiceId'> &
  Reported<Omit<ProviderInvoice, 'invoiceId'>> &
  Pick<ProviderSubscription, 'ourSubscriptionId'>;

export interface NewProviderSubscription extends CallOptions {
  readonly ourSubscriptionId: string;
  readonly customerId: string;
  readonly methodId: string;
  readonly amountCents: number;
  readonly currency: string;
  /** Quarterly is three months. */
  readonly unit: 'day' | 'week' | 'month' | 'year';
  readonly count: number;
  /** No charge before then. */
  readonly trialEnd: number | undefined;
  /** The trial covers time that is paid for already. */
  readonly isBridge?: boolean;
  readonly description: string | undefined;
  /** The payer attends: a first charge may wait for their authentication. False: it is declined then. */
  readonly isAttended: boolean;
  /** Our product, if the subscription has one. */
  readonly productId: string | undefined;
  readonly productName: string | undefined;
}

type OfSubscription = CallOptions & { readonly subscriptionId: string };

export interface SubscriptionsPort {
  /** False for an interval that the provider refuses (at Stripe: over three years); then the service bills. */
  bills(interval: Pick<NewProviderSubscription, 'unit' | 'count'>): boolean;
  /** `declined` if the first charge is declined: the provider then has no subscription that could charge. */
  create(input: NewProviderSubscription): Promise<Outcome<ProviderSubscription>>;
  /** An authoritative read. */
  find(subscriptionId: string): Promise<Outcome<ProviderSubscription>>;
  /**
   * A customer's live subscriptions with our id: a creation whose answer was lost may have left one. If the customer was
   * deleted, the ended subscriptions with our id, whenever they ended: those of a deleted customer are among them. What they owe
   * is not read.
   * @param input.createdSince epoch seconds; applies to the ended ones, which are searched for among those of all customers
   */
  findOurs(input: {
    readonly customerId: string;
    readonly ourSubscriptionId: string;
    readonly createdSince: number;
  }): Promise<Outcome<readonly ProviderSubscription[]>>;
  /**
   * The next charge uses the method. All open invoices are tried with it immediately, oldest first, up to the first that is not paid.
   * @param input.isAttended the payer attends, and may authenticate
   */
  changeMethod(
    input: OfSubscription & { readonly methodId: string; readonly isAttended: boolean },
  ): Promise<Outcome<ProviderSubscription>>;
  /** Pays the open invoices of a subscription that is past due with a method that its payer has just paid with. */
  payOwed(input: OfSubscription & { readonly methodId: string }): Promise<Outcome<ProviderSubscription>>;
  scheduleCancel(input: OfSubscription & { readonly cancel: boolean }): Promise<Outcome<ProviderSubscription>>;
  /**
   * Cancels immediately and voids all open invoices. Done also if the provider no longer has the subscription.
   * @returns the invoices that it has voided: a charge that was under way continues
   */
  cancel(input: OfSubscription): Promise<Outcome<Pick<ProviderSubscription, 'subscriptionId' | 'owed'>>>;
  /** @param input.dropsUnpaid open invoices are voided, so that their payer cannot pay them later either */
  pause(input: OfSubscription & { readonly dropsUnpaid?: true }): Promise<Outcome<ProviderSubscription>>;
  /**
   * @param input.inNewPeriod a new period starts now and is charged. If the charge is declined, the subscription stays paused. If
   * the subscription is not paused at the provider, nothing is charged.
   */
  resume(input: OfSubscription & { readonly inNewPeriod: boolean }): Promise<Outcome<ProviderSubscription>>;
  findInvoice(invoiceId: string): Promise<Outcome<ProviderInvoice>>;
  /**
   * The paid invoices of a subscription, oldest first: a read of the subscription names only the newest one.
   * @param input.createdSince epoch seconds
   */
  findPaid(input: {
    readonly subscriptionId: string;
    readonly createdSince: number;
  }): Promise<Outcome<readonly ProviderInvoice[]>>;
  /** Writes our payment's id to the metadata of the intent that the provider created. */
  labelPayment(
    input: CallOptions & { readonly intentId: string; readonly paymentId: string },
  ): Promise<Outcome<{ readonly intentId: string }>>;
}
