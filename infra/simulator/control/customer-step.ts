import * as z from 'zod';
import { PROVIDER_SLOTS } from '../../../shared/core/settings.ts';
import { settleInvoice } from '../billing/invoices.ts';
import { type Documents, type LedgerPayment, type LedgerSetup, referenceOf } from '../ledger/documents.ts';
import { authenticate } from '../ledger/payments.ts';
import { authenticateSetup } from '../ledger/setups.ts';
import type { Unit } from '../ledger/unit.ts';
import type { CustomerStep, StepTaken, Vendor } from '../protocol/vendor.ts';
import { type ControlCall, ControlError, type ControlParts, parsed } from './control-call.ts';

/** The customer's step outside the shop and the service: 3-D Secure or an approval. */
const step = z.object({
  outcome: z.enum(['success', 'failure']),
  /** Empty for the usual payer. */
  payer: z
    .string()
    .max(100)
    .optional()
    .transform((payer) => payer || undefined),
});

export const customerStep = (parts: ControlParts, call: ControlCall): Response => {
  const { outcome, payer } = parsed(step, call.body);
  const waiting = findWaiting(parts, call);
  const { after, backTo } = take(parts, waiting, { passed: outcome === 'success', payer });
  parts.deliverNow();
  if (call.fromPage) return backFrom(backTo, after.status);
  return Response.json({
    provider: after.provider,
    id: after.id,
    payment_id: referenceOf(after),
    status: after.status,
  });
};

/** The page behind `next_action`. It shows the bank's question with both choices. */
export const customerPage = (parts: ControlParts, call: ControlCall): Response => {
  const waiting = findWaiting(parts, call);
  const what = 'amount' in waiting ? priceOf(parts, waiting) : 'storing this card';
  const button = (outcome: string, label: string): string =>
    `<button name="outcome" value="${outcome}">${label}</button>`;
  const takesPayer = vendorOf(parts, waiting)?.takeCustomerStep !== undefined;
  const payer = takesPayer ? '<label>Test payer <input name="payer" placeholder="SIM-OK"></label> ' : '';
  const html = `<!doctype html><meta charset="utf-8"><title>Approval (simulated)</title><style>${FRAME_STYLE}</style>
<h1>Your bank or wallet asks</h1><p>Do you approve ${what}?</p>
<form method="post">${payer}${button('success', 'Approve')} ${button('failure', 'Refuse')}</form>`;
  return new Response(html, { headers: { 'content-type': 'text/html; charset=utf-8' } });
};

/** Small enough to show both buttons in a frame without a size (150 pixels high). */
const FRAME_STYLE =
  'body{margin:8px;font:14px/1.3 sans-serif}h1{margin:0;font-size:16px}p{margin:6px 0}button{font-size:14px;padding:4px 10px}';

/** The amount in major units, such as 25.00 USD. */
const priceOf = (parts: ControlParts, payment: LedgerPayment): string => {
  const { amount, currency } = payment;
  const code = currency.toUpperCase();
  const minor = vendorOf(parts, payment)?.minorUnits(amount, currency) ?? amount;
  const digits = currencyDigits(code);
  return `${(minor / 10 ** digits).toFixed(digits)} ${code}`;
};

/** The currency's decimals by ISO 4217, as the browser formats amounts. */
const currencyDigits = (code: string): number =>
  new Intl.NumberFormat('en', { style: 'currency', currency: code }).resolvedOptions().maximumFractionDigits ?? 0;

const findWaiting = (parts: ControlParts, { id, url }: ControlCall): LedgerPayment | LedgerSetup => {
  const { documents } = parts.units;
  const isMethod = url.pathname.startsWith('/payment-methods/');
  const kind = isMethod ? 'payment method' : 'payment';
  const found = isMethod ? setupsOf(documents, id) : paymentsOf(documents, id);
  if (found.length === 0) throw new ControlError(404, `No provider knows a ${kind} ${id}`);
  const waiting =
    found.findLast(({ status }) => status === 'requires_action') ??
    found.findLast((one) => 'amount' in one && vendorOf(parts, one)?.awaitsApproval?.(one));
  if (waiting) return waiting;
  throw new ControlError(409, `The ${kind} ${id} waits for no step of its customer; it is ${found.at(-1)?.status}`);
};

/** Finds payments by our id, and payments or set-ups by the provider's id. */
const paymentsOf = ({ payments, setups }: Documents, id: string): (LedgerPayment | LedgerSetup)[] => {
  const theirs = PROVIDER_SLOTS.flatMap((slot) => [payments.get(slot, id), setups.get(slot, id)]);
  return [...payments.all(id), ...theirs.filter((found) => found !== undefined)];
};

/** Finds the set-ups of a payment method, by our id or the provider's id of the method. */
const setupsOf = ({ setups }: Documents, id: string): LedgerSetup[] =>
  setups.all().filter(({ metadata, methodId }) => metadata['payment_method_id'] === id || methodId === id);

type Taken = Exclude<StepTaken, { problem: string }>;

const vendorOf = ({ vendors, options }: ControlParts, { provider }: LedgerPayment | LedgerSetup): Vendor | undefined =>
  vendors.find(({ adapter }) => adapter === options.slots[provider].adapter);

const take = (parts: ControlParts, waiting: LedgerPayment | LedgerSetup, step: CustomerStep): Taken =>
  parts.units.work(waiting.provider, undefined, (unit) => {
    const vendor = vendorOf(parts, waiting);
    const taken = vendor?.takeCustomerStep?.(unit, waiting, step) ?? takeAuthentication(unit, waiting, step);
    if ('problem' in taken) throw new ControlError(400, taken.problem);
    return taken;
  }).result;

const takeAuthentication = (unit: Unit, waiting: LedgerPayment | LedgerSetup, { passed }: CustomerStep): Taken => {
  const method = unit.documents.methods.get(unit.slot, waiting.methodId ?? '');
  if (!method) throw new Error(`${waiting.id} waits for its customer without a method`);
  const after =
    'amount' in waiting
      ? authenticate(unit, { payment: waiting, method }, passed)
      : authenticateSetup(unit, { setup: waiting, method }, passed);
  if ('amount' in after) settleInvoice(unit, after);
  if (waiting.returnUrl === null) return { after, backTo: undefined };
  const back = new URL(waiting.returnUrl);
  back.searchParams.set('amount' in waiting ? 'payment_intent' : 'setup_intent', waiting.id);
  back.searchParams.set('redirect_status', after.status === 'succeeded' ? 'succeeded' : 'failed');
  return { after, backTo: back.href };
};

const backFrom = (backTo: string | undefined, status: string): Response =>
  backTo === undefined
    ? new Response(`<!doctype html><p>Done: ${status}`, { headers: { 'content-type': 'text/html' } })
    : new Response(null, { status: 303, headers: { location: backTo } });
