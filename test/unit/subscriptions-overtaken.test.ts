import { expect, test } from 'vitest';
import type { UsableMethod } from '../../shared/payment-methods/usable-method.ts';
import { recordItem } from '../../shared/platform/versioned-record.ts';
import type { BillingDeps } from '../../shared/subscriptions/billing/biller.ts';
import { changeMethod, removeMethodFrom } from '../../shared/subscriptions/commands/change-method.ts';
import { type Subscription, subscriptionShape } from '../../shared/subscriptions/record/subscription.ts';
import { memoryTable } from '../builders/memory-table.ts';
import { NOON } from '../builders/payment.ts';
import { subscription } from '../builders/subscription.ts';

/** The subscription as a command reads it. Another commit follows before the call to its billing provider. */
const read = subscription({
  billingOwner: 'provider',
  status: 'active',
  providerSubscriptionId: 'sub_1',
  providerCustomerId: 'cus_1',
  paymentMethodId: 'pmt_a',
  methodRef: 'pm_a',
});

/** A table with the changed record. Every call to a provider fails the test. */
const overtakenBy = async (changed: Partial<Subscription>): Promise<BillingDeps> => {
  const { table } = memoryTable({ now: () => NOON });
  await table.put(recordItem(subscriptionShape, { ...read, ...changed, lock: read.lock + 1 }));
  const providers = {
    require: () => {
      throw new Error('the provider is called');
    },
  };
  const dunning = { days: [1, 3, 7, 14], finalAction: 'cancel' };
  return { table, now: () => NOON, dunning, providers } as unknown as BillingDeps;
};

test('the removal of a method that was already replaced makes no provider call', async () => {
  const deps = await overtakenBy({ paymentMethodId: 'pmt_b', methodRef: 'pm_b' });
  expect(await removeMethodFrom(deps, read, 'pmt_a')).toMatchObject({ paymentMethodId: 'pmt_b', status: 'active' });
});

test('the change of a method changes nothing if the subscription was canceled in between', async () => {
  const deps = await overtakenBy({ status: 'canceled' });
  const chosen = { paymentMethodId: 'pmt_b', methodRef: 'pm_b', providerCustomerId: 'cus_1', onlyIf: [] };
  const method = chosen as unknown as UsableMethod;
  const changed = changeMethod(deps, read, { method, right: [] });
  await expect(changed).rejects.toMatchObject({ code: 'INVALID_STATE' });
});
