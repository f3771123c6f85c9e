/**
 * @module Changes by an account's owner on the provider's dashboard, and by a payer in the provider's portal. A change
 * of a subscription's terms or of an invoice is sent as the vendor's own call, so the same rules and events apply. The
 * statuses `unpaid` and `canceled` are set in the ledger directly.
 */
import * as z from 'zod';
import { setBalance } from '../billing/billing.ts';
import { stopPaying } from '../billing/invoices.ts';
import { endSubscription, isLedgerSubscriptionLive } from '../billing/subscription-end.ts';
import type { LedgerInvoice, LedgerSubscription } from '../ledger/billing-documents.ts';
import { detachMethod, renewCard } from '../ledger/methods.ts';
import { draftSettings, retrySettings, type Unit } from '../ledger/unit.ts';
import { type ControlCall, ControlError, type ControlParts, parsed } from './control-call.ts';
import { type SubscriptionWish, subscriptionForm, subscriptionWish } from './dashboard-forms.ts';
import { customerRow, invoiceRow, type MinorUnits, methodRow, subscriptionRow } from './ledger-view.ts';
import { change, findById, vendorAmount } from './money-back.ts';
import { vendorCalls } from './vendor-calls.ts';

export const setRetries = ({ units }: ControlParts, call: ControlCall): Response => {
  const settings = parsed(retrySettings, call.body);
  units.useRetries(settings);
  return Response.json(settings);
};

/**
 * Sets how long the invoices of later renewals stay drafts. Stripe itself has no such setting and always waits an hour.
 */
export const setDrafts = ({ units }: ControlParts, call: ControlCall): Response => {
  const settings = parsed(draftSettings, call.body);
  units.useDrafts(settings);
  return Response.json(settings);
};

const sentVersion = z.strictObject({ version: z.string().regex(/^\d{4}-\d{2}-\d{2}(?:\.[a-z]+)?$/) });

/** Sets the API version of the events for the account's webhook endpoint. */
export const setEventsVersion = ({ units }: ControlParts, call: ControlCall): Response => {
  const sent = parsed(sentVersion, call.body);
  units.useEventsVersion(sent.version);
  return Response.json(sent);
};

export const changeSubscriptionByHand = (parts: ControlParts, call: ControlCall, minorUnits: MinorUnits): Response => {
  const wish = parsed(subscriptionWish, call.body);
  const before = findSubscription(parts, call.id);
  const after = change(parts, before.provider, (unit) => {
    const { create, send } = vendorCalls(parts, unit);
    const price = unit.documents.prices.get(unit.slot, before.priceId);
    const toVendor = (amount: number | undefined) => vendorAmount(before, amount, minorUnits);
    const form = subscriptionForm({ subscription: before, price, wish, create, toVendor });
    if (form.size > 0) send(`/v1/subscriptions/${before.id}`, form);
    return setStatus(unit, before.id, wish.status);
  });
  return Response.json(subscriptionRow(after, minorUnits));
};

/**
 * Sets the status in the ledger directly. Stripe's API has no call for `unpaid`, because only the retry settings lead
 * to this status.
 */
const setStatus = (unit: Unit, id: string, status: SubscriptionWish['status']): LedgerSubscription => {
  const subscription = unit.documents.subscriptions.get(unit.slot, id);
  if (!subscription) throw new Error(`Subscription ${id} does not exist`);
  if (status === undefined) return subscription;
  if (!isLedgerSubscriptionLive(subscription)) throw new ControlError(409, `The subscription ${id} has ended`);
  return status === 'unpaid'
    ? stopPaying(unit, subscription)
    : endSubscription(unit, subscription, 'cancellation_requested');
};

/** Finds a subscription by our id or the provider's. */
const findSubscription = ({ units }: ControlParts, id: string): LedgerSubscription => {
  const ours = units.documents.subscriptions.all().findLast(({ metadata }) => metadata['subscription_id'] === id);
  return ours ?? findById(units.documents.subscriptions, 'subscription', id);
};

const ACTIONS = {
  void: ['void', {}],
  mark_uncollectible: ['mark_uncollectible', {}],
  finalize: ['finalize', {}],
  pay_out_of_band: ['pay', { paid_out_of_band: 'true' }],
  pay: ['pay', { off_session: 'false' }],
} as const;
/** With `pay`, the payer pays on the provider's page, by the request's method or else the subscription's. */
const invoiceStep = z.strictObject({
  action: z.enum(['void', 'mark_uncollectible', 'finalize', 'pay_out_of_band', 'pay']),
  payment_method: z.string().min(1).optional(),
});

export const stepInvoice = (parts: ControlParts, call: ControlCall, minorUnits: MinorUnits): Response => {
  const { action, payment_method: method } = parsed(invoiceStep, call.body);
  const invoice = findById<LedgerInvoice>(parts.units.documents.invoices, 'invoice', call.id);
  const [operation, fields] = ACTIONS[action];
  const form = new URLSearchParams({ ...fields, ...(method !== undefined && { payment_method: method }) });
  const refusal = change(parts, invoice.provider, (unit) =>
    vendorCalls(parts, unit).attempt(`/v1/invoices/${invoice.id}/${operation}`, form),
  );
  if (refusal) throw new ControlError(refusal.status, refusal.message);
  return Response.json(invoiceRow(findById(parts.units.documents.invoices, 'invoice', invoice.id), minorUnits));
};

/** Negative for a credit, as at the provider. */
const sentBalance = z.strictObject({ balance: z.int() });

export const changeBalance = (parts: ControlParts, call: ControlCall): Response => {
  const { balance } = parsed(sentBalance, call.body);
  const customer = findById(parts.units.documents.customers, 'customer', call.id);
  if (customer.deleted) throw new ControlError(409, `The customer ${customer.id} is deleted`);
  change(parts, customer.provider, (unit) => setBalance(unit, customer.id, balance));
  return Response.json(customerRow(findById(parts.units.documents.customers, 'customer', customer.id)));
};

const methodChange = z.union([
  z.strictObject({ detach: z.literal(true) }),
  z.strictObject({
    last_four: z
      .string()
      .regex(/^\d{4}$/)
      .optional(),
    exp_month: z.int().min(1).max(12).optional(),
    exp_year: z.int().min(2_000).max(2_999).optional(),
  }),
]);

/** Renews a stored card as the card network does, or removes it as the owner does. */
export const changeMethodByHand = (parts: ControlParts, call: ControlCall): Response => {
  const sent = parsed(methodChange, call.body);
  const method = findById(parts.units.documents.methods, 'payment method', call.id);
  if (method.customerId === null) {
    throw new ControlError(409, `The payment method ${method.id} is not attached to a customer`);
  }
  const { card } = method;
  const after = change(parts, method.provider, (unit) =>
    'detach' in sent
      ? detachMethod(unit, method)
      : renewCard(unit, method, {
          last4: sent.last_four ?? card.last4,
          expMonth: sent.exp_month ?? card.expMonth,
          expYear: sent.exp_year ?? card.expYear,
        }),
  );
  return Response.json(methodRow(after));
};
