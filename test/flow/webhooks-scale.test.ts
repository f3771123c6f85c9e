/** @module Many concurrent deliveries, a sample by default and the promised full load with `npm run test:long`. */

import { afterAll, beforeAll, describe, expect, inject, test } from 'vitest';
import { freePort } from '../builders/free-port.ts';
import { storeCustomers } from '../builders/many-customers.ts';
import { type HangingTarget, openHangingTarget } from './hanging-target.ts';
import { type SinkRequest, type TestHost, withHost } from './host.ts';
import { deliveredTo, nodesAt, SECRET, verified, webhookIdOf } from './targets.ts';

const scale = inject('scale');
const DELIVERIES = scale === 1 ? 20 : 100 * scale;

const ports = {
  failing: await freePort(),
  hanging: await freePort(),
  target: await freePort(),
};

const named = (count: number): string[] => Array.from({ length: count }, (_, index) => `customer ${index}`);
const customerIdOf = ({ body }: SinkRequest): string => body.data.customer_id;
const behave = (service: TestHost, sink: string, behaviour: object) =>
  service.control('POST', `/sink/${sink}/behaviour`, behaviour);
const settled = async (service: TestHost): Promise<void> => {
  while (!(await service.settle().catch(() => ({ quiet: false }))).quiet);
};

describe('a failing target', () => {
  const port = ports.failing;
  const service = withHost({ frozen: true, port, env: nodesAt(port, { failing: { SECRET } }) });
  let ids: readonly string[];
  let startedAt: number;

  /** The delivery times of each customer's event, in seconds from the start. */
  const timesOf = async (): Promise<ReadonlyMap<string, readonly number[]>> => {
    const seconds = ({ received_at }: SinkRequest) => (Date.parse(received_at) - startedAt) / 1_000;
    const byCustomer = Map.groupBy(await deliveredTo(service, 'failing'), customerIdOf);
    return new Map([...byCustomer].map(([id, all]) => [id, all.map(seconds)]));
  };
  const expectAllAt = async (seconds: readonly number[]): Promise<void> => {
    const times = await timesOf();
    expect([...times.keys()].sort()).toEqual([...ids].sort());
    expect([...times.values()].filter((found) => found.join() !== seconds.join())).toEqual([]);
  };

  beforeAll(async () => {
    await behave(service, 'failing', { status: 500 });
    startedAt = service.now();
    ids = await storeCustomers(service.host(), named(DELIVERIES));
    await settled(service);
  });

  test('is retried after 5, 10 and 20 s of the clock, separately per delivery', async () => {
    await expectAllAt([0]);
    for (const [advance, expected] of [
      [4, [0]],
      [1, [0, 5]],
      [9, [0, 5]],
      [1, [0, 5, 15]],
      [19, [0, 5, 15]],
      [1, [0, 5, 15, 35]],
    ] as const) {
      await service.advance(advance);
      await expectAllAt(expected);
    }
  });

  test('has its deliveries in the dead-letter queue after the last retry', async () => {
    await service.advance(3_600);
    await expectAllAt([0, 5, 15, 35]);
    expect(await service.queues()).toMatchObject({
      'webhook-delivery': { visible: 0, delayed: 0, in_flight: 0 },
      'webhook-delivery-dlq': { visible: DELIVERIES, delayed: 0, in_flight: 0 },
      'webhook-dispatch-dlq': { visible: 0 },
    });
  });

  test('gets all deliveries under the same ids with new signatures after a redrive', async () => {
    const before = new Set((await deliveredTo(service, 'failing')).map(webhookIdOf));
    expect(before.size).toBe(DELIVERIES);
    await behave(service, 'failing', { status: 200 });
    expect(await service.redrive('webhook-delivery-dlq')).toEqual({ moved: DELIVERIES });
    await settled(service);
    const redriven = (await deliveredTo(service, 'failing')).slice(4 * DELIVERIES);
    expect(redriven).toHaveLength(DELIVERIES);
    expect(new Set(redriven.map(webhookIdOf))).toEqual(before);
    for (const delivered of redriven) expect(verified(delivered)).toEqual(delivered.body);
    expect(await service.queues()).toMatchObject({ 'webhook-delivery-dlq': { visible: 0 } });
  });
});

describe('a hanging target', () => {
  const port = ports.hanging;
  let hanging: HangingTarget;
  beforeAll(async () => {
    hanging = await openHangingTarget(ports.target);
  });
  afterAll(() => hanging.close());
  const service = withHost({
    frozen: true,
    port,
    env: {
      ...nodesAt(port, { first: {}, second: {} }),
      WEBHOOK_3_ENABLED: 'true',
      WEBHOOK_3_URL: `http://127.0.0.1:${ports.target}/`,
      EXTERNAL_WEBHOOK_TIMEOUT: '60000',
    },
  });

  test('does not delay other targets, which receive everything before its first response', async () => {
    const ids = await storeCustomers(service.host(), named(DELIVERIES));
    const counts = async () =>
      (await Promise.all(['first', 'second'].map((sink) => deliveredTo(service, sink)))).map((all) => all.length);
    while ((await counts()).some((count) => count < DELIVERIES));
    expect(hanging.waiting()).toBeGreaterThan(0);
    hanging.answerAll();
    await settled(service);
    expect(hanging.received().sort()).toEqual([...ids].sort());
  });
});
