import { expect, test } from 'vitest';
import { RESEND_WITHIN_MS } from '../../shared/calls/call-times.ts';
import type { NotDone, Outcome } from '../../shared/core/outcome.ts';
import { type Instant, iso, MINUTE_MS } from '../../shared/core/time.ts';
import { customerShape } from '../../shared/customers/customer.ts';
import { paymentMethodShape } from '../../shared/payment-methods/payment-method.ts';
import { recordItem } from '../../shared/platform/versioned-record.ts';
import type { SubscriptionsPort } from '../../shared/providers/subscription-port.ts';
import { providerBiller } from '../../shared/subscriptions/at-provider/create-at-provider.ts';
import {
  runDueSubscription,
  type SubscriptionDueDeps,
} from '../../shared/subscriptions/commands/run-subscription-due.ts';
import { subscriptionShape } from '../../shared/subscriptions/record/subscription.ts';
import { subscriptionStore } from '../../shared/subscriptions/record/subscription-store.ts';
import { logLines } from '../builders/log-lines.ts';
import { memoryTable } from '../builders/memory-table.ts';
import { NOON } from '../builders/payment.ts';
import { savedCard } from '../builders/saved-card.ts';
import { subscription } from '../builders/subscription.ts';

/** A canceled subscription. Its reactivation creates a new subscription at the provider. */
const ended = subscription({
  billingOwner: 'provider',
  status: 'canceled',
  version: 3,
  providerSubscriptionId: 'sub_1',
  providerGeneration: 1,
  currentPeriodEnd: iso(NOON),
  canceledAt: iso(NOON),
});
const claimed = providerBiller.openFirstPeriod(ended, 'reactivate', NOON);

const NOT_DONE: NotDone = { kind: 'not_done', reason: 'rate_limited' };
const REFUSED: Outcome<never> = { kind: 'refused', reason: 'limit' };

const stage = async (created: Outcome<never>, now: Instant = NOON + MINUTE_MS) => {
  const { table } = memoryTable({ now: () => now });
  const { id, version, createdAt, updatedAt, providerId, userId } = savedCard();
  const owned = { version, createdAt, updatedAt, providerId, userId };
  const customer = { ...owned, id: ended.customerId, providerCustomerId: 'cus_1' };
  await table.put(recordItem(subscriptionShape, claimed));
  await table.put(recordItem(customerShape, customer));
  await table.put(recordItem(paymentMethodShape, savedCard({ id, customerId: customer.id })));
  const keys: string[] = [];
  const port: Partial<SubscriptionsPort> = {
    findOurs: async () => ({ kind: 'done', value: [] }),
    create: async ({ idempotencyKey }) => {
      keys.push(idempotencyKey);
      return created;
    },
  };
  const providers = { find: async () => ({ subscriptions: port }) };
  const dunning = { days: [1], finalAction: 'cancel' };
  const { log } = logLines();
  const deps = { table, now: () => now, log, dunning, providers } as unknown as SubscriptionDueDeps;
  const load = () => subscriptionStore(table).load(ended.id);
  return { deps, keys, load };
};

test('an unsent reactivation keeps its charge, because the first call may have arrived', async () => {
  const { deps, keys, load } = await stage(NOT_DONE);
  expect(await runDueSubscription(deps, ended.id)).toBe('PROVIDER_UNAVAILABLE');
  expect(keys).toEqual([`${ended.id}:create:2`]);
  expect(await load()).toMatchObject({ status: 'canceled', version: 3, charge: claimed.charge });
});

test('a reactivation that is still unsent after the time for resends is dropped, and an event reports it', async () => {
  const within = await stage(NOT_DONE, NOON + RESEND_WITHIN_MS);
  expect(await runDueSubscription(within.deps, ended.id)).toBe('PROVIDER_UNAVAILABLE');
  expect(await within.load()).toMatchObject({ version: 3, charge: claimed.charge });
  const past = await stage(NOT_DONE, NOON + RESEND_WITHIN_MS + 1);
  expect(await runDueSubscription(past.deps, ended.id)).toBe('charge dropped');
  expect(past.keys).toEqual([`${ended.id}:create:2`]);
  const { charge, ...after } = (await past.load()) ?? expect.fail();
  expect(after).toMatchObject({ status: 'canceled', version: 4, reason: 'reactivate_failed', lapsed: 1 });
  expect(charge).toBeUndefined();
});

test('a reactivation that the provider refuses during due work is dropped, and an event reports it', async () => {
  const { deps, load } = await stage(REFUSED);
  await runDueSubscription(deps, ended.id);
  expect(await load()).toMatchObject({ status: 'canceled', version: 4, reason: 'reactivate_failed', lapsed: 1 });
  expect((await load())?.charge).toBeUndefined();
});

test('a reactivation whose first call did nothing is dropped', async () => {
  const { deps, load } = await stage(NOT_DONE);
  const method = { methodRef: 'pm_1', onlyIf: [] } as never;
  const { error } = await providerBiller.collect(deps, claimed, { method });
  expect(error).toMatchObject({ code: 'PROVIDER_UNAVAILABLE', details: { subscription_id: ended.id } });
  expect(await load()).toMatchObject({ status: 'canceled', version: 3, lapsed: 1 });
  expect((await load())?.charge).toBeUndefined();
});
