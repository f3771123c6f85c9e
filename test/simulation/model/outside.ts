import type { History, HistoryAct } from './history.ts';

/** The dashboard operations at a provider that matter to the invariants about subscriptions. */
export const ENDING = 'move the end of a subscription at the provider';
export const TRIAL_MOVED = 'move a trial at the provider';
export const PRICING = 'change a price at the provider';
export const COLLECTING = 'resume the collection at the provider';
export const INVOICE_PAID = 'have an invoice paid at the provider';

type Acts = Pick<History, 'acts' | 'ledger'>;

const kept = new WeakMap<History['acts'], ReadonlyMap<string, readonly HistoryAct[]>>();

/** The successful acts on a provider's subscription, by our id, oldest first. */
export const actsOnSubscriptions = ({ acts, ledger }: Acts): ReadonlyMap<string, readonly HistoryAct[]> => {
  const known = kept.get(acts) ?? read({ acts, ledger });
  kept.set(acts, known);
  return known;
};

const OF_SUBSCRIPTION = /\/subscriptions\/([^/]+)$/;

const read = ({ acts, ledger }: Acts): ReadonlyMap<string, readonly HistoryAct[]> => {
  const ours = new Map(ledger.subscriptions.map(({ id, subscription_id }) => [id, subscription_id ?? id]));
  return Map.groupBy(
    acts.filter(({ path, status }) => status < 400 && OF_SUBSCRIPTION.test(path)),
    ({ path }) => {
      const id = OF_SUBSCRIPTION.exec(path)?.[1] ?? '';
      return ours.get(id) ?? id;
    },
  );
};

const OF_INVOICE = /\/invoices\/([^/]+)$/;
const OF_BALANCE = /\/customers\/([^/]+)\/balance$/;

/** Our ids of the subscriptions with changed terms, invoices or credit at the provider. */
export const changedThere = (history: Acts): ReadonlySet<string> => {
  const { acts, ledger } = history;
  const of = (pattern: RegExp): ReadonlySet<string> =>
    new Set(acts.filter(({ status }) => status < 400).flatMap(({ path }) => pattern.exec(path)?.[1] ?? []));
  const [invoices, customers] = [of(OF_INVOICE), of(OF_BALANCE)];
  const named = new Set(ledger.invoices.filter(({ id }) => invoices.has(id)).map(({ subscription }) => subscription));
  const byOthers = ledger.subscriptions
    .filter(({ id, customer }) => named.has(id) || customers.has(customer))
    .map(({ id, subscription_id }) => subscription_id ?? id);
  return new Set([...byOthers, ...actsOnSubscriptions(history).keys()]);
};
