import * as z from 'zod';
import { finalizeInvoice, markUncollectible, payElsewhere } from '../../billing/invoice-steps.ts';
import { type Collected, collectInvoice, setCollection } from '../../billing/invoices.ts';
import { voidInvoice } from '../../billing/subscription-end.ts';
import type { LedgerInvoice } from '../../ledger/billing-documents.ts';
import type { Unit } from '../../ledger/unit.ts';
import { stripePaymentView } from '../views/intent-views.ts';
import { invoiceView } from '../views/invoice-views.ts';
import { stripeMethodView } from '../views/payment-views.ts';
import { actionRequired, declineFields, invalidStripeRequest, stripeError, stripeNotFound } from '../wire/errors.ts';
import { checkUsable, findMethod } from '../wire/method-data.ts';
import {
  choice,
  createdRange,
  expand,
  flag,
  mergeMetadata,
  metadata,
  page,
  readParameters,
  text,
} from '../wire/parameters.ts';
import type { StripeObject } from '../wire/request.ts';
import { getRoute, listPage, none, type StripeReply, type StripeRequest, type StripeRoute } from '../wire/request.ts';

const PATH = '/v1/invoices';

export const invoiceRoutes: readonly StripeRoute[] = [
  { method: 'GET', path: PATH, run: (request) => ({ object: list(request) }) },
  getRoute<LedgerInvoice>(`${PATH}/:id`, 'invoice', (unit) => ({
    collection: unit.documents.invoices,
    view: (invoice) => invoiceView(invoice, unit),
  })),
  { method: 'POST', path: `${PATH}/:id`, run: (request) => ({ object: update(request) }) },
  { method: 'POST', path: `${PATH}/:id/pay`, run: (request) => pay(request) },
  { method: 'POST', path: `${PATH}/:id/finalize`, run: (request) => ({ object: finalize(request) }) },
  { method: 'POST', path: `${PATH}/:id/mark_uncollectible`, run: (request) => ({ object: writeOff(request) }) },
  { method: 'POST', path: `${PATH}/:id/void`, run: (request) => ({ object: cancel(request) }) },
];

const listFields = z.strictObject({
  ...page,
  created: createdRange.optional(),
  customer: text().optional(),
  status: choice(['draft', 'open', 'paid', 'uncollectible', 'void']).optional(),
  subscription: text().optional(),
});

const list = (request: StripeRequest): StripeObject => {
  const { unit, call } = request;
  const sent = readParameters(call, listFields);
  const { customer, status } = sent;
  return listPage(request, sent, {
    collection: unit.documents.invoices,
    view: (invoice) => invoiceView(invoice, unit),
    holder: sent.subscription,
    wanted: (invoice) =>
      (customer === undefined || invoice.customerId === customer) &&
      (status === undefined || invoice.status === status),
    kind: 'invoice',
  });
};

const find = ({ unit, id }: StripeRequest): LedgerInvoice => {
  const invoice = unit.documents.invoices.get(unit.slot, id);
  if (!invoice) throw stripeNotFound('invoice', id, 'id');
  return invoice;
};

const updateFields = z.strictObject({
  auto_advance: flag.optional(),
  metadata: metadata.optional(),
  expand: expand.optional(),
});

const update = (request: StripeRequest): StripeObject => {
  const { unit, call } = request;
  const sent = readParameters(call, updateFields);
  const found = find(request);
  const invoice = unit.documents.invoices.put({ ...found, metadata: mergeMetadata(found.metadata, sent.metadata) });
  if (sent.auto_advance === undefined) return invoiceView(invoice, unit);
  if (invoice.status !== 'open' && invoice.status !== 'draft') {
    throw invalidStripeRequest({
      message: `You cannot change \`auto_advance\` of an invoice that is ${invoice.status}.`,
      param: 'auto_advance',
    });
  }
  return invoiceView(setCollection(unit, invoice, sent.auto_advance), unit);
};

