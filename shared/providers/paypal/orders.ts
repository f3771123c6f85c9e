/**
 * @module Payments at PayPal. The intent is an order. A capture of the order moves the money, and an authorization
 * holds it for a later capture. A saved method is sent only with the confirmation, because PayPal immediately charges
 * an order created with a saved method. Without a method, the payer approves the order at PayPal.
 */

import * as z from 'zod';
import type { MethodKind } from '../../core/fact-words.ts';
import { mapOutcome, type Outcome } from '../../core/outcome.ts';
import { cutText } from '../../core/text.ts';
import {
  type CallOptions,
  type ConfirmIntent,
  type CreateIntent,
  INTENT_SPENT,
  type KnownPayment,
  type ProviderPayment,
  type ReportedStatus,
  type UpdateIntent,
} from '../payment-port.ts';
import { afterChange } from '../vendor-failures.ts';
import { type PayPalMoney, paypalAmounts, paypalMoney } from './amounts.ts';
import { PAYPAL_WALLET } from './capture-facts.ts';
import { PAYPAL_NOT_FOUND, type PayPalCall } from './outcome.ts';
import { expiredOrder, readPayPalOrder } from './report.ts';
import { type Order, paypalOrderSchema } from './schemas.ts';
import { findKind, paypalCustomer } from './tokens.ts';

export const paypalOrders = (call: PayPalCall, descriptor: string) => ({
  createIntent: async (input: CreateIntent): Promise<Outcome<ProviderPayment>> => {
    const amount = paypalMoney(input);
    if (!amount) return paypalAmounts.refused(input);
    const created = await call({
      method: 'POST',
      path: ORDERS,
      headers: keyed(input),
      body: {
        intent: orderIntent(input),
        purchase_units: [
          {
            reference_id: REFERENCE,
            custom_id: input.paymentId,
            // The invoice number prevents a double capture. PayPal refuses a second capture with the same number, even
            // of another order.
            invoice_id: input.paymentId,
            amount,
            ...(input.description && { description: shortened(input.description) }),
            ...(descriptor !== '' && { soft_descriptor: descriptor }),
          },
        ],
        ...(input.method === undefined && { payment_source: payerSource(input) }),
      },
      answer: paypalOrderSchema,
    });
    return mapOutcome(created, (order) => readPayPalOrder(order, { status: 'created', method: input.method }));
  },

  updateIntent: async (input: UpdateIntent): Promise<Outcome<ProviderPayment>> => {
    const amount = paypalMoney(input);
    if (!amount) return paypalAmounts.refused(input);
    const found = await findPayPalOrder(call, input.intentId);
    // The order has expired; the report is built from our record.
    if (isGone(found)) return { kind: 'done', value: expiredOrder(knownOf(input)) };
    if (found.kind !== 'done') return found;
    if (!OPEN.includes(found.value.status)) return NOT_OPEN;
    return updateOrder(call, { ...input, amount }, found.value);
  },

  confirmIntent: async (input: ConfirmIntent): Promise<Outcome<ProviderPayment>> => {
    const known = { status: 'pending', method: input.method } as const;
    const charged = await charge(call, input);
    if (isGone(charged)) return SPENT;
    if (charged.kind === 'done') return answered(readPayPalOrder(charged.value, known), input);
    if (charged.kind !== 'refused' || !UNCLEAR.includes(charged.reason)) return charged;
    const found = await findPayPalOrder(call, input.intentId);
    if (found.kind === 'refused' || found.kind === 'declined') return charged;
    // This attempt may have charged the order, so a failed read leaves an unknown outcome.
    if (found.kind !== 'done') return afterChange(found);
    const report = readPayPalOrder(found.value, known);
    return report.status === 'failed' ? SPENT : answered(report, input);
  },

  /**
   * Only reads the order, because PayPal cannot cancel an order. An order without a capture or an authorization expires
   * by itself.
   */
  cancelIntent: async (known: KnownPayment & CallOptions): Promise<Outcome<ProviderPayment>> => {
    const found = await findPayPalOrder(call, known.intentId);
    const canceled = { ...known, status: 'canceled' } as const;
    if (isGone(found)) return { kind: 'done', value: expiredOrder(canceled) };
    if (found.kind !== 'done') return found;
    const report = readPayPalOrder(found.value, canceled);
    if (report.status === 'canceled') return { kind: 'done', value: report };
    return report.status === 'failed' ? { kind: 'done', value: { ...report, status: 'canceled' } } : NOT_OPEN;
  },

  findPayment: async (known: KnownPayment): Promise<Outcome<ProviderPayment>> => {
    const found = await findPayPalOrder(call, known.intentId);
    if (isGone(found) && !CHARGED.includes(known.status)) return { kind: 'done', value: expiredOrder(known) };
    return mapOutcome(found, (order) => readPayPalOrder(order, known));
  },
});

