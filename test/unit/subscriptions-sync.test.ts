import { expect, test } from 'vitest';
import type { Outcome } from '../../shared/core/outcome.ts';
import { epochSeconds } from '../../shared/core/time.ts';
import type { Table } from '../../shared/platform/table.ts';
import { recordItem } from '../../shared/platform/versioned-record.ts';
import type { ProviderSubscription } from '../../shared/providers/subscription-port.ts';
import { storeReport, syncBeforeReturn } from '../../shared/subscriptions/at-provider/store-report.ts';
import type { BillingDeps } from '../../shared/subscriptions/billing/biller.ts';
import { type Subscription, subscriptionShape } from '../../shared/subscriptions/record/subscription.ts';
import { NOON } from '../builders/payment.ts';
import { DAY_SECONDS } from '../builders/seconds.ts';
import { subscription } from '../builders/subscription.ts';

const running = { billingOwner: 'provider', status: 'active', providerSubscriptionId: 'sub_1' } as const;

/** A table to which another commit wrote this record first, so every write finds this record. */
const overtakenBy = (found: Subscription) =>
  ({
    transact: async () => ({ ok: false, failed: [0], found: [recordItem(subscriptionShape, found)] }),
  }) as unknown as Table;

test('a read of a former provider subscription is ignored after its replacement', async () => {
  const report: ProviderSubscription = {
    subscriptionId: 'sub_1',
    ourSubscriptionId: undefined,
    status: 'canceled',
    currentPeriodStart: epochSeconds(NOON),
    currentPeriodEnd: epochSeconds(NOON) + DAY_SECONDS,
    trialEnd: undefined,
    isBridge: false,
    cancelAtPeriodEnd: false,
    cancelAt: null,
    isUnpaid: false,
    price: undefined,
    isIncomplete: false,
    methodId: 'pm_1',
    latestInvoice: undefined,
    owed: [],
  };
  const again = subscription({ ...running, providerSubscriptionId: 'sub_2', formerProviderIds: ['sub_1'] });
  const deps = { now: () => NOON, table: overtakenBy(again) } as unknown as BillingDeps;
  expect(await storeReport(deps, subscription(running), report)).toEqual(again);
});

test('a reactivation fails if its former subscription is unreadable, but not if the read is refused', async () => {
  const canceled = subscription({ ...running, status: 'canceled' });
  const read = (outcome: Outcome<never>) => {
    const providers = { find: async () => ({ subscriptions: { find: async () => outcome } }) };
    return syncBeforeReturn({ now: () => NOON, providers } as unknown as BillingDeps, canceled);
  };
  expect(await read({ kind: 'refused', reason: 'resource_missing' })).toBe(canceled);
  for (const outcome of [
    { kind: 'declined', code: 'do_not_honor', attemptRef: undefined },
    { kind: 'unknown', reason: 'error' },
  ] as const) {
    await expect(read(outcome)).rejects.toMatchObject({ code: 'PROVIDER_ERROR' });
  }
});
