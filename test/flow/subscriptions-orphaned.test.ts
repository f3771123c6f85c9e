import { randomUUID } from 'node:crypto';
import { describe, expect, test } from 'vitest';
import { DAY_SECONDS } from '../builders/seconds.ts';
import type { TestHost } from './host.ts';
import { createCustomer } from './payers.ts';
import type { ParsedJson } from './routes.ts';
import { type Stop, withStops } from './stops.ts';
import {
  BILLERS,
  command,
  OWN_BILLING,
  readSubscription,
  type Subscriber,
  subscribe,
  subscriber,
  trySubscribe,
} from './subscribers.ts';

describe('a subscription created during the deletion of its customer or method', () => {
  const billedHere = withStops(OWN_BILLING);

  /** Creates a subscription during the deletion of one of its records, after the provider has removed that record. */
  const deletedMeanwhile = async (pathOf: (names: Subscriber['names']) => string) => {
    const { service, overtaken } = billedHere();
    const who = await subscriber(service);
    // Events are dropped, because the provider's removal event would delete the record too early.
    await service.webhookMode('drop');
    const made: ParsedJson[] = [];
    const make = async () => made.push(await subscribe(service, who, { trial_days: 5 }));
    const remove = () => service.request('DELETE', pathOf(who.names), who.options);
    expect((await overtaken('POST /v1/payment_methods/:id/detach', make, remove)).status).toBe(204);
    await service.settle();
    return readSubscription(service, who, made[0].id);
  };

  test('is canceled if its customer is deleted', async () => {
    const left = await deletedMeanwhile(({ customer_id }) => `/customers/${customer_id}`);
    expect(left).toMatchObject({ status: 'canceled' });
  });

  test('waits for another method if its method is deleted', async () => {
    const left = await deletedMeanwhile(({ payment_method_id }) => `/payment-methods/${payment_method_id}`);
    expect(left).toMatchObject({ status: 'trialing', payment_method_id: null });
  });
});

describe.each(BILLERS)('a customer deleted while a subscription billed by %s starts', (biller, env) => {
  const stoppable = withStops(env);
  const LAST_LOOK = { call: 'BatchGetItem', executed: false };

  /** Adds a second customer to the subscriber, in addition to the method's customer. */
  const withOtherCustomer = async () => {
    const { service } = stoppable();
    await service.webhookMode('normal');
    const who = await subscriber(service);
    // The create has an idempotency key, so a part of the deleted customer stays until the key expires.
    const { id } = await createCustomer(service, { ...who.options, idempotencyKey: randomUUID() });
    const remove = async () => {
      await service.webhookMode('drop');
      expect((await service.request('DELETE', `/customers/${id}`, who.options)).status).toBe(204);
    };
    return { service, who, remove, names: { customer_id: id } };
  };

  /** Deletes the customer after the first lookup of the creating function, which stops at `stop`. */
  const stopped = async (stop: Stop, fields: Readonly<Record<string, unknown>> = {}) => {
    const { service, who, remove, names } = await withOtherCustomer();
    const create = () => trySubscribe(service, who, { ...names, ...fields });
    const { status } = await stoppable().overtaken({ name: 'BatchGetItem', stop }, remove, create);
    expect(status).toBeGreaterThanOrEqual(500);
    return { service, who };
  };

  const outcome = async (service: TestHost, { options }: Subscriber) => {
    const { body: here } = await service.get('/subscriptions', options);
    const { body: payments } = await service.get('/payments', options);
    const ids = new Set(here.map(({ id }) => id));
    const { subscriptions } = await service.ledger();
    const there = subscriptions.filter(({ subscription_id }) => ids.has(subscription_id));
    const statuses = (records: ParsedJson[]): string[] => records.map(({ status }) => status);
    return { here: statuses(here), there: statuses(there), payments: statuses(payments.data) };
  };

  test('causes a cancellation without a charge if the creation stops after its trial began', async () => {
    const { service, who } = await stopped(LAST_LOOK, { trial_days: 5 });
    await service.advance(6 * DAY_SECONDS);
    const there = biller === 'the provider' ? ['canceled'] : [];
    expect(await outcome(service, who)).toEqual({ here: ['canceled'], there, payments: [] });
  });

  test('causes no charge if the creation stops before the provider call', async () => {
    const call = biller === 'the provider' ? 'POST /v1/subscriptions' : 'POST /v1/payment_intents/:id/confirm';
    const { service, who } = await stopped({ call, executed: false });
    await service.advance(2 * DAY_SECONDS);
    const { here, payments } = await outcome(service, who);
    expect(here.filter((status) => status !== 'canceled')).toEqual([]);
    expect(payments.filter((status) => status === 'succeeded')).toEqual([]);
  });

  test('causes a cancellation without a further charge if the creation stops after its charge', async () => {
    const { service, who } = await stopped(LAST_LOOK);
    await service.advance(32 * DAY_SECONDS);
    const there = biller === 'the provider' ? ['canceled'] : [];
    expect(await outcome(service, who)).toEqual({ here: ['canceled'], there, payments: ['succeeded'] });
  });

  test('ends a subscription reactivated in its paid period at the end of that period', async () => {
    const { service, who, remove, names } = await withOtherCustomer();
    const { id } = await subscribe(service, who, names);
    await command(service, who, { id, name: 'cancel', body: { cancel_at_period_end: false } });
    const reactivate = () => command(service, who, { id, name: 'reactivate' });
    expect((await stoppable().overtaken('BatchGetItem', remove, reactivate)).status).toBe(200);
    await service.advance(32 * DAY_SECONDS);
    const there = biller === 'the provider' ? ['canceled', 'canceled'] : [];
    expect(await outcome(service, who)).toEqual({ here: ['canceled'], there, payments: ['succeeded'] });
  });
});
