import { describe, expect, test } from 'vitest';
import type { ParsedJson } from './host.ts';
import { withStops } from './stops.ts';
import { OWN_BILLING, readSubscription, type Subscriber, subscribe, subscriber } from './subscribers.ts';

describe('what a subscription needs', () => {
  const billedHere = withStops(OWN_BILLING);

  /** Creates a subscription during the deletion of a record that it names, after the provider has removed the record. */
  const deletedMeanwhile = async (pathOf: (names: Subscriber['names']) => string): Promise<ParsedJson> => {
    const { service, overtaken } = billedHere();
    const who = await subscriber(service);
    // The event of the removal at the provider would remove the record before the subscription is made.
    await service.webhookMode('drop');
    const made: ParsedJson[] = [];
    const make = async () => made.push(await subscribe(service, who, { trial_days: 5 }));
    const remove = () => service.request('DELETE', pathOf(who.names), who.options);
    expect((await overtaken('POST /v1/payment_methods/:id/detach', make, remove)).status).toBe(204);
    await service.settle();
    return readSubscription(service, who, made[0].id);
  };

  test('is not deleted unnoticed: without its customer it is canceled', async () => {
    const left = await deletedMeanwhile(({ customer_id }) => `/customers/${customer_id}`);
    expect(left).toMatchObject({ status: 'canceled' });
  });

  test('is not deleted unnoticed: without its method it waits for another', async () => {
    const left = await deletedMeanwhile(({ payment_method_id }) => `/payment-methods/${payment_method_id}`);
    expect(left).toMatchObject({ status: 'trialing', payment_method_id: null });
  });
});