/** A failed capture is a decline. A charge that needs the absent payer is a decline, too. */
const answered = (report: ProviderPayment, { offSession }: ConfirmIntent): Outcome<ProviderPayment> => {
  const { status, failureCode = 'do_not_honor', attemptRef, facts } = report;
  if (status === 'failed') return { kind: 'declined', code: failureCode, attemptRef, facts };
  const asksPayer = status === 'pending' && !report.awaitsCapture;
  return offSession && asksPayer
    ? { kind: 'declined', code: 'authentication_required', attemptRef }
    : { kind: 'done', value: report };
};

const ORDERS = '/v2/checkout/orders';
const pathOf = (orderId: string): string => `${ORDERS}/${encodeURIComponent(orderId)}`;

export const findPayPalOrder = (call: PayPalCall, orderId: string): Promise<Outcome<Order>> =>
  call({ method: 'GET', path: pathOf(orderId), answer: paypalOrderSchema });

/** True if PayPal no longer has the order, or no longer charges it. */
const isGone = (outcome: Outcome<unknown>): boolean => outcome.kind === 'refused' && GONE.includes(outcome.reason);

const GONE: readonly string[] = [PAYPAL_NOT_FOUND, 'ORDER_EXPIRED'];

/** Recorded statuses that a payment reaches only after a charge or an authorization of the order. */
const CHARGED: readonly ReportedStatus[] = ['requires_capture', 'succeeded'];

const orderIntent = ({ captureMethod }: Pick<UpdateIntent, 'captureMethod'>) =>
  captureMethod === 'manual' ? 'AUTHORIZE' : 'CAPTURE';

const NOT_OPEN = { kind: 'refused', reason: 'order_not_open' } as const;
const SPENT = { kind: 'refused', reason: INTENT_SPENT } as const;

/** Order statuses before the payer's approval, in which the order can be changed. */
const OPEN: readonly string[] = ['CREATED', 'SAVED', 'PAYER_ACTION_REQUIRED'];

/** Refusals that depend on the state of the order, which must then be read. */
const UNCLEAR: readonly string[] = [
  'ORDER_ALREADY_AUTHORIZED',
  'ORDER_ALREADY_CAPTURED',
  'ORDER_COMPLETED_OR_VOIDED',
  'ORDER_NOT_APPROVED',
  'PAYER_ACTION_REQUIRED',
];

const REFERENCE = 'default';
const MAX_DESCRIPTION_LENGTH = 127;
const shortened = (description: string): string => cutText(description, MAX_DESCRIPTION_LENGTH);

/** Requests the whole order in the response, not only its id. */
const WHOLE = { prefer: 'return=representation' };
export const keyed = ({ idempotencyKey }: CallOptions) => ({ 'paypal-request-id': idempotencyKey, ...WHOLE });

const payerSource = ({
  customerId,
  saveMethod,
  returnUrl,
}: Pick<CreateIntent, 'customerId' | 'saveMethod' | 'returnUrl'>) => ({
  paypal: {
    experience_context: {
      user_action: 'PAY_NOW',
      shipping_preference: 'NO_SHIPPING',
      ...(returnUrl && { return_url: returnUrl, cancel_url: returnUrl }),
    },
    ...(saveMethod && { attributes: vaulting(customerId, { usage_type: 'MERCHANT' }) }),
  },
});

/** Makes PayPal save the method after a successful payment. */
const vaulting = (customerId: string | undefined, usage: object = {}) => ({
  ...(customerId && { customer: paypalCustomer(customerId) }),
  vault: { store_in_vault: 'ON_SUCCESS', ...usage },
});

/** Captures or authorizes the approved order, or charges the saved method in the same call. */
const charge = async (call: PayPalCall, input: ConfirmIntent): Promise<Outcome<Order>> => {
  const source = await sourceOf(call, input);
  if (source.kind !== 'done') return source;
  const charged = await call({
    method: 'POST',
    path: `${pathOf(input.intentId)}/${input.captureMethod === 'manual' ? 'authorize' : 'capture'}`,
    // An attempt that continues with another order needs another key.
    headers: keyed({ idempotencyKey: `${input.idempotencyKey}:${input.intentId}` }),
    body: source.value ? { payment_source: source.value } : {},
    answer: paypalOrderSchema,
  });
  // The refusal does not name the method, so the wallet is added here.
  if (charged.kind !== 'declined' || !source.value || !('paypal' in source.value)) return charged;
  return { ...charged, facts: { ...charged.facts, details: PAYPAL_WALLET } };
};

