/** @module Stores subscriptions with their memberships, used-by items and period claims, in one transaction. */

import { requireFree } from '../../calls/exclusions.ts';
import { currentMaker } from '../../core/actor.ts';
import { DomainError } from '../../core/errors.ts';
import { instant, iso, MINUTE_MS } from '../../core/time.ts';
import { type Membership, membershipItem } from '../../memberships/membership.ts';
import { type Committed, changeRecord, type Decide, inOrder } from '../../platform/change.ts';
import type { Clause } from '../../platform/expression.ts';
import {
  addressUseKey,
  billingShard,
  type Key,
  membershipKey,
  periodKey,
  recordKey,
  usedByKey,
} from '../../platform/keys.ts';
import type { Table, TransactionStep } from '../../platform/table.ts';
import { type Found, type VersionedShape, versionedRecord } from '../../platform/versioned-record.ts';
import { isSameMembership, membershipIdsOf, membershipOf } from './membership-of.ts';
import {
  isEnding,
  isLive,
  isProviderBilled,
  isVisibleSubscription,
  type Subscription,
  storedSubscription,
  subscriptionShape,
} from './subscription.ts';
import { nextSubscriptionDue } from './subscription-due.ts';
import { openCallsOf, requireSubscriptionTransition } from './subscription-states.ts';

export type SubscriptionStore = ReturnType<typeof subscriptionStore>;

export const subscriptionStore = (table: Table) => {
  const { load, setTimes, putOff, ...records } = versionedRecord({ table }, storedShape);

  /**
   * Stores a new subscription with its dependent items.
   * @returns the existing record if the id is taken
   * @throws DomainError VERSION_CONFLICT if only the conditions in `onlyIf` failed
   */
  const insertOrFind = async (
    subscription: Subscription,
    onlyIf: readonly TransactionStep[] = [],
  ): Promise<Found<Subscription> | undefined> => {
    const found = await records.insertOrFind(stamped(undefined, started(undefined, subscription)), onlyIf);
    if (found?.kind === 'tombstone') throw new Error('a subscription was removed while its id was claimed');
    return found;
  };

  /**
   * Commits the next state of a subscription.
   * @param onlyIf further conditions; the result is `unmet` if only these failed
   * @returns the stored record instead if another commit came first
   * @throws Error for a status change not allowed by the state table
   */
  const commit = async (
    was: Subscription,
    next: Subscription,
    onlyIf: readonly TransactionStep[] = [],
  ): Promise<Committed<Subscription>> => {
    requireSubscriptionTransition(was.status, next.status);
    const stamp = stamped(was, noticed(was, started(was, ended(continued(was, inOrder(was, next))))));
    return records.commit(was, { ...stamp, lock: was.lock + 1 }, onlyIf);
  };

  /**
   * Changes a subscription; see `changeRecord`.
   * @param onlyIf further conditions of the write, such as the caller's right
   * @returns the record after the change
   * @throws DomainError VERSION_CONFLICT if only the conditions in `onlyIf` failed
   */
  const change = async (
    subscription: Subscription,
    decide: Decide<Subscription>,
    onlyIf: readonly TransactionStep[] = [],
  ): Promise<Subscription> => {
    const { record, unmet } = await changeRecord((was, next) => commit(was, next, onlyIf), subscription, decide);
    if (unmet) throw new DomainError('VERSION_CONFLICT');
    return record;
  };

  /** Checks the conditions of a call without a claim. @throws DomainError VERSION_CONFLICT if a condition fails */
  const requireAll = async (onlyIf: readonly TransactionStep[] = []): Promise<void> => {
    if (onlyIf.length > 0 && !(await table.transact(onlyIf)).ok) throw new DomainError('VERSION_CONFLICT');
  };

  /** Removes the record of a failed creation. */
  const removeCreating = (subscription: Subscription): Promise<unknown> =>
    table.transact([
      { delete: recordKey('SUB', subscription.id), if: asRead(subscription) },
      ...(subscription.charge ? [{ delete: periodKey(subscription.id, subscription.charge.start) }] : []),
    ]);

  return { load, insertOrFind, commit, change, requireAll, setTimes, putOff, removeCreating };
};

const asRead = ({ lock }: Subscription): readonly Clause[] => [{ exists: true }, { equals: ['lock', lock] }];

/**
 * Adds actor and request id to every new version. A commit that readers do not see keeps the actor and request id of
 * the current version.
 */
const stamped = (was: Subscription | undefined, next: Subscription): Subscription =>
  was?.version === next.version ? next : { ...next, ...currentMaker() };

/** Clears the cancellation reason when the cancellation is withdrawn. */
const continued = (was: Subscription, next: Subscription): Subscription =>
  isEnding(was) && !isEnding(next) ? { ...next, cancelReason: undefined, cancelComment: undefined } : next;

/** Clears scheduled plans and prices at cancellation, because no further period opens. */
const ended = (next: Subscription): Subscription =>
  next.status === 'canceled' && (next.scheduledChange || next.priceUpdate)
    ? { ...next, scheduledChange: undefined, priceUpdate: undefined }
    : next;

/**
 * Marks a provider-billed subscription that has just become live as unconfirmed, because a concurrent deletion may have
 * missed it.
 */
const started = (was: Subscription | undefined, next: Subscription): Subscription =>
  isProviderBilled(next) && isLive(next) && !(was && isLive(was))
    ? { ...next, unconfirmedSince: next.updatedAt }
    : next;