const payFields = z.strictObject({
  paid_out_of_band: flag.optional(),
  payment_method: text().optional(),
  off_session: flag.optional(),
  expand: expand.optional(),
});

const pay = (request: StripeRequest): StripeReply => {
  const { unit, call } = request;
  const sent = readParameters(call, payFields);
  const invoice = find(request);
  const method =
    sent.payment_method === undefined
      ? undefined
      : checkUsable(findMethod(unit, sent.payment_method, 'payment_method'), invoice.customerId);
  checkPayable(unit, invoice);
  if (sent.paid_out_of_band) {
    if (method) {
      throw invalidStripeRequest({
        message: 'You may only specify one of these parameters: paid_out_of_band, payment_method.',
      });
    }
    return { object: invoiceView(payElsewhere(unit, invoice), unit) };
  }
  const collected = collectInvoice(unit, invoice, {
    method,
    attempt: `invoice:${invoice.id}`,
    onSession: sent.off_session === false,
  });
  return paidReply(unit, collected);
};

/** @throws Refused unless the invoice is open or uncollectible and no charge is running. */
const checkPayable = (unit: Unit, invoice: LedgerInvoice): void => {
  if (invoice.status === 'paid') throw invalidStripeRequest({ message: 'Invoice is already paid' });
  if (invoice.status !== 'open' && invoice.status !== 'uncollectible') {
    throw invalidStripeRequest({ message: `You cannot pay an invoice that is ${invoice.status}.` });
  }
  const payment = unit.documents.payments.get(unit.slot, invoice.paymentId ?? '');
  if (payment?.status === 'processing') {
    throw invalidStripeRequest({ message: 'A payment of this invoice is already processing.' });
  }
  if (payment?.status === 'canceled') {
    throw invalidStripeRequest({ message: 'The payment of this invoice was canceled.' });
  }
};

const paidReply = (unit: Unit, { invoice, declined, asked }: Collected): StripeReply => {
  if (!declined && !asked) return { object: invoiceView(invoice, unit) };
  const tried = unit.documents.payments.get(unit.slot, invoice.paymentId ?? '');
  const error = {
    ...(declined && !asked ? declineFields(declined.reason) : actionRequired('invoice')),
    ...(declined?.charge && { charge: declined.charge.id }),
    ...(tried && { payment_intent: stripePaymentView(tried, unit) }),
    ...(declined && { payment_method: stripeMethodView(declined.method) }),
  };
  return { answer: stripeError(402, error, true) };
};

const finalize = (request: StripeRequest): StripeObject => {
  const { unit, call } = request;
  const sent = readParameters(call, z.strictObject({ auto_advance: flag.optional(), expand: expand.optional() }));
  const invoice = find(request);
  if (invoice.status !== 'draft') {
    throw invalidStripeRequest({
      code: 'invoice_not_editable',
      message: "This invoice is already finalized, you can't re-finalize a non-draft invoice.",
    });
  }
  return invoiceView(finalizeInvoice(unit, invoice, sent.auto_advance ?? invoice.collects), unit);
};

const writeOff = (request: StripeRequest): StripeObject => {
  const { unit, call } = request;
  readParameters(call, none);
  const invoice = find(request);
  if (invoice.status !== 'open') {
    throw invalidStripeRequest({
      message: `You can only mark an open invoice as uncollectible. This invoice is ${invoice.status}.`,
    });
  }
  return invoiceView(markUncollectible(unit, invoice), unit);
};

const cancel = (request: StripeRequest): StripeObject => {
  const { unit, call } = request;
  readParameters(call, none);
  const invoice = find(request);
  if (invoice.status !== 'open' && invoice.status !== 'uncollectible') {
    throw invalidStripeRequest({
      message: `You can only pass in open or uncollectible invoices. This invoice isn't one of those: it is ${invoice.status}.`,
    });
  }
  return invoiceView(voidInvoice(unit, invoice), unit);
};
