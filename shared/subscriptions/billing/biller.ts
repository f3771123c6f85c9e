/** @module The interface of both billers (service and provider), and a charge's request and result. */

import type { GuestTokens } from '../../access/guest-token.ts';
import { DomainError } from '../../core/errors.ts';
import type { IdDeps } from '../../core/keyed-ids.ts';
import type { DeclineCode } from '../../core/outcome.ts';
import type { Instant } from '../../core/time.ts';
import type { UsableMethod } from '../../payment-methods/usable-method.ts';
import type { CollectDeps } from '../../payments/collect-payment.ts';
import type { VisiblePayment } from '../../payments/payment.ts';
import type { TransactionStep } from '../../platform/table.ts';
import type { Charge, Subscription } from '../record/subscription.ts';
import type { DunningPolicy } from './dunning.ts';
import type { SettleOptions } from './subscription-charge.ts';

export interface BillingDeps extends CollectDeps {
  readonly dunning: DunningPolicy;
}

/** Dependencies of routes with possible charges. */
export interface SubscriptionDeps extends BillingDeps, IdDeps {
  readonly guestTokens: GuestTokens;
}

/** The current time and dunning policy for settling a charge. */
export const settlementOf = ({ now, dunning }: Pick<BillingDeps, 'now' | 'dunning'>): SettleOptions => ({
  now: now(),
  policy: dunning,
});

export interface BillingResult {
  readonly subscription: Subscription;
  readonly declined?: DeclineCode | undefined;
  /** Why nothing was charged. */
  readonly error?: DomainError | undefined;
}

export interface ChargeRequest {
  /** The method to charge. The caller's right to use it has been checked. */
  readonly method: UsableMethod;
  /** The conditions of the waiting caller's right. Absent for a charge by due work. */
  readonly right?: readonly TransactionStep[] | undefined;
  /** True if an earlier request may have called the provider for the same charge. */
  readonly isRepeat?: boolean;
}

/** The cause of a charge that starts a new calendar. */
export type StartCause = Exclude<Charge['cause'], 'renew'>;

/** A charge with a caller waiting for its outcome. */
export type AttendedCharge = ChargeRequest & { readonly right: readonly TransactionStep[] };

export interface Biller {
  /** Opens the first period, with a charge if an amount is due. Commit the result before `collect`. */
  readonly openFirstPeriod: (subscription: Subscription, cause: StartCause, now: Instant) => Subscription;
  /** Makes one attempt at the open charge, and records its outcome. */
  readonly collect: (deps: BillingDeps, subscription: Subscription, request: ChargeRequest) => Promise<BillingResult>;
  /**
   * Stops an abandoned charge if possible.
   * @returns its payment, if any
   * @throws DomainError if the provider cannot be called now
   */
  readonly releaseCharge: (deps: BillingDeps, subscription: Subscription) => Promise<VisiblePayment | undefined>;
}

/** @returns undefined if the provider cannot be called now; due work then retries the call */
export const nowOrLater = async <T>(call: () => Promise<T>): Promise<{ readonly value: T } | undefined> => {
  try {
    return { value: await call() };
  } catch (error) {
    if (error instanceof DomainError) return undefined;
    throw error;
  }
};
