import type { Clause } from '../../table/expression.ts';
import { aliasKey, HISTORY_PREFIX, type Key, paymentEntryKey, paymentKey } from '../../table/keys.ts';
import type { Item, Table, TransactionStep } from '../../table/table.ts';
import { isVisiblePayment, type Payment, type PaymentStatus, paymentOf } from './payment.ts';
import { countersWithout } from './projection.ts';

/** Money may be moving, and the record would be its only trace. */
const IN_FLIGHT: readonly PaymentStatus[] = ['pending', 'processing'];

/** A transaction takes 100 steps; the payment, its aliases and counters need some of them. */
const MAX_HISTORY_STEPS = 90;

/** Removes a payment with its history, its aliases and its share in the counters; a payment in flight stays. */
export const erasePayment = async (table: Table, id: string): Promise<void> => {
  const item = await table.get(paymentKey(id));
  const payment = item && paymentOf(item);
  if (!payment || !isVisiblePayment(payment) || IN_FLIGHT.includes(payment.status)) return;
  const history = await historyOf(table, id);
  for (const key of history.slice(MAX_HISTORY_STEPS)) await table.remove(key);
  const unchanged: Clause[] = [{ equals: ['version', payment.version] }, { equals: ['status', payment.status] }];
  await table.transact([
    { delete: paymentKey(id), if: unchanged },
    { delete: paymentEntryKey(payment.createdAt, id) },
    ...history.slice(0, MAX_HISTORY_STEPS).map((key): TransactionStep => ({ delete: key })),
    ...aliasesOf(payment).map((key): TransactionStep => ({ delete: key })),
    ...countersWithout(payment),
  ]);
};

const historyOf = async (table: Table, id: string): Promise<readonly Key[]> => {
  const keys: Key[] = [];
  let after: Item | undefined;
  do {
    const page = await table.queryItems({
      partition: paymentKey(id).pk,
      from: HISTORY_PREFIX,
      to: `${HISTORY_PREFIX}~`,
      after,
    });
    keys.push(...page.items.map((item) => ({ pk: String(item['pk']), sk: String(item['sk']) })));
    after = page.next;
  } while (after);
  return keys;
};

const aliasesOf = ({ providerId, providerIntentId, providerPaymentId }: Payment): readonly Key[] => {
  const ids = new Set([providerIntentId, providerPaymentId].filter((id) => id !== undefined));
  return [...ids].map((id) => aliasKey(providerId, id));
};
