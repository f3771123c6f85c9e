import type { LedgerSubscription } from './billing-documents.ts';
import type { Unit } from './unit.ts';

const LIVE: readonly LedgerSubscription['status'][] = ['trialing', 'active', 'past_due', 'paused'];
export const isLedgerSubscriptionLive = ({ status }: LedgerSubscription): boolean => LIVE.includes(status);

/** A canceled subscription is final, and its unpaid invoices are no longer collected. */
export const endSubscription = (
  unit: Unit,
  subscription: LedgerSubscription,
  reason: NonNullable<LedgerSubscription['endReason']>,
): LedgerSubscription => {
  for (const invoice of unit.documents.invoices.list(unit.slot, { holder: subscription.id, limit: MANY })) {
    if (invoice.status === 'open' || invoice.status === 'draft') {
      unit.documents.invoices.put({ ...invoice, collects: false, nextAttemptAt: null });
    }
  }
  const ended = unit.documents.subscriptions.put({
    ...subscription,
    status: 'canceled',
    canceledAt: subscription.canceledAt ?? unit.at,
    endedAt: unit.at,
    endReason: reason,
  });
  unit.announce({ kind: 'subscription.deleted', subscription: ended });
  return ended;
};

/** An upper bound on unpaid invoices: the oldest one ends its subscription before there are more. */
const MANY = 100;

export const changeSubscription = (
  unit: Unit,
  before: LedgerSubscription,
  changes: Partial<LedgerSubscription>,
): LedgerSubscription => {
  const subscription = unit.documents.subscriptions.put({ ...before, ...changes });
  unit.announce({ kind: 'subscription.updated', subscription, before });
  return subscription;
};
