import type { DeclineCode, Outcome } from '../../core/outcome.ts';
import type { CallOptions } from './call-options.ts';

/**
 * The port to a provider that bills subscriptions by itself: it charges on its own calendar and tells of it; here it is
 * mirrored, never charged a second time. Times are epoch seconds.
 */
export interface ProviderInvoice {
  readonly invoiceId: string;
  /** The intent that collects it; undefined for an invoice of nothing. */
  readonly intentId: string | undefined;
  readonly subscriptionId: string;
  readonly status: 'succeeded' | 'failed' | 'processing' | 'pending';
  readonly amountCents: number;
  /** Upper-case ISO 4217. */
  readonly currency: string;
  /** The period that it pays for. */
  readonly periodStart: number;
  readonly periodEnd: number;
  /** How often its collection was tried; each try is an attempt of one payment. */
  readonly attempts: number;
  readonly failureCode: DeclineCode | undefined;
  /** When the provider tries next; null: no more, undefined: it does not say. */
  readonly nextAttempt: number | null | undefined;
}

/** A subscription as the provider has it. */
export interface ProviderSubscription {
  readonly subscriptionId: string;
  /** Our id, as we left it with the provider. */
  readonly ourSubscriptionId: string | undefined;
  readonly status: 'trialing' | 'active' | 'past_due' | 'canceled' | 'paused';
  readonly currentPeriodStart: number;
  readonly currentPeriodEnd: number;
  readonly trialEnd: number | undefined;
  readonly cancelAtPeriodEnd: boolean;
  readonly methodId: string | undefined;
  /** The newest invoice of an amount. */
  readonly latestInvoice: ProviderInvoice | undefined;
}

type Told<T> = { readonly [Field in keyof T]: T[Field] | undefined };

/** What an event says of a subscription: undefined is what it leaves out. */
export type SubscriptionNews = Pick<ProviderSubscription, 'subscriptionId'> &
  Told<Omit<ProviderSubscription, 'subscriptionId' | 'latestInvoice'>>;

/** What an event says of an invoice: undefined is what it leaves out. */
export type InvoiceNews = Pick<ProviderInvoice, 'invoiceId'> &
  Told<Omit<ProviderInvoice, 'invoiceId'>> &
  Pick<ProviderSubscription, 'ourSubscriptionId'>;

export interface CreateNativeSubscription extends CallOptions {
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
  readonly description: string | undefined;
}

type OfSubscription = CallOptions & { readonly subscriptionId: string };

export interface NativeSubscriptions {
  /** False for an interval that it refuses (at Stripe: over three years): there the service bills. */
  bills(interval: Pick<CreateNativeSubscription, 'unit' | 'count'>): boolean;
  /** `declined` where the first charge was: then nothing stands at the provider. */
  create(input: CreateNativeSubscription): Promise<Outcome<ProviderSubscription>>;
  /** An authoritative read. */
  find(subscriptionId: string): Promise<Outcome<ProviderSubscription>>;
  /** Those of a customer that bear our id and are not over: what a creation left whose answer was lost. */
  findOurs(input: {
    readonly customerId: string;
    readonly ourSubscriptionId: string;
  }): Promise<Outcome<readonly ProviderSubscription[]>>;
  /** Used from the next charge on; an open invoice is tried with it at once. */
  changeMethod(input: OfSubscription & { readonly methodId: string }): Promise<Outcome<ProviderSubscription>>;
  scheduleCancel(input: OfSubscription & { readonly cancel: boolean }): Promise<Outcome<ProviderSubscription>>;
  /** At once. Done, too, where the provider no longer has it. */
  cancel(input: OfSubscription): Promise<Outcome<{ readonly subscriptionId: string }>>;
  pause(input: OfSubscription): Promise<Outcome<ProviderSubscription>>;
  /**
   * @param input.anew a new period starts now, and is charged: `declined` where that is, and then it stays paused. Nothing
   * is charged where it is no longer paused there.
   */
  resume(input: OfSubscription & { readonly anew: boolean }): Promise<Outcome<ProviderSubscription>>;
  findInvoice(invoiceId: string): Promise<Outcome<ProviderInvoice>>;
  /** Leaves our payment's id with the intent that the provider made by itself. */
  labelPayment(
    input: CallOptions & { readonly intentId: string; readonly paymentId: string },
  ): Promise<Outcome<{ readonly intentId: string }>>;
}
