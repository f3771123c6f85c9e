import { expect, test } from 'vitest';
import type { BillingDeps } from '../../shared/subscriptions/billing/biller.ts';
import { removeMethodFrom } from '../../shared/subscriptions/commands/change-method.ts';
import { subscriptionShape } from '../../shared/subscriptions/record/subscription.ts';
import { recordItem } from '../../shared/table/record-store.ts';
import { memoryTable } from '../builders/memory-table.ts';
import { NOON } from '../builders/payment.ts';
import { subscription } from '../builders/subscription.ts';

test('a method that the subscription has no more is removed without a call to the provider', async () => {
  const { table } = memoryTable({ now: () => NOON });
  const method = { paymentMethodId: 'pmt_a', methodRef: 'pm_a' };
  const read = subscription({ billingOwner: 'provider', status: 'active', providerSubscriptionId: 'sub_1', ...method });
  const changed = { ...read, paymentMethodId: 'pmt_b', methodRef: 'pm_b', lock: read.lock + 1 };
  await table.put(recordItem(subscriptionShape, changed));
  const noProviders = {
    require: () => {
      throw new Error('the provider is called');
    },
  };
  const dunning = { days: [1, 3, 7, 14], finalAction: 'cancel' };
  const deps = { table, now: () => NOON, dunning, providers: noProviders } as unknown as BillingDeps;
  expect(await removeMethodFrom(deps, read, 'pmt_a')).toMatchObject({ paymentMethodId: 'pmt_b', status: 'active' });
});
