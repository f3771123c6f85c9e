import * as z from 'zod';
import { settleInvoice } from '../../billing/invoices.ts';
import type { LedgerMethod, LedgerPayment } from '../../ledger/documents.ts';
import { declinesCapture } from '../../ledger/holds.ts';
import {
  attemptPayment,
  type ChargeOutcome,
  cancelLedgerPayment,
  captureLedgerPayment,
} from '../../ledger/payments.ts';
import type { Unit } from '../../ledger/unit.ts';
import type { Refused } from '../../protocol/vendor.ts';
import { browserView, clientSecretOf, stripePaymentView } from '../views/intent-views.ts';
import { stripeMethodView } from '../views/payment-views.ts';
import { checkAmount, checkCharge, checkCurrency } from '../wire/currencies.ts';
import {
  declineFields,
  invalidStripeRequest,
  missingReturnUrl,
  refusedOperation,
  stripeError,
  stripeNotFound,
} from '../wire/errors.ts';
import {
  type ConfirmFields,
  cancelFields,
  captureFields,
  confirmFields,
  createFields,
  mergeWire,
  type UpdateFields,
  updateFields,
} from '../wire/intent-fields.ts';
import { checkUsable, findMethod, findStripeCustomer, methodFromData } from '../wire/method-data.ts';
import { createdRange, mergeMetadata, page, readParameters, text } from '../wire/parameters.ts';
import type { StripeObject } from '../wire/request.ts';
import { listPage, type StripeReply, type StripeRequest, type StripeRoute } from '../wire/request.ts';
import { searchPayments } from './search.ts';

const PATH = '/v1/payment_intents';

export const paymentIntentRoutes: readonly StripeRoute[] = [
  { method: 'POST', path: PATH, run: (request) => create(request) },
  { method: 'GET', path: PATH, run: (request) => ({ object: list(request) }) },
  { method: 'GET', path: `${PATH}/search`, run: (request) => ({ object: searchPayments(request) }) },
  { method: 'GET', path: `${PATH}/:id`, browser: true, run: (request) => read(request) },
  { method: 'POST', path: `${PATH}/:id`, run: (request) => update(request) },
  { method: 'POST', path: `${PATH}/:id/confirm`, browser: true, run: (request) => confirm(request) },
  { method: 'POST', path: `${PATH}/:id/cancel`, run: (request) => cancelIntent(request) },
  { method: 'POST', path: `${PATH}/:id/capture`, run: (request) => captureIntent(request) },
];

const UPDATABLE: readonly LedgerPayment['status'][] = [
  'requires_payment_method',
  'requires_confirmation',
  'requires_action',
];
const CANCELABLE: readonly LedgerPayment['status'][] = [...UPDATABLE, 'requires_capture'];

const create = (request: StripeRequest): StripeReply => {
  const { call, unit } = request;
  const sent = readParameters(call, createFields);
  if (sent.confirm !== true) refuseWithoutConfirm(sent);
  const customerId = sent.customer === undefined ? null : findStripeCustomer(unit, sent.customer, 'customer').id;
  const currency = checkCurrency(sent.currency);
  const amount = checkCharge(sent.amount, currency);
  const method = methodOf(unit, sent);
  if (method) checkUsable(method, customerId);
  const payment = unit.documents.payments.put({
    id: unit.newId('payment'),
    provider: unit.slot,
    metadata: mergeMetadata({}, sent.metadata),
    wire: mergeWire(
      {
        automatic_payment_methods: automatic(sent),
        confirmation_method: sent.confirmation_method ?? 'automatic',
        redirects:
          sent.automatic_payment_methods?.enabled === true &&
          sent.automatic_payment_methods.allow_redirects !== 'never',
      },
      sent,
    ),
    createdAt: unit.at,
    amount,
    currency,
    status: method ? 'requires_confirmation' : 'requires_payment_method',
    captures: sent.capture_method === 'manual' ? 'later' : 'at_once',
    description: sent.description ?? null,
    customerId,
    methodId: method?.id ?? null,
    saveMethod: sent.setup_future_usage ?? null,
    amountReceived: 0,
    latestChargeId: null,
    failure: null,
    returnUrl: null,
    canceledAt: null,
    cancellationReason: null,
  });
  unit.announce({ kind: 'payment.created', payment });
  if (sent.confirm !== true) return { object: stripePaymentView(payment, unit) };
  const key = call.headers.get('idempotency-key');
  const terms = { ...sent, payment_method: undefined, payment_method_data: undefined };
  return attempt(request, { payment, sent: terms, name: key === null ? undefined : `key:${key}` });
};

