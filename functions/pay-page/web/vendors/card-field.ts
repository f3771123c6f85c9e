/** @module The card form. The vendor's script shows it, so the card number never reaches this page. */

import type { ProviderOption } from '../api/state.ts';

/**
 * The result of the vendor's script for a payment or card. After `unknown`, only the service knows the outcome, because
 * the request may have reached the provider. `message` is the vendor's text in the payer's language.
 */
export type Entered =
  | { readonly end: 'done' }
  | { readonly end: 'token'; readonly token: string }
  | { readonly end: 'invalid'; readonly message: string }
  | { readonly end: 'declined'; readonly message: string }
  | { readonly end: 'unknown' };

export interface CardField {
  mount(place: HTMLElement): Promise<void>;
  destroy(): void;
  /** Pays the payment, or creates a token for the service to charge. */
  pay(): Promise<Entered>;
  /** Creates a token for the service to save. */
  save(): Promise<Entered>;
}

/** The purpose of the card. */
export interface CardPurpose {
  readonly option: ProviderOption;
  /** The URL of the vendor's script. */
  readonly script: string;
  readonly amountCents: number;
  readonly currency: string;
  /** Set if the browser confirms the payment. */
  readonly clientSecret?: string | undefined;
}
