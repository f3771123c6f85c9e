/** @module Square customer profiles. */

import * as z from 'zod';
import type { LedgerCustomer } from '../../ledger/documents.ts';
import { deleteLedgerCustomer } from '../../ledger/methods.ts';
import type { Unit } from '../../ledger/unit.ts';
import { characters } from '../../state/characters.ts';
import { squareCustomerView } from '../views/payment-views.ts';
import { invalidSquareRequest, squareNotFound, versionConflict } from '../wire/errors.ts';
import { checkLimit, readSquareQuery, sortOrder, squarePage, wholeText } from '../wire/lists.ts';
import { readSquareBody, type SquareRequest, type SquareRoute, squareAddress } from '../wire/request.ts';

const fields = {
  given_name: characters(300).nullish(),
  family_name: characters(300).nullish(),
  email_address: z.string().max(254).nullish(),
  phone_number: z.string().nullish(),
  reference_id: z.string().max(100).nullish(),
  note: z.string().nullish(),
  address: squareAddress.nullish(),
};
const created = z.strictObject({ idempotency_key: z.string().max(45).optional(), ...fields });
const changed = z.strictObject({ version: z.int().optional(), ...fields });
type Fields = z.output<typeof changed>;

export const squareCustomerRoutes: readonly SquareRoute[] = [
  { method: 'GET', path: '/v2/customers', run: (request) => list(request) },
  { method: 'POST', path: '/v2/customers', run: (request) => shown(create(request)) },
  {
    method: 'GET',
    path: '/v2/customers/:id',
    run: ({ unit, id }) => shown(findSquareCustomer(unit, id, 'customer_id')),
  },
  { method: 'PUT', path: '/v2/customers/:id', run: (request) => shown(update(request)) },
  {
    method: 'DELETE',
    path: '/v2/customers/:id',
    run: ({ unit, id }) => {
      deleteLedgerCustomer(unit, findSquareCustomer(unit, id, 'customer_id'));
      return { object: {} };
    },
  },
];

const shown = (customer: LedgerCustomer) => ({ object: { customer: squareCustomerView(customer) } });

const listFields = z.strictObject({
  cursor: z.string().optional(),
  limit: wholeText.optional(),
  sort_field: z.enum(['CREATED_AT']).optional(),
  sort_order: sortOrder.optional(),
});

/** Lists the oldest customer first by default. Square itself sorts by name unless the caller asks for another order. */
const list = ({ call, unit }: SquareRequest) => {
  const sent = readSquareQuery(call, listFields);
  const found = unit.documents.customers
    .list(unit.slot, { limit: MOST_LISTED })
    .filter((customer) => !customer.deleted);
  const { page, next } = squarePage(sent.sort_order === 'DESC' ? found : found.toReversed(), {
    size: checkLimit(sent.limit),
    cursor: sent.cursor,
  });
  return { object: { customers: page.map(squareCustomerView), ...next } };
};

const MOST_LISTED = 100_000;

const NAMING = ['given_name', 'family_name', 'email_address', 'phone_number'] as const;

const create = ({ call, unit }: SquareRequest): LedgerCustomer => {
  const sent = readSquareBody(call, created);
  if (NAMING.every((field) => !sent[field])) {
    throw invalidSquareRequest(
      'BAD_REQUEST',
      'At least one of `given_name`, `family_name`, `company_name`, `email_address`, or `phone_number` is required for a customer.',
    );
  }
  const blank: LedgerCustomer = {
    id: unit.newId('customer'),
    provider: unit.slot,
    metadata: {},
    wire: { version: -1 },
    createdAt: unit.at,
    email: null,
    name: null,
    phone: null,
    description: null,
    address: null,
    defaultMethodId: null,
    balance: 0,
    deleted: false,
  };
  const customer = unit.documents.customers.put(applied(blank, sent));
  unit.announce({ kind: 'customer.created', customer });
  return customer;
};

const update = ({ call, unit, id }: SquareRequest): LedgerCustomer => {
  const sent = readSquareBody(call, changed);
  const before = findSquareCustomer(unit, id, 'customer_id');
  if (sent.version !== undefined && sent.version !== before.wire['version']) {
    throw versionConflict('The customer has been changed.');
  }
  const customer = unit.documents.customers.put(applied(before, sent));
  unit.announce({ kind: 'customer.updated', customer, before });
  return customer;
};

export const findSquareCustomer = (unit: Unit, id: string, field: string): LedgerCustomer => {
  const customer = unit.documents.customers.get(unit.slot, id);
  if (!customer || customer.deleted) throw squareNotFound(`Customer with ID \`${id}\` not found.`, field);
  return customer;
};

/** Removes null fields. Absent fields stay. */
const applied = (customer: LedgerCustomer, sent: Fields): LedgerCustomer => {
  checkForm(sent);
  const pick = (value: string | null | undefined, kept: unknown): string | null =>
    value === undefined ? (typeof kept === 'string' ? kept : null) : value || null;
  const { wire, metadata } = customer;
  const givenName = pick(sent.given_name, wire['given_name']);
  const familyName = pick(sent.family_name, wire['family_name']);
  const reference = pick(sent.reference_id, metadata['customer_id']);
  return {
    ...customer,
    name: [givenName, familyName].filter(Boolean).join(' ') || null,
    email: pick(sent.email_address, customer.email),
    phone: pick(sent.phone_number, customer.phone),
    metadata: reference === null ? {} : { customer_id: reference },
    wire: {
      given_name: givenName,
      family_name: familyName,
      note: pick(sent.note, wire['note']),
      version: Number(wire['version']) + 1,
    },
  };
};

const checkForm = ({ email_address: email, phone_number: phone }: Fields): void => {
  if (email && !z.email().safeParse(email).success) {
    throw invalidSquareRequest(
      'INVALID_EMAIL_ADDRESS',
      'Expected email_address to be a valid email address',
      'email_address',
    );
  }
  if (phone && !/^\+?[\d ().-]+$/.test(phone)) {
    throw invalidSquareRequest(
      'INVALID_PHONE_NUMBER',
      'Expected phone_number to be a valid phone number',
      'phone_number',
    );
  }
  if (phone && !/^\d{9,16}$/.test(phone.replaceAll(/\D/g, ''))) {
    throw invalidSquareRequest('INVALID_PHONE_NUMBER', 'Expected phone_number to have 9 to 16 digits', 'phone_number');
  }
};