/** Refuses fields of the confirmation without `confirm`, because they would have no effect. */
const refuseWithoutConfirm = (sent: z.output<typeof createFields>): void => {
  for (const param of ['off_session', 'return_url', 'error_on_requires_action', 'mandate_data'] as const) {
    if (sent[param] === undefined) continue;
    throw invalidStripeRequest({
      message: `You can only pass \`${param}\` when creating a PaymentIntent if \`confirm\` is set to true.`,
      param,
    });
  }
};

const automatic = (sent: z.output<typeof createFields>): StripeObject | null => {
  const wanted = sent.automatic_payment_methods;
  if (wanted?.enabled === false) return null;
  return { allow_redirects: wanted?.allow_redirects ?? 'always', enabled: true };
};

const find = ({ unit, id }: StripeRequest): LedgerPayment => {
  const payment = unit.documents.payments.get(unit.slot, id);
  if (!payment) throw stripeNotFound('payment_intent', id, 'intent');
  return payment;
};

/** A browser must send the payment's client secret. */
const findFor = (request: StripeRequest, clientSecret: string | undefined): LedgerPayment => {
  const payment = find(request);
  if (request.caller.kind === 'adapter' && clientSecret === undefined) return payment;
  if (clientSecret === clientSecretOf(request.unit, payment.id)) return payment;
  throw invalidStripeRequest({
    code: clientSecret === undefined ? 'parameter_missing' : 'payment_intent_invalid_parameter',
    message:
      clientSecret === undefined
        ? 'Missing required param: client_secret.'
        : 'The client_secret provided does not match the client_secret associated with the PaymentIntent.',
    param: 'client_secret',
  });
};

const read = (request: StripeRequest): StripeReply => {
  const schema = z.strictObject({ client_secret: text().optional(), expand: page.expand });
  const { client_secret: secret } = readParameters(request.call, schema);
  return { object: viewFor(request, findFor(request, secret)) };
};

const list = (request: StripeRequest): StripeObject => {
  const { unit, call } = request;
  const sent = readParameters(
    call,
    z.strictObject({ ...page, customer: text().optional(), created: createdRange.optional() }),
  );
  if (sent.customer !== undefined) findStripeCustomer(unit, sent.customer, 'customer');
  return listPage(request, sent, {
    collection: unit.documents.payments,
    view: (payment) => stripePaymentView(payment, unit),
    holder: sent.customer,
    kind: 'payment_intent',
  });
};

const ANYTIME: readonly string[] = ['metadata', 'description', 'receipt_email', 'expand'];

const update = (request: StripeRequest): StripeReply => {
  const { call, unit } = request;
  const sent = readParameters(call, updateFields);
  const payment = find(request);
  const late = Object.keys(sent).find((field) => !ANYTIME.includes(field));
  if (late !== undefined && !UPDATABLE.includes(payment.status)) throw notUpdatable(unit, payment, late);
  const changed: LedgerPayment = {
    ...payment,
    ...priceOf(payment, sent),
    description: sent.description === undefined ? payment.description : sent.description,
    customerId:
      sent.customer === undefined ? payment.customerId : findStripeCustomer(unit, sent.customer, 'customer').id,
    captures: capturesOf(payment, sent.capture_method),
    saveMethod: usageOf(payment, sent.setup_future_usage),
    metadata: mergeMetadata(payment.metadata, sent.metadata),
    wire: mergeWire(payment.wire, sent),
  };
  const stored = unit.documents.payments.put(late === undefined ? changed : withMethod(unit, changed, sent));
  return { object: stripePaymentView(stored, unit) };
};

