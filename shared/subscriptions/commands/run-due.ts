import { DomainError } from '../../core/errors.ts';
import { DAY, iso, MINUTE } from '../../core/time.ts';
import { findUnattended, type UsableMethod } from '../../payment-methods/use.ts';
import { findCollectedPayment, publishPayment, releasePayment } from '../../payments/attempts/collect.ts';
import type { BillingDeps } from '../billing/biller.ts';
import { claimAttempt, dropCharge, endDunning, recordFailed, settleCharge } from '../billing/charge.ts';
import { cancel } from '../billing/lifecycle.ts';
import { dropMethod, missedPeriods, openNextPeriod } from '../billing/periods.ts';
import {
  cancelEarlierCreations,
  cancelProviderSubscription,
  findEarlierCreations,
} from '../provider-billed/commands.ts';
import { createAtProvider } from '../provider-billed/create.ts';
import { subscriptionsPortOf } from '../provider-billed/port.ts';
import { syncFromProvider, syncIfKnown } from '../provider-billed/sync.ts';
import { abandonTransfer, continueTransfer } from '../provider-billed/transfer.ts';
import { dueStep, nextSubscriptionDue, type Step } from '../record/due.ts';
import { isFirst } from '../record/states.ts';
import { type SubscriptionStore, subscriptionStore } from '../record/store.ts';
import { isLive, isProviderBilled, isVisibleSubscription, type Subscription } from '../record/subscription.ts';
import { edit } from '../record/versions.ts';
import { attemptCharge } from '../service-billed/collect.ts';
import { endLending } from './change-method.ts';
import { stopAbandonedCharge } from './stop-charge.ts';

/** When something that could not be done is tried again. */
const RETRY_MS = 5 * MINUTE;

/** Does what a subscription's appointment is about, and sets the next one. Safe to repeat, late or twice. */
export const runDueSubscription = async (deps: BillingDeps, id: string): Promise<string> => {
  const store = subscriptionStore(deps.table);
  const subscription = await store.load(id);
  if (!subscription) return 'gone';
  const step = dueStep(subscription, deps.now());
  if (step === undefined) {
    await store.postpone(subscription, nextSubscriptionDue(subscription));
    return 'nothing due';
  }
  try {
    return await KEEPERS[step]({ deps, store, subscription });
  } catch (error) {
    if (!(error instanceof DomainError)) throw error;
    // The provider was against it, or could not be asked: it comes round again, and the code says why.
    await comeBack({ deps, store, subscription });
    return error.code;
  }
};

interface Kept {
  readonly deps: BillingDeps;
  readonly store: SubscriptionStore;
  readonly subscription: Subscription;
}

const comeBack = async ({ deps, store, subscription }: Kept): Promise<void> => {
  const stands = await store.load(subscription.id);
  if (stands && nextSubscriptionDue(stands)) await store.postpone(stands, iso(deps.now() + RETRY_MS));
};

const OVERTAKEN = 'another came first';
const GONE = 'not known to the provider';

/** Each decides on what was read; where another commit comes first, that one has set the next appointment. */
const KEEPERS: Readonly<Record<Step, (kept: Kept) => Promise<string>>> = {
  look: (kept) => (isProviderBilled(kept.subscription) ? lookAtProvider(kept) : look(kept)),

  transfer: async ({ deps, store, subscription }) => {
    const method = await findUnattended(deps.table, subscription, subscription.transfer ?? {});
    const follow = method ? continueTransfer : abandonTransfer;
    return (await follow(deps, store, subscription)).status;
  },

  'give up': (kept) => end(kept),

  end: (kept) => end(kept),

  notice: async ({ deps, store, subscription }) => {
    const noticed = edit(subscription, 'trial_will_end', deps.now(), { trialNoticed: true });
    return (await store.commit(subscription, noticed)).ok ? 'trial will end' : OVERTAKEN;
  },

  bill: async (kept) => {
    const { deps, store, subscription } = kept;
    const missed = missedPeriods(subscription, deps.now());
    if (missed > 0) deps.log.warn('periods let go', { subscription_id: subscription.id, count: missed });
    const method = await findUnattended(deps.table, subscription, subscription);
    const payable = method ? subscription : { ...subscription, paymentMethodId: undefined, methodRef: undefined };
    const billed = await store.commit(subscription, openNextPeriod(payable, deps.now(), deps.dunning));
    if (!billed.ok) return OVERTAKEN;
    return method && billed.subscription.charge?.lookAt !== undefined
      ? attempt({ ...kept, subscription: billed.subscription }, method)
      : billed.subscription.status;
  },

  retry: (kept) => claimAndAttempt(kept),

  final: async ({ deps, store, subscription }) => {
    if (isProviderBilled(subscription) && deps.dunning.finalAction === 'cancel')
      await cancelProviderSubscription(deps, subscription);
    const over = endDunning(subscription, deps.now(), deps.dunning);
    return (await store.commit(subscription, over)).ok ? over.status : OVERTAKEN;
  },

  sync: async ({ deps, store, subscription }) => {
    const read = await syncIfKnown(deps, store, subscription);
    if (read) return read.status;
    deps.log.error('subscription anomaly', { subscription_id: subscription.id, reason: GONE });
    await store.postpone(subscription, iso(deps.now() + DAY));
    return GONE;
  },
};

