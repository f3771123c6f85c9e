import { type BusEvent, type CanonicalEvent, changeId } from '../../events/bus-event.ts';
import { isShown, type Payment, type VisiblePayment } from './payment.ts';

/** The events of a stored change. They follow from the change alone, so that concurrent writers never repeat one. */
export const paymentEvents = (before: Payment | undefined, after: Payment): readonly BusEvent[] => {
  if (!isShown(after) || before?.version === after.version) return [];
  // A claim taken back leads to a status that has been published before.
  if (after.cause === 'release') return [];
  const names: CanonicalEvent[] = [];
  const existed = before !== undefined && isShown(before);
  if (!existed) names.push('payment.created');
  // A provider that collects an invoice by itself reports each failed attempt, with no other status between them.
  const failsAgain = existed && after.status === 'failed' && before.attempt < after.attempt;
  if (!existed || before.status !== after.status || failsAgain) {
    if (after.status === 'succeeded') names.push('payment.succeeded');
    if (after.status === 'failed') names.push('payment.failed');
  }
  return names.map((name) => canonical(name, after));
};

const canonical = (event: CanonicalEvent, payment: VisiblePayment): BusEvent => {
  const id = changeId(payment.id, payment.version, event);
  return {
    id,
    source: 'payments',
    type: event,
    detail: {
      id,
      organization_id: payment.organizationId ?? null,
      user_id: payment.userId ?? null,
      payload: { event, provider: payment.providerId, timestamp: payment.updatedAt, data: dataOf(payment) },
    },
  };
};

const dataOf = (payment: VisiblePayment) => ({
  payment_id: payment.id,
  amount: payment.totalCents,
  currency: payment.currency,
  status: payment.status,
  user: userOf(payment),
  project: payment.projectId ? { id: payment.projectId } : null,
  provider_payment_id: payment.providerPaymentId ?? null,
  organization_id: payment.organizationId ?? null,
  customer_id: payment.customerId ?? null,
  subscription_id: payment.subscriptionId ?? null,
  failure_code: payment.failureCode ?? null,
});

const userOf = (payment: VisiblePayment) => {
  if (payment.userId) return { id: payment.userId, type: 'authenticated', email: payment.userEmail ?? null };
  if (payment.guestId) return { id: payment.guestId, type: 'guest', email: payment.guestEmail ?? null };
  return null;
};
