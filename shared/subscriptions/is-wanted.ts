import type { Clause } from '../table/expression.ts';
import { recordKey } from '../table/keys.ts';
import type { Table } from '../table/table.ts';
import { subscriptionOf } from './subscription.ts';

/** Is this payment still what its subscription wants collected? (A canceled one may have let it go.) */
export const isWanted = async (
  table: Table,
  { id, subscriptionId }: { readonly id: string; readonly subscriptionId?: string | undefined },
): Promise<boolean> => {
  if (subscriptionId === undefined) return true;
  const item = await table.get(recordKey('SUB', subscriptionId));
  const charge = item && subscriptionOf(item)?.charge;
  return charge !== undefined && charge.paymentId === id && !charge.abandoned;
};

/** The same as a condition of a write. */
export const wantedIf = (subscriptionId: string, paymentId: string) => {
  const clauses: readonly Clause[] = [
    { exists: true },
    { equals: ['charge.paymentId', paymentId] },
    { lacks: 'charge.abandoned' },
  ];
  return { check: recordKey('SUB', subscriptionId), if: clauses };
};
