import * as z from 'zod';
import { deliveryKey, logKey } from '../../shared/table/keys.ts';
import { matchesFilter } from '../../shared/webhooks/outbound/targets.ts';
import { type Delivery, deliveryOf } from '../../shared/webhooks/record/delivery.ts';
import { logPartitions, logRecordOf } from '../../shared/webhooks/record/log-entry.ts';
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

/**
 * Sends what targets were told, or should have been, once more: each event once a target, under its own id. What went to
 * a target that is there no more is counted apart: nobody would send it.
 */
export const replay = async (place: Place, options: ReplayOptions): Promise<Report> => {
  const isSent = options.dryRun !== true;
  const counts = new Map<string, number>();
  const targets = new Set((await place.outbound()).targets);
  let [count, gone, homeless] = [0, 0, 0];
  const bar = progress('events');
  try {
    for await (const page of meant(place, options)) {
      bar.expect(page.length);
      const kept = page.filter((delivery) => delivery !== undefined);
      const sendable = kept.filter(({ target }) => targets.has(target));
      gone += page.length - kept.length;
      homeless += kept.length - sendable.length;
      if (isSent) await send(place, sendable);
      for (const { event, target } of sendable) {
        const name = `${event} to ${target}`;
        counts.set(name, (counts.get(name) ?? 0) + 1);
        count += 1;
      }
      for (const _ of page) bar.done();
    }
  } finally {
    bar.stop();
  }
  const byEvent = [...counts].toSorted();
  const verb = isSent ? 'sent again' : 'would be sent again';
  return {
    json: {
      dry_run: !isSent,
      count,
      no_longer_kept: gone,
      no_such_target: homeless,
      by_event: Object.fromEntries(byEvent),
    },
    lines: [
      ...columns(byEvent.map(([name, number]) => [name, String(number)])),
      [
        `${count} ${verb}`,
        ...(gone > 0 ? [`${gone} are kept no longer (30 days)`] : []),
        ...(homeless > 0 ? [`${homeless} went to targets that there are no more`] : []),
      ].join('; '),
    ],
    exitCode: 0,
  };
};

const send = ({ queues }: Place, deliveries: readonly Delivery[]): Promise<void> =>
  queues.send(
    'webhook-delivery',
    deliveries.map((delivery) => ({ body: JSON.stringify(delivery), group: delivery.target })),
  );

const rowSchema = z.object({ pk: z.string(), f: z.object({ e: z.string() }) });
const PAGE = 100;
/** After every id. */
const LAST = '#~';

/** From the log, a page at a time: however often something was tried, it is meant once. undefined: kept no longer. */
async function* meant(place: Place, options: ReplayOptions): AsyncGenerator<readonly (Delivery | undefined)[]> {
  const { table } = place.deps;
  const seen = new Set<string>();
  for await (const logIds of loggedIds(place, options)) {
    const items = await table.getMany(logIds.map(logKey));
    const keys = items.flatMap((item) => {
      const { direction, eventId, target } = item ? logRecordOf(item) : {};
      if (direction !== 'outbound' || eventId === undefined || target === undefined) return [];
      const name = `${eventId}\n${target}`;
      if (seen.has(name) || (options.target !== undefined && target !== options.target)) return [];
      seen.add(name);
      return [deliveryKey(eventId, target)];
    });
    const stored = await table.getMany(keys);
    yield stored.map((item) => item && deliveryOf(item));
  }
}

async function* loggedIds({ deps }: Place, { from, to, event }: ReplayOptions): AsyncGenerator<readonly string[]> {
  const { index, partitions } = logPartitions({ kind: 'everybody' }, undefined);
  for (const partition of partitions) {
    let after: Readonly<Record<string, unknown>> | undefined;
    do {
      const page = await deps.table.queryIndex({ index, partition, from, to: `${to}${LAST}`, limit: PAGE, after });
      const rows = page.items.map((item) => rowSchema.parse(item)).filter(({ f }) => matchesFilter(event, f.e));
      yield rows.map(({ pk }) => pk.slice(pk.indexOf('#') + 1));
      after = page.next;
    } while (after);
  }
}
