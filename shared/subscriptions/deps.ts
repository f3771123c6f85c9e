import type { GuestTokens } from '../access/guest-token.ts';
import type { IdKind } from '../core/ids.ts';
import type { CollectDeps } from '../payments/collect.ts';
import type { DunningPolicy } from './transitions.ts';

/** What billing takes. */
export interface BillingDeps extends CollectDeps {
  readonly dunning: DunningPolicy;
}

/** What the routes that may charge take. */
export interface SubscriptionDeps extends BillingDeps {
  readonly newId: (kind: IdKind) => string;
  readonly guestTokens: GuestTokens;
}
