/**
 * @module Resolves a provider command with an unknown outcome. Due work reads the provider a minute later and stores
 * the result like any report. An event reports a command without effect.
 */

import { FIRST_LOOK_MS } from '../../calls/call-times.ts';
import { type Instant, instant, iso } from '../../core/time.ts';
import { FAILURE_OF } from '../../platform/command-end.ts';
import type { BillingDeps } from '../billing/biller.ts';
import { endsWithPeriod, isLive, type Subscription } from '../record/subscription.ts';
import { subscriptionStore } from '../record/subscription-store.ts';
import { edit } from '../record/subscription-versions.ts';

export type OpenCommand = NonNullable<Subscription['openCommand']>['kind'];

/** True if the subscription has the state that the command requests. */
export const IS_MET: Readonly<Record<OpenCommand, (subscription: Subscription) => boolean>> = {
  cancel: (subscription) => subscription.status === 'canceled' || endsWithPeriod(subscription),
  pause: ({ status }) => status === 'paused',
  reactivate: (subscription) => isLive(subscription) && !subscription.cancelAtPeriodEnd,
  resume: ({ status }) => status === 'active',
};

export const leaveOpen = (deps: BillingDeps, subscription: Subscription, kind: OpenCommand): Promise<Subscription> =>
  subscriptionStore(deps.table).change(subscription, (current) =>
    isLive(current) ? { ...current, openCommand: { kind, lookAt: iso(deps.now() + FIRST_LOOK_MS) } } : current,
  );

/** A later command supersedes the open command, so the earlier outcome is not reported. */
export const forgetOpen = (deps: BillingDeps, subscription: Subscription): Promise<Subscription> =>
  subscription.openCommand === undefined
    ? Promise.resolve(subscription)
    : subscriptionStore(deps.table).change(subscription, (current) => ({ ...current, openCommand: undefined }));

/** @param synced as read after the command; unchanged if the subscription does not exist at the provider */
export const endOpenCommand = (deps: BillingDeps, synced: Subscription): Promise<Subscription> =>
  synced.openCommand === undefined
    ? Promise.resolve(synced)
    : subscriptionStore(deps.table).change(synced, (current) => {
        const kind = current.openCommand?.kind;
        if (kind === undefined) return current;
        const ended = { ...current, openCommand: undefined };
        return IS_MET[kind](ended) ? ended : withoutEffect(ended, kind, deps.now());
      });

/**
 * A failed pause was already reported by its response, so only its resume date is cleared. If the resume date of a
 * pause has passed, due work retries the resumption, so no failure is reported.
 */
const withoutEffect = (ended: Subscription, kind: OpenCommand, now: Instant): Subscription => {
  if (kind === 'pause') return { ...ended, resumeAt: undefined };
  const isRepeated = kind === 'resume' && ended.resumeAt !== undefined && instant(ended.resumeAt) <= now;
  return isRepeated ? ended : edit(ended, { reason: FAILURE_OF[kind].reason, now }, {});
};

/**
 * Reports that the charge of a reactivation or resumption was dropped after its request had ended. If the charge was
 * dropped earlier, the response reports the failure. A withdrawn charge is not reported.
 */
export const reportFailedReturn = (before: Subscription, after: Subscription, now: Instant): Subscription => {
  const cause = droppedReturn(before, after);
  const lookAt = before.charge?.lookAt;
  const isLate = lookAt !== undefined && instant(lookAt) <= now;
  return cause && isLate ? edit(after, { reason: FAILURE_OF[cause].reason, now }, {}) : after;
};

/**
 * True if the charge of a reactivation or resumption would be dropped while its request may still be running. That
 * request drops the charge itself. If the request fails to do so, due work drops and reports the charge afterwards.
 */
export const isLeftToRequest = (before: Subscription, after: Subscription, now: Instant): boolean => {
  const lookAt = before.charge?.lookAt;
  return droppedReturn(before, after) !== undefined && lookAt !== undefined && instant(lookAt) > now;
};

const droppedReturn = ({ charge, version }: Subscription, after: Subscription): 'reactivate' | 'resume' | undefined => {
  const cause = charge?.cause;
  if (cause !== 'reactivate' && cause !== 'resume') return undefined;
  const isDropped = !charge?.abandoned && after.charge === undefined && after.version === version;
  return isDropped ? cause : undefined;
};
