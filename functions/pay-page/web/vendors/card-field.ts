/** @module The form in which a payer enters a card. The vendor's script shows it, so the number never reaches this page. */

import type { ProviderOption } from '../api/state.ts';

/**
 * What the vendor's script says of a payment or of a card. With `unknown` the provider may have been reached, so only
 * the service knows. `message` is the vendor's own, in the payer's language.
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
  /** Pays the payment, or makes a token that the service charges. */
  pay(): Promise<Entered>;
  /** Makes a token of the card that the service saves. */
  save(): Promise<Entered>;
}

/** What a card is entered for. */
export interface CardPurpose {
  readonly option: ProviderOption;
  /** The address of the vendor's script. */
  readonly script: string;
  readonly amountCents: number;
  readonly currency: string;
  /** Set if the card pays a payment that the browser confirms. */
  readonly clientSecret?: string | undefined;
}
