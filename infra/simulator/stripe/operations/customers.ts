import * as z from 'zod';
import { endSubscription, isLedgerSubscriptionLive } from '../../billing/subscription-end.ts';
import type { LedgerCustomer } from '../../ledger/documents.ts';
import { attachMethod, deleteLedgerCustomer } from '../../ledger/methods.ts';
import type { Unit } from '../../ledger/unit.ts';
import { stripeCustomerView } from '../views/payment-views.ts';
import { checkUsable, findMethod, findStripeCustomer, mergeAddress } from '../wire/method-data.ts';
import {
  anything,
  choice,
  clearable,
  createdRange,
  expand,
  mergeMetadata,
  metadata,
  page,
  readParameters,
  stripeAddress,
  text,
  whole,
} from '../wire/parameters.ts';
import { getRoute, listPage, none, type StripeRequest, type StripeRoute } from '../wire/request.ts';

const fields = z.strictObject({
  name: clearable(256).optional(),
  email: clearable(512).optional(),
  phone: clearable(20).optional(),
  description: clearable().optional(),
  address: z.union([z.literal(''), stripeAddress]).optional(),
  balance: whole.optional(),
  metadata: metadata.optional(),
  payment_method: text().optional(),
  invoice_settings: z.strictObject({ default_payment_method: clearable().optional() }).optional(),
  preferred_locales: z.array(z.string()).optional(),
  shipping: anything.optional(),
  tax_exempt: choice(['', 'exempt', 'none', 'reverse']).optional(),
  business_name: anything.optional(),
  individual_name: anything.optional(),
  expand: expand.optional(),
});
type Fields = z.output<typeof fields>;

const WIRE = ['preferred_locales', 'shipping', 'tax_exempt'] as const;

export const stripeCustomerRoutes: readonly StripeRoute[] = [
  { method: 'POST', path: '/v1/customers', run: (request) => ({ object: stripeCustomerView(create(request)) }) },
  { method: 'GET', path: '/v1/customers', run: (request) => ({ object: list(request) }) },
  getRoute('/v1/customers/:id', 'customer', (unit) => ({
    collection: unit.documents.customers,
    view: stripeCustomerView,
  })),
  { method: 'POST', path: '/v1/customers/:id', run: (request) => ({ object: stripeCustomerView(update(request)) }) },
  { method: 'DELETE', path: '/v1/customers/:id', run: (request) => ({ object: stripeCustomerView(remove(request)) }) },
];

const create = ({ call, unit }: StripeRequest): LedgerCustomer => {
  const sent = readParameters(call, fields);
  const blank: LedgerCustomer = {
    id: unit.newId('customer'),
    provider: unit.slot,
    metadata: {},
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
  };
  const customer = unit.documents.customers.put(applied(unit, blank, sent));
  unit.announce({ kind: 'customer.created', customer });
  if (sent.payment_method !== undefined) {
    attachMethod(unit, checkUsable(findMethod(unit, sent.payment_method, 'payment_method'), customer.id), customer.id);
  }
  return customer;
};

const update = ({ call, unit, id }: StripeRequest): LedgerCustomer => {
  const sent = readParameters(call, fields.omit({ payment_method: true }));
  const before = findStripeCustomer(unit, id, 'id');
  const customer = unit.documents.customers.put(applied(unit, before, sent));
  unit.announce({ kind: 'customer.updated', customer, before });
  return customer;
};

/** Deletes a customer. As at Stripe, this also cancels the customer's subscriptions. */
const remove = ({ call, unit, id }: StripeRequest): LedgerCustomer => {
  readParameters(call, none);
  const customer = findStripeCustomer(unit, id, 'id');
  for (const subscription of unit.documents.subscriptions.list(unit.slot, { holder: customer.id, limit: 1_000 })) {
    if (isLedgerSubscriptionLive(subscription)) endSubscription(unit, subscription, 'cancellation_requested');
  }
  return deleteLedgerCustomer(unit, customer);
};

const list = (request: StripeRequest) => {
  const { unit, call } = request;
  const sent = readParameters(
    call,
    z.strictObject({ ...page, email: text(512).optional(), created: createdRange.optional() }),
  );
  return listPage(request, sent, {
    collection: unit.documents.customers,
    view: stripeCustomerView,
    wanted: (customer) => !customer.deleted && (sent.email === undefined || customer.email === sent.email),
    kind: 'customer',
  });
};

const applied = (unit: Unit, customer: LedgerCustomer, sent: Omit<Fields, 'payment_method'>): LedgerCustomer => ({
  ...customer,
  name: sent.name === undefined ? customer.name : sent.name,
  email: sent.email === undefined ? customer.email : sent.email,
  phone: sent.phone === undefined ? customer.phone : sent.phone,
  description: sent.description === undefined ? customer.description : sent.description,
  address: mergeAddress(customer.address, sent.address),
  balance: sent.balance ?? customer.balance,
  metadata: mergeMetadata(customer.metadata, sent.metadata),
  defaultMethodId: defaultMethod(unit, customer, sent.invoice_settings?.default_payment_method),
  wire: {
    ...customer.wire,
    ...Object.fromEntries(
      WIRE.filter((field) => sent[field] !== undefined).map((field) => [field, sent[field] || null]),
    ),
  },
});

const defaultMethod = (unit: Unit, customer: LedgerCustomer, sent: string | null | undefined): string | null => {
  if (sent === undefined) return customer.defaultMethodId;
  if (sent === null) return null;
  return checkUsable(findMethod(unit, sent, 'invoice_settings[default_payment_method]'), customer.id).id;
};
