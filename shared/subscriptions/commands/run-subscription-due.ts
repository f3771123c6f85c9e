/** @module Does the due work of a subscription. Each step depends on the record alone, so it is safe to repeat. */

import { RESEND_WITHIN_MS, RETRY_MS } from '../../calls/call-times.ts';
import { DomainError } from '../../core/errors.ts';
import { fieldAt } from '../../core/rows.ts';
import { DAY_MS, type Instant, instant, iso } from '../../core/time.ts';
import { findUnattended, type UsableMethod } from '../../payment-methods/usable-method.ts';
import { findCollectedPayment, publishPayment, releasePayment } from '../../payments/collect-payment.ts';
import { markAdopted } from '../at-provider/adopt-at-provider.ts';
import { stopAbandonedCharge } from '../at-provider/billers.ts';
import { createAtProvider } from '../at-provider/create-at-provider.ts';
import { endOpenCommand, reportFailedReturn } from '../at-provider/open-command.ts';
import { finishPriceUpdate } from '../at-provider/price-at-provider.ts';
import { subscriptionsPortOf } from '../at-provider/provider-biller.ts';
import {
  cancelEarlierCreations,
  cancelProviderSubscription,
  creationsOfCharge,
  findNewCreations,
  hasSameCharge,
} from '../at-provider/provider-commands.ts';
import { syncBeforeCharge, syncFromProvider, syncIfKnown } from '../at-provider/store-report.ts';
import { lookUpTransfer } from '../at-provider/transfer.ts';
import { type BillingDeps, type BillingResult, settlementOf } from '../billing/biller.ts';
import { markCanceled } from '../billing/lifecycle.ts';
import { dropMethod, missedPeriods, openNextPeriod } from '../billing/periods.ts';
import { openScheduledPlan } from '../billing/scheduled-plan.ts';
import { attemptCharge } from '../billing/service-biller.ts';
import {
  claimChargeAttempt,
  dropCharge,
  endDunning,
  recordFailed,
  settleCharge,
} from '../billing/subscription-charge.ts';
import { lookAtChange } from '../plan-changes/finish-change.ts';
import { readLinkedRecords } from '../record/linked-records.ts';
import { isLive, isProviderBilled, isVisibleSubscription, type Subscription } from '../record/subscription.ts';
import { dueStep, nextSubscriptionDue, type Step } from '../record/subscription-due.ts';
import { isFirst } from '../record/subscription-states.ts';
import { type SubscriptionStore, subscriptionStore } from '../record/subscription-store.ts';
import { edit } from '../record/subscription-versions.ts';
import { holdAgain, removeMethodFrom } from './change-method.ts';
import { type NoticePolicy, nextNotice, nextNoticesLook } from './notices.ts';
import { resumeUnattended } from './pause-subscription.ts';
import { detachDeletedRecords, detachFormerMember } from './replace-method.ts';

export interface SubscriptionDueDeps extends BillingDeps {
  readonly notices: NoticePolicy;
}

/** Runs the due step of a subscription. @returns the outcome for the log */
export const runDueSubscription = async (deps: SubscriptionDueDeps, id: string): Promise<string> => {
  const store = subscriptionStore(deps.table);
  const subscription = await store.load(id);
  if (!subscription) return 'gone';
  const step = dueStep(subscription, deps.now());
  if (step === undefined) {
    await store.setTimes(subscription, {});
    return 'nothing due';
  }
  const work = { deps, store, subscription };
  try {
    return await STEPS[step](work);
  } catch (error) {
    if (!(error instanceof DomainError)) throw error;
    // The provider refused or could not be called; the code says which.
    await retryLater(work);
    return error.code;
  }
};

interface DueWork {
  readonly deps: SubscriptionDueDeps;
  readonly store: SubscriptionStore;
  readonly subscription: Subscription;
}

const retryLater = async ({ deps, store, subscription }: DueWork): Promise<void> => {
  const current = await store.load(subscription.id);
  if (current && nextSubscriptionDue(current)) await store.putOff(current, iso(deps.now() + RETRY_MS));
};

const OVERTAKEN = 'overtaken';
const DROPPED = 'charge dropped';
const NOT_AT_PROVIDER = 'not known to the provider';

/** Commits the step's decision. If another commit was faster, it has set the next due time. */
const commitStep = async (
  { store, subscription }: DueWork,
  next: Subscription,
  outcome: string = next.status,
): Promise<string> => ((await store.commit(subscription, next)).ok ? outcome : OVERTAKEN);

const cancelDue = async ({ deps, store, subscription }: DueWork): Promise<string> => {
  if (isProviderBilled(subscription)) await cancelProviderSubscription(deps, subscription);
  const canceled = await store.commit(subscription, markCanceled(subscription, deps.now()));
  if (!canceled.ok) return OVERTAKEN;
  await stopAbandonedCharge(deps, canceled.record);
  return 'canceled';
};

