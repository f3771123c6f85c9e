/** @module A host with the default retries, and an always busy target. */

import { expect, test } from 'vitest';
import { freePort } from '../builders/free-port.ts';
import { HOUR_SECONDS } from '../builders/seconds.ts';
import { signIn } from './flow.ts';
import { withHost } from './host.ts';
import { createCustomer } from './payers.ts';
import { deliveredTo, nodesAt } from './targets.ts';

const port = await freePort();
const service = withHost({ frozen: true, port, env: { ...nodesAt(port, { target: {} }) } });

const HALF_MINUTES = Array.from({ length: 13 }, (_, at) => 30 * (at + 1));

test.each(['0', '1', '29'])(
  'an always busy target gets 14 attempts per event, 30 s apart, with Retry-After: %s',
  async (header) => {
    await service.control('POST', '/sink/target/behaviour', { status: 429, headers: { 'Retry-After': header } });
    const dead = async (): Promise<number> => (await service.queues())['webhook-delivery-dlq']?.visible ?? 0;
    const before = await dead();
    const { id } = await createCustomer(service, (await signIn(service)).options);
    await service.advance(HOUR_SECONDS);
    const tries = (await deliveredTo(service, 'target')).filter(({ body }) => body.data.customer_id === id);
    const [first = 0, ...later] = tries.map(({ received_at }) => Date.parse(received_at));
    expect(later.map((at) => (at - first) / 1_000)).toEqual(HALF_MINUTES);
    expect((await dead()) - before).toBe(1);
  },
);
