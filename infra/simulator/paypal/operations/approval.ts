import type { LedgerMethod, LedgerPayment, LedgerSetup } from '../../ledger/documents.ts';
import type { Unit } from '../../ledger/unit.ts';
import type { CustomerStep, StepTaken } from '../../protocol/vendor.ts';
import { readPayPalOrderWire } from '../views/payment-views.ts';
import { DEFAULT_PAYER, methodOfTestValue } from '../wire/tokens.ts';

/**
 * Takes the step of a payer at PayPal. An approval moves no money. A cancellation changes nothing, so the payer can
 * still approve the order later.
 */
export const takeApproval = (
  unit: Unit,
  waiting: LedgerPayment | LedgerSetup,
  { passed, payer }: CustomerStep,
): StepTaken => {
  if (!('amount' in waiting)) return approveSetup(unit, waiting, passed);
  const { return_url, cancel_url } = readPayPalOrderWire(waiting);
  if (!passed) return { after: waiting, backTo: withToken(cancel_url, waiting.id) };
  const method = methodOfPayer(unit, waiting, payer);
  if (!method) return { problem: `${payer} is no payer that the simulator knows` };
  const approved = unit.documents.payments.put({ ...waiting, status: 'requires_confirmation', methodId: method.id });
  unit.announce({ kind: 'payment.authorized', payment: approved });
  return { after: approved, backTo: withToken(return_url, waiting.id) };
};

/**
 * The method of the approving payer. If a saved method required the approval and the step names no payer, it is the
 * saved method.
 */
const methodOfPayer = (unit: Unit, order: LedgerPayment, payer: string | undefined): LedgerMethod | undefined => {
  const asked = unit.documents.methods.get(unit.slot, order.methodId ?? '');
  return payer === undefined && asked ? asked : methodOfTestValue(unit, payer ?? DEFAULT_PAYER);
};

const approveSetup = (unit: Unit, setup: LedgerSetup, passed: boolean): StepTaken => ({
  after: passed ? unit.documents.setups.put({ ...setup, status: 'succeeded' }) : setup,
  backTo: withToken(setup.returnUrl ?? undefined, setup.id),
});

const withToken = (url: string | undefined, token: string): string | undefined => {
  if (url === undefined) return undefined;
  const back = new URL(url);
  back.searchParams.set('token', token);
  return back.href;
};
