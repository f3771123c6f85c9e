/** @module The state of the hosted page of one payment. */

import { mayCharge, methodOwner } from '../access/may-charge.ts';
import type { Owned } from '../access/record-kind.ts';
import { productRecord } from '../catalog/catalog-records.ts';
import { adviceOn } from '../core/decline-advice.ts';
import { DomainError } from '../core/errors.ts';
import { countSubject, type LimitDeps, type RateLimit } from '../http/rate-limit.ts';
import { paymentMethodRecord } from '../payment-methods/payment-method.ts';
import { isOfSubscription, keptSecret, liveSecret, PAYABLE, type VisiblePayment } from '../payments/payment.ts';
import { providerReference } from '../payments/payment-versions.ts';
import { nextActionView } from '../payments/payment-view.ts';
import type { MoneyDeps } from '../providers/provider-deps.ts';
import type { PageSettings } from './page-settings.ts';
import { type PageState, pageState, productOf } from './page-state.ts';

export interface PaymentPageDeps extends MoneyDeps, Pick<LimitDeps, 'log'> {
  readonly pages: PageSettings;
}

export const paymentPage = async (deps: PaymentPageDeps, payment: VisiblePayment): Promise<PageState> => {
  const [product, method, secret] = await Promise.all([
    productNamed(deps, payment.productId),
    methodOf(deps, payment),
    pageSecretOf(deps, payment),
  ]);
  return pageState(deps.pages, {
    kind: 'payment',
    status: payment.status,
    slots: [payment.providerId],
    returnUrl: payment.linkReturnUrl,
    payment_id: payment.id,
    amount_cents: payment.totalCents,
    currency: payment.currency,
    description: payment.description ?? null,
    product,
    quantity: payment.productId === undefined ? null : (payment.quantity ?? 1),
    method,
    decline: pageDeclineOf(payment),
    client_secret: secret ?? null,
    next_action: nextActionView(payment)?.next_action ?? null,
  });
};

export const productNamed = async (
  { table }: Pick<MoneyDeps, 'table'>,
  productId: string | undefined,
): Promise<PageState['product']> =>
  productId === undefined ? null : productOf(await table.get(productRecord.key(productId)));

/**
 * The method of the last attempt. If the attempt's details are unknown, the payment's saved method, but only if the
 * payer owns it.
 */
const methodOf = async ({ table }: Pick<MoneyDeps, 'table'>, payment: VisiblePayment): Promise<PageState['method']> => {
  const { details, paymentMethodId } = payment;
  if (details) {
    return { brand: details.cardBrand ?? details.walletType ?? null, last_four: details.lastFour ?? null };
  }
  if (paymentMethodId === undefined) return null;
  return methodOnPage({ table }, paymentMethodId, payment);
};

export const methodOnPage = async (
  { table }: Pick<MoneyDeps, 'table'>,
  methodId: string,
  payer: Owned,
): Promise<PageState['method']> => {
  const item = await table.get(paymentMethodRecord.key(methodId));
  const method = item && paymentMethodRecord.parse(item);
  const owner = methodOwner(payer);
  if (!method || !owner || !mayCharge([owner], method)) return null;
  return { brand: method.cardBrand ?? method.walletType ?? null, last_four: method.lastFour ?? null };
};

export const pageDeclineOf = ({ status, failureCode, decline }: VisiblePayment): PageState['decline'] =>
  status === 'failed' && failureCode !== undefined ? { advice: adviceOn(failureCode, decline).advice } : null;

/** Limits reads of an expired client secret from the provider. */
const SECRET_READS: RateLimit = { name: 'page-secret', max: 1, windowSeconds: 60, by: () => undefined };

/**
 * The client secret, if the payer confirms in the browser. After the stored secret has expired, reads the secret from
 * the provider and stores it nowhere.
 */
export const pageSecretOf = async (deps: PaymentPageDeps, payment: VisiblePayment): Promise<string | undefined> => {
  if (!PAYABLE.includes(payment.status) || payment.providerIntentId === undefined) return undefined;
  const kept = isOfSubscription(payment) ? keptSecret(payment, deps.now()) : liveSecret(payment, deps.now());
  if (kept !== undefined) return kept;
  const provider = await deps.providers.require(payment.providerId, 'payments');
  if (!provider.can.clientConfirmation || !(await isReadNow(deps, payment.id))) return undefined;
  const found = await provider.findPayment(providerReference(payment));
  return found.kind === 'done' ? found.value.clientSecret : undefined;
};

const isReadNow = async (deps: LimitDeps, paymentId: string): Promise<boolean> => {
  try {
    await countSubject(deps, SECRET_READS, paymentId);
    return true;
  } catch (error) {
    if (error instanceof DomainError && error.code === 'RATE_LIMITED') return false;
    throw error;
  }
};
