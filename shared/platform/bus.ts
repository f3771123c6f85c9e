import { type EventBridgeClient, PutEventsCommand } from '@aws-sdk/client-eventbridge';
import { iso, type Now } from '../core/time.ts';
import type { BusEvent } from './bus-event.ts';

const BATCH = 10;
const TRIES = 4;

export type Bus = ReturnType<typeof openBus>;

/** The event bus, which keeps no order. Retries the entries that a PutEvents call did not accept. */
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
    for (let tries = 0; tries < TRIES && pending.length > 0; tries += 1) {
      const entries = pending.map((event) => ({
        EventBusName: busName,
        Source: event.source,
        DetailType: event.type,
        Detail: JSON.stringify(event.detail),
        Time: new Date(iso(now())),
      }));
      const { Entries = [] } = await client.send(new PutEventsCommand({ Entries: entries }));
      pending = pending.filter((_, index) => Entries[index]?.ErrorCode !== undefined);
    }
    return pending;
  };

  return { publish };
};
