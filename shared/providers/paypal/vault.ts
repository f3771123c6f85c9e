/**
 * @module Saved methods (tokens in PayPal's vault) and customers at PayPal. A customer has our own id until PayPal
 * assigns an id with the first token. Every later token names PayPal's id.
 */

import * as z from 'zod';
import { mapOutcome, type Outcome } from '../../core/outcome.ts';
import { notOffered } from '../adapter.ts';
import type { CreateCustomer, CustomerDetails, ProviderCustomer, UpdateCustomer } from '../customer-port.ts';
import type { AttachMethod, KeepMethod, ProviderMethod } from '../method-port.ts';
import { findPayPalOrder } from './orders.ts';
import { PAYPAL_NOT_FOUND, type PayPalCall } from './outcome.ts';
import { isVaulting, vaultIdOf } from './report.ts';
import { paymentTokenSchema } from './schemas.ts';
import { findToken, isUnnamed, paypalCustomer, reportedToken, TOKENS, tokenPath } from './tokens.ts';

const tokensAnswer = z.looseObject({ payment_tokens: z.optional(z.array(z.looseObject({ id: z.string() }))) });

export const paypalVault = (call: PayPalCall) => {
  const findMethod = (methodId: string): Promise<Outcome<ProviderMethod>> => findToken(call, methodId);

  const detachMethod = async (methodId: string): Promise<Outcome<{ readonly methodId: string }>> => {
    const deleted = await call({ method: 'DELETE', path: tokenPath(methodId), answer: z.unknown() });
    const isGone = deleted.kind === 'refused' && deleted.reason === PAYPAL_NOT_FOUND;
    return isGone ? { kind: 'done', value: { methodId } } : mapOutcome(deleted, () => ({ methodId }));
  };

  return {
    attachMethod: async ({ token, customerId, idempotencyKey }: AttachMethod): Promise<Outcome<ProviderMethod>> => {
      const attached = await call({
        method: 'POST',
        path: TOKENS,
        headers: { 'paypal-request-id': idempotencyKey },
        body: {
          payment_source: { token: { id: token, type: 'SETUP_TOKEN' } },
          customer: paypalCustomer(customerId),
        },
        answer: paymentTokenSchema,
      });
      return mapOutcome(attached, (saved) => ofCustomer(reportedToken(saved), customerId));
    },

    findMethod,
    detachMethod,

    /** If the payer agreed, PayPal saves the method with the capture. A method sent by its id is already saved. */
    keepMethod: async ({ intentId, method, customerId }: KeepMethod): Promise<Outcome<ProviderMethod>> => {
      const found = await findPayPalOrder(call, intentId);
      if (found.kind !== 'done') return found;
      const vaultId = vaultIdOf(found.value);
      if (vaultId !== undefined) return mapOutcome(await findMethod(vaultId), (saved) => ofCustomer(saved, customerId));
      if (isVaulting(found.value)) return { kind: 'unknown', reason: 'error' };
      return method === undefined ? { kind: 'refused', reason: 'not_vaulted' } : findMethod(method);
    },

    createCustomer: async ({ ourCustomerId }: CreateCustomer): Promise<Outcome<ProviderCustomer>> => ({
      kind: 'done',
      value: { customerId: ourCustomerId },
    }),

    updateCustomer: async ({ customerId }: UpdateCustomer): Promise<Outcome<ProviderCustomer>> => ({
      kind: 'done',
      value: { customerId },
    }),

    /** Deletes all tokens of the customer. A customer without a PayPal id has no token. */
    deleteCustomer: async (customerId: string): Promise<Outcome<ProviderCustomer>> => {
      if (isUnnamed(customerId)) return { kind: 'done', value: { customerId } };
      const emptied = await emptyVault(call, customerId, detachMethod);
      return mapOutcome(emptied, () => ({ customerId }));
    },

    /** PayPal receives no contact details from us, because PayPal has its own details of each payer. */
    keptContact: (ours: CustomerDetails): CustomerDetails => ours,
    findCustomer: notOffered,
  };
};

/** A token saved under our customer id belongs to that customer, even if PayPal's response omits our id. */
const ofCustomer = (saved: ProviderMethod, customerId: string): ProviderMethod =>
  isUnnamed(customerId) ? { ...saved, ourCustomerId: saved.ourCustomerId ?? customerId } : saved;

/** PayPal's largest page. */
const PAGE_SIZE = 5;
const MAX_PAGES = 50;

/** Reads the first page repeatedly, because the tokens of each page are deleted. */
const emptyVault = async (
  call: PayPalCall,
  customerId: string,
  detach: (methodId: string) => Promise<Outcome<unknown>>,
): Promise<Outcome<unknown>> => {
  const query = new URLSearchParams({ customer_id: customerId, page_size: String(PAGE_SIZE) });
  for (let page = 0; page < MAX_PAGES; page += 1) {
    const listed = await call({ method: 'GET', path: `${TOKENS}?${query}`, answer: tokensAnswer });
    if (listed.kind === 'refused' && listed.reason === PAYPAL_NOT_FOUND) return EMPTY;
    if (listed.kind !== 'done') return listed;
    const tokens = listed.value.payment_tokens ?? [];
    for (const { id } of tokens) {
      const detached = await detach(id);
      if (detached.kind !== 'done') return detached;
    }
    if (tokens.length < PAGE_SIZE) return EMPTY;
  }
  // More tokens remain than one run deletes. The next retry continues.
  return { kind: 'unknown', reason: 'error' };
};

const EMPTY = { kind: 'done', value: undefined } as const;
