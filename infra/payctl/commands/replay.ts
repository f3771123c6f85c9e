import * as z from 'zod';
import { type Delivery, deliveryForReplay, keyForReplay, replayBody } from '../../../shared/event-log/delivery.ts';
import { logPartitions, logRecordOf } from '../../../shared/event-log/log-entry.ts';
import { logKey } from '../../../shared/platform/keys.ts';
import { matchesFilter } from '../../../shared/webhooks/webhook-targets.ts';
import type { Installation } from '../installation/installation.ts';
import { columns, progress, type Report } from './report.ts';

export interface ReplayOptions {
  /** ISO times. Replays deliveries attempted in this period, both ends included. */
  readonly from: string;
  readonly to: string;
  /** `all`, a name, or a pattern such as `payment.*`. */
  readonly event: string;
  readonly target?: string | undefined;
  readonly dryRun?: boolean | undefined;
}

/**
 * Sends logged webhooks again, delivered or not. Each event is sent once per target under its own id. Deliveries to
 * removed targets are counted separately and not sent.
 */
export const replay = async (installation: Installation, options: ReplayOptions): Promise<Report> => {
  const isSent = options.dryRun !== true;
  const counts = new Map<string, number>();
  const targets = new Set((await installation.outbound()).targets);
  let [count, expired, withoutTarget] = [0, 0, 0];
  const bar = progress('events');
  try {
    for await (const page of readDeliveries(installation, options)) {
      bar.expect(page.length);
      const kept = page.filter((delivery) => delivery !== undefined);
      const sendable = kept.filter(({ target }) => targets.has(target));
      expired += page.length - kept.length;
      withoutTarget += kept.length - sendable.length;
      if (isSent) await send(installation, sendable);
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
      no_longer_kept: expired,
      no_such_target: withoutTarget,
      by_event: Object.fromEntries(byEvent),
    },
    lines: [
      ...columns(byEvent.map(([name, number]) => [name, String(number)])),
      [
        `${count} ${verb}`,
        ...(expired > 0 ? [`${expired} are no longer kept (30 days)`] : []),
        ...(withoutTarget > 0 ? [`${withoutTarget} skipped: target no longer configured`] : []),
      ].join('; '),
    ],
    exitCode: 0,
  };
};

const send = ({ queues }: Installation, deliveries: readonly Delivery[]): Promise<void> =>
  queues.send(
    'webhook-delivery',
    deliveries.map((delivery) => ({ body: replayBody(delivery), group: delivery.target })),
  );

const rowSchema = z.object({ pk: z.string(), f: z.object({ e: z.string() }) });
const PAGE = 100;
/** Sorts after every id. */
const LAST = '#~';

/**
 * Yields the logged deliveries page by page. A delivery with several attempts comes once. An entry is undefined if its
 * delivery is no longer stored.
 */
async function* readDeliveries(
  installation: Installation,
  options: ReplayOptions,
): AsyncGenerator<readonly (Delivery | undefined)[]> {
  const { table } = installation.deps;
  const seen = new Set<string>();
  for await (const logIds of readLogIds(installation, options)) {
    const items = await table.getMany(logIds.map(logKey));
    const logged = items.flatMap((item) => {
      const entry = item && logRecordOf(item);
      const key = entry && keyForReplay(entry);
      if (!key) return [];
      const name = `${entry.eventId}\n${entry.target}`;
      if (seen.has(name) || (options.target !== undefined && entry.target !== options.target)) return [];
      seen.add(name);
      return [{ entry, key }];
    });
    const stored = await table.getMany(logged.map(({ key }) => key));
    yield logged.map(({ entry }, index) => {
      const item = stored[index];
      return item && deliveryForReplay(entry, item);
    });
  }
}

async function* readLogIds(
  { deps }: Installation,
  { from, to, event }: ReplayOptions,
): AsyncGenerator<readonly string[]> {
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
