import { type EventBridgeClient, PutEventsCommand } from '@aws-sdk/client-eventbridge';
import { iso, type Now } from '../core/time.ts';
import type { BusEvent } from './bus-event.ts';
import { type Waits, waitForAttempt } from './waits.ts';

const BATCH = 10;
/** The same waits as the AWS SDK's after a whole call was throttled. */
const WAITS: Waits = { attempts: 4, firstMs: 1_000 };

export type Bus = ReturnType<typeof openBus>;

/** The unordered event bus. Entries not accepted by PutEvents are retried after a wait. */
export const openBus = (client: EventBridgeClient, busName: string, now: Now) => {
  /** @returns the events that could not be published. */
  const publish = async (events: readonly BusEvent[]): Promise<readonly BusEvent[]> => {
    const batches: Promise<readonly BusEvent[]>[] = [];
    for (let start = 0; start < events.length; start += BATCH) {
      batches.push(publishBatch(events.slice(start, start + BATCH)));
    }
    return (await Promise.all(batches)).flat();
  };

  const publishBatch = async (batch: readonly BusEvent[]): Promise<readonly BusEvent[]> => {
    let pending = batch;
    for (let made = 1; ; made += 1) {
      const entries = pending.map((event) => ({
        EventBusName: busName,
        Source: event.source,
        DetailType: event.type,
        Detail: JSON.stringify({ ...event.detail, traceparent: event.traceparent }),
        Time: new Date(iso(now())),
      }));
      const { Entries = [] } = await client.send(new PutEventsCommand({ Entries: entries }));
      pending = pending.filter((_, index) => Entries[index]?.ErrorCode !== undefined);
      if (pending.length === 0 || !(await waitForAttempt(made, WAITS))) return pending;
    }
  };

  return { publish };
};
