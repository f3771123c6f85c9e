import { expect, test } from 'vitest';
import { intentEvent } from '../builders/provider-event.ts';
import { DAY_SECONDS } from '../builders/seconds.ts';
import { createIntent, eventsOf, logEntriesOf, partitionOf, read, signIn } from './flow.ts';
import { withHost } from './host.ts';

/** A provider's event that arrives again, hours or days later. */
const service = withHost({ frozen: true });

test.each([
  ['with the same content', 'payment_intent.succeeded'],
  ['with other content', 'payment_intent.canceled'],
])('a repeated event %s does not overwrite the stored event, and changes nothing', async (_, again) => {
  const user = await signIn(service);
  const payment = await createIntent(service, user);
  const id = `evt_${payment.id}`;
  const created = Math.floor(service.now() / 1_000);
  expect(await service.sendEvent(intentEvent(payment, 'payment_intent.succeeded', { id, created }))).toEqual({
    status: 200,
    body: { received: true, event_id: id },
  });
  await service.settle();
  const first = await partitionOf(service, `EVT#provider_a#${id}`);
  expect(first).toMatchObject([{ version: 1, receivedAt: new Date(service.now()).toISOString() }]);
  const said = await eventsOf(service, payment.id);
  const { status } = await read(service, payment.id, user.options);
  for (const later of [1, DAY_SECONDS / 2]) {
    await service.advance(later);
    const repeated = await service.sendEvent(intentEvent(payment, again, { id, created }));
    expect(repeated).toEqual({ status: 200, body: { received: true, duplicate: true } });
    await service.settle();
    expect(await partitionOf(service, `EVT#provider_a#${id}`)).toEqual(first);
  }
  expect(await read(service, payment.id, user.options)).toMatchObject({ status });
  expect(await eventsOf(service, payment.id)).toEqual(said);
  expect(await logEntriesOf(service, payment.id)).toHaveLength(1);
});
