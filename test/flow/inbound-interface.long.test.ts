/**
 * @module Subscriptions follow events in the interface's own shape:
 * `{id, type, provider, data: {object}, created}`.
 */

import { describe, expect, test } from 'vitest';
import { DAY_SECONDS, MINUTE_SECONDS } from '../builders/seconds.ts';
import { atStripe } from './at-stripe.ts';
import { withHost } from './host.ts';
import { outcomesOf } from './payers.ts';
import type { SubscriptionBody } from './routes.ts';
import {
  command,
  paymentsOf,
  readSubscription,
  type Subscriber,
  subscribe,
  subscriber,
  subscriptionEventsOf,
} from './subscribers.ts';

/** With a frozen clock, each event has the second of the subscription's creation. */
const service = withHost({ frozen: true });

const seconds = (): number => Math.floor(service.now() / 1_000);

const made = async (fields: object = {}): Promise<{ who: Subscriber; subscription: SubscriptionBody }> => {
  const who = await subscriber(service);
  const subscription = await subscribe(service, who, { ...fields });
  await service.settle();
  await service.clearProviderRequests();
  return { who, subscription };
};

interface Sent {
  readonly created?: number;
  readonly object?: object;
}

/** @returns the subscription after the event */
const send = async (
  { who, subscription }: { readonly who: Subscriber; readonly subscription: SubscriptionBody },
  type: string,
  { created = seconds(), object = {} }: Sent = {},
) => {
  const facts = { amount: 1_900, currency: 'usd', customer: 'cus_any' };
  const sent = await service.sendEvent({
    type,
    created,
    vocabulary: 'contract',
    object: { id: subscription.provider_subscription_id, ...facts, ...object },
  });
  expect(sent).toMatchObject({ status: 200, body: { received: true } });
  await service.settle();
  return readSubscription(service, who, subscription.id);
};

const readsOf = async (): Promise<number> =>
  (await service.providerRequests()).filter(({ method }) => method === 'GET').length;

describe('subscription.updated in the interface’s shape', () => {
  test.each([
    ['active', {}, ['past_due', 'active', 'paused', 'active', 'paused', 'past_due', 'canceled']],
    ['trialing', { trial_days: 10 }, ['active']],
    ['trialing', { trial_days: 10 }, ['past_due']],
    ['trialing', { trial_days: 10 }, ['paused']],
    ['trialing', { trial_days: 10 }, ['canceled']],
  ])(
    'is applied without a read from the provider, even in the same second as the creation (from %s with %j to %j)',
    async (from, fields, to) => {
      const site = await made(fields);
      expect(site.subscription.status).toBe(from);
      for (const status of to) {
        expect(await send(site, 'subscription.updated', { object: { status } })).toMatchObject({ status });
        if (status !== 'canceled') expect(await readsOf()).toBe(0);
      }
    },
  );

  test('publishes the events of the change', async () => {
    const site = await made();
    await send(site, 'subscription.updated', { object: { status: 'paused' } });
    const last = (await service.busEvents('subscription.updated')).at(-1);
    expect(last).toMatchObject({
      detail: { payload: { data: { subscription_id: site.subscription.id, status: 'paused', reason: 'paused' } } },
    });
  });

  test('applies a scheduled cancellation', async () => {
    const site = await made();
    const object = { status: 'active', cancel_at_period_end: true };
    expect(await send(site, 'subscription.updated', { object })).toMatchObject({
      status: 'active',
      cancel_at_period_end: true,
      next_billing_date: null,
    });
  });

  test('is ignored if it is older than the subscription or an applied event', async () => {
    const site = await made();
    const at = seconds();
    const paused = { created: at - 1, object: { status: 'paused' } };
    expect(await send(site, 'subscription.updated', paused)).toMatchObject({ status: 'active' });
    expect(await send(site, 'subscription.updated', { created: at + 2, object: { status: 'past_due' } })).toMatchObject(
      {
        status: 'past_due',
      },
    );
    const between = { created: at + 1, object: { status: 'active' } };
    expect(await send(site, 'subscription.updated', between)).toMatchObject({ status: 'past_due' });
    const outcomes = (await outcomesOf(service, site.subscription.provider_subscription_id))
      .filter(({ eventType }) => eventType === 'subscription.updated')
      .map(({ response }) => response.reason);
    expect(outcomes.toSorted()).toEqual(['past_due', 'stale', 'stale']);
    expect(await readsOf()).toBe(0);
  });

  test('triggers a read from the provider instead of restoring a canceled subscription', async () => {
    const site = await made();
    await send(site, 'subscription.deleted', { object: { status: 'canceled' } });
    await service.clearProviderRequests();
    expect(await send(site, 'subscription.updated', { object: { status: 'active' } })).toMatchObject({
      status: 'canceled',
    });
    expect(await readsOf()).toBe(1);
  });

  test('is not undone by the provider’s own events of the same second', async () => {
    await service.webhookMode('drop');
    const site = await made();
    await service.webhookMode('normal');
    await send(site, 'subscription.updated', { object: { status: 'past_due' } });
    const { provider_subscription_id: id } = site.subscription;
    const own = { type: 'customer.subscription.created', vocabulary: 'native', created: seconds() } as const;
    await service.sendEvent({ ...own, object: { id, object: 'subscription', status: 'active' } });
    const invoice = (await service.ledger()).invoices.find(({ subscription }) => subscription === id);
    await service.sendEvent({
      ...own,
      type: 'invoice.payment_succeeded',
      object: { ...invoice, object: 'invoice', status: 'paid' },
    });
    await service.settle();
    expect(await readSubscription(service, site.who, site.subscription.id)).toMatchObject({ status: 'past_due' });
    await service.advance(DAY_SECONDS + 3_600);
    expect(await readSubscription(service, site.who, site.subscription.id)).toMatchObject({ status: 'active' });
  });
});

