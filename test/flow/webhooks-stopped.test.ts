import { expect, test } from 'vitest';
import { HOUR_SECONDS } from '../builders/seconds.ts';
import { itemsOf, PATIENT, signIn } from './flow.ts';
import { createCustomer } from './payers.ts';
import { withStops } from './stops.ts';
import { deliveredTo, verified } from './targets.ts';

/** An event on its way out, losing any one call to the table before or after it is carried out. */
const stoppable = withStops({ ...PATIENT, EXTERNAL_WEBHOOKS_ENABLED: 'true' });

test('an event whose delivery is interrupted at any call reaches its target, is logged, and can be resent', async () => {
  const { service, watch, losing } = stoppable();
  await service.webhookMode('drop');
  const user = await signIn(service);
  const customer = await createCustomer(service, user.options);
  await service.settle();
  let changes = 0;
  /** One more event of the customer: what the service asks of the table until it is delivered. */
  const change = async () => {
    changes += 1;
    const name = `Name ${changes}`;
    const { status } = await service.put(`/customers/${customer.id}`, { name }, user.options);
    await service.settle();
    return { status, name };
  };
  const calls = await watch(change);
  const deliverySteps = calls.length - calls.indexOf('PutItem') - 1;
  expect(deliverySteps).toBeGreaterThanOrEqual(2);
  const names: string[] = [];
  for (let call = calls.length - deliverySteps + 1; call <= calls.length; call += 1) {
    for (const executed of [false, true]) {
      const { status, name } = await losing({ call, executed }, change);
      expect([call, executed, status]).toEqual([call, executed, 200]);
      await service.advance(HOUR_SECONDS);
      names.push(name);
    }
  }
  const delivered = await deliveredTo(service, 'default', 'customer.updated');
  for (const one of delivered) expect(verified(one)).toEqual(one.body);
  const entries = await itemsOf(service, 'LOG#');
  const kept = await itemsOf(service, 'DLV#');
  for (const name of names) {
    const ids = new Set(
      delivered.filter(({ body }) => body.data.name === name).map(({ headers }) => headers['webhook-id']),
    );
    expect([name, ids.size]).toEqual([name, 1]);
    const [id] = ids;
    const logged = entries.filter(({ eventId, status }) => eventId === id && status === 'success');
    expect([name, logged.length > 0, kept.some((item) => item.id === id)]).toEqual([name, true, true]);
  }
  expect(await service.queues()).toMatchObject({ 'webhook-delivery-dlq': { visible: 0 } });
});
