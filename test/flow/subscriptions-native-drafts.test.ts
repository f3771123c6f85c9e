/** @module Stripe keeps a renewal's invoice as a draft for about an hour before it charges. */

import { beforeAll, describe, expect, test } from 'vitest';
import { present } from '../builders/present.ts';
import { HOUR_SECONDS } from '../builders/seconds.ts';
import { withHost } from './host.ts';
import { command, readSubscription, type Subscriber, subscribe, subscriber } from './subscribers.ts';

describe('a renewal’s draft invoice at Stripe', () => {
  const service = withHost({ frozen: true });

  beforeAll(async () => {
    await service.control('POST', '/simulator/drafts', { minutes: 60 });
  });

  const invoicesOf = async (id: string) => {
    const { subscriptions, invoices } = await service.ledger();
    const there = subscriptions.find((one) => one.subscription_id === id);
    return invoices.filter(({ subscription }) => subscription === present(there).id);
  };

  const taken = async (): Promise<number> => {
    const { charges } = await service.ledger();
    return charges.filter(({ status }) => status === 'succeeded').length;
  };

  /** A subscription with a draft renewal. */
  const renewing = async () => {
    const who = await subscriber(service);
    const { id, current_period_end } = await subscribe(service, who);
    await service.settle();
    await service.moveTo(current_period_end);
    await service.settle();
    expect(await invoicesOf(id)).toMatchObject([{ status: 'paid' }, { status: 'draft' }]);
    return { who, id, before: await taken() };
  };

  const later = async (): Promise<void> => {
    await service.advance(3 * HOUR_SECONDS);
    await service.settle();
  };

  test('is charged after an hour if the subscription is unchanged', async () => {
    const { who, id, before } = await renewing();
    await later();
    expect(await invoicesOf(id)).toMatchObject([{ status: 'paid' }, { status: 'paid' }]);
    expect(await taken()).toBe(before + 1);
    expect(await readSubscription(service, who, id)).toMatchObject({ status: 'active' });
  });

  test.each([
    ['paused', (who: Subscriber, id: string) => command(service, who, { id, name: 'pause' })],
    [
      'canceled',
      (who: Subscriber, id: string) =>
        command(service, who, { id, name: 'cancel', body: { cancel_at_period_end: false } }),
    ],
    [
      'left without its card',
      async ({ names, options }: Subscriber) => {
        const { body } = await service.get(`/payment-methods/${names.payment_method_id}`, options);
        const path = `/simulator/payment-methods/${body.provider_payment_method_id}`;
        await service.control('POST', path, { detach: true });
        await service.settle();
        return { status: 200 };
      },
    ],
  ])('is never charged if the subscription is %s within that hour', async (_, stop) => {
    const { who, id, before } = await renewing();
    expect(await stop(who, id)).toMatchObject({ status: 200 });
    await later();
    expect(await invoicesOf(id)).toMatchObject([{ status: 'paid' }, { status: 'draft' }]);
    expect(await taken()).toBe(before);
  });
});
