/** @module Customers at Stripe. Contact details beyond Stripe's limits are shortened or left out. */

import type Stripe from 'stripe';
import type { CreateCustomer, CustomerDetails, ReportedDetails, UpdateCustomer } from '../customer-port.ts';
import { type ContactLimits, fittedContact, fittedUpdate } from '../fitted-contact.ts';
import type { StripeCall } from './outcome.ts';

/** Sources: docs.stripe.com/api/customers/create, and `maxLength` in Stripe's OpenAPI file, in characters. */
const LIMITS: ContactLimits = {
  name: { most: 256, inParts: false },
  phone: { most: 20 },
  email: { most: 512 },
  fields: {},
};

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
          { ...details(fittedContact(LIMITS, input)), metadata: { customer_id: input.ourCustomerId } },
          { idempotencyKey: input.idempotencyKey },
        ),
      reported,
    ),

  updateCustomer: (input: UpdateCustomer) => {
    const fitted = fittedUpdate(LIMITS, input);
    return call(
      () =>
        stripe.customers.update(
          input.customerId,
          { ...Object.fromEntries(fitted.cleared.map((field) => [field, ''])), ...details(fitted) },
          { idempotencyKey: input.idempotencyKey },
        ),
      reported,
    );
  },

  deleteCustomer: async (customerId: string) => {
    const outcome = await call(() => stripe.customers.del(customerId), reported);
    const isGone = outcome.kind === 'refused' && outcome.reason === 'resource_missing';
    return isGone ? { kind: 'done' as const, value: { customerId } } : outcome;
  },

  keptContact: (ours: CustomerDetails) => fittedContact(LIMITS, ours),

  findCustomer: (customerId: string) => call(() => stripe.customers.retrieve(customerId), detailsOf),
});

/** A deleted customer has no details. */
const detailsOf = (customer: Stripe.Customer | Stripe.DeletedCustomer): ReportedDetails =>
  customer.deleted ? {} : { email: customer.email, name: customer.name ?? null, phone: customer.phone ?? null };
