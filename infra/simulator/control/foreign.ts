/** @module Creates another integration's records at a provider: customers, methods and running subscriptions. */

import * as z from 'zod';
import { PAYMENT_SLOTS } from '../../../shared/core/settings.ts';
import type { LedgerCustomer, LedgerMethod } from '../ledger/documents.ts';
import { attachMethod } from '../ledger/methods.ts';
import type { Unit } from '../ledger/unit.ts';
import { Refused } from '../protocol/vendor.ts';
import { type ControlCall, ControlError, type ControlParts, parsed } from './control-call.ts';
import { type AddedCustomer, addSubscription, foreignSubscription } from './foreign-terms.ts';
import type { MinorUnits } from './ledger-view.ts';
import { change } from './money-back.ts';

const MOST_CUSTOMERS = 1_000;
const text = z.string().min(1).max(500);
const metadata = z.record(z.string().max(40), z.string().max(500)).default({});

/** `legacy` creates a card from before Stripe's PaymentMethods, with an id `card_…`. */
const foreignMethod = z.union([
  z.strictObject({ token: text, legacy: z.boolean().default(false) }),
  z.strictObject({ bank_account: z.literal(true) }),
]);
type ForeignMethod = z.output<typeof foreignMethod>;

const foreignCustomer = z.strictObject({
  email: text.optional(),
  name: text.optional(),
  phone: text.optional(),
  metadata,
  payment_methods: z.array(foreignMethod).max(100).default([]),
  default_payment_method: z.int().min(0).optional(),
});
type ForeignCustomer = z.output<typeof foreignCustomer>;

const foreignRecords = z.strictObject({
  provider: z.enum(PAYMENT_SLOTS).default('provider_a'),
  customers: z.array(foreignCustomer).max(MOST_CUSTOMERS).default([]),
  subscriptions: z.array(foreignSubscription).max(MOST_CUSTOMERS).default([]),
});

/** Amounts are in ISO 4217 minor units. An invalid body changes nothing. */
export const addForeign = (parts: ControlParts, call: ControlCall, minorUnits: MinorUnits): Response => {
  const sent = parsed(foreignRecords, call.body);
  const made = change(parts, sent.provider, (unit) => {
    const customers = sent.customers.map((one, index) => addCustomer(parts, unit, { one, path: `customers.${index}` }));
    const subscriptions = sent.subscriptions.map((one, index) => {
      const path = `subscriptions.${index}`;
      return addSubscription(
        unit,
        { one, path, customer: customerOf(unit, { customers, path, named: one.customer }) },
        minorUnits,
      );
    });
    return { customers: customers.map(({ id, methodIds }) => ({ id, payment_methods: methodIds })), subscriptions };
  });
  return Response.json(made, { status: 201 });
};

interface Numbered<T> {
  readonly one: T;
  readonly path: string;
}

const addCustomer = (parts: ControlParts, unit: Unit, { one, path }: Numbered<ForeignCustomer>): AddedCustomer => {
  const { email = null, name = null, phone = null } = one;
  const blank: LedgerCustomer = {
    id: unit.newId('customer'),
    provider: unit.slot,
    metadata: one.metadata,
    wire: { version: 0, given_name: name, family_name: null },
    createdAt: unit.at,
    ...{ email, name, phone, description: null, address: null, defaultMethodId: null, balance: 0, deleted: false },
  };
  unit.announce({ kind: 'customer.created', customer: unit.documents.customers.put(blank) });
  const methodIds = one.payment_methods.map(
    (method, index) =>
      addMethod(parts, unit, { customerId: blank.id, method, path: `${path}.payment_methods.${index}` }).id,
  );
  const chosen = one.default_payment_method;
  const defaultMethodId = chosen === undefined ? null : methodIds[chosen];
  if (defaultMethodId === undefined) throw new ControlError(400, `${path}.default_payment_method: names no method`);
  unit.documents.customers.put({ ...blank, defaultMethodId });
  return { id: blank.id, methodIds };
};

interface NewMethod {
  readonly customerId: string;
  readonly method: ForeignMethod;
  readonly path: string;
}

const addMethod = (parts: ControlParts, unit: Unit, { customerId, method, path }: NewMethod): LedgerMethod => {
  const made = madeOf(parts, unit, { testValue: 'token' in method ? method.token : ACCOUNT, path });
  const kept = { ...made, setUp: true };
  if ('bank_account' in method) return attachMethod(unit, { ...kept, ...BANK_ACCOUNT }, customerId);
  const id = method.legacy ? made.id.replace(/^pm_/, 'card_') : made.id;
  return attachMethod(unit, { ...kept, id }, customerId);
};

const ACCOUNT = 'pm_card_visa';
const BANK_ACCOUNT = { type: 'bank_account', bankName: 'STRIPE TEST BANK' } as const;

const madeOf = (
  { vendors, options }: ControlParts,
  unit: Unit,
  { testValue, path }: { readonly testValue: string; readonly path: string },
): LedgerMethod => {
  const vendor = vendors.find(({ adapter }) => adapter === options.slots[unit.slot].adapter);
  if (!vendor?.methodOf) throw new ControlError(400, `${path}: ${unit.slot} stores no methods here`);
  try {
    return vendor.methodOf(unit, testValue);
  } catch (error) {
    if (error instanceof Refused) throw new ControlError(400, `${path}: there is no test value ${testValue}`);
    throw error;
  }
};

interface Naming {
  readonly customers: readonly AddedCustomer[];
  readonly named: number | string;
  readonly path: string;
}

/** Finds a customer by index in the same body, or any customer of the provider by id. */
const customerOf = (unit: Unit, { customers, named, path }: Naming): AddedCustomer => {
  const id = typeof named === 'string' ? named : customers[named]?.id;
  const known = id === undefined ? undefined : unit.documents.customers.get(unit.slot, id);
  if (!known || known.deleted) throw new ControlError(400, `${path}.customer: names no customer`);
  const methods = unit.documents.methods.list(unit.slot, { holder: known.id, limit: MOST_CUSTOMERS });
  return { id: known.id, methodIds: methods.map((method) => method.id).toReversed() };
};
