/** @module The stored fields of a card at Square, on file or in a payment. Square does not tell the issuer's country. */

import { wordTable } from '../adapter.ts';
import type { FingerprintOf } from '../card-fingerprint.ts';
import { monthText } from '../contract-event.ts';
import type { ProviderMethod } from '../method-port.ts';
import { fundingOf } from '../reported-facts.ts';
import type { SquareCard } from './schemas.ts';

const BRANDS = wordTable<string>({
  AMERICAN_EXPRESS: 'amex',
  DISCOVER_DINERS: 'diners',
  CHINA_UNIONPAY: 'unionpay',
});

export const cardFacts = (
  card: SquareCard,
  fingerprintOf: FingerprintOf,
): Omit<ProviderMethod, 'methodId' | 'customerId'> & { readonly type: 'card' } => ({
  type: 'card',
  walletType: undefined,
  cardBrand: card.card_brand ? (BRANDS.get(card.card_brand) ?? card.card_brand.toLowerCase()) : undefined,
  lastFour: card.last_4 ?? undefined,
  expiryMonth: card.exp_month ? monthText(card.exp_month) : undefined,
  expiryYear: card.exp_year ? String(card.exp_year) : undefined,
  funding: card.prepaid_type === 'PREPAID' ? 'prepaid' : fundingOf(card.card_type),
  fingerprint: fingerprintOf(card.fingerprint),
});
