import type { LedgerSubscription } from './billing-documents.ts';
import type { Unit } from './unit.ts';

const LIVE: readonly LedgerSubscription['status'][] = ['trialing', 'active', 'past_due', 'paused'];
export const isLedgerSubscriptionLive = ({ status }: LedgerSubscription): boolean => LIVE.includes(status);

/** A canceled subscription never comes back, and what is unpaid of it is no longer collected. */
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

/** More invoices than these are never unpaid at a time: the oldest ends its subscription. */
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
