import { expect, test } from 'vitest';
import { iso } from '../../shared/core/time.ts';
import type { UsableMethod } from '../../shared/payment-methods/usable-method.ts';
import type { Table } from '../../shared/platform/table.ts';
import { recordItem } from '../../shared/platform/versioned-record.ts';
import { markCanceled } from '../../shared/subscriptions/billing/lifecycle.ts';
import { chargeChange } from '../../shared/subscriptions/plan-changes/finish-change.ts';
import { subscriptionShape } from '../../shared/subscriptions/record/subscription.ts';
import { subscriptionStore } from '../../shared/subscriptions/record/subscription-store.ts';
import { NOON, payment } from '../builders/payment.ts';
import { paymentWork, reported } from '../builders/payment-work.ts';
import { DUNNING, subscription } from '../builders/subscription.ts';

const prices = { subtotalCents: 500, taxCents: 0, discountCents: 0, totalCents: 500 };
const changing = subscription({
  status: 'active',
  change: {
    ...{ id: 'chg_1', paymentId: 'pay_change', step: 'claimed', at: iso(NOON), due: prices, lines: [] },
    ...{ periodStart: iso(NOON), periodEnd: iso(NOON), lookAt: iso(NOON) },
    plan: { ...prices, billingInterval: 'monthly', intervalMultiplier: 1, quantity: 1 },
  },
});
const method: UsableMethod = { methodRef: 'pm_1', onlyIf: [] } as unknown as UsableMethod;

test('a plan change that is paid after the end of its subscription is logged as an anomaly, with its payment', async () => {
  const amount = { amountCents: 500 };
  const held: { table?: Table } = {};
  const work = await paymentWork(
    payment(),
    {
      createIntent: async () => reported('requires_payment_method', amount),
      confirmIntent: async () => {
        if (held.table) {
          const canceled = markCanceled(changing, NOON);
          await held.table.put(recordItem(subscriptionShape, { ...canceled, lock: canceled.lock + 1 }));
        }
        return reported('succeeded', amount);
      },
    },
    [recordItem(subscriptionShape, changing)],
  );
  held.table = work.table;
  const deps = { ...work.deps, dunning: DUNNING };
  await chargeChange(deps, changing, { method, right: [] });
  const { change, status } = (await subscriptionStore(work.table).load(changing.id)) ?? {};
  expect({ change, status }).toEqual({ change: undefined, status: 'canceled' });
  expect(work.lines).toMatchObject([
    { level: 'error', message: 'subscription anomaly', fields: { payment_id: 'pay_change' } },
  ]);
});
