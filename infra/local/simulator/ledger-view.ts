import { type Documents, referenceOf } from './ledger/documents.ts';

const iso = (at: number): string => new Date(at).toISOString();

/** What the providers hold to be true. `payment_id` is our own id, null where the provider was not told one. */
export const ledgerView = (documents: Documents, paymentId?: string) => ({
  charges: documents.charges.all(paymentId).map((charge) => ({
    provider: charge.provider,
    id: charge.id,
    payment_id: referenceOf(charge),
    payment_intent: charge.paymentId,
    amount: charge.amount,
    currency: charge.currency,
    status: charge.status,
    amount_refunded: charge.amountRefunded,
    created_at: iso(charge.createdAt),
  })),
  payment_intents: documents.payments.all(paymentId).map((payment) => ({
    provider: payment.provider,
    id: payment.id,
    payment_id: referenceOf(payment),
    amount: payment.amount,
    currency: payment.currency,
    status: payment.status,
    customer: payment.customerId,
    payment_method: payment.methodId,
    created_at: iso(payment.createdAt),
  })),
  customers: documents.customers.all().map((customer) => ({
    provider: customer.provider,
    id: customer.id,
    email: customer.email,
    name: customer.name,
    metadata: customer.metadata,
    deleted: customer.deleted,
    created_at: iso(customer.createdAt),
  })),
  payment_methods: documents.methods.all().map((method) => ({
    provider: method.provider,
    id: method.id,
    customer: method.customerId,
    type: 'card',
    brand: method.card.brand,
    last_four: method.card.last4,
    created_at: iso(method.createdAt),
  })),
});
