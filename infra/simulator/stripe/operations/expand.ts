/**
 * @module Stripe's `expand[]` parameter. `expand[]=latest_charge.payment_intent` replaces ids with objects, up to four
 * levels deep.
 */

import * as z from 'zod';
import type { Unit } from '../../ledger/unit.ts';
import { balanceTransactionView } from '../views/balance-views.ts';
import { couponView, discountView } from '../views/catalog-views.ts';
import { chargeView } from '../views/charge-views.ts';
import { clientSecretOf, setupView, stripePaymentView } from '../views/intent-views.ts';
import { invoicePaymentsView, invoiceView } from '../views/invoice-views.ts';
import { stripeCustomerView, stripeMethodView } from '../views/payment-views.ts';
import { stripeSubscriptionView } from '../views/subscription-views.ts';
import { invalidStripeRequest } from '../wire/errors.ts';
import type { StripeObject } from '../wire/request.ts';

const MAX_DEPTH = 4;

type Kind =
  | 'payment_intent'
  | 'balance_transaction'
  | 'charge'
  | 'customer'
  | 'payment_method'
  | 'setup_intent'
  | 'subscription'
  | 'invoice'
  | 'discount'
  | 'discount.source'
  | 'coupon'
  /** Absent, because coupons here apply to all products. */
  | 'coupon.applies_to'
  /** Not an object itself, but its fields can be expanded. */
  | 'invoice_payment.payment'
  /** Shown only when expanded. */
  | 'invoice.payments'
  | 'invoice.confirmation_secret';

const EXPANDABLE: Readonly<Record<string, Readonly<Record<string, Kind>>>> = {
  payment_intent: { customer: 'customer', latest_charge: 'charge', payment_method: 'payment_method' },
  setup_intent: { customer: 'customer', payment_method: 'payment_method' },
  charge: { balance_transaction: 'balance_transaction', customer: 'customer', payment_intent: 'payment_intent' },
  balance_transaction: {},
  payment_method: { customer: 'customer' },
  refund: { balance_transaction: 'balance_transaction', charge: 'charge', payment_intent: 'payment_intent' },
  dispute: { charge: 'charge', payment_intent: 'payment_intent' },
  customer: {},
  subscription: {
    customer: 'customer',
    default_payment_method: 'payment_method',
    discounts: 'discount',
    latest_invoice: 'invoice',
    pending_setup_intent: 'setup_intent',
  },
  invoice: {
    customer: 'customer',
    discounts: 'discount',
    payments: 'invoice.payments',
    confirmation_secret: 'invoice.confirmation_secret',
  },
  discount: { customer: 'customer', source: 'discount.source' },
  'discount.source': { coupon: 'coupon' },
  coupon: { applies_to: 'coupon.applies_to' },
  invoice_payment: { payment: 'invoice_payment.payment' },
  'invoice_payment.payment': { payment_intent: 'payment_intent' },
};

const objectSchema = z.record(z.string(), z.unknown());

export const expanded = (object: StripeObject, paths: readonly string[], unit: Unit): StripeObject =>
  paths.reduce((whole, path) => expandPath(whole, path.split('.'), { path, unit }), object);

interface Expansion {
  readonly path: string;
  readonly unit: Unit;
  /** The object's kind, if the object does not name it. */
  readonly within?: Kind | undefined;
}

const expandPath = (object: StripeObject, keys: readonly string[], expansion: Expansion): StripeObject => {
  const { path, unit, within } = expansion;
  const [key = '', ...rest] = keys;
  if (keys.length === 0) return object;
  if (keys.length > MAX_DEPTH + 1) throw notExpandable(path);
  const kind = within ?? String(object['object']);
  const value = object[key];
  if (LISTS.includes(kind) && key === 'data' && Array.isArray(value) && rest.length > 0) {
    return { ...object, data: value.map((item) => expandPath(objectSchema.parse(item), rest, { path, unit })) };
  }
  const target = EXPANDABLE[kind]?.[key];
  if (target === undefined) throw notExpandable(path);
  if (Array.isArray(value)) {
    return {
      ...object,
      [key]: value.map((id) => expandPath(load(target, String(id), unit) ?? {}, rest, { path, unit })),
    };
  }
  const id = target.startsWith('invoice.') ? object['id'] : value;
  const inner = typeof id === 'string' ? load(target, id, unit) : value;
  if (target === 'invoice.confirmation_secret') return { ...object, [key]: inner ?? null };
  if (inner === null || inner === undefined) return object;
  const isPart = target === 'invoice_payment.payment' || target === 'discount.source';
  const next = { path, unit, within: isPart ? target : undefined };
  return { ...object, [key]: expandPath(objectSchema.parse(inner), rest, next) };
};

const LISTS = ['list', 'search_result'];

const notExpandable = (path: string) =>
  invalidStripeRequest({ message: `This property cannot be expanded (${path}).`, param: 'expand' });

const load = (kind: Kind, id: string, unit: Unit): StripeObject | undefined => {
  const { documents, slot } = unit;
  switch (kind) {
    case 'customer': {
      const customer = documents.customers.get(slot, id);
      return customer && stripeCustomerView(customer);
    }
    case 'payment_method': {
      const method = documents.methods.get(slot, id);
      return method && stripeMethodView(method);
    }
    case 'charge': {
      const charge = documents.charges.get(slot, id);
      return charge && chargeView(charge, unit);
    }
    case 'balance_transaction':
      return balanceTransactionView(id, unit);
    case 'payment_intent': {
      const payment = documents.payments.get(slot, id);
      return payment && stripePaymentView(payment, unit);
    }
    case 'setup_intent': {
      const setup = documents.setups.get(slot, id);
      return setup && setupView(setup, unit);
    }
    case 'subscription': {
      const subscription = documents.subscriptions.get(slot, id);
      return subscription && stripeSubscriptionView(subscription, unit);
    }
    case 'invoice': {
      const invoice = documents.invoices.get(slot, id);
      return invoice && invoiceView(invoice, unit);
    }
    case 'invoice.payments': {
      const invoice = documents.invoices.get(slot, id);
      return invoice && invoicePaymentsView(invoice);
    }
    case 'invoice.confirmation_secret': {
      const paymentId = documents.invoices.get(slot, id)?.paymentId;
      return paymentId ? { client_secret: clientSecretOf(unit, paymentId), type: 'payment_intent' } : undefined;
    }
    case 'discount': {
      const discount = documents.discounts.get(slot, id);
      return discount && discountView(discount);
    }
    case 'coupon': {
      const coupon = documents.coupons.get(slot, id);
      return coupon && couponView(coupon);
    }
    case 'discount.source':
    case 'coupon.applies_to':
    case 'invoice_payment.payment':
      return undefined;
  }
};
