import { describe, expect, test } from 'vitest';
import { intentEvent } from '../builders/provider-event.ts';
import { HOUR_SECONDS } from '../builders/seconds.ts';
import { createIntent, eventsOf, logEntriesOf, PATIENT, read, signIn } from './flow.ts';
import type { PaymentBody } from './routes.ts';
import { withStops } from './stops.ts';

/** Processing of a provider's event with one lost call, before or after the call takes effect. */
const stoppable = withStops(PATIENT);

const sendEvent = async (payment: PaymentBody): Promise<number> => {
  const { service } = stoppable();
  const id = `evt_${payment.id}`;
  const { status } = await service.sendEvent(intentEvent(payment, 'payment_intent.succeeded', { id }));
  await service.settle();
  return status;
};

describe('an event whose processing stops at any call', () => {
  test('gets 503 if it might not be stored, and is eventually applied, logged and published once', async () => {
    const { service, watch, losing } = stoppable();
    const user = await signIn(service);
    const observed = await createIntent(service, user);
    await service.settle();
    const calls = await watch(() => sendEvent(observed));
    expect(calls.filter((name) => name === 'PutItem').length).toBeGreaterThanOrEqual(3);
    const cases: { name: string; payment: PaymentBody }[] = [];
    const stopAt = async (call: number, executed: boolean) => {
      const name = `${executed ? 'after' : 'before'} ${call + 1} of ${calls.join(', ')}`;
      const payment = await createIntent(service, user);
      await service.settle();
      const status = await losing({ call: call + 1, executed }, () => sendEvent(payment));
      expect({ name, status }).toEqual({ name, status: call === 0 ? 503 : 200 });
      // The provider resends an event that was not stored. The service itself retries a stored event.
      if (call === 0) expect(await sendEvent(payment)).toBe(200);
      cases.push({ name, payment });
    };
    for (const call of calls.keys()) for (const executed of [false, true]) await stopAt(call, executed);
    await service.advance(HOUR_SECONDS);
    for (const { name, payment } of cases) {
      const { status } = await read(service, payment.id, user.options);
      const logged = (await logEntriesOf(service, payment.id)).map((entry) => entry.status);
      const said = await eventsOf(service, payment.id);
      expect({ name, status, logged, said }).toEqual({
        name,
        status: 'succeeded',
        logged: ['success'],
        said: ['payment.created', 'payment.succeeded'],
      });
    }
    expect(await service.queues()).toMatchObject({
      'apply-provider-event': { visible: 0, in_flight: 0 },
      'apply-provider-event-dlq': { visible: 0 },
    });
  });
});
