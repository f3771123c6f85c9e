/** @module The history of a subscription, with one entry per visible version. */

import { HISTORY, historyKey, keyOf, recordKey } from '../../platform/keys.ts';
import type { Item, Table } from '../../platform/table.ts';
import { isVisibleSubscription, type Reason, type Subscription } from './subscription.ts';

/** The history entry of a change. Undefined if readers do not see the change. */
export const subscriptionEntry = (before: Subscription | undefined, after: Subscription): Item | undefined => {
  if (!isVisibleSubscription(after) || before?.version === after.version) return undefined;
  const { id, version, status, reason, updatedAt, charge } = after;
  return {
    ...historyKey({ kind: 'SUB', id }, version),
    at: updatedAt,
    status,
    was: before && isVisibleSubscription(before) ? before.status : undefined,
    cause: reason === 'imported' ? 'import' : reason,
    cancelAtPeriodEnd: after.cancelAtPeriodEnd,
    periodEnd: after.currentPeriodEnd,
    isUnpaid: after.isUnpaid,
    paymentId: chargedPayment(before, after),
    ...planEntry(before, after),
    failureCode: reason === 'payment_failed' ? charge?.failureCode : undefined,
    actor: after.actor,
    requestId: after.requestId,
  };
};

/** Removes the history of a subscription being removed. */
export const removeHistoryOf = async (table: Table, subscription: Subscription): Promise<void> => {
  if (!isVisibleSubscription(subscription)) return;
  const partition = recordKey('SUB', subscription.id).pk;
  for await (const item of table.eachItem({ partition, ...HISTORY, consistent: true })) await table.remove(keyOf(item));
};

const STARTS: readonly (Reason | undefined)[] = ['created', 'reactivated', 'resumed'];

/** The payment that this version records as paid or failed, or as pending when it starts a new calendar. */
const chargedPayment = (before: Subscription | undefined, after: Subscription): string | undefined => {
  const { totalCents, paidUntil, latestPaymentId, reason, charge, status } = after;
  if (reason === 'plan_changed') return before?.change?.paymentId;
  if (totalCents === 0) return undefined;
  const isPaid = paidUntil !== before?.paidUntil;
  const isPending = status === 'past_due' && STARTS.includes(reason) && charge !== undefined && !charge.abandoned;
  return isPaid || isPending || reason === 'payment_failed' ? latestPaymentId : undefined;
};

/** The plans before and after this version, and the price of the change. Empty if the plan is unchanged. */
const planEntry = (before: Subscription | undefined, after: Subscription) => {
  const changesPlan = after.reason === 'plan_changed' || after.reason === 'discount_ended';
  if (!before || !(changesPlan || startsScheduled(before, after))) return {};
  const { change } = before;
  return {
    wasPlan: planOfEntry(before),
    plan: planOfEntry(after),
    ...(change && { lines: change.lines, dueCents: change.due.totalCents }),
  };
};

/** True if a resumption or a reactivation starts with a scheduled free plan. */
const startsScheduled = ({ scheduledChange }: Subscription, after: Subscription): boolean =>
  scheduledChange !== undefined && after.scheduledChange === undefined && STARTS.includes(after.reason);

const planOfEntry = ({ productId, quantity, totalCents }: Subscription) => ({ productId, quantity, totalCents });
