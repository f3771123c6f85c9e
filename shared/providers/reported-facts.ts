/** @module Turns a provider's words for cards, declines and fees into the facts of a payment. */

import { type DeclineWord, FUNDINGS, type Funding } from '../core/fact-words.ts';
import type { PaymentFacts, ProviderDecline } from '../core/payment-facts.ts';

/** @returns undefined if the provider reports nothing */
export const knownFacts = (facts: PaymentFacts): PaymentFacts | undefined =>
  Object.values(facts).some((fact) => fact !== undefined) ? facts : undefined;

type Word = string | null | undefined;

const LONGEST_URL = 2_048;

/** A receipt's URL as the provider sent it, if a browser can open it safely. */
export const receiptUrlOf = (url: Word): string | undefined =>
  url && url.length <= LONGEST_URL && url.startsWith('https://') && URL.canParse(url) ? url : undefined;

export const fundingOf = (word: Word): Funding | undefined =>
  FUNDINGS.find((funding) => funding === word?.toLowerCase());

/** An ISO 3166-1 alpha-2 code in upper case. */
export const countryCodeOf = (word: Word): string | undefined =>
  word && /^[a-z]{2}$/i.test(word) ? word.toUpperCase() : undefined;

export const declineOf = (providerCode: Word, networkCode: Word, advised?: DeclineWord): ProviderDecline | undefined =>
  providerCode || networkCode || advised
    ? {
        providerCode: providerCode || undefined,
        networkCode: networkCode || undefined,
        ...(advised !== undefined && { advised }),
      }
    : undefined;
