/** @module The port to a billing provider of subscriptions only recorded by the service. Times are epoch seconds. */

import type { DeclineCode, Outcome } from '../core/outcome.ts';
import type { ProviderDecline } from '../core/payment-facts.ts';
import type { CallOptions, NextAction } from './payment-port.ts';

export interface ProviderInvoice {
  readonly invoiceId: string;
  /** The intent that collects the invoice; undefined for an invoice with a total of zero. */
  readonly intentId: string | undefined;
  readonly subscriptionId: string;
  readonly status: 'succeeded' | 'failed' | 'processing' | 'pending';
  /** True if the payer owes the invoice and the provider may still collect it. */
  readonly isOpen?: boolean | undefined;
  /** True if the invoice failed permanently and its intent is canceled. */
  readonly isVoid?: boolean | undefined;
  /** True if the invoice was paid outside the provider and its intent is canceled. */
  readonly isPaidElsewhere?: boolean | undefined;
  readonly amountCents: number;
  /** Upper-case ISO 4217. */
  readonly currency: string;
  /** The period that the invoice pays for. */
  readonly periodStart: number;
  readonly periodEnd: number;
  /** When the invoice was made, and when it was paid; undefined if not reported. */
  readonly createdAt?: number | undefined;
  readonly paidAt?: number | undefined;
  /** Number of tries to collect the invoice. Each try is an attempt of the same payment. */
  readonly attempts: number;
  readonly failureCode: DeclineCode | undefined;
  /** The provider's words for the last failed try; undefined if not reported. */
  readonly decline?: ProviderDecline | undefined;
  /** The amount before the payer's balance at the provider is applied; undefined if not reported. */
  readonly totalCents?: number | undefined;
  /** The parts of the amount; undefined if not reported. */
  readonly prices?: InvoicePrices | undefined;
  readonly reason?: InvoiceReason | undefined;
  /** The method of the last try, or the method that paid the invoice. */
  readonly methodId?: string | undefined;
  /** The secret with which the payer's browser pays an open invoice; undefined if absent or not reported. */
  readonly clientSecret?: string | undefined;
  readonly nextAction?: NextAction | undefined;
  /** Time of the provider's next try; null if none is planned, undefined if not reported. */
  readonly nextAttempt: number | null | undefined;
}

/** amount = subtotal + tax − discount. A customer's credit balance counts as a discount. */
export interface InvoicePrices {
  readonly subtotalCents: number;
  readonly taxCents: number;
  readonly discountCents: number;
}

/**
 * The provider's discount on the price of later periods. `percent` and `amount` apply until they are removed. `other`
 * if only the provider knows the charged amount, such as with a temporary discount, several discounts, or a tax.
 */
export type ProviderPricing =
  | { readonly kind: 'list' }
  | { readonly kind: 'percent'; readonly percent: number }
  | { readonly kind: 'amount'; readonly amountCents: number }
  | { readonly kind: 'other' };

export type InvoiceReason = 'create' | 'cycle' | 'change';

export interface ProviderSubscription {
  readonly subscriptionId: string;
  /** Our id in the provider's metadata. */
  readonly ourSubscriptionId: string | undefined;
  readonly status: 'trialing' | 'active' | 'past_due' | 'canceled' | 'paused';
  readonly currentPeriodStart: number;
  readonly currentPeriodEnd: number;
  readonly trialEnd: number | undefined;
  /** True if the service added the trial to cover time that is already paid. */
  readonly isBridge: boolean;
  /** True if the subscription is scheduled to end, with its period or at `cancelAt`. */
  readonly cancelAtPeriodEnd: boolean;
  /** The scheduled end date; null if no date is set. */
  readonly cancelAt: number | null;
  /** True if the provider has stopped collecting and makes no further try. */
  readonly isUnpaid: boolean;
  /** The price of a period before discounts, taxes and balance, which is the sum of price × quantity over the items. */
  readonly price: { readonly amountCents: number; readonly currency: string } | undefined;
  readonly methodId: string | undefined;
  /** Our id of the last price change, if there was one. */
  readonly changeId?: string | undefined;
  /** True if the first charge is unpaid. Unless the payer pays it within a day, the provider ends the subscription. */
  readonly isIncomplete: boolean;
  /** The newest invoice above zero. */
  readonly latestInvoice: ProviderInvoice | undefined;
  /** Every open invoice, oldest first. Also includes the invoices that this call has paid or voided. */
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
  /** A quarter is three months. */
  readonly unit: 'day' | 'week' | 'month' | 'year';
  readonly count: number;
  /** The first charge is not before this time. */
  readonly trialEnd: number | undefined;
  /** True if the trial covers already paid time. */
  readonly isBridge?: boolean;
  readonly description: string | undefined;
  /** True if the payer is present to authenticate a first charge. Otherwise such a charge is declined. */
  readonly isAttended: boolean;
  /** Our product, if the subscription has one. */
  readonly productId: string | undefined;
  readonly productName: string | undefined;
}

