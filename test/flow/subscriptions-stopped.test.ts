import { beforeAll, expect, test } from 'vitest';
import { present } from '../builders/present.ts';
import { HOUR_SECONDS } from '../builders/seconds.ts';
import { eventsOf, PATIENT } from './flow.ts';
import { withStops } from './stops.ts';
import { OWN_BILLING, subscriber, trySubscribe } from './subscribers.ts';

const stoppable = withStops({ ...PATIENT, ...OWN_BILLING });

beforeAll(async () => {
  // No provider events arrive, so only due work finds the outcome.
  await stoppable().service.webhookMode('drop');
});

test('an interrupted and immediately disputed first charge is published with its dispute', async () => {
  const { service, watch, stopped } = stoppable();
  const [observer, who] = [await subscriber(service), await subscriber(service)];
  const calls = await watch(() => trySubscribe(service, observer));
  const call = calls.findIndex((name) => name.startsWith('POST') && name.endsWith('/confirm')) + 1;
  await stopped({ call, executed: true }, () => trySubscribe(service, who));
  const { charges } = await service.ledger();
  const { payment_id: paymentId } = present(charges.at(-1));
  await service.webhookMode('normal');
  await service.control('POST', `/simulator/payments/${paymentId}/disputes`, {});
  await service.advance(HOUR_SECONDS);
  await service.webhookMode('drop');
  expect(await eventsOf(service, paymentId)).toEqual([
    'payment.created',
    'payment.succeeded',
    'payment.dispute_opened',
  ]);
});
