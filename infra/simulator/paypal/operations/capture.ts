import type { LedgerMethod, LedgerPayment } from '../../ledger/documents.ts';
import { attemptPayment, authenticate } from '../../ledger/payments.ts';
import type { Unit } from '../../ledger/unit.ts';
import type { Answer } from '../../protocol/vendor.ts';
import { minimalOrderView, orderLinks, paypalOrderView, readPayPalOrderWire } from '../views/payment-views.ts';
import { refused, unprocessable } from '../wire/errors.ts';
import type { PaymentSource, StoredCredential } from '../wire/order-fields.ts';
import { answer, type CustomerReference, type PayPalRequest, wantsRepresentation } from '../wire/request.ts';
import { isCard, methodOfTestValue } from '../wire/tokens.ts';
import { customerNamed } from './customers.ts';

/**
 * Charges the saved method named by the request, or holds the amount. Every call charges a named method immediately,
 * unless its payer must act.
 * @returns undefined if the request names no saved method
 */
export const charge = (
  request: PayPalRequest,
  order: LedgerPayment,
  source: PaymentSource | undefined,
): Answer | undefined => {
  const asCard = source?.card !== undefined;
  const vaultId = source?.card?.vault_id ?? source?.paypal?.vault_id;
  if (vaultId === undefined) return undefined;
  const method = savedMethod(request.unit, vaultId);
  if (isCard(method) !== asCard) throw refused('MISMATCHED_VAULT_ID_TO_PAYMENT_SOURCE', '/payment_source');
  requireCompatible(source?.card?.stored_credential, '/payment_source/card/stored_credential');
  requireCompatible(source?.paypal?.stored_credential, '/payment_source/paypal/stored_credential');
  const [kind, attributes] = asCard
    ? (['card', source.card?.attributes] as const)
    : (['paypal', source?.paypal?.attributes] as const);
  const stored = attributes
    ? { ...order, ...vaulting(request.unit, attributes, `/payment_source/${kind}/attributes/customer/id`) }
    : order;
  return attempt(request, returningTo(stored, source?.card?.experience_context), {
    method,
    offSession: source?.card?.stored_credential?.payment_initiator === 'MERCHANT',
  });
};

interface Vaulting {
  readonly customer?: CustomerReference | undefined;
  readonly vault?: object | undefined;
}

/**
 * The customer, and whether to store the method. To store a method without a named customer, PayPal adds a customer.
 */
export const vaulting = (unit: Unit, { customer, vault }: Vaulting, field: string) => {
  const holder = customer?.id !== undefined || vault ? customerNamed(unit, customer, field).id : null;
  return { customerId: holder, saveMethod: vault ? ('off_session' as const) : null };
};

/** Only the payer may start a one-time payment, or the first payment with a stored method. */
const requireCompatible = (credential: StoredCredential | undefined, at: string): void => {
  if (credential?.payment_initiator !== 'MERCHANT') return;
  if (credential.payment_type === 'ONE_TIME') throw refused('INCOMPATIBLE_PARAMETER_VALUE', `${at}/payment_type`);
  if (credential.usage === 'FIRST') throw refused('INCOMPATIBLE_PARAMETER_VALUE', `${at}/usage`);
};

interface ReturnUrls {
  readonly return_url?: string | undefined;
  readonly cancel_url?: string | undefined;
}

/** Stores the URLs for a card's payer to return to after authentication. */
const returningTo = (order: LedgerPayment, urls: ReturnUrls | undefined): LedgerPayment =>
  urls === undefined
    ? order
    : { ...order, wire: { ...order.wire, return_url: urls.return_url, cancel_url: urls.cancel_url } };

/** @throws Refused 422 ORDER_NOT_APPROVED if the payer has not approved yet. */
export const chargeApproved = (request: PayPalRequest, order: LedgerPayment): Answer => {
  const { unit } = request;
  const method = unit.documents.methods.get(unit.slot, order.methodId ?? '');
  if (order.status !== 'requires_confirmation' || !method) {
    throw refused(order.captures === 'later' ? 'ORDER_NOT_APPROVED_TO_AUTHORIZE' : 'ORDER_NOT_APPROVED');
  }
  if (method.behaviour.kind === 'asks_customer')
    return completed(request, authenticate(unit, { payment: order, method }, true));
  return attempt(request, order, { method, offSession: false });
};

const savedMethod = (unit: Unit, id: string): LedgerMethod => {
  const stored = unit.documents.methods.get(unit.slot, id);
  if (stored && !stored.spent) return stored;
  const fresh = methodOfTestValue(unit, id);
  if (!fresh) throw refused('TOKEN_ID_NOT_FOUND', '/payment_source/paypal/vault_id');
  return fresh;
};

/** A test uses this header to request a failure, as in PayPal's sandbox. */
const mockedIssue = ({ call }: PayPalRequest): boolean =>
  call.headers.get('paypal-mock-response')?.includes('INSTRUMENT_DECLINED') ?? false;

interface Charging {
  readonly method: LedgerMethod;
  /** True if the payer is absent. */
  readonly offSession: boolean;
}

const attempt = (request: PayPalRequest, order: LedgerPayment, { method, offSession }: Charging): Answer => {
  const { unit } = request;
  if (mockedIssue(request)) throw refused('INSTRUMENT_DECLINED');
  const { payment, declined } = attemptPayment(unit, { payment: order, method }, { offSession, attempt: order.id });
  if (payment.status === 'requires_action') {
    const asked = unit.documents.payments.put({ ...payment, wire: { ...payment.wire, payer: true } });
    return unprocessable('PAYER_ACTION_REQUIRED', { links: orderLinks(unit, asked) });
  }
  if (!declined || isCard(method)) return completed(request, payment);
  if (declined.charge) {
    unit.documents.charges.put({ ...declined.charge, wire: { ...declined.charge.wire, refused: true } });
  }
  // The payer may approve the order again with another method.
  if (readPayPalOrderWire(payment).payer) unit.documents.payments.put({ ...payment, status: 'requires_action' });
  return unprocessable(payment.captures === 'later' ? 'ORDER_REFUSED' : 'INSTRUMENT_DECLINED');
};

const completed = ({ call, unit }: PayPalRequest, order: LedgerPayment): Answer =>
  answer(201, wantsRepresentation(call) ? paypalOrderView(unit, order) : minimalOrderView(unit, order));