type OfSubscription = CallOptions & { readonly subscriptionId: string };

export type NewPrice = OfSubscription &
  Pick<NewProviderSubscription, 'amountCents' | 'currency' | 'unit' | 'count' | 'productId' | 'productName'> & {
    /** Our id of the change. If a read returns this id, the provider has the new price. */
    readonly changeId: string;
    /**
     * Nothing is charged before this time. Required for a new interval, which would otherwise be charged immediately,
     * and to shorten or end a trial.
     */
    readonly trialEnd: number | 'now' | undefined;
    /** True if this trial covers already paid time. */
    readonly isBridge: boolean;
    /** True to void the open invoices first, because a paid period already covers their periods. */
    readonly dropsUnpaid?: true;
  };

export interface SubscriptionsPort {
  /** False if the provider refuses the interval (Stripe, over three years). Then the service bills the subscription. */
  bills(interval: Pick<NewProviderSubscription, 'unit' | 'count'>): boolean;
  /** `declined` if the first charge is declined. The provider then keeps no subscription that could charge. */
  create(input: NewProviderSubscription): Promise<Outcome<ProviderSubscription>>;
  /** An authoritative read. */
  find(subscriptionId: string): Promise<Outcome<ProviderSubscription>>;
  /**
   * Finds the customer's live subscriptions with our id, such as one left by a creation whose response was lost. If the
   * customer was deleted, finds the ended subscriptions with our id instead, whatever their end date. Their open
   * invoices are not read.
   * @param input.createdSince epoch seconds; limits the ended subscriptions, which are searched across all customers
   */
  findOurs(input: {
    readonly customerId: string;
    readonly ourSubscriptionId: string;
    readonly createdSince: number;
  }): Promise<Outcome<readonly ProviderSubscription[]>>;
  /**
   * Sets the method for later charges, and charges the open invoices now, oldest first, until one stays unpaid.
   * @param input.isAttended true if the payer is present and may authenticate
   */
  changeMethod(
    input: OfSubscription & { readonly methodId: string; readonly isAttended: boolean },
  ): Promise<Outcome<ProviderSubscription>>;
  /** Pays the open invoices of a past-due subscription with a method just used by the payer for a payment. */
  payOwed(input: OfSubscription & { readonly methodId: string }): Promise<Outcome<ProviderSubscription>>;
  /** Reads the discounts and taxes of the next periods. */
  findPricing(subscriptionId: string): Promise<Outcome<ProviderPricing>>;
  /**
   * Marks a subscription of another integration as ours, by our id in its metadata.
   * @param input.methodId becomes the subscription's own method; absent if it has one
   */
  adopt(
    input: OfSubscription & { readonly ourSubscriptionId: string; readonly methodId?: string | undefined },
  ): Promise<Outcome<ProviderSubscription>>;
  /** Sets the price of later periods. The current period is neither charged nor credited. */
  changePrice(input: NewPrice): Promise<Outcome<{ readonly subscriptionId: string }>>;
  scheduleCancel(input: OfSubscription & { readonly cancel: boolean }): Promise<Outcome<ProviderSubscription>>;
  /**
   * Cancels immediately and voids all open invoices. Also done if the provider no longer has the subscription.
   * @returns the voided invoices; a charge in progress continues
   */
  cancel(input: OfSubscription): Promise<Outcome<Pick<ProviderSubscription, 'subscriptionId' | 'owed'>>>;
  /** @param input.dropsUnpaid true to void the open invoices, so that the payer cannot pay them later */
  pause(input: OfSubscription & { readonly dropsUnpaid?: true }): Promise<Outcome<ProviderSubscription>>;
  /**
   * @param input.inNewPeriod true to start and charge a new period now. If the charge is declined, the subscription
   * stays paused. If the subscription is not paused at the provider, nothing is charged.
   */
  resume(input: OfSubscription & { readonly inNewPeriod: boolean }): Promise<Outcome<ProviderSubscription>>;
  findInvoice(invoiceId: string): Promise<Outcome<ProviderInvoice>>;
  /** The paid invoices, oldest first; `find` reports only the newest. @param input.createdSince epoch seconds */
  findPaid(input: {
    readonly subscriptionId: string;
    readonly createdSince: number;
  }): Promise<Outcome<readonly ProviderInvoice[]>>;
  /** Writes our payment id to the metadata of the intent that the provider created. */
  labelPayment(
    input: CallOptions & { readonly intentId: string; readonly paymentId: string },
  ): Promise<Outcome<{ readonly intentId: string }>>;
}