const priceOf = (payment: LedgerPayment, sent: UpdateFields): Pick<LedgerPayment, 'amount' | 'currency'> => {
  const currency = sent.currency === undefined ? payment.currency : checkCurrency(sent.currency);
  return { amount: checkCharge(sent.amount ?? payment.amount, currency), currency };
};

const usageOf = (
  payment: LedgerPayment,
  sent: '' | LedgerPayment['saveMethod'] | undefined,
): LedgerPayment['saveMethod'] => {
  if (sent === undefined) return payment.saveMethod;
  return sent === '' ? null : sent;
};

const capturesOf = (payment: LedgerPayment, sent: UpdateFields['capture_method']): LedgerPayment['captures'] => {
  if (sent === undefined) return payment.captures;
  return sent === 'manual' ? 'later' : 'at_once';
};

/**
 * Applies the method of an update. An update of the amount, the method or most other fields requires a new
 * confirmation.
 */
const withMethod = (unit: Unit, payment: LedgerPayment, sent: UpdateFields): LedgerPayment => {
  const given = methodOf(unit, sent);
  const methodId = sent.payment_method === null ? null : (given?.id ?? payment.methodId);
  const method = methodId === null ? undefined : unit.documents.methods.get(unit.slot, methodId);
  if (method) checkUsable(method, payment.customerId);
  return { ...payment, methodId, status: methodId === null ? 'requires_payment_method' : 'requires_confirmation' };
};

const methodOf = (
  unit: Unit,
  sent: { readonly payment_method?: string | null | undefined } & Pick<ConfirmFields, 'payment_method_data'>,
): LedgerMethod | undefined => {
  if (sent.payment_method_data !== undefined) return methodFromData(unit, sent.payment_method_data);
  return sent.payment_method ? findMethod(unit, sent.payment_method, 'payment_method') : undefined;
};

const confirm = (request: StripeRequest): StripeReply => {
  const sent = readParameters(request.call, confirmFields);
  const payment = findFor(request, sent.client_secret);
  if (!UPDATABLE.includes(payment.status)) throw notConfirmable(request.unit, payment);
  return attempt(request, { payment, sent, name: payment.id });
};

interface Confirmation {
  readonly payment: LedgerPayment;
  readonly sent: ConfirmFields;
  /** Identifies the attempt, so that it loses its connection only once. */
  readonly name: string | undefined;
}

const attempt = (request: StripeRequest, { payment, sent, name }: Confirmation): StripeReply => {
  const { unit } = request;
  const method =
    methodOf(unit, sent) ??
    (payment.methodId === null ? undefined : unit.documents.methods.get(unit.slot, payment.methodId));
  if (!method) {
    throw unexpectedState(
      unit,
      payment,
      "You cannot confirm this PaymentIntent because it's missing a payment method. You can either update the " +
        'PaymentIntent with a payment method and then confirm it again, or confirm it again directly with a payment ' +
        'method or ConfirmationToken.',
    );
  }
  checkUsable(method, payment.customerId);
  const ready: LedgerPayment = {
    ...payment,
    saveMethod: usageOf(payment, sent.setup_future_usage),
    captures: capturesOf(payment, sent.capture_method),
    returnUrl: sent.return_url ?? payment.returnUrl,
    wire: mergeWire(payment.wire, sent),
  };
  requireReturnUrl(request, ready, sent);
  const offSession = sent.off_session === true || sent.error_on_requires_action === true;
  const terms = { offSession, attempt: name, waitsForCustomer: typeof payment.wire['invoice'] === 'string' };
  const outcome = attemptPayment(unit, { payment: ready, method }, terms);
  settleInvoice(unit, outcome.payment);
  return replyTo(request, outcome);
};

