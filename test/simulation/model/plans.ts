/** @module Changes of the plan of a subscription. */
import type { History, HistoryExchange, HistoryItem, HistoryJson } from './history.ts';
import { recordsOf } from './records.ts';

/** True if the payment charges the difference of a plan change, and is no provider's invoice. */
export const isOfChange = ({ billingReason, providerInvoiceId }: HistoryItem): boolean =>
  billingReason === 'subscription_change' && providerInvoiceId === undefined;

const CHANGE = /^\/subscriptions\/([^/]+)\/change$/;

type Requests = ReadonlyMap<string, readonly HistoryExchange[]>;

/** The requests to change a plan, and to withdraw a change, by the subscription's id. */
export const changesAndWithdrawals = ({ exchanges }: Pick<History, 'exchanges'>): Requests =>
  Map.groupBy(
    exchanges.filter(({ path }) => CHANGE.test(path)),
    ({ path }) => CHANGE.exec(path)?.[1] ?? '',
  );

/** The requests to change a plan, by the subscription's id. */
export const changeRequests = ({ exchanges }: Pick<History, 'exchanges'>): Requests =>
  changesAndWithdrawals({ exchanges: exchanges.filter(({ method }) => method === 'POST') });

const PRICES = ['subtotal_cents', 'tax_cents', 'discount_cents', 'total_cents'] as const;
const INTERVAL = ['billing_interval', 'interval_multiplier'] as const;

/**
 * True if the body asks for a price or an interval without a product, or for an immediate change without its
 * difference.
 */
export const isMerchantsChange = (sent: HistoryJson): boolean =>
  (sent?.product_id === undefined && [...PRICES, ...INTERVAL].some((field) => sent?.[field] !== undefined)) ||
  (sent?.proration === 'none' && sent?.when === 'now');

const PLAN_CHANGES = new Set(['plan_changed', 'plan_change_scheduled', 'plan_change_withdrawn']);

/** The versions that mention a plan change. */
export const planVersions = (history: Pick<History, 'items'>, id: string): readonly HistoryItem[] =>
  recordsOf(history)
    .versionsOf(id)
    .filter(({ cause }) => PLAN_CHANGES.has(cause));

/** The versions at which another plan takes effect. */
export const plansStarted = (history: Pick<History, 'items'>, id: string): readonly HistoryItem[] =>
  planVersions(history, id).filter(({ cause }) => cause === 'plan_changed');
