import type { History, HistoryExchange, HistoryItem } from './history.ts';
import { recordsOf } from './records.ts';

/** Changes of the plan of a subscription. */

/** True if the payment is the difference that a change of a plan costs, and no invoice of the provider. */
export const isOfChange = ({ billingReason, providerInvoiceId }: HistoryItem): boolean =>
  billingReason === 'subscription_change' && providerInvoiceId === undefined;

const CHANGE = /^\/subscriptions\/([^/]+)\/change$/;

/** The requests to change a plan, by the subscription's id. */
export const changeRequests = ({
  exchanges,
}: Pick<History, 'exchanges'>): ReadonlyMap<string, readonly HistoryExchange[]> =>
  Map.groupBy(
    exchanges.filter(({ method, path }) => method === 'POST' && CHANGE.test(path)),
    ({ path }) => CHANGE.exec(path)?.[1] ?? '',
  );

const PLAN_CHANGES = new Set(['plan_changed', 'plan_change_scheduled', 'plan_change_withdrawn']);

/** The versions that tell of a change of the plan. */
export const planVersions = (history: Pick<History, 'items'>, id: string): readonly HistoryItem[] =>
  recordsOf(history)
    .versionsOf(id)
    .filter(({ cause }) => PLAN_CHANGES.has(cause));

/** The versions in which another plan begins to hold. */
export const plansStarted = (history: Pick<History, 'items'>, id: string): readonly HistoryItem[] =>
  planVersions(history, id).filter(({ cause }) => cause === 'plan_changed');
