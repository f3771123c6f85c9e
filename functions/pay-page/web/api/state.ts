/** @module The fields of `GET /pay/state` read by the page. */

export type Provider = 'stripe' | 'paypal' | 'square' | 'braintree';

export interface ProviderOption {
  readonly provider_id: string;
  readonly provider: Provider;
  readonly confirms_in: 'browser' | 'redirect' | 'server';
  readonly publishable_key?: string;
  readonly application_id?: string;
  readonly location_id?: string;
}

export interface NextAction {
  readonly type?: string;
  readonly url?: string;
}

interface Seller {
  readonly name?: string | null;
  readonly color?: string | null;
  readonly terms_url?: string | null;
  readonly privacy_url?: string | null;
}

export interface Method {
  readonly brand?: string | null;
  readonly last_four?: string | null;
}

interface Common {
  readonly status: string;
  readonly seller?: Seller;
  readonly test?: boolean;
  readonly amount_cents?: number | null;
  readonly currency?: string | null;
  readonly description?: string | null;
  readonly product?: { readonly name?: string | null } | null;
  readonly method?: Method | null;
  readonly decline?: { readonly advice?: string | null } | null;
  readonly providers?: readonly ProviderOption[];
  readonly client_secret?: string | null;
  readonly next_action?: NextAction | null;
  readonly return_url?: string | null;
}

export interface PaymentState extends Common {
  readonly kind: 'payment';
  readonly payment_id: string;
  readonly quantity?: number | null;
}

interface OpenPayment {
  readonly payment_id: string;
  readonly status: string;
  readonly client_secret?: string | null;
  readonly next_action?: NextAction | null;
}

export interface SubscriptionState extends Common {
  readonly kind: 'subscription';
  readonly quantity?: number | null;
  readonly interval?: { readonly billing_interval: string; readonly interval_multiplier: number } | null;
  readonly next_billing_date?: string | null;
  readonly cancel_at_period_end?: boolean;
  readonly open_payment?: OpenPayment | null;
}

export interface LinkState extends Common {
  readonly kind: 'link';
  readonly quantity?: { readonly min: number; readonly max: number } | null;
}

export type PageState = PaymentState | SubscriptionState | LinkState;

/** The payment statuses counted as paid. */
const PAID = ['succeeded', 'requires_capture'];

export const isPaid = (status: string): boolean => PAID.includes(status);
