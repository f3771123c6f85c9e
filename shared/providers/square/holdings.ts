/** @module Reads a customer's contact details and cards on file from Square. */

import * as z from 'zod';
import type { Outcome } from '../../core/outcome.ts';
import type { FingerprintOf } from '../card-fingerprint.ts';
import type { ReportedDetails } from '../customer-port.ts';
import { type HoldingsPort, NO_CUSTOMER } from '../holdings-port.ts';
import type { ProviderMethod } from '../method-port.ts';
import { cardOnFileSchema, reportedCard } from './cards.ts';
import { GONE_CUSTOMER } from './customers.ts';
import type { SquareCall } from './outcome.ts';

const cardsAnswer = z.looseObject({
  cards: z.optional(z.array(cardOnFileSchema)),
  cursor: z.optional(z.string()),
});

interface HoldingsParts {
  readonly findCustomer: (customerId: string) => Promise<Outcome<ReportedDetails>>;
  readonly fingerprintOf: FingerprintOf;
}

/** Square does not distinguish a deleted customer from an unknown id. A customer has no default card. */
export const squareHoldings = (call: SquareCall, { findCustomer, fingerprintOf }: HoldingsParts): HoldingsPort => ({
  holdingsOf: async (customerId) => {
    const contact = await findCustomer(customerId);
    if (contact.kind === 'refused' && GONE_CUSTOMER.includes(contact.reason)) {
      return { kind: 'refused', reason: NO_CUSTOMER };
    }
    if (contact.kind !== 'done') return contact;
    const methods = await listCards(call, customerId, fingerprintOf);
    if (methods.kind !== 'done') return methods;
    const held = { contact: contact.value, defaultMethodId: undefined, methods: methods.value, subscriptions: [] };
    return { kind: 'done', value: held };
  },
});

/** The cards of the customer, oldest first. The list leaves out disabled cards. */
const listCards = async (
  call: SquareCall,
  customerId: string,
  fingerprintOf: FingerprintOf,
): Promise<Outcome<readonly ProviderMethod[]>> => {
  const found: ProviderMethod[] = [];
  let cursor: string | undefined;
  do {
    const query = new URLSearchParams({ customer_id: customerId, sort_order: 'ASC', ...(cursor && { cursor }) });
    const page = await call({ method: 'GET', path: `/v2/cards?${query}`, answer: cardsAnswer });
    if (page.kind !== 'done') return page;
    found.push(...(page.value.cards ?? []).map((card) => reportedCard(card, fingerprintOf)));
    cursor = page.value.cursor;
  } while (cursor);
  return { kind: 'done', value: found };
};
