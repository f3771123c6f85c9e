import type { GuestTokens } from '../../access/guest-token.ts';
import type { DomainError } from '../../core/errors.ts';
import type { IdKind } from '../../core/ids.ts';
import type { DeclineCode } from '../../core/outcome.ts';
import type { UsableMethod } from '../../payment-methods/use.ts';
import type { CollectDeps } from '../../payments/attempts/collect.ts';
import type { Subscription } from '../record/subscription.ts';
import type { DunningPolicy } from './dunning.ts';

/** What billing takes. */
export interface BillingDeps extends CollectDeps {
  readonly dunning: DunningPolicy;
}

/** What the routes that may charge take. */
export interface SubscriptionDeps extends BillingDeps {
  readonly newId: (kind: IdKind) => string;
  readonly guestTokens: GuestTokens;
}

/** What came of an attempt, and the subscription as it is now. */
export interface ChargeAttempt {
  readonly subscription: Subscription;
  readonly declined?: DeclineCode | undefined;
  /** Nothing was charged, and why. */
  readonly error?: DomainError | undefined;
}

export interface ChargeWith {
  /** Has passed the rule of use, for whoever asks for this charge. */
  readonly method: UsableMethod;
  /** The payer waits for the answer. */
  readonly attended: boolean;
}
