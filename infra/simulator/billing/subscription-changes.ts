/**
 * @module Changes of a subscription's price, quantity or trial by its owner. A change starts a new period if the
 * interval changes, the subscription becomes free or chargeable, or its trial ends. The new period is charged
 * immediately. Any other change takes effect on the next invoice, without proration.
 */

import type { LedgerSubscription } from '../ledger/billing-documents.ts';
import type { Unit } from '../ledger/unit.ts';
import { changeSubscription } from './subscription-end.ts';
import {
  collectIssued,
  type FirstCharge,
  issue,
  restartSubscription,
  type Started,
  scheduleNotice,
  wholeSecond,
} from './subscriptions.ts';

export interface TermsChange {
  readonly before: LedgerSubscription;
  readonly changes: Partial<LedgerSubscription>;
  /** `now` ends a trial. Epoch ms starts a trial or moves its end. */
  readonly trialEnd?: number | 'now' | undefined;
}

export const changeTerms = (unit: Unit, change: TermsChange, first: FirstCharge): Started => {
  const { before, changes, trialEnd } = change;
  const after: LedgerSubscription = { ...before, ...changes };
  if (after.cancelAt !== null && after.cancelAt !== before.cancelAt) {
    unit.schedule(after.cancelAt, 'cancel_subscription', before.id);
  }
  if (typeof trialEnd === 'number') return { subscription: moveTrial(unit, { before, after, trialEnd }) };
  if (trialEnd === 'now' && before.status === 'trialing') {
    return restartSubscription(unit, { before, changes: { ...changes, trialEnd: wholeSecond(unit.at) } }, first);
  }
  if (restarts(before, after)) return restartSubscription(unit, { before, changes }, first);
  const isChanged = JSON.stringify(after) !== JSON.stringify(before);
  return { subscription: isChanged ? changeSubscription(unit, before, after) : before };
};

const PAYING: readonly LedgerSubscription['status'][] = ['active', 'past_due', 'unpaid'];

const restarts = (before: LedgerSubscription, after: LedgerSubscription): boolean =>
  PAYING.includes(before.status) &&
  (before.unit !== after.unit || before.count !== after.count || (before.amount === 0) !== (after.amount === 0));

interface TrialMove {
  readonly before: LedgerSubscription;
  readonly after: LedgerSubscription;
  readonly trialEnd: number;
}

/** The next period starts at the trial's end. A new trial has an invoice of 0. */
const moveTrial = (unit: Unit, { before, after, trialEnd }: TrialMove): LedgerSubscription => {
  const isExtended = before.status === 'trialing';
  const now = wholeSecond(unit.at);
  const moved: LedgerSubscription = {
    ...after,
    status: 'trialing',
    anchor: trialEnd,
    period: -1,
    periodStart: isExtended ? before.periodStart : now,
    periodEnd: trialEnd,
    trialStart: isExtended ? before.trialStart : now,
    trialEnd,
  };
  unit.schedule(trialEnd, 'bill_subscription', before.id);
  scheduleNotice(unit, before.id, trialEnd);
  if (isExtended) return changeSubscription(unit, before, moved);
  const { subscription, invoice } = issue(unit, moved, {
    reason: 'subscription_update',
    usedFrom: before.periodStart,
  });
  unit.announce({ kind: 'subscription.updated', subscription, before });
  collectIssued(unit, invoice, { attempt: undefined });
  return subscription;
};
