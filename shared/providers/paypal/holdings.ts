/** @module Reads a customer's saved methods at PayPal, which has no customer records and so no contact details. */

import * as z from 'zod';
import type { Outcome } from '../../core/outcome.ts';
import { type HoldingsPort, NO_CUSTOMER } from '../holdings-port.ts';
import type { ProviderMethod } from '../method-port.ts';
import { PAYPAL_NOT_FOUND, type PayPalCall } from './outcome.ts';
import { paymentTokenSchema } from './schemas.ts';
import { isUnnamed, reportedToken, TOKENS } from './tokens.ts';

const heldTokens = z.looseObject({ payment_tokens: z.optional(z.array(paymentTokenSchema)) });

const PAGE_SIZE = 5;
/** PayPal's maximum number of pages. */
const MAX_PAGES = 10;
const NOT_FOUND = { kind: 'refused', reason: NO_CUSTOMER } as const;

export const paypalHoldings = (call: PayPalCall): HoldingsPort => ({
  holdingsOf: async (customerId) => {
    // PayPal cannot know our own id, because it assigns ids itself.
    if (isUnnamed(customerId)) return NOT_FOUND;
    const methods = await listTokens(call, customerId);
    const isMissing = methods.kind === 'refused' && methods.reason === PAYPAL_NOT_FOUND;
    if (isMissing || (methods.kind === 'done' && methods.value.length === 0)) return NOT_FOUND;
    if (methods.kind !== 'done') return methods;
    return {
      kind: 'done',
      value: { contact: {}, defaultMethodId: undefined, methods: methods.value, subscriptions: [] },
    };
  },
});

const listTokens = async (call: PayPalCall, customerId: string): Promise<Outcome<readonly ProviderMethod[]>> => {
  const found: ProviderMethod[] = [];
  for (let page = 1; page <= MAX_PAGES; page += 1) {
    const query = new URLSearchParams({ customer_id: customerId, page_size: String(PAGE_SIZE), page: String(page) });
    const listed = await call({ method: 'GET', path: `${TOKENS}?${query}`, answer: heldTokens });
    if (listed.kind !== 'done') return listed;
    const tokens = listed.value.payment_tokens ?? [];
    found.push(...tokens.map((token) => ({ ...reportedToken(token), customerId })));
    if (tokens.length < PAGE_SIZE) break;
  }
  return { kind: 'done', value: found };
};