const NOTICES_AFTER_MS = 10 * MINUTE_MS;

/** Plans a check for notices after a change that makes the subscription active or may move its notices. */
const noticed = (was: Subscription, next: Subscription): Subscription =>
  next.status === 'active' && was.version !== next.version && mayMoveNotices(was, next)
    ? { ...next, noticesAt: iso(instant(next.updatedAt) + NOTICES_AFTER_MS) }
    : next;

const mayMoveNotices = (was: Subscription, next: Subscription): boolean => {
  const isLonger =
    next.intervalMultiplier > 1 || next.billingInterval === 'yearly' || next.billingInterval === 'quarterly';
  return (
    was.status !== 'active' ||
    next.paymentMethodId !== was.paymentMethodId ||
    next.billingInterval !== was.billingInterval ||
    next.intervalMultiplier !== was.intervalMultiplier ||
    (isLonger && next.currentPeriodEnd !== was.currentPeriodEnd)
  );
};

const stepsBetween = (was: Subscription | undefined, next: Subscription): readonly TransactionStep[] => [
  ...periodClaim(was, next),
  ...membershipSteps(was, next),
  ...usageSteps(was, next),
];

const storedShape: VersionedShape<Subscription> = {
  ...subscriptionShape,
  stored: storedSubscription,
  asRead,
  dueAt: nextSubscriptionDue,
  shardOf: ({ providerId, id }) => billingShard(providerId, id),
  beside: stepsBetween,
};

/** Claims each service-billed period once. Releases the claim if the charge is dropped unpaid. */
const periodClaim = (was: Subscription | undefined, next: Subscription): readonly TransactionStep[] => {
  if (next.billingOwner === 'provider') return [];
  const [before, after] = [was?.charge, next.charge];
  if (before && !after) {
    const isPaid = next.currentPeriodStart === before.start && next.paidUntil === before.end;
    return isPaid ? [] : [{ delete: periodKey(next.id, before.start) }];
  }
  if (!after || after.start === before?.start) return [];
  const { start, end, paymentId, cause } = after;
  return [{ put: { ...periodKey(next.id, start), start, end, paymentId, cause }, if: [{ absent: true }] }];
};

const membershipSteps = (was: Subscription | undefined, next: Subscription): readonly TransactionStep[] => {
  const [before, after] = [was && membershipOf(was), membershipOf(next)];
  const isOtherTier = before !== undefined && next.tierId !== before.tierId;
  return [
    ...(isOtherTier ? endOfMembership(before, next) : []),
    ...(after && !(before && !isOtherTier && isSameMembership(before, after)) ? [{ put: membershipItem(after) }] : []),
  ];
};

/** Ends the membership of a tier no longer in the plan. */
const endOfMembership = (before: Membership, { version, updatedAt }: Subscription): readonly TransactionStep[] => {
  if (before.status === 'cancelled') return [];
  const endsAt = before.endsAt !== undefined && before.endsAt < updatedAt ? before.endsAt : updatedAt;
  return [{ put: membershipItem({ ...before, status: 'cancelled', endsAt, version, updatedAt }) }];
};

/**
 * Methods and customers list their live subscriptions, so that no method or customer is deleted while a subscription
 * uses it. Addresses list all subscriptions.
 */
const usageSteps = (was: Subscription | undefined, next: Subscription): readonly TransactionStep[] => {
  const [before, after] = [usesOf(was), usesOf(next)];
  const without = (keys: readonly Key[], excluded: readonly Key[]) =>
    keys.filter(({ pk, sk }) => !excluded.some((key) => key.pk === pk && key.sk === sk));
  return [
    ...without(after, before).map((key): TransactionStep => ({ put: { ...key, subscriptionId: next.id } })),
    ...without(before, after).map((key): TransactionStep => ({ delete: key })),
  ];
};

const usesOf = (subscription: Subscription | undefined): readonly Key[] => {
  if (!subscription) return [];
  const { id, billingAddressId } = subscription;
  const address =
    billingAddressId && isVisibleSubscription(subscription) ? [addressUseKey(billingAddressId, 'SUB', id)] : [];
  if (!isLive(subscription)) return address;
  const { customerId, paymentMethodId, transfer } = subscription;
  const methods = [paymentMethodId, transfer?.paymentMethodId].filter((method) => method !== undefined);
  return [usedByKey('CUS', customerId, id), ...methods.map((method) => usedByKey('PM', method, id)), ...address];
};

/** The write steps that remove a subscription with its dependent items. Its payments stay. */
const removalSteps = (subscription: Subscription): readonly TransactionStep[] => {
  return [
    { delete: recordKey('SUB', subscription.id), if: asRead(subscription) },
    ...membershipIdsOf(subscription).map((id) => ({ delete: membershipKey(id) })),
    ...usesOf(subscription).map((key) => ({ delete: key })),
  ];
};

/** Removes a subscription if it has ended. @throws DomainError PAYMENT_IN_PROGRESS if the provider may have it */
export const eraseSubscription = async (table: Table, id: string): Promise<void> => {
  const subscription = await subscriptionStore(table).load(id);
  if (!subscription) return;
  requireFree('subscription erasure', openCallsOf(subscription));
  if (!isLive(subscription)) await table.transact(removalSteps(subscription));
};