/**
 * Since October 2023, Stripe requires a return URL if automatic payment methods allow redirects. Stripe.js in the
 * browser needs no return URL.
 */
const requireReturnUrl = ({ caller }: StripeRequest, payment: LedgerPayment, sent: ConfirmFields): void => {
  if (payment.wire['redirects'] !== true || payment.returnUrl !== null) return;
  if (sent.use_stripe_sdk === true || caller.kind === 'browser') return;
  throw missingReturnUrl('PaymentIntent');
};

const replyTo = (request: StripeRequest, { payment, declined }: ChargeOutcome): StripeReply => {
  if (!declined) return { object: viewFor(request, payment) };
  const error = {
    ...declineFields(declined.reason),
    ...(declined.charge ? { charge: declined.charge.id } : {}),
    payment_intent: viewFor(request, payment),
    payment_method: stripeMethodView(declined.method),
  };
  return { answer: stripeError(402, error, true) };
};

const viewFor = ({ caller, unit }: StripeRequest, payment: LedgerPayment): StripeObject =>
  caller.kind === 'browser' ? browserView(stripePaymentView(payment, unit)) : stripePaymentView(payment, unit);

const cancelIntent = (request: StripeRequest): StripeReply => {
  const { call, unit } = request;
  const sent = readParameters(call, cancelFields);
  const payment = find(request);
  if (!CANCELABLE.includes(payment.status)) {
    throw unexpectedState(
      unit,
      payment,
      `You cannot cancel this PaymentIntent because it has a status of ${payment.status}. Only a PaymentIntent with one ` +
        `of the following statuses may be canceled: ${CANCELABLE.join(', ')}.`,
    );
  }
  return { object: stripePaymentView(cancelLedgerPayment(unit, payment, sent.cancellation_reason ?? null), unit) };
};

const captureIntent = (request: StripeRequest): StripeReply => {
  const { call, unit } = request;
  const sent = readParameters(call, captureFields);
  const payment = find(request);
  if (payment.status !== 'requires_capture') {
    throw unexpectedState(
      unit,
      payment,
      `This PaymentIntent could not be captured because it has a status of ${payment.status}. Only a PaymentIntent with ` +
        'one of the following statuses may be captured: requires_capture.',
    );
  }
  const amount = checkAmount(sent.amount_to_capture ?? payment.amount, payment.currency, 'amount_to_capture');
  if (amount > payment.amount) {
    throw invalidStripeRequest({
      code: 'amount_too_large',
      message: `The payment intent could not be captured because the requested capture amount is greater than the authorized amount.`,
      param: 'amount_to_capture',
    });
  }
  if (declinesCapture(unit, payment)) {
    const error = { ...declineFields('generic_decline'), payment_intent: stripePaymentView(payment, unit) };
    return { answer: stripeError(402, error, true) };
  }
  return { object: stripePaymentView(captureLedgerPayment(unit, payment, amount), unit) };
};

const notConfirmable = (unit: Unit, payment: LedgerPayment): Refused =>
  unexpectedState(
    unit,
    payment,
    payment.status === 'succeeded'
      ? 'You cannot confirm this PaymentIntent because it has already succeeded after being previously confirmed.'
      : `You cannot confirm this PaymentIntent because it has a status of ${payment.status}. Only a PaymentIntent with one ` +
          'of the following statuses may be confirmed: requires_confirmation, requires_action.',
  );

const notUpdatable = (unit: Unit, payment: LedgerPayment, field: string): Refused =>
  unexpectedState(
    unit,
    payment,
    `This PaymentIntent's ${field} could not be updated because it has a status of ${payment.status}. You may only ` +
      `update the ${field} of a PaymentIntent with one of the following statuses: ${UPDATABLE.join(', ')}.`,
  );

const unexpectedState = (unit: Unit, payment: LedgerPayment, message: string): Refused =>
  refusedOperation({
    code: 'payment_intent_unexpected_state',
    message,
    payment_intent: stripePaymentView(payment, unit),
  });