const end = async ({ deps, store, subscription }: Kept): Promise<string> => {
  if (isProviderBilled(subscription)) await cancelProviderSubscription(deps, subscription);
  const ended = await store.commit(subscription, cancel(subscription, deps.now()));
  if (!ended.ok) return OVERTAKEN;
  await stopAbandonedCharge(deps, store, ended.subscription);
  return 'canceled';
};

/** The attempt is claimed here before it is made: whoever cancels meanwhile knows of it. */
const claimAndAttempt = async (kept: Kept): Promise<string> => {
  const { deps, store, subscription } = kept;
  const method = await findUnattended(deps.table, subscription, subscription);
  if (!method) return loseMethod(kept);
  const claimed = await store.commit(subscription, claimAttempt(subscription, deps.now()));
  return claimed.ok ? attempt({ ...kept, subscription: claimed.subscription }, method) : OVERTAKEN;
};

/** Nothing is charged: its method was deleted, or the member who lent it has left the organization. */
const loseMethod = async ({ deps, store, subscription }: Kept): Promise<string> => {
  const attempts = subscription.charge?.attempts ?? 0;
  const failed = recordFailed(
    subscription,
    { code: 'processing_error', attempts, spent: false },
    deps.now(),
    deps.dunning,
  );
  return (await store.commit(subscription, dropMethod(failed))).ok ? 'no payment method' : OVERTAKEN;
};

const attempt = async ({ deps, store, subscription }: Kept, method: UsableMethod): Promise<string> => {
  const attempted = await attemptCharge(deps, store, subscription, { method, attended: false });
  if (attempted.error) await comeBack({ deps, store, subscription });
  return attempted.error?.code ?? attempted.subscription.status;
};

/** An attempt was begun and nobody has said what came of it. */
const look = async (kept: Kept): Promise<string> => {
  const { deps, store, subscription } = kept;
  const { charge } = subscription;
  if (!charge) return 'nothing due';
  if (charge.abandoned) {
    const followed = await stopAbandonedCharge(deps, store, subscription);
    if (followed.charge) await comeBack(kept);
    return followed.charge ? 'under way' : 'let go';
  }
  const payment = await findCollectedPayment(deps, charge.paymentId);
  const tried = payment !== undefined && payment.attempt > charge.attempts;
  if (!tried && payment?.status !== 'canceled' && payment?.status !== 'succeeded') {
    return isFirst(charge) && subscription.status !== 'past_due' ? forget(kept) : claimAndAttempt(kept);
  }
  const next = settleCharge(subscription, payment, deps.now(), deps.dunning);
  if (!(await store.commit(subscription, next)).ok) return OVERTAKEN;
  if (payment.withheld && isVisibleSubscription(next)) await publishPayment(deps, payment.id);
  return next.status;
};

/** The provider was asked to make it, and nobody knows whether it has: looked for, then asked again under the same key. */
const lookAtProvider = async ({ deps, store, subscription }: Kept): Promise<string> => {
  const { charge, providerSubscriptionId } = subscription;
  if (providerSubscriptionId !== undefined) return (await syncFromProvider(deps, store, subscription)).status;
  if (charge?.abandoned) {
    await cancelEarlierCreations(deps, subscription);
    const dropped = await store.commit(subscription, dropCharge(subscription));
    return dropped.ok ? 'let go' : OVERTAKEN;
  }
  const [standing] = await findEarlierCreations(await subscriptionsPortOf(deps, subscription), subscription);
  const method = await findUnattended(deps.table, subscription, subscription);
  if (standing) {
    const read = await syncFromProvider(deps, store, subscription, standing.subscriptionId);
    const goneId = method || !isLive(read) ? undefined : read.paymentMethodId;
    return (goneId === undefined ? read : await endLending(deps, read, goneId)).status;
  }
  // Nothing stands at the provider, and the method may no longer be charged: nothing is made there.
  if (!method) return dropCreation({ deps, store, subscription });
  const made = await createAtProvider(deps, store, subscription);
  if (made.error?.code === 'PROVIDER_UNAVAILABLE') throw made.error;
  if (made.error && made.subscription.status === 'creating') await store.removeCreating(made.subscription);
  return made.error?.code ?? made.subscription.status;
};

/** A creation that the provider never had, and is not asked for any more. */
const dropCreation = async ({ deps, store, subscription }: Kept): Promise<string> => {
  if (subscription.status === 'creating') {
    await store.removeCreating(subscription);
    return 'let go';
  }
  const dropped = dropCharge(subscription);
  const next = subscription.status === 'past_due' ? cancel(dropped, deps.now()) : dropped;
  return (await store.commit(subscription, next)).ok ? 'let go' : OVERTAKEN;
};

/** Whoever waited for this first charge was told that it came to nothing, and nobody has been charged: it never will be. */
const forget = async ({ deps, store, subscription }: Kept): Promise<string> => {
  const { charge, status } = subscription;
  if (status === 'creating') await store.removeCreating(subscription);
  else await store.commit(subscription, dropCharge(subscription));
  if (charge) await releasePayment(deps, charge.paymentId);
  return 'let go';
};
