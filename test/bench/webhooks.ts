import * as z from 'zod';
import { type Host, startHost } from '../../infra/local/host/host.ts';
import { freePort } from '../builders/free-port.ts';
import { storeCustomers } from '../builders/many-customers.ts';
import { quantile } from './median.ts';
import { say, sheet } from './sheet.ts';

/**
 * Outbound webhooks on the local host: deliveries a second, and how long the others wait while one target hangs.
 * @returns whether no other target waits for the target that hangs.
 */
export const benchWebhooks = async (): Promise<boolean> => {
  const burst = await throughput();
  say(
    `${burst.deliveries} deliveries of ${EVENTS} events to ${TARGETS} targets, all written at once: ${burst.seconds.toFixed(1)} s`,
  );
  say(
    `${Math.round(burst.deliveries / burst.seconds)} deliveries a second, dispatch, signature, log and the targets' own work included\n`,
  );
  const without = await waits(0);
  const hanging = await waits(HANGS_MS);
  say(
    `From the stored change to the target, ${PACED} events at ${PER_SECOND} a second to ${TARGETS} targets, of the others:\n`,
  );
  sheet(
    ['', 'deliveries', '50 %', '99 %', 'longest'],
    [
      ['none hangs', ...figures(without)],
      [`one hangs for ${HANGS_MS / 1_000} s`, ...figures(hanging)],
    ],
  );
  const bound = quantile(without, 0.99) + TOLERATED_MS;
  const holds = quantile(hanging, 0.99) <= bound;
  say(
    holds
      ? '\nNo delivery waits for the target that hangs.'
      : `\nNOT SO: the 99th percentile must be at most ${bound} ms`,
  );
  return holds;
};

const TARGETS = 3;
const EVENTS = 1_000;
const PACED = 300;
const PER_SECOND = 20;
const HANGS_MS = 10_000;
/** A fraction of the time that the target hangs, and more than the variation of this machine. */
const TOLERATED_MS = 1_000;
const MILLISECONDS = 1_000;
/** Until every function has run often. */
const WARM = 300;

const named = (name: string, count: number): readonly string[] =>
  Array.from({ length: count }, (_, index) => `${name} ${index}`);

const throughput = async (): Promise<{ deliveries: number; seconds: number }> =>
  withHost(async (host) => {
    await storeCustomers(host, named('warm', WARM));
    await settle(host);
    const startedAt = performance.now();
    await storeCustomers(host, named('burst', EVENTS));
    await settle(host);
    const seconds = (performance.now() - startedAt) / MILLISECONDS;
    return { deliveries: EVENTS * TARGETS, seconds };
  });

/** Milliseconds from each event's change to its arrival at the targets that do not hang. */
const waits = (hangsMs: number): Promise<readonly number[]> =>
  withHost(async (host) => {
    await storeCustomers(host, named('warm', WARM));
    await settle(host);
    if (hangsMs > 0) await control(host, 'POST /sink/node1/behaviour', { delay_ms: hangsMs });
    for (const name of OTHERS) await control(host, `DELETE /sink/${name}`);
    for (let index = 0; index < PACED; index += 1) {
      await storeCustomers(host, [`paced ${index}`]);
      await new Promise((resolve) => setTimeout(resolve, MILLISECONDS / PER_SECOND));
    }
    let arrived: readonly number[] = [];
    while (arrived.length < PACED * OTHERS.length) {
      await new Promise((resolve) => setTimeout(resolve, MILLISECONDS));
      arrived = (await Promise.all(OTHERS.map((name) => arrivals(host, name)))).flat();
    }
    return arrived;
  });

const nodes = Array.from({ length: TARGETS }, (_, index) => `node${index + 1}`);
const OTHERS = nodes.slice(1);

const withHost = async <T>(work: (host: Host) => Promise<T>): Promise<T> => {
  const port = await freePort();
  const urls = nodes.map((name, index) => [`WEBHOOK_${index + 1}_URL`, `http://127.0.0.1:${port}/_local/sink/${name}`]);
  const host = await startHost({
    dataDir: ':memory:',
    port,
    env: { LOG_LEVEL: 'silent', ...Object.fromEntries(urls) },
  });
  try {
    return await work(host);
  } finally {
    // Hanging calls are not awaited.
    await Promise.race([host.stop(), new Promise((resolve) => setTimeout(resolve, HANGS_MS))]);
  }
};

const deliveredSchema = z.array(z.object({ received_at: z.string(), body: z.object({ timestamp: z.string() }) }));

const arrivals = async (host: Host, sink: string): Promise<readonly number[]> =>
  deliveredSchema
    .parse(await control(host, `GET /sink/${sink}`))
    .map(({ received_at, body }) => Date.parse(received_at) - Date.parse(body.timestamp));

const control = async ({ baseUrl }: Host, route: string, body?: unknown): Promise<unknown> => {
  const [method = '', path] = route.split(' ');
  const response = await fetch(`${baseUrl}/_local${path}`, {
    method,
    ...(body !== undefined && { body: JSON.stringify(body) }),
  });
  const text = await response.text();
  return text === '' ? undefined : JSON.parse(text);
};

const settledSchema = z.object({ quiet: z.boolean() });
const settle = async (host: Host): Promise<void> => {
  while (!settledSchema.parse(await control(host, 'POST /settle')).quiet);
};

const figures = (values: readonly number[]): readonly string[] => [
  String(values.length),
  ...[0.5, 0.99, 1].map((part) => `${quantile(values, part)} ms`),
];
