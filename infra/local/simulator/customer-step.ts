import * as z from 'zod';
import { PROVIDER_SLOTS } from '../../../shared/settings.ts';
import { type ControlCall, ControlError, type ControlParts, parsed } from './control-call.ts';
import { type Payment, referenceOf, type Setup } from './ledger/documents.ts';
import { authenticate } from './ledger/payments.ts';
import { authenticateSetup } from './ledger/setups.ts';

/** 3-D Secure or an approval: the step that a customer takes away from shop and service. */
const step = z.object({ outcome: z.enum(['success', 'failure']) });

export const customerStep = (parts: ControlParts, call: ControlCall): Response => {
  const { outcome } = parsed(step, call.body);
  const waiting = findWaiting(parts, call.id);
  const after = take(parts, waiting, outcome === 'success');
  parts.kick();
  if (call.fromPage) return backFrom(waiting, after.status);
  return Response.json({
    provider: after.provider,
    id: after.id,
    payment_id: referenceOf(after),
    status: after.status,
  });
};

/** Where a browser is sent by `next_action`: the bank's question, with both answers. */
export const customerPage = (parts: ControlParts, id: string): Response => {
  const waiting = findWaiting(parts, id);
  const what = 'amount' in waiting ? `${waiting.amount} ${waiting.currency} (minor units)` : 'storing this card';
  const button = (outcome: string, label: string): string =>
    `<button name="outcome" value="${outcome}">${label}</button>`;
  const html = `<!doctype html><title>3-D Secure (simulated)</title><h1>Your bank asks</h1><p>Do you approve ${what}?</p>
<form method="post">${button('success', 'Approve')} ${button('failure', 'Refuse')}</form>`;
  return new Response(html, { headers: { 'content-type': 'text/html; charset=utf-8' } });
};

/** By our own payment's id, or by the provider's. */
const findWaiting = ({ units }: ControlParts, id: string): Payment | Setup => {
  const { payments, setups } = units.documents;
  const ours = payments.all(id);
  const theirs = PROVIDER_SLOTS.flatMap((slot) => [payments.get(slot, id), setups.get(slot, id)]).filter(
    (found) => found !== undefined,
  );
  const found = [...ours, ...theirs];
  if (found.length === 0) throw new ControlError(404, `No provider knows a payment ${id}`);
  const waiting = found.findLast(({ status }) => status === 'requires_action');
  if (waiting) return waiting;
  throw new ControlError(409, `Payment ${id} waits for no step of its customer: it is ${found.at(-1)?.status}`);
};

const take = ({ units }: ControlParts, waiting: Payment | Setup, passed: boolean): Payment | Setup =>
  units.work(waiting.provider, undefined, (unit) => {
    const method = unit.documents.methods.get(unit.slot, waiting.methodId ?? '');
    if (!method) throw new Error(`${waiting.id} waits for its customer without a method`);
    return 'amount' in waiting
      ? authenticate(unit, waiting, method, passed)
      : authenticateSetup(unit, waiting, method, passed);
  }).result;

const backFrom = (waiting: Payment | Setup, status: string): Response => {
  if (waiting.returnUrl === null)
    return new Response(`<!doctype html><p>Done: ${status}`, { headers: { 'content-type': 'text/html' } });
  const back = new URL(waiting.returnUrl);
  back.searchParams.set('amount' in waiting ? 'payment_intent' : 'setup_intent', waiting.id);
  back.searchParams.set('redirect_status', status === 'succeeded' ? 'succeeded' : 'failed');
  return new Response(null, { status: 303, headers: { location: back.href } });
};
