import type { Oracle } from './oracle.ts';

export const acknowledgedIntentsAreStored: Oracle = {
  sentence: 'Every acknowledged intent is stored',
  check: ({ exchanges, items }) => {
    const stored = new Set(items.flatMap(({ pk, sk }) => (sk === 'PAY' ? [String(pk).slice('PAY#'.length)] : [])));
    const lost = exchanges.find(
      ({ method, path, status, body }) =>
        method === 'POST' && path === '/payments/intents' && status === 201 && !stored.has((body.data ?? body).id),
    );
    return lost && `the intent ${(lost.body.data ?? lost.body).id} of ${lost.actor} is not stored`;
  },
};
