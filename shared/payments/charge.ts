import type { Outcome } from '../core/outcome.ts';
import { iso } from '../core/time.ts';
import { INTENT_SPENT, type PaymentProvider, type ProviderPayment } from '../providers/provider.ts';
import { creationKey, intentOf } from './creation.ts';
import type { MoneyDeps } from './deps.ts';
import { mayNameOtherCustomer, payingCustomerOf, savesMethod } from './paying-customer.ts';
import { isVisible, type VisiblePayment } from './payment.ts';
import type { PaymentStore } from './store.ts';

/** The key of one attempt to charge: the same however often it is sent. */
const attemptKey = ({ id, attempt, released }: Pick<VisiblePayment, 'id' | 'attempt' | 'released'>): string =>
  `${id}:confirm:${attempt}${released === undefined ? '' : `.${released}`}`;

/** The claim as it stands by then, and what came of it. */
export interface Charged {
  readonly payment: VisiblePayment;
  readonly outcome: Outcome<ProviderPayment>;
}

type ChargeDeps = Pick<MoneyDeps, 'now'>;

/** Asks the provider to carry out a claimed attempt. An intent that can never be charged again is replaced first. */
export const charge = async (
  deps: ChargeDeps,
  store: PaymentStore,
  provider: PaymentProvider,
  payment: VisiblePayment,
): Promise<Charged> => {
  const outcome = await ask(provider, payment);
  if (outcome.kind !== 'refused' || outcome.reason !== INTENT_SPENT) return { payment, outcome };
  const idempotencyKey = `${creationKey(payment)}:${payment.attempt}`;
  const created = await provider.createIntent({ ...intentOf(payment), idempotencyKey });
  if (created.kind !== 'done') return { payment, outcome: created };
  const renewed = await replaceIntent(deps, store, payment, created.value);
  // Another has brought the attempt to an end meanwhile: nothing is charged.
  if (renewed === undefined) return { payment, outcome: { kind: 'unknown', reason: 'error' } };
  return { payment: renewed, outcome: await ask(provider, renewed) };
};

const ask = (provider: PaymentProvider, payment: VisiblePayment): Promise<Outcome<ProviderPayment>> =>
  provider.confirmIntent({
    idempotencyKey: attemptKey(payment),
    intentId: payment.providerIntentId ?? '',
    paymentId: payment.id,
    amountCents: payment.totalCents,
    currency: payment.currency,
    method: payment.methodRef,
    customerId: payingCustomerOf(payment),
    mayNameOtherCustomer: mayNameOtherCustomer(payment),
    saveMethod: savesMethod(payment),
    returnUrl: payment.returnUrl,
    ...(payment.offSession && { offSession: true }),
  });

const REPLACE_TRIES = 5;

/** The record knows the new intent before anything is charged on it: whoever looks the attempt up finds it. */
const replaceIntent = async (
  deps: ChargeDeps,
  store: PaymentStore,
  payment: VisiblePayment,
  { intentId, paymentId, clientSecret }: ProviderPayment,
): Promise<VisiblePayment | undefined> => {
  let current = payment;
  for (let tries = 0; tries < REPLACE_TRIES; tries += 1) {
    const next: VisiblePayment = {
      ...current,
      providerIntentId: intentId,
      providerPaymentId: paymentId,
      clientSecret: current.clientSecret && clientSecret,
      version: current.version + 1,
      updatedAt: iso(deps.now()),
    };
    const committed = await store.commit(current, next);
    if (committed.ok) return next;
    const { found } = committed;
    if (!found || !isVisible(found) || found.status !== 'processing' || found.attempt !== payment.attempt) return;
    if (found.providerIntentId === intentId) return found;
    current = found;
  }
  return undefined;
};
