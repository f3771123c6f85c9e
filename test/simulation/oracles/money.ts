import type { Oracle } from './oracle.ts';

interface Charge {
  readonly id: string;
  readonly payment_intent: string;
  readonly payment_id: string | null;
  readonly status: string;
}

export const oneChargePerPayment: Oracle = {
  sentence: 'No payment has two successful charges',
  check: ({ ledger }) => {
    const paid = new Map<string, string>();
    for (const { id, payment_id, payment_intent, status } of ledger.charges as readonly Charge[]) {
      const payment = payment_id ?? payment_intent;
      if (status !== 'succeeded') continue;
      const first = paid.get(payment);
      if (first !== undefined) return `${payment} was charged by ${first} and by ${id}`;
      paid.set(payment, id);
    }
    return undefined;
  },
};

export const recordFollowsProvider: Oracle = {
  sentence: 'A payment has succeeded in the record exactly if it has at the provider',
  check: ({ ledger, items }) => {
    const paid = new Set(
      (ledger.charges as readonly Charge[]).flatMap(({ payment_id, status }) =>
        status === 'succeeded' && payment_id !== null ? [payment_id] : [],
      ),
    );
    for (const item of items) {
      if (item['sk'] !== 'PAY') continue;
      const id = String(item['pk']).slice('PAY#'.length);
      const isPaid = item['status'] === 'succeeded';
      if (isPaid !== paid.has(id)) return `${id} is ${item['status']}, and ${paid.has(id) ? 'paid' : 'not paid'} there`;
    }
    return undefined;
  },
};