/**
 * Cancels a subscription with a first charge pending too long. The provider is read first, because the event of a
 * recent payment may be lost. A paid charge is never canceled.
 */
const expireFirstCharge = async (work: DueWork): Promise<string> => {
  const { deps, subscription } = work;
  const { charge } = subscription;
  if (isProviderBilled(subscription)) {
    const synced = await syncFromProvider(deps, subscription);
    const isWaiting = synced.status === 'past_due' && synced.charge !== undefined;
    return isWaiting ? cancelDue({ ...work, subscription: synced }) : synced.status;
  }
  // Cancels the payment unless it is paid or an attempt is in progress.
  const payment = charge && (await releasePayment(deps, charge.paymentId));
  return payment?.status === 'succeeded'
    ? commitStep(work, settleCharge(subscription, payment, settlementOf(deps)))
    : cancelDue(work);
};

/** Removes links to records deleted, or members who left, while the subscription became live. */
const confirmRecords = async (work: DueWork): Promise<string> => {
  const { deps, subscription } = work;
  const kept = await detachDeletedRecords(deps, subscription);
  const detached = kept === subscription ? await detachFormerMember(deps, subscription) : kept;
  return detached === subscription
    ? commitStep(work, { ...subscription, unconfirmedSince: undefined }, 'confirmed')
    : detached.status;
};

interface Charged {
  readonly method?: UsableMethod | undefined;
  /** Set if the subscription has lost its customer; it is then not charged. */
  readonly ended?: Subscription;
}

/** The method to charge off-session, if the subscription still has its customer and may use the method. */
const findCharged = async ({ deps, subscription }: DueWork): Promise<Charged> => {
  const { hasCustomer, method: record } = await readLinkedRecords(deps.table, subscription);
  const detached = hasCustomer ? subscription : await detachDeletedRecords(deps, subscription);
  if (detached !== subscription) return { ended: detached };
  return { method: await findUnattended(deps.table, subscription, { ...subscription, record }) };
};

/** Bills the next period. A scheduled plan first takes effect in its own version. */
const billNextPeriod = async (due: DueWork): Promise<string> => {
  const { deps, store } = due;
  const opened = await store.change(due.subscription, (current) =>
    current.lock === due.subscription.lock ? openScheduledPlan(current, deps.now()) : current,
  );
  if (opened.lock > due.subscription.lock + 1) return OVERTAKEN;
  const work = { ...due, subscription: opened };
  const { subscription } = work;
  const missed = missedPeriods(subscription, deps.now());
  if (missed > 0) deps.log.warn('missed periods skipped', { subscription_id: subscription.id, count: missed });
  const { method, ended } = await findCharged(work);
  if (ended) return ended.status;
  const payable = method ? subscription : { ...subscription, paymentMethodId: undefined, methodRef: undefined };
  const billed = await store.commit(subscription, openNextPeriod(payable, settlementOf(deps)));
  if (!billed.ok) return OVERTAKEN;
  return method && billed.record.charge?.lookAt !== undefined
    ? attempt({ ...work, subscription: billed.record }, method)
    : billed.record.status;
};

/** Claims the attempt before the call, so a concurrent cancellation can see it. */
const claimAndAttempt = async (work: DueWork): Promise<string> => {
  const { deps, store, subscription } = work;
  const { method, ended } = await findCharged(work);
  if (ended) return ended.status;
  if (!method) return failWithoutMethod(work);
  const claimed = await store.commit(subscription, claimChargeAttempt(subscription, deps.now()));
  return claimed.ok ? attempt({ ...work, subscription: claimed.record }, method) : OVERTAKEN;
};

/** Fails the charge if the method was deleted or its owner has left the organization. */
const failWithoutMethod = (work: DueWork): Promise<string> => {
  const { deps, subscription } = work;
  const failure = { code: 'processing_error', attempts: subscription.charge?.attempts ?? 0, spent: false } as const;
  const failed = recordFailed(subscription, failure, settlementOf(deps));
  return commitStep(work, dropMethod(failed), 'no payment method');
};

const attempt = async (work: DueWork, method: UsableMethod): Promise<string> => {
  const result = await attemptCharge(work.deps, work.subscription, { method });
  if (result.error) await retryLater(work);
  return result.error?.code ?? result.subscription.status;
};

