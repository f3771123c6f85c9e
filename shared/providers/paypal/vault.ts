import { createHash } from 'node:crypto';
import * as z from 'zod/mini';
import { mapOutcome, type Outcome } from '../../core/outcome.ts';
import type { CreateCustomer, ProviderCustomer, UpdateCustomer } from '../port/customers.ts';
import type { AttachMethod, KeepMethod, ProviderMethod } from '../port/methods.ts';
import { findPaypalOrder } from './orders.ts';
import { NOT_FOUND, type PaypalCall } from './outcome.ts';
import { isVaulting, vaultIdOf } from './report.ts';
import { type PaymentToken, paymentTokenSchema } from './schemas.ts';

/**
 * Saved methods are tokens in PayPal's vault. Customers have no record there: a customer is an id on its tokens. The service
 * makes the id; it disappears with the last token.
 */
const TOKENS = '/v3/vault/payment-tokens';
const tokensAnswer = z.looseObject({ payment_tokens: z.optional(z.array(z.looseObject({ id: z.string() }))) });

export const paypalVault = (call: PaypalCall) => {
  const findMethod = async (methodId: string): Promise<Outcome<ProviderMethod>> =>
    mapOutcome(await call({ method: 'GET', path: pathOf(methodId), answer: paymentTokenSchema }), reportedToken);

  const detachMethod = async (methodId: string): Promise<Outcome<{ readonly methodId: string }>> => {
    const deleted = await call({ method: 'DELETE', path: pathOf(methodId), answer: z.unknown() });
    const isGone = deleted.kind === 'refused' && deleted.reason === NOT_FOUND;
    return isGone ? { kind: 'done', value: { methodId } } : mapOutcome(deleted, () => ({ methodId }));
  };

  return {
    attachMethod: async ({ token, customerId, idempotencyKey }: AttachMethod): Promise<Outcome<ProviderMethod>> => {
      const attached = await call({
        method: 'POST',
        path: TOKENS,
        headers: { 'paypal-request-id': idempotencyKey },
        body: { payment_source: { token: { id: token, type: 'SETUP_TOKEN' } }, customer: { id: customerId } },
        answer: paymentTokenSchema,
      });
      return mapOutcome(attached, reportedToken);
    },

    findMethod,
    detachMethod,

    /** PayPal saves the method with the capture if the payer agreed. A method that was named by its id is saved already. */
    keepMethod: async ({ intentId, method }: KeepMethod): Promise<Outcome<ProviderMethod>> => {
      const found = await findPaypalOrder(call, intentId);
      if (found.kind !== 'done') return found;
      const vaultId = vaultIdOf(found.value) ?? (isVaulting(found.value) ? undefined : method);
      if (vaultId !== undefined) return findMethod(vaultId);
      return isVaulting(found.value)
        ? { kind: 'unknown', reason: 'error' }
        : { kind: 'refused', reason: 'not_vaulted' };
    },

    createCustomer: async ({ ourCustomerId }: CreateCustomer): Promise<Outcome<ProviderCustomer>> => ({
      kind: 'done',
      value: { customerId: vaultCustomerId(ourCustomerId) },
    }),

    updateCustomer: async ({ customerId }: UpdateCustomer): Promise<Outcome<ProviderCustomer>> => ({
      kind: 'done',
      value: { customerId },
    }),

    deleteCustomer: async (customerId: string): Promise<Outcome<ProviderCustomer>> => {
      const emptied = await emptyVault(call, customerId, detachMethod);
      return mapOutcome(emptied, () => ({ customerId }));
    },
  };
};

const pathOf = (methodId: string): string => `${TOKENS}/${encodeURIComponent(methodId)}`;

const MAX_CUSTOMER_ID_LENGTH = 22;

/** A customer of ours always gets the same id; PayPal takes 7 to 22 characters. */
const vaultCustomerId = (ourCustomerId: string): string =>
  createHash('sha256').update(ourCustomerId).digest('base64url').slice(0, MAX_CUSTOMER_ID_LENGTH);

const PAGE_SIZE = 20;
const MAX_PAGES = 50;

/** Always reads the first page, because the tokens of each page are deleted. */
const emptyVault = async (
  call: PaypalCall,
  customerId: string,
  detach: (methodId: string) => Promise<Outcome<unknown>>,
): Promise<Outcome<unknown>> => {
  const query = new URLSearchParams({ customer_id: customerId, page_size: String(PAGE_SIZE) });
  for (let page = 0; page < MAX_PAGES; page += 1) {
    const listed = await call({ method: 'GET', path: `${TOKENS}?${query}`, answer: tokensAnswer });
    if (listed.kind === 'refused' && listed.reason === NOT_FOUND) break;
    if (listed.kind !== 'done') return listed;
    const tokens = listed.value.payment_tokens ?? [];
    for (const { id } of tokens) {
      const detached = await detach(id);
      if (detached.kind !== 'done') return detached;
    }
    if (tokens.length < PAGE_SIZE) break;
  }
  return { kind: 'done', value: undefined };
};

const reportedToken = (token: PaymentToken): ProviderMethod => ({
  methodId: token.id,
  customerId: token.customer?.id,
  ...tokenFacts(token),
});

/** A PayPal account counts as a card without number and expiry. */
export const tokenFacts = ({
  payment_source: source,
}: Pick<PaymentToken, 'payment_source'>): Omit<ProviderMethod, 'methodId' | 'customerId'> => {
  const [expiryYear, expiryMonth] = source?.card?.expiry?.split('-') ?? [];
  return {
    type: 'card',
    walletType: source?.card ? undefined : 'paypal',
    cardBrand: source?.card?.brand?.toLowerCase(),
    lastFour: source?.card?.last_digits,
    expiryMonth,
    expiryYear,
  };
};
