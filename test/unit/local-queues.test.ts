/** @module The messages of the local queues after the host is killed and then restarted at various times. */
import { describe, expect, test } from 'vitest';
import { openState, type State } from '../../infra/local/machine/sqlite.ts';
import { openQueueStore } from '../../infra/local/messaging/queue-store.ts';
import { createQueues } from '../../infra/local/messaging/queues.ts';
import { HOUR_MS, MINUTE_MS, SECOND_MS } from '../../shared/core/time.ts';
import type { QueueTrigger } from '../../shared/platform/trigger.ts';
import { NOON } from '../builders/payment.ts';

const HIDDEN_FOR = 6 * MINUTE_MS;

const TRIGGER: QueueTrigger = {
  ...{ kind: 'queue', id: 'workers.run-due', queue: 'run-due', summary: '', impact: '', uses: [], rules: [] },
  ...{ timeoutSeconds: 60, memoryMb: 256, batchSize: 10, maxConcurrency: 2, maxReceives: 3 },
  visibilitySeconds: HIDDEN_FOR / SECOND_MS,
};

type Handler = () => Promise<unknown>;
const succeeds: Handler = async () => undefined;
const fails: Handler = () => Promise.reject(new Error('no'));
/** Never ends, because its host is killed. */
const hangs: Handler = () => new Promise(() => undefined);

/** The queues of a host that starts at `at` with the state of a killed host. */
const startOn = async (state: State, at: number, handle: Handler) => {
  const received: unknown[] = [];
  let now = at;
  const queues = createQueues({
    ...{ triggers: [TRIGGER], store: openQueueStore(state), log: () => undefined },
    clock: { now: () => now, wake: () => undefined },
    invoke: (_, event) => {
      received.push(event);
      return handle();
    },
  });
  const rest = () => new Promise((resolve) => setImmediate(resolve));
  queues.start();
  await rest();
  return {
    queues,
    received,
    send: async (delayMs = 0): Promise<void> => {
      queues.send(TRIGGER.queue, [{ body: '{}', delayMs }]);
      await rest();
    },
    moveTo: async (time: number): Promise<void> => {
      now = time;
      await queues.runDue();
      await rest();
    },
  };
};

/** The ways in which a message becomes hidden for `HIDDEN_FOR` before the host is killed. */
const HIDDEN: Readonly<Record<string, (state: State) => Promise<unknown>>> = {
  'was sent with a delay': async (state) => (await startOn(state, NOON, succeeds)).send(HIDDEN_FOR),
  'returned from a failed function': async (state) => (await startOn(state, NOON, fails)).send(),
  'was received by another program': async (state) => {
    const { queues, send } = await startOn(state, NOON, succeeds);
    await queues.stop();
    await send();
    const queue = queues.find(TRIGGER.queue);
    expect(queue && queues.receive(queue, 10, HIDDEN_FOR)).toHaveLength(1);
  },
};

const RESTARTS = [
  ['just before', HIDDEN_FOR - 1],
  ['exactly at', HIDDEN_FOR],
  ['just after', HIDDEN_FOR + 1],
  ['an hour after', HIDDEN_FOR + HOUR_MS],
] as const;

describe('a restart after a crash', () => {
  test.each(RESTARTS)(
    'redelivers the message of a killed function immediately, also %s the end of its visibility timeout',
    async (_, downFor) => {
      const state = openState(':memory:');
      const before = await startOn(state, NOON, hangs);
      await before.send();
      expect(before.queues.counts()[TRIGGER.queue]).toEqual({ visible: 0, delayed: 0, in_flight: 1 });

      const after = await startOn(state, NOON + downFor, succeeds);
      expect(after.received).toHaveLength(1);
      expect(after.queues.counts()[TRIGGER.queue]).toEqual({ visible: 0, delayed: 0, in_flight: 0 });
    },
  );

  const cases = Object.keys(HIDDEN).flatMap((how) => RESTARTS.map(([when, downFor]) => ({ how, when, downFor })));

  test.each(cases)(
    'delivers a message that $how only after its visibility timeout, if the host restarts $when the end of the timeout',
    async ({ how, downFor }) => {
      const state = openState(':memory:');
      await HIDDEN[how]?.(state);

      const after = await startOn(state, NOON + downFor, succeeds);
      const isHidden = downFor < HIDDEN_FOR;
      expect(after.received).toHaveLength(isHidden ? 0 : 1);
      expect(after.queues.nextDueAt()).toBe(isHidden ? NOON + HIDDEN_FOR : undefined);
      await after.moveTo(NOON + HIDDEN_FOR + 2 * HOUR_MS);
      expect(after.received).toHaveLength(1);
    },
  );

  test('moves a message to the dead-letter queue after killed functions used up its receives', async () => {
    const state = openState(':memory:');
    await (await startOn(state, NOON, hangs)).send();
    for (let restart = 1; restart < TRIGGER.maxReceives; restart += 1) {
      expect((await startOn(state, NOON + restart * HOUR_MS, hangs)).received).toHaveLength(1);
    }
    const last = await startOn(state, NOON + 10 * HOUR_MS, succeeds);
    expect(last.received).toEqual([]);
    expect(last.queues.counts()[`${TRIGGER.queue}-dlq`]).toEqual({ visible: 1, delayed: 0, in_flight: 0 });
  });
});
