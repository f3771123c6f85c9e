import type { GuestTokens } from '../access/guest-token.ts';
import type { DomainError } from '../core/errors.ts';
import type { IdKind } from '../core/ids.ts';
import type { DeclineCode } from '../core/outcome.ts';
import type { Instant } from '../core/time.ts';
import type { UsableMethod } from '../payment-methods/usable-method.ts';
import type { CollectDeps } from '../payments/collect-payment.ts';
import type { VisiblePayment } from '../payments/payment.ts';
import type { TransactionStep } from '../platform/table.ts';
import type { DunningPolicy } from './dunning.ts';
import type { Charge, Subscription } from './subscription.ts';
import type { Settlement } from './subscription-charge.ts';

/** Dependencies of billing. */
export interface BillingDeps extends CollectDeps {
  readonly dunning: DunningPolicy;
}

/** Dependencies of the routes that may charge. */
export interface SubscriptionDeps extends BillingDeps {
  readonly newId: (kind: IdKind) => string;
  readonly guestTokens: GuestTokens;
}

/** A settlement at this moment. */
export const settlementOf = ({ now, dunning }: Pick<BillingDeps, 'now' | 'dunning'>): Settlement => ({
  now: now(),
  policy: dunning,
});

/** The outcome of an attempt, and the subscription after it. */
export interface BillingResult {
  readonly subscription: Subscription;
  readonly declined?: DeclineCode | undefined;
  /** Why nothing was charged. */
  readonly error?: DomainError | undefined;
}

export interface ChargeRequest {
  /** The rule of use has been checked for the caller of this charge. */
  readonly method: UsableMethod;
  /** The conditions of the right of the caller who waits for the response; absent for a charge by due work. */
  readonly right?: readonly TransactionStep[] | undefined;
}

/** The cause of a first charge: the payer waits for its outcome. */
export type StartCause = Exclude<Charge['cause'], 'renew'>;

/** A charge that a caller waits for. */
export type AttendedCharge = ChargeRequest & { readonly right: readonly TransactionStep[] };

/** How a billing owner starts a subscription. */
export interface Biller {
  /** Opens the first period, with a charge if money is due. To be committed before `collect`. */
  readonly openFirstPeriod: (subscription: Subscription, cause: StartCause, now: Instant) => Subscription;
  /** Makes the attempt of the open charge, and records its outcome. */
  readonly collect: (deps: BillingDeps, subscription: Subscription, request: ChargeRequest) => Promise<BillingResult>;
  /**
   * Stops an abandoned charge where that is still possible. @returns its payment, if there is one
   * @throws DomainError where the provider cannot be called now
   */
  readonly releaseCharge: (deps: BillingDeps, subscription: Subscription) => Promise<VisiblePayment | undefined>;
}
