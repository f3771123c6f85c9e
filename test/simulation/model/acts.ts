/** @module Acts of payers directly at their provider. */
import type { History, HistoryAct } from './history.ts';
import { INVOICE_PAID } from './outside.ts';

const BY_PAYER = new Set(['pay in the browser', 'take the step of a payer', INVOICE_PAID]);

type Acts = Pick<History, 'acts' | 'ledger'>;
/** Times in epoch ms by the payment's id. */
type Times = ReadonlyMap<string, readonly number[]>;

const timesOf = ({ acts, ledger }: Acts, isWanted: (act: HistoryAct) => boolean): Times => {
  const payments = new Map(ledger.payment_intents.map(({ id, payment_id }) => [id, payment_id]));
  for (const { id, payment_intent } of ledger.invoices) payments.set(id, payments.get(payment_intent) ?? null);
  const found = new Map<string, number[]>();
  for (const act of acts) {
    if (!BY_PAYER.has(act.name) || !isWanted(act)) continue;
    for (const part of act.path.split('/')) {
      const id = payments.get(part) ?? part;
      found.set(id, [...(found.get(id) ?? []), act.at]);
    }
  }
  return found;
};

/** The times at which a payer paid, approved or passed an authentication step at the provider. */
export const paidByPayers = (history: Acts): Times =>
  timesOf(history, ({ status, isFailure }) => status < 400 && !isFailure);

/**
 * The times at which an invoice of the payment was paid by hand on the provider's page. The service makes no such
 * charge.
 */
export const paidByHand = (history: Acts): Times =>
  timesOf(history, ({ name, status }) => name === INVOICE_PAID && status < 400);

/**
 * The times at which payers paid or tried to pay at the provider. If the provider refuses, the open attempt fails in
 * the service, too.
 */
export const triedByPayers = (history: Acts): Times => timesOf(history, () => true);
