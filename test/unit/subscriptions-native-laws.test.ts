import fc from 'fast-check';
import { expect, inject, test } from 'vitest';
import { allows } from '../../shared/core/states.ts';
import { DAY, epochSeconds, HOUR, type Instant, MINUTE } from '../../shared/core/time.ts';
import { claimCreation } from '../../shared/subscriptions/create-at-provider.ts';
import { markCanceled } from '../../shared/subscriptions/lifecycle.ts';
import { membershipOf } from '../../shared/subscriptions/membership-of.ts';
import { applyReport, type SubscriptionReport } from '../../shared/subscriptions/provider-report.ts';
import { isVisibleSubscription, type Subscription } from '../../shared/subscriptions/subscription.ts';
import { recordPending } from '../../shared/subscriptions/subscription-charge.ts';
import { dueStep, nextSubscriptionDue } from '../../shared/subscriptions/subscription-due.ts';
import { hasOpenAttempt, SUBSCRIPTION_TRANSITIONS } from '../../shared/subscriptions/subscription-states.ts';
import { edit } from '../../shared/subscriptions/subscription-versions.ts';
import { subscriptionView } from '../../shared/subscriptions/subscription-view.ts';
import { NOON } from '../builders/payment.ts';
import { DAY_SECONDS } from '../builders/seconds.ts';
import { expectedMembership, expectedMembershipEnd, subscription, trial } from '../builders/subscription.ts';

/** A subscription that its provider bills, and its clock. */
interface World {
  readonly now: Instant;
  readonly subscription: Subscription;
}

const STATUSES = ['trialing', 'active', 'past_due', 'canceled', 'paused', undefined] as const;
const WAITS = [MINUTE, HOUR, DAY, 31 * DAY, 400 * DAY] as const;

/** Any report of a provider, consistent or not. */
const saidBy = (world: World, choice: number): SubscriptionReport => {
  const now = epochSeconds(world.now);
  const bit = (place: number): boolean => ((choice >> place) & 1) === 1;
  const start = now - (bit(3) ? 0 : 20 * DAY_SECONDS);
  const end = start + 31 * DAY_SECONDS;
  return {
    status: STATUSES[choice % STATUSES.length],
    ...(bit(4) && { subscriptionId: `sub_${choice % 3}` }),
    ...(bit(5) && { currentPeriodStart: start, currentPeriodEnd: end }),
    ...(bit(6) && { trialEnd: end, isBridge: bit(12) }),
    ...(bit(13) && { isUnpaid: bit(8) }),
    ...(bit(7) && { cancelAtPeriodEnd: bit(8) }),
    ...(bit(9) && { paidUntil: end, isPaid: true }),
    ...(bit(10) && { isCollecting: true }),
    ...(bit(11) && { retryAt: bit(8) ? null : now + DAY_SECONDS }),
    at: now,
  };
};

const command = ({ now, subscription: one }: World, choice: number): Subscription => {
  switch (choice % 4) {
    case 0:
      return !isVisibleSubscription(one) || one.status === 'canceled' ? one : markCanceled(one, now);
    case 1:
      return isVisibleSubscription(one) ? edit(one, { reason: 'updated', now }, { metadata: { choice } }) : one;
    case 2:
      return one.status === 'canceled' && !hasOpenAttempt(one.charge) ? claimCreation(one, 'reactivate', now) : one;
    default:
      return hasOpenAttempt(one.charge) ? recordPending(one, now) : one;
  }
};

const keep = ({ now, subscription: one }: World): Subscription => {
  const step = dueStep(one, now);
  if (step === 'expire first charge') return markCanceled(one, now);
  if (step === 'trial notice') return edit(one, { reason: 'trial_will_end', now }, { trialNoticed: true });
  if (step === undefined || step === 'check charge' || step === 'sync') return one;
  throw new Error(`the service itself would ${step}`);
};

