/** @module Stripe's customer portal ends a subscription by a date, while the API uses a flag. */

import { expect, test } from 'vitest';
import { HOUR_SECONDS } from '../builders/seconds.ts';
import { PATIENT } from './flow.ts';
import { withHost } from './host.ts';
import { command, readSubscription, subscribe, subscriber } from './subscribers.ts';

const service = withHost({ frozen: true, env: PATIENT });

test('a reactivation also clears the portal’s scheduled end, and Stripe charges the next period', async () => {
  const who = await subscriber(service);
  const made = await subscribe(service, who);
  const providerId: string = made.provider_subscription_id;
  await service.control('POST', `/simulator/subscriptions/${made.id}`, { cancel_at: made.current_period_end });
  await service.settle();
  expect(await readSubscription(service, who, made.id)).toMatchObject({ cancel_at_period_end: true });
  const kept = await command(service, who, { id: made.id, name: 'reactivate' });
  expect(kept).toMatchObject({ status: 200, body: { cancel_at_period_end: false } });
  const { subscriptions } = await service.ledger();
  expect(subscriptions.find(({ id }) => id === providerId)).toMatchObject({ cancel_at: null });
  await service.moveTo(made.current_period_end);
  await service.advance(2 * HOUR_SECONDS);
  expect(await readSubscription(service, who, made.id)).toMatchObject({ status: 'active' });
});
