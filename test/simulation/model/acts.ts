import type { History } from './history.ts';

/** What payers did at their provider, past the service. */
const BY_PAYER = new Set(['pay in the browser', 'take the step of a payer']);

/** When the payers of a payment paid it at the provider, approved it or passed a step: epoch ms, by the payment's id. */
export const paidByPayers = ({
  acts,
  ledger,
}: Pick<History, 'acts' | 'ledger'>): ReadonlyMap<string, readonly number[]> => {
  const payments = new Map(ledger.payment_intents.map(({ id, payment_id }) => [id, payment_id]));
  const found = new Map<string, number[]>();
  for (const { name, path, at, status, isFailure } of acts) {
    if (!BY_PAYER.has(name) || status >= 400 || isFailure) continue;
    for (const part of path.split('/')) {
      const id = payments.get(part) ?? part;
      found.set(id, [...(found.get(id) ?? []), at]);
    }
  }
  return found;
};