const step = (world: World, choice: number): World => {
  const rest = choice >> 2;
  switch (choice % 4) {
    case 0:
      return { ...world, now: world.now + (WAITS[rest % WAITS.length] ?? MINUTE) };
    case 1:
      return { ...world, subscription: keep(world) };
    case 2:
      return { ...world, subscription: command(world, rest) };
    default:
      return { ...world, subscription: applyReport(world.subscription, saidBy(world, rest), world.now) };
  }
};

const CAUSES = ['provider', 'charge', 'cancel', 'reactivate', 'open'] as const;

/** Each law gets the subscription before and after one step, and names the violation. */
const LAWS: readonly ((before: Subscription, after: Subscription) => string | undefined)[] = [
  ({ status: from }, { status: to }) =>
    CAUSES.some((cause) => allows(SUBSCRIPTION_TRANSITIONS, { from, to, cause })) ? undefined : `${from} → ${to}`,
  (before, after) => {
    const isReactivated = before.status === 'canceled' && after.status !== 'canceled';
    return isReactivated && (!before.charge || before.charge.abandoned)
      ? 'a reactivation without a request'
      : undefined;
  },
  (_, after) =>
    membershipOf(after)?.status !== expectedMembership(after)
      ? `the membership does not follow from the ${after.status} subscription`
      : undefined,
  (_, after) =>
    membershipOf(after)?.endsAt !== expectedMembershipEnd(after)
      ? `the membership of the ${after.status} subscription ends at another time`
      : undefined,
  (before, after) => (after.version < before.version ? 'the version decreased' : undefined),
  (before, after) => ((after.paidUntil ?? '') < (before.paidUntil ?? '') ? 'a paid time became shorter' : undefined),
  (before, after) => {
    if (!isVisibleSubscription(before) || !isVisibleSubscription(after) || after.version !== before.version) return;
    const [seen, unseen] = [before, after].map((one) =>
      JSON.stringify({ ...subscriptionView(one), latest_payment_id: 0 }),
    );
    return seen !== unseen ? `the view changed without a new version: ${seen} became ${unseen}` : undefined;
  },
  (_, after) =>
    hasOpenAttempt(after.charge) && nextSubscriptionDue(after) === undefined
      ? 'an open charge has no due time'
      : undefined,
];

/** @returns the first law that the step violates */
const violation = (before: Subscription, after: Subscription): string | undefined =>
  LAWS.map((law) => law(before, after)).find((broken) => broken !== undefined);

const native = { billingOwner: 'provider' } as const;
const BEGINNINGS: readonly Subscription[] = [
  claimCreation(subscription(native), 'create', NOON),
  claimCreation(trial(30, native), 'create', NOON),
];

/** `npm test` takes the same sequences each time; test:long takes others. */
const FIXED_SEED = 20_261_122;

test(
  'a provider-billed subscription keeps to the transition table for any reports, and the service charges nothing',
  () => {
    const runs = fc.tuple(
      fc.nat({ max: BEGINNINGS.length - 1 }),
      fc.array(fc.nat({ max: 16_383 }), { minLength: 1, maxLength: 24 }),
    );
    const seen = new Set<string>();
    fc.assert(
      fc.property(runs, ([beginning, choices]) => {
        let world: World = { now: NOON, subscription: BEGINNINGS[beginning] ?? subscription(native) };
        for (const choice of choices) {
          const next = step(world, choice);
          const problem = violation(world.subscription, next.subscription);
          if (problem !== undefined) throw new Error(problem);
          seen.add(`${world.subscription.status} → ${next.subscription.status}`);
          world = next;
        }
      }),
      inject('scale') > 1 ? { numRuns: 100_000 } : { numRuns: 10_000, seed: FIXED_SEED },
    );
    const states = ['trialing', 'active', 'past_due', 'canceled', 'paused'];
    const between = states.flatMap((from) => states.map((to) => `${from} → ${to}`));
    // Not vacuous: every change has occurred.
    expect(between.filter((change) => !seen.has(change))).toEqual([]);
  },
  MINUTE,
);
