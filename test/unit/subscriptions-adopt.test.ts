import { expect, test } from 'vitest';
import { epochSeconds } from '../../shared/core/time.ts';
import type { ProviderSubscription } from '../../shared/providers/port/subscriptions.ts';
import type { BillingDeps } from '../../shared/subscriptions/billing/biller.ts';
import { storeReport } from '../../shared/subscriptions/provider-billed/sync.ts';
import type { SubscriptionStore } from '../../shared/subscriptions/record/store.ts';
import { NOON } from '../builders/payment.ts';
import { subscription } from '../builders/subscription.ts';

const running = { billingOwner: 'provider', status: 'active', providerSubscriptionId: 'sub_1' } as const;

/** Somebody else has stored something between the read and the commit. */
const overtakenBy = (found: ReturnType<typeof subscription>) =>
  ({ commit: async () => ({ ok: false, found }) }) as unknown as SubscriptionStore;

test('what a former subscription at the provider was read as is not taken for the one made after it', async () => {
  const report: ProviderSubscription = {
    subscriptionId: 'sub_1',
    ourSubscriptionId: undefined,
    status: 'canceled',
    currentPeriodStart: epochSeconds(NOON),
    currentPeriodEnd: epochSeconds(NOON) + 86_400,
    trialEnd: undefined,
    cancelAtPeriodEnd: false,
    methodId: 'pm_1',
    latestInvoice: undefined,
  };
  const again = subscription({ ...running, providerSubscriptionId: 'sub_2', formerProviderIds: ['sub_1'] });
  const deps = { now: () => NOON } as unknown as BillingDeps;
  expect(await storeReport(deps, overtakenBy(again), subscription(running), report)).toBe(again);
});
