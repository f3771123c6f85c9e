import type { LedgerMethod, LedgerPayment, LedgerSetup } from '../../ledger/documents.ts';
import type { Unit } from '../../ledger/unit.ts';
import type { CustomerStep, StepTaken } from '../../protocol/vendor.ts';
import { readPayPalOrderWire } from '../views/payment-views.ts';
import { DEFAULT_PAYER, methodOfTestValue } from '../wire/tokens.ts';

/**
 * A payer at PayPal approves an order, which moves no money, or cancels, which changes nothing. A canceled order can
 * still be approved later.
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

/** If a saved method required approval, the approval is for that method. */
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
