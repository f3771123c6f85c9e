/**
 * @module Customers at Square. A field is cleared only by null. A customer needs a name, an e-mail address or a phone
 * number.
 */

import * as z from 'zod';
import { mapOutcome, type Outcome } from '../../core/outcome.ts';
import { joinName } from '../adapter.ts';
import type {
  ContactField,
  CreateCustomer,
  CustomerDetails,
  ProviderCustomer,
  ReportedDetails,
  UpdateCustomer,
} from '../customer-port.ts';
import { ASCII, type ContactLimits, fittedContact, fittedUpdate, inOurFields, partsOfName } from '../fitted-contact.ts';
import { type SquareCall, squareKey } from './outcome.ts';
import { type SquareCustomer, squareCustomerSchema } from './schemas.ts';

/**
 * Sources: developer.squareup.com/docs/customers-api/use-the-api/keep-records, and CreateCustomerRequest in Square's
 * OpenAPI file. Square refuses e-mail addresses with non-ASCII characters.
 */
const LIMITS: ContactLimits = {
  name: { most: 300, inParts: true },
  phone: { most: 50, form: /^(?=(?:\D*\d){9,16}\D*$)\+?[\d ().-]+$/ },
  email: { most: 254, form: ASCII },
  fields: { email_address: 'email', phone_number: 'phone', given_name: 'name', family_name: 'name' },
};

const customerAnswer = z.looseObject({ customer: squareCustomerSchema });
const nothing = z.unknown();

const reported = ({ customer }: { readonly customer: SquareCustomer }): ProviderCustomer => ({
  customerId: customer.id,
});

export const squareCustomers = (call: SquareCall) => ({
  createCustomer: async (input: CreateCustomer): Promise<Outcome<ProviderCustomer>> =>
    reportedBy(
      await call({
        method: 'POST',
        path: '/v2/customers',
        body: {
          idempotency_key: squareKey(input.idempotencyKey),
          reference_id: input.ourCustomerId,
          ...namedSomehow(fieldsOf(fittedContact(LIMITS, input)), input.ourCustomerId),
        },
        answer: customerAnswer,
      }),
    ),

  updateCustomer: async (input: UpdateCustomer): Promise<Outcome<ProviderCustomer>> => {
    const fitted = fittedUpdate(LIMITS, input);
    return reportedBy(
      await call({
        method: 'PUT',
        path: pathOf(input.customerId),
        // With this header, Square clears fields that are null.
        headers: { 'x-clear-null': 'true' },
        body: { ...clearedFields(fitted), ...fieldsOf(fitted) },
        answer: customerAnswer,
      }),
    );
  },

  deleteCustomer: async (customerId: string): Promise<Outcome<ProviderCustomer>> => {
    const deleted = await call({ method: 'DELETE', path: pathOf(customerId), answer: nothing });
    const isGone = deleted.kind === 'refused' && GONE_CUSTOMER.includes(deleted.reason);
    return isGone ? { kind: 'done', value: { customerId } } : mapOutcome(deleted, () => ({ customerId }));
  },

  keptContact: (ours: CustomerDetails): CustomerDetails => fittedContact(LIMITS, ours),

  /** Square omits fields without a value, so the report has null for an omitted field. */
  findCustomer: async (customerId: string): Promise<Outcome<ReportedDetails>> =>
    mapOutcome(await call({ method: 'GET', path: pathOf(customerId), answer: customerAnswer }), ({ customer }) => ({
      ...NO_DETAILS,
      ...customerFacts(customer),
    })),
});

const NO_DETAILS = { email: null, name: null, phone: null } as const;

const reportedBy = (outcome: Outcome<z.infer<typeof customerAnswer>>): Outcome<ProviderCustomer> =>
  inOurFields(LIMITS, mapOutcome(outcome, reported));

/** Refusals for an unknown customer. */
export const GONE_CUSTOMER: readonly string[] = ['NOT_FOUND', 'CUSTOMER_NOT_FOUND'];

const pathOf = (customerId: string): string => `/v2/customers/${encodeURIComponent(customerId)}`;

interface Fields {
  readonly given_name?: string | null;
  readonly family_name?: string | null;
  readonly email_address?: string | null;
  readonly phone_number?: string | null;
}

const fieldsOf = ({ email, phone, ...named }: CustomerDetails): Fields => {
  const { given, family } = partsOfName(named);
  return {
    ...((given || family) && { given_name: given ?? null, family_name: family ?? null }),
    ...(email && { email_address: email }),
    ...(phone && { phone_number: phone }),
  };
};

const clearedFields = ({ cleared }: UpdateCustomer): object =>
  Object.fromEntries(cleared.flatMap((field) => Object.entries(CLEARED[field])));

const CLEARED: Readonly<Record<ContactField, Fields>> = {
  email: { email_address: null },
  name: { given_name: null, family_name: null },
  phone: { phone_number: null },
};

/** Square requires a name, an e-mail address or a phone number. If all are missing, our id is the name. */
const namedSomehow = (fields: Fields, ourCustomerId: string): object => {
  const given = Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== null));
  return Object.keys(given).length > 0 ? given : { given_name: ourCustomerId };
};

/** A null field was cleared, an absent field is left out. A name that equals our id counts as no name. */
export const customerFacts = ({
  given_name: given,
  family_name: family,
  email_address: email,
  phone_number: phone,
  reference_id: ourId,
}: SquareCustomer): ReportedDetails => {
  const name = joinName(given, family);
  const saysName = (given !== undefined || family !== undefined) && (name === undefined || name !== ourId);
  return {
    ...(email !== undefined && { email }),
    ...(saysName && { name: name ?? null, nameParts: { given: given || undefined, family: family || undefined } }),
    ...(phone !== undefined && { phone }),
  };
};