describe.each([
  ['the subscription’s id', (_invoice: string, subscription: string) => ({ id: subscription })],
  ['its own id beside `subscription`', (invoice: string, subscription: string) => ({ id: invoice, subscription })],
])('an invoice event in the interface’s shape that identifies the subscription by %s', (_name, named) => {
  test('makes the subscription past due, and active again', async () => {
    const site = await made();
    const object = named(`in_said_${site.subscription.id.slice(-8)}`, site.subscription.provider_subscription_id);
    expect(await send(site, 'invoice.payment_failed', { object: { ...object, status: 'failed' } })).toMatchObject({
      status: 'past_due',
      next_billing_date: null,
    });
    expect(await send(site, 'invoice.payment_succeeded', { object: { ...object, status: 'succeeded' } })).toMatchObject(
      {
        status: 'active',
        billing_status: 'active',
      },
    );
    expect(await readsOf()).toBe(0);
    expect(await paymentsOf(service, site.who, site.subscription.id)).toHaveLength(1);
  });

  test('is ignored if it is older than the subscription', async () => {
    const site = await made();
    const object = { ...named('in_old', site.subscription.provider_subscription_id), status: 'failed' };
    expect(await send(site, 'invoice.payment_failed', { created: seconds() - 1, object })).toMatchObject({
      status: 'active',
    });
  });

  test('triggers a read from the provider instead of ending a pause', async () => {
    const site = await made();
    await command(service, site.who, { id: site.subscription.id, name: 'pause' });
    await service.settle();
    await service.clearProviderRequests();
    const object = { ...named('in_paused', site.subscription.provider_subscription_id), status: 'succeeded' };
    expect(await send(site, 'invoice.payment_succeeded', { object })).toMatchObject({ status: 'paused' });
    expect(await readsOf()).toBe(1);
  });
});

describe('the recovery of a past-due subscription in the interface’s shape', () => {
  const recoveriesOf = async ({ id }: { readonly id: string }): Promise<number> =>
    (await subscriptionEventsOf(service, id)).filter((name) => name === 'subscription.updated renewed').length;

  /** The complete invoice of the next period, as in an event. */
  const nextInvoice = ({
    provider_subscription_id: subscription,
    current_period_end: end,
  }: {
    readonly provider_subscription_id: string;
    readonly current_period_end: string;
  }): object => {
    const start = Date.parse(end) / 1_000;
    const lines = { data: [{ period: { start, end: start + 30 * DAY_SECONDS } }] };
    return { id: `in_${subscription}`, subscription, payment_intent: `pi_${subscription}`, lines };
  };

  const paid = { status: 'paid', amount_due: 1_900, attempt_count: 1 };
  const active = { status: 'active' };

  test.each([
    ['the status event first', ['subscription.updated', 'invoice.payment_succeeded']],
    ['the payment event first', ['invoice.payment_succeeded', 'subscription.updated']],
    ['the payment event only', ['invoice.payment_succeeded']],
    ['the status event twice', ['subscription.updated', 'subscription.updated']],
  ])('is published once (%s)', async (_, types) => {
    const site = await made({ total_cents: 1_900, subtotal_cents: 1_900 });
    const invoice = nextInvoice(site.subscription);
    await service.webhookMode('drop');
    await service.moveTo(site.subscription.current_period_end);
    await service.advance(MINUTE_SECONDS);
    await service.webhookMode('normal');
    const failed = { ...invoice, status: 'open', amount_due: 1_900, attempt_count: 1 };
    expect(await send(site, 'invoice.payment_failed', { object: failed })).toMatchObject({ status: 'past_due' });
    for (const type of types) {
      await service.advance(MINUTE_SECONDS);
      await send(site, type, { object: type === 'subscription.updated' ? active : { ...invoice, ...paid } });
    }
    expect(await readSubscription(service, site.who, site.subscription.id)).toMatchObject({ status: 'active' });
    expect(await recoveriesOf(site.subscription)).toBe(1);
  });
});

describe('a subscription end in the interface’s shape', () => {
  test.each([
    ['subscription.deleted', {}],
    ['subscription.deleted', { status: 'canceled' }],
    ['subscription.updated', { status: 'canceled' }],
  ])('cancels the subscription here and at the provider, which charges nothing more (%s %j)', async (type, object) => {
    const site = await made();
    const ended = await send(site, type, { object });
    expect(ended).toMatchObject({ status: 'canceled', billing_status: 'ended', next_billing_date: null });
    const { provider_subscription_id: id } = site.subscription;
    const found = (await service.ledger()).subscriptions.find((one) => one.id === id);
    expect(found).toMatchObject({ status: 'canceled' });
    await service.moveTo(site.subscription.current_period_end);
    await service.advance(2 * DAY_SECONDS);
    expect(await paymentsOf(service, site.who, site.subscription.id)).toHaveLength(1);
  });

  test('changes nothing at a provider that has already ended the subscription', async () => {
    const site = await made();
    await service.webhookMode('drop');
    await atStripe(service, `DELETE subscriptions/${site.subscription.provider_subscription_id}`);
    await service.webhookMode('normal');
    await service.clearProviderRequests();
    expect(await send(site, 'subscription.deleted')).toMatchObject({ status: 'canceled' });
    const writes = (await service.providerRequests()).filter(({ method }) => method !== 'GET');
    expect(writes).toEqual([]);
  });
});