/** Ends dunning. A billing provider is read first, because the payer may have paid with another method. */
const finishDunning = async (work: DueWork): Promise<string> => {
  const { deps, store } = work;
  const isAtProvider = isProviderBilled(work.subscription);
  const subscription = isAtProvider ? await syncBeforeCharge(deps, work.subscription) : work.subscription;
  if (isAtProvider && (subscription.status !== 'past_due' || !subscription.held)) return subscription.status;
  if (isAtProvider && deps.dunning.finalAction === 'cancel') await cancelProviderSubscription(deps, subscription);
  const ended = await store.commit(subscription, endDunning({ ...subscription, held: undefined }, settlementOf(deps)));
  if (!ended.ok) return OVERTAKEN;
  await stopAbandonedCharge(deps, ended.record);
  return ended.record.status;
};

const syncDue = async ({ deps, store, subscription }: DueWork): Promise<string> => {
  const synced = await syncIfKnown(deps, subscription);
  // The subscription has ended at the provider, and that event is lost. Cancel again, to void still payable invoices.
  if (synced?.status === 'canceled' && synced.owed) await cancelProviderSubscription(deps, synced);
  if (synced?.held?.isCollecting) await holdAgain(deps, synced);
  if (synced) return (await endOpenCommand(deps, synced)).status;
  deps.log.error('subscription anomaly', { subscription_id: subscription.id, reason: NOT_AT_PROVIDER });
  await store.putOff(await endOpenCommand(deps, subscription), iso(deps.now() + DAY_MS));
  return NOT_AT_PROVIDER;
};

/** Checks a service-billed charge without a recorded outcome of its attempt. */
const checkCharge = async (work: DueWork): Promise<string> => {
  const { deps, store, subscription } = work;
  const { charge } = subscription;
  if (!charge) return 'nothing due';
  if (charge.abandoned) {
    const stopped = await stopAbandonedCharge(deps, subscription);
    if (stopped.charge) await retryLater(work);
    return stopped.charge ? 'under way' : DROPPED;
  }
  const payment = await findCollectedPayment(deps, charge.paymentId);
  const isTried = payment !== undefined && payment.attempt > charge.attempts;
  if (!isTried && payment?.status !== 'canceled' && payment?.status !== 'succeeded') {
    return isFirst(charge) && subscription.status !== 'past_due' ? dropUntriedCharge(work) : claimAndAttempt(work);
  }
  const next = reportFailedReturn(subscription, settleCharge(subscription, payment, settlementOf(deps)), deps.now());
  if (!(await store.commit(subscription, next)).ok) return OVERTAKEN;
  if (payment.withheld && isVisibleSubscription(next)) await publishPayment(deps, payment.id);
  return next.status;
};

/** Drops a never attempted first charge. Its request has failed, so it must never be charged later. */
const dropUntriedCharge = async ({ deps, store, subscription }: DueWork): Promise<string> => {
  const { charge, status } = subscription;
  if (status === 'creating') await store.removeCreating(subscription);
  else await store.commit(subscription, reportFailedReturn(subscription, dropCharge(subscription), deps.now()));
  if (charge) await releasePayment(deps, charge.paymentId);
  return DROPPED;
};

/** Looks up a creation with an unknown outcome. If the provider has no subscription, repeats the call under its key. */
const checkCreation = async (work: DueWork): Promise<string> => {
  const { deps, subscription } = work;
  if (subscription.charge?.abandoned) return endAbandonedCharge(work);
  if (subscription.providerSubscriptionId !== undefined) return (await syncFromProvider(deps, subscription)).status;
  const port = await subscriptionsPortOf(deps, subscription);
  const creations = creationsOfCharge(subscription);
  const [existing] = creations ? await findNewCreations(port, subscription, creations) : [];
  const { hasPayer, method: record } = await readLinkedRecords(deps.table, subscription);
  const method = hasPayer ? await findUnattended(deps.table, subscription, { ...subscription, record }) : undefined;
  if (existing) {
    const synced = await syncFromProvider(deps, subscription, existing.subscriptionId);
    const removedId = method || !isLive(synced) ? undefined : synced.paymentMethodId;
    return (removedId === undefined ? synced : await removeMethodFrom(deps, synced, removedId)).status;
  }
  // The method may no longer be charged, so do not create the subscription.
  if (!method) return dropCreation(work);
  const created = await createAtProvider(deps, subscription, false);
  if (created.error?.code === 'PROVIDER_UNAVAILABLE') {
    if (isReturnOver(subscription, deps.now())) return dropCreation(work);
    throw created.error;
  }
  await endCreation(work, created);
  return created.error?.code ?? created.subscription.status;
};

/**
 * True if the charge of a reactivation or resumption has not reached the provider within the resend time. A pending
 * charge is excluded; a separate step expires it.
 */
const isReturnOver = ({ charge, status }: Subscription, now: Instant): boolean => {
  const isReturn = charge !== undefined && charge.cause !== 'create' && status !== 'past_due';
  return isReturn && now > instant(charge.start) + RESEND_WITHIN_MS;
};

