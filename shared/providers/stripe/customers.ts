import type Stripe from 'stripe';
import type { CreateCustomer, CustomerDetails, UpdateCustomer } from '../port/customers.ts';
import type { StripeCall } from './outcome.ts';

const reported = ({ id }: { readonly id: string }) => ({ customerId: id });

const details = ({ email, name, phone }: CustomerDetails) => ({
  ...(email !== undefined && { email }),
  ...(name !== undefined && { name }),
  ...(phone !== undefined && { phone }),
});

export const stripeCustomers = (stripe: Stripe, call: StripeCall) => ({
  createCustomer: (input: CreateCustomer) =>
    call(
      () =>
        stripe.customers.create(
          { ...details(input), metadata: { customer_id: input.ourCustomerId } },
          { idempotencyKey: input.idempotencyKey },
        ),
      reported,
    ),

  updateCustomer: (input: UpdateCustomer) =>
    call(
      () =>
        stripe.customers.update(
          input.customerId,
          { ...Object.fromEntries(input.cleared.map((field) => [field, ''])), ...details(input) },
          { idempotencyKey: input.idempotencyKey },
        ),
      reported,
    ),

  deleteCustomer: async (customerId: string) => {
    const outcome = await call(() => stripe.customers.del(customerId), reported);
    const isGone = outcome.kind === 'refused' && outcome.reason === 'resource_missing';
    return isGone ? { kind: 'done' as const, value: { customerId } } : outcome;
  },
});
