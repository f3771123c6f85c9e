import * as z from 'zod';
import { deliveryKey, logKey } from '../../shared/table/keys.ts';
import { type Delivery, deliveryOf } from '../../shared/webhooks/delivery.ts';
import { matches } from '../../shared/webhooks/filters.ts';
import { logPartitions, logRecordOf } from '../../shared/webhooks/log.ts';
import type { Place } from './place.ts';
import { columns, progress, type Report } from './report.ts';

export interface ReplayOptions {
  /** ISO times of the attempts that are meant, both inclusive. */
  readonly from: string;
  readonly to: string;
  /** `all`, a name, or a pattern such as `payment.*`. */
  readonly event: string;
  readonly target?: string | undefined;
  readonly dryRun?: boolean | undefined;
}

/** Sends what targets were told, or should have been, once more: each event once a target, under its own id. */
export const replay = async (place: Place, options: ReplayOptions): Promise<Report> => {
  const { sendable, gone } = await meant(place, options);
  const isSent = options.dryRun !== true;
  if (isSent) await send(place, sendable);
  const counts = countsOf(sendable);
  const verb = isSent ? 'sent again' : 'would be sent again';
  return {
    json: { dry_run: !isSent, count: sendable.length, no_longer_kept: gone, by_event: Object.fromEntries(counts) },
    lines: [
      ...columns([...counts].map(([name, count]) => [name, String(count)])),
      `${sendable.length} ${verb}${gone > 0 ? `; ${gone} are kept no longer (30 days)` : ''}`,
    ],
    exitCode: 0,
  };
};

const send = async ({ queues }: Place, deliveries: readonly Delivery[]): Promise<void> => {
  const bar = progress('events');
  bar.expect(deliveries.length);
  try {
    for (const delivery of deliveries) {
      await queues.send('webhook-delivery', [{ body: JSON.stringify(delivery), group: delivery.target }]);
      bar.done();
    }
  } finally {
    bar.stop();
  }
};

const countsOf = (deliveries: readonly Delivery[]): ReadonlyMap<string, number> => {
  const counts = new Map<string, number>();
  for (const { event, target } of deliveries) {
    const name = `${event} to ${target}`;
    counts.set(name, (counts.get(name) ?? 0) + 1);
  }
  return new Map([...counts].sort());
};

const rowSchema = z.object({ pk: z.string(), f: z.object({ e: z.string() }) });
/** After every id. */
const LAST = '#~';

/** From the log: however often something was tried, it is meant once. */
const meant = async (place: Place, options: ReplayOptions): Promise<{ sendable: Delivery[]; gone: number }> => {
  const { table } = place.deps;
  const keys = new Map<string, ReturnType<typeof deliveryKey>>();
  for await (const logIds of loggedIds(place, options)) {
    for (const item of await table.getMany(logIds.map(logKey))) {
      const record = item && logRecordOf(item);
      if (record?.direction !== 'outbound' || record.target === undefined) continue;
      if (options.target !== undefined && record.target !== options.target) continue;
      keys.set(`${record.eventId}\n${record.target}`, deliveryKey(record.eventId, record.target));
    }
  }
  const stored = await table.getMany([...keys.values()]);
  const sendable = stored.filter((item) => item !== undefined).map(deliveryOf);
  return { sendable, gone: stored.length - sendable.length };
};

async function* loggedIds({ deps }: Place, { from, to, event }: ReplayOptions): AsyncGenerator<readonly string[]> {
  const { index, partitions } = logPartitions({ kind: 'everybody' }, undefined);
  for (const partition of partitions) {
    let after: Readonly<Record<string, unknown>> | undefined;
    do {
      const page = await deps.table.queryIndex({ index, partition, from, to: `${to}${LAST}`, after });
      const rows = page.items.map((item) => rowSchema.parse(item)).filter(({ f }) => matches(event, f.e));
      yield rows.map(({ pk }) => pk.slice(pk.indexOf('#') + 1));
      after = page.next;
    } while (after);
  }
}