const endCreation = async (
  { deps, store, subscription }: DueWork,
  { error, subscription: stored }: BillingResult,
): Promise<void> => {
  if (error && stored.status === 'creating') await store.removeCreating(stored);
  else await store.change(stored, (current) => reportFailedReturn(subscription, current, deps.now()));
};

/** Ends a canceled charge at the provider. Records a payment made before the cancellation; charges nothing else. */
const endAbandonedCharge = async (work: DueWork): Promise<string> => {
  const { deps, store } = work;
  const { id, charge } = work.subscription;
  await syncIfKnown(deps, work.subscription);
  let subscription = await store.load(id);
  // Another run was faster, and the payer may have reactivated the subscription since.
  if (!subscription?.charge?.abandoned || subscription.charge.paymentId !== charge?.paymentId) return OVERTAKEN;
  if (subscription.providerSubscriptionId === undefined || !isLive(subscription)) {
    subscription = await cancelEarlierCreations(deps, subscription);
    if (!hasSameCharge(subscription, work.subscription)) return OVERTAKEN;
  }
  return commitStep({ ...work, subscription }, dropCharge(subscription), DROPPED);
};

const dropCreation = async (work: DueWork): Promise<string> => {
  const { deps, store, subscription } = work;
  if (subscription.status === 'creating') {
    await store.removeCreating(subscription);
    return DROPPED;
  }
  const dropped = reportFailedReturn(subscription, dropCharge(subscription), deps.now());
  return commitStep(work, subscription.status === 'past_due' ? markCanceled(dropped, deps.now()) : dropped, DROPPED);
};

const PASSING: readonly string[] = [
  ...['PROVIDER_UNAVAILABLE', 'PROVIDER_TIMEOUT', 'PAYMENT_IN_PROGRESS', 'VERSION_CONFLICT', 'STORAGE_UNAVAILABLE'],
];

/** True if a retry may succeed. A refusal has a `provider_code` and is final. */
const maySucceed = ({ code, details }: DomainError): boolean =>
  PASSING.includes(code) || (code === 'PROVIDER_ERROR' && fieldAt(details, 'provider_code') === undefined);

/** A refused resumption leaves the subscription paused without a date. After any other failure, due work retries. */
const resumeDue = async ({ deps, store, subscription }: DueWork): Promise<string> => {
  try {
    return (await resumeUnattended(deps, subscription)).status;
  } catch (error) {
    if (!(error instanceof DomainError) || maySucceed(error)) throw error;
    await store.change(subscription, (current) =>
      current.status === 'paused' && current.resumeAt !== undefined && current.charge === undefined
        ? edit(current, { reason: 'resume_failed', now: deps.now() }, {})
        : current,
    );
    return error.code;
  }
};

/** Sends a due notice, or schedules the next check. */
const lookAtNotices = async (work: DueWork): Promise<string> => {
  const { deps, store, subscription } = work;
  const now = deps.now();
  const at = { policy: deps.notices, now };
  const { method } = await readLinkedRecords(deps.table, subscription);
  const notice = nextNotice(subscription, method, at);
  if (notice && notice.at <= now) {
    const { reason, sent } = notice;
    return commitStep(work, edit(subscription, { reason, now }, { ...sent, noticesAt: iso(now) }), reason);
  }
  await store.setTimes(subscription, { noticesAt: nextNoticesLook(subscription, method, at) });
  return 'notices planned';
};

const STEPS: Readonly<Record<Step, (work: DueWork) => Promise<string>>> = {
  confirm: confirmRecords,
  adopt: async ({ deps, subscription }) =>
    (await markAdopted(deps, subscription, { isFirst: false })).adoption ? 'under way' : 'marked',
  'check charge': (work) => (isProviderBilled(work.subscription) ? checkCreation(work) : checkCharge(work)),
  change: async ({ deps, subscription }) => (await lookAtChange(deps, subscription)).change?.step ?? 'change finished',
  'send price': async ({ deps, subscription }) =>
    (await finishPriceUpdate(deps, subscription)).priceUpdate ? 'under way' : 'price sent',
  'open plan': (work) => commitStep(work, openScheduledPlan(work.subscription, work.deps.now()), 'plan changed'),
  transfer: async ({ deps, subscription }) => {
    const method = await findUnattended(deps.table, subscription, subscription.transfer ?? {});
    return lookUpTransfer(deps, subscription, { mayCharge: method !== undefined });
  },
  'expire first charge': expireFirstCharge,
  cancel: cancelDue,
  'trial notice': (work) => {
    const notice = { reason: 'trial_will_end', now: work.deps.now() } as const;
    return commitStep(work, edit(work.subscription, notice, { trialNoticed: true }), 'trial will end');
  },
  bill: billNextPeriod,
  retry: claimAndAttempt,
  'end dunning': finishDunning,
  sync: syncDue,
  resume: resumeDue,
  notices: lookAtNotices,
};
