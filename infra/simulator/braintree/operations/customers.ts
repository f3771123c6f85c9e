import * as z from 'zod';
import type { LedgerCustomer } from '../../ledger/documents.ts';
import { deleteLedgerCustomer } from '../../ledger/methods.ts';
import type { Unit } from '../../ledger/unit.ts';
import { type Answer, type Call, NOT_OFFERED, type VendorOperation } from '../../protocol/vendor.ts';
import { emptyAnswer, invalidField, xmlAnswer } from '../wire/errors.ts';
import type { XmlValue } from '../wire/xml.ts';

/** `POST|GET|PUT|DELETE /merchants/{merchant}/customers[/{id}]`. */
const PATH = /^\/merchants\/([^/]+)\/customers(?:\/([^/]+))?$/;

const COLLECTION = '/merchants/:id/customers';
export const CUSTOMER_OPERATIONS: readonly VendorOperation[] = [
  { method: 'POST', path: COLLECTION },
  { method: 'GET', path: `${COLLECTION}/:id` },
  { method: 'PUT', path: `${COLLECTION}/:id` },
  { method: 'DELETE', path: `${COLLECTION}/:id` },
];

const noRoute: Answer = { ...emptyAnswer(404), headers: NOT_OFFERED };

const text = z.string().max(255).optional();
const fields = z.object({
  customer: z
    .object({ id: text, first_name: text, last_name: text, email: text, phone: text, company: text })
    .default({}),
});
type Fields = z.output<typeof fields>['customer'];

export const customerRoute = (call: Call, unit: Unit): Answer => {
  const [, merchantId, id] = PATH.exec(call.path) ?? [];
  if (merchantId === undefined) return noRoute;
  const shown = (status: number, customer: LedgerCustomer): Answer =>
    xmlAnswer(status, 'customer', customerView(customer, merchantId));
  if (id === undefined) return call.method === 'POST' ? shown(201, create(call, unit)) : noRoute;
  const found = unit.documents.customers.get(unit.slot, id);
  if (!found || found.deleted) return emptyAnswer(404);
  switch (call.method) {
    case 'GET':
      return shown(200, found);
    case 'PUT':
      return shown(200, update(call, unit, found));
    case 'DELETE':
      deleteLedgerCustomer(unit, found);
      return { ...emptyAnswer(200), began: true };
    default:
      return noRoute;
  }
};

const create = (call: Call, unit: Unit): LedgerCustomer => {
  const sent = readFields(call);
  const id = sent.id || unit.newId('customer');
  if (!/^[\w-]{1,36}$/.test(id)) throw invalidField('id', '91610', 'Customer ID is invalid.');
  const taken = unit.documents.customers.get(unit.slot, id);
  if (taken && !taken.deleted) {
    throw invalidField('id', '91609', 'Customer ID has already been taken.');
  }
  const customer = unit.documents.customers.put(
    applied(
      {
        id,
        provider: unit.slot,
        metadata: sent.id ? { customer_id: sent.id } : {},
        wire: {},
        createdAt: unit.at,
        email: null,
        name: null,
        phone: null,
        description: null,
        address: null,
        defaultMethodId: null,
        balance: 0,
        deleted: false,
      },
      sent,
    ),
  );
  unit.announce({ kind: 'customer.created', customer });
  return customer;
};

const update = (call: Call, unit: Unit, before: LedgerCustomer): LedgerCustomer => {
  const customer = unit.documents.customers.put(applied(before, readFields(call)));
  unit.announce({ kind: 'customer.updated', customer, before });
  return customer;
};

const readFields = (call: Call): Fields => {
  try {
    return fields.parse(JSON.parse(call.body || '{}')).customer;
  } catch {
    throw invalidField('base', '91613', 'The customer is not readable.');
  }
};

/** Absent fields keep their value. Empty fields are removed. */
const applied = (customer: LedgerCustomer, sent: Fields): LedgerCustomer => {
  if (sent.email && !z.email().safeParse(sent.email).success) {
    throw invalidField('email', '81604', 'Email is an invalid format.');
  }
  const pick = (value: string | undefined, kept: unknown): string | null =>
    value === undefined ? (typeof kept === 'string' ? kept : null) : value || null;
  const { wire } = customer;
  const firstName = pick(sent.first_name, wire['first_name']);
  const lastName = pick(sent.last_name, wire['last_name']);
  return {
    ...customer,
    name: [firstName, lastName].filter(Boolean).join(' ') || null,
    email: pick(sent.email, customer.email),
    phone: pick(sent.phone, customer.phone),
    wire: { first_name: firstName, last_name: lastName, company: pick(sent.company, wire['company']) },
  };
};

const names = z.object({
  first_name: z.string().nullish(),
  last_name: z.string().nullish(),
  company: z.string().nullish(),
});

const customerView = (customer: LedgerCustomer, merchantId: string): XmlValue => {
  const { first_name, last_name, company } = names.parse(customer.wire);
  return {
    id: customer.id,
    'merchant-id': merchantId,
    'first-name': first_name ?? null,
    'last-name': last_name ?? null,
    company: company ?? null,
    email: customer.email,
    phone: customer.phone,
    fax: null,
    website: null,
    'created-at': new Date(customer.createdAt),
    'updated-at': new Date(customer.createdAt),
    'custom-fields': '',
    'credit-cards': [],
    addresses: [],
  };
};
