import { expect, inject, test } from 'vitest';
import {
  findPlanted,
  planter,
  platformAdmin,
  requestErasure,
  sendPersonalEvents,
  untilErased,
  userLife,
} from './erasures.ts';
import { withHost } from './host.ts';

/**
 * A thousand planted values of one person, in every text that routes and events accept. The usual run plants fewer
 * values.
 */
const service = withHost({ frozen: true, env: { EXTERNAL_WEBHOOKS_ENABLED: 'true' } });

const ROUNDS = inject('scale') > 1 ? 20 : 2;

test('an erasure removes each of a thousand values in requests and events, and late events restore none', async () => {
  const plant = planter('thousand');
  const { options } = await platformAdmin(service);
  const life = await userLife(service, plant, ROUNDS);
  expect(plant.values.length).toBeGreaterThan(inject('scale') > 1 ? 1_000 : 100);
  const { id } = await requestErasure(service, options, { user_id: life.user.userId });
  const { job } = await untilErased(service, options, { id, maxMinutes: 60 });
  expect(job.counts).toMatchObject({ payments: 3 * ROUNDS + 1, subscriptions: 1, customers: 1 });
  for (const { provider_intent_id: intentId } of life.payments.slice(0, 3)) {
    await sendPersonalEvents(service, plant, { intentId, customerId: life.customer.provider_customer_id });
  }
  await service.settle();
  expect(await findPlanted(service, plant.values)).toEqual([]);
});
