import * as z from 'zod/mini';
import { mapOutcome, type Outcome } from '../../core/outcome.ts';
import type { CreateCustomer, CustomerDetails, ProviderCustomer, UpdateCustomer } from '../port/customers.ts';
import { joinName, splitName } from '../wire/adapter.ts';
import { type SquareCall, squareKey } from './outcome.ts';
import { type SquareCustomer, squareCustomerSchema } from './schemas.ts';

const customerAnswer = z.looseObject({ customer: squareCustomerSchema });
const nothing = z.unknown();

const reported = ({ customer }: { readonly customer: SquareCustomer }): ProviderCustomer => ({
  customerId: customer.id,
});

export const squareCustomers = (call: SquareCall) => ({
  createCustomer: async (input: CreateCustomer): Promise<Outcome<ProviderCustomer>> =>
    mapOutcome(
      await call({
        method: 'POST',
        path: '/v2/customers',
        body: {
          idempotency_key: squareKey(input.idempotencyKey),
          reference_id: input.ourCustomerId,
          ...namedSomehow(fieldsOf(input), input.ourCustomerId),
        },
        answer: customerAnswer,
      }),
      reported,
    ),

  updateCustomer: async (input: UpdateCustomer): Promise<Outcome<ProviderCustomer>> =>
    mapOutcome(
      await call({
        method: 'PUT',
        path: pathOf(input.customerId),
        // With this header, Square clears fields that are null.
        headers: { 'x-clear-null': 'true' },
        body: { ...clearedFields(input), ...fieldsOf(input) },
        answer: customerAnswer,
      }),
      reported,
    ),

  deleteCustomer: async (customerId: string): Promise<Outcome<ProviderCustomer>> => {
    const deleted = await call({ method: 'DELETE', path: pathOf(customerId), answer: nothing });
    const isGone = deleted.kind === 'refused' && GONE.includes(deleted.reason);
    return isGone ? { kind: 'done', value: { customerId } } : mapOutcome(deleted, () => ({ customerId }));
  },
});

const GONE: readonly string[] = ['NOT_FOUND', 'CUSTOMER_NOT_FOUND'];

const pathOf = (customerId: string): string => `/v2/customers/${encodeURIComponent(customerId)}`;

interface Fields {
  readonly given_name?: string | null;
  readonly family_name?: string | null;
  readonly email_address?: string | null;
  readonly phone_number?: string | null;
}

const fieldsOf = ({ email, name, phone }: CustomerDetails): Fields => {
  const [given, family] = name ? splitName(name) : [];
  return {
    ...(given && { given_name: given, family_name: family ?? null }),
    ...(email && { email_address: email }),
    ...(phone && isTakenPhone(phone) && { phone_number: phone }),
  };
};

const clearedFields = ({ cleared }: UpdateCustomer): object =>
  Object.fromEntries(cleared.flatMap((field) => Object.entries(CLEARED[field])));

const CLEARED: Readonly<Record<keyof CustomerDetails, Fields>> = {
  email: { email_address: null },
  name: { given_name: null, family_name: null },
  phone: { phone_number: null },
};

/** Square refuses a customer whose phone has fewer than 9 or more than 16 digits; our record keeps every number. */
const isTakenPhone = (phone: string): boolean =>
  /^\+?[\d ().-]+$/.test(phone) && /^\d{9,16}$/.test(phone.replaceAll(/\D/g, ''));

/** Square requires a name, an e-mail or a phone; without them, our id is the name. */
const namedSomehow = (fields: Fields, ourCustomerId: string): object => {
  const given = Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== null));
  return Object.keys(given).length > 0 ? given : { given_name: ourCustomerId };
};

/** The details of a Square customer; our id in place of a name is ignored. */
export const customerFacts = (customer: SquareCustomer): CustomerDetails => {
  const name = joinName(customer.given_name, customer.family_name);
  return {
    email: customer.email_address ?? undefined,
    name: name === customer.reference_id ? undefined : name,
    phone: customer.phone_number ?? undefined,
  };
};