/** The saved method in PayPal's format; undefined if the payer has approved the order. */
const sourceOf = async (call: PayPalCall, input: ConfirmIntent): Promise<Outcome<object | undefined>> => {
  const { method, methodKind } = input;
  if (method === undefined) return { kind: 'done', value: undefined };
  const kind = methodKind ? ({ kind: 'done', value: methodKind } as const) : await findKind(call, method);
  if (kind.kind === 'done') return { kind: 'done', value: savedSource(method, kind.value, input) };
  if (kind.kind === 'unknown') return { kind: 'not_done', reason: 'unreachable' };
  return isGone(kind) ? UNKNOWN_METHOD : kind;
};

const UNKNOWN_METHOD = { kind: 'refused', reason: 'TOKEN_ID_NOT_FOUND', parameter: 'payment_method' } as const;

/** The payment source of a charge, which may also save the method. */
const savedSource = (method: string, kind: MethodKind, input: ConfirmIntent): object => {
  const { customerId, offSession, saveMethod } = input;
  return kind === 'wallet'
    ? {
        paypal: {
          vault_id: method,
          ...(offSession && { stored_credential: walletCredential(input) }),
          ...(saveMethod && { attributes: vaulting(customerId, { usage_type: 'MERCHANT' }) }),
        },
      }
    : {
        card: {
          vault_id: method,
          stored_credential: storedCredential(input),
          ...(saveMethod && { attributes: vaulting(customerId) }),
          ...returnOf(input),
        },
      };
};

/**
 * The credential for charging a stored wallet without the payer present. `RECURRING_PREPAID` fits a subscription, which
 * is paid on a fixed date, before its period.
 */
const walletCredential = ({ isRecurring }: ConfirmIntent) => ({
  payment_initiator: 'MERCHANT',
  usage: 'SUBSEQUENT',
  usage_pattern: isRecurring ? 'RECURRING_PREPAID' : 'IMMEDIATE',
});

/** Who initiates the charge of a stored card. */
const storedCredential = ({ offSession, isRecurring }: ConfirmIntent) => ({
  payment_initiator: offSession ? 'MERCHANT' : 'CUSTOMER',
  payment_type: isRecurring ? 'RECURRING' : offSession ? 'UNSCHEDULED' : 'ONE_TIME',
  usage: 'SUBSEQUENT',
});

/** The page to which the payer returns after authenticating the card. */
const returnOf = ({ offSession, returnUrl }: ConfirmIntent) =>
  !offSession && returnUrl ? { experience_context: { return_url: returnUrl, cancel_url: returnUrl } } : {};

type Changed = UpdateIntent & { readonly amount: PayPalMoney };

const updateOrder = async (call: PayPalCall, input: Changed, order: Order): Promise<Outcome<ProviderPayment>> => {
  const patches = patchesOf(order, input);
  if (patches.length > 0) {
    const patched = await call({ method: 'PATCH', path: pathOf(order.id), body: patches, answer: z.unknown() });
    if (patched.kind !== 'done') return patched;
  }
  const approvedByPayer = input.method === null || (input.method === undefined && order.payment_source?.paypal);
  // The fields of the payer's approval cannot be patched, so the payment source is confirmed again.
  const updated = approvedByPayer ? await askPayer(call, input) : await findPayPalOrder(call, order.id);
  // The order has already changed, and a later failure does not undo the change.
  const outcome = patches.length > 0 ? afterChange(updated) : updated;
  return mapOutcome(outcome, (now) => readPayPalOrder(now, knownOf(input)));
};

const askPayer = (call: PayPalCall, input: UpdateIntent): Promise<Outcome<Order>> =>
  call({
    method: 'POST',
    path: `${pathOf(input.intentId)}/confirm-payment-source`,
    headers: WHOLE,
    body: { payment_source: payerSource(input) },
    answer: paypalOrderSchema,
  });

/** Patches only the fields that differ. */
const patchesOf = (order: Order, { amount, description, captureMethod }: Changed) => {
  const [unit] = order.purchase_units;
  const intent = orderIntent({ captureMethod });
  const at = (field: string): string => `/purchase_units/@reference_id=='${REFERENCE}'/${field}`;
  const wanted = description && shortened(description);
  const patches: { op: 'add' | 'replace' | 'remove'; path: string; value?: unknown }[] = [];
  if (intent !== (order.intent ?? 'CAPTURE')) patches.push({ op: 'replace', path: '/intent', value: intent });
  if (unit?.amount.value !== amount.value || unit.amount.currency_code !== amount.currency_code) {
    patches.push({ op: 'replace', path: at('amount'), value: amount });
  }
  if (wanted && wanted !== unit?.description) {
    patches.push({ op: unit?.description === undefined ? 'add' : 'replace', path: at('description'), value: wanted });
  }
  if (!wanted && unit?.description !== undefined) patches.push({ op: 'remove', path: at('description') });
  return patches;
};

const knownOf = ({ intentId, method }: UpdateIntent) => ({
  intentId,
  status: 'created' as const,
  method: method ?? undefined,
});
