import { join } from 'node:path';
import * as z from 'zod';
import { dropProviderEvents, type HostProcess, startHostProcess } from '../host-process.ts';
import { median, medianRatio, quantile, withSpread } from '../median.ts';
import { type StartedProcess, startProcess } from '../processes.ts';
import { say, sheet } from '../sheet.ts';
import { PEERS, preparePeers } from './peers.ts';
import { startPostgres } from './postgres.ts';

/**
 * Compares this service with a Fastify server on PostgreSQL that does the same work, by creates per second and the
 * duration of each create. Both sides alternate in one run, with a shared provider and identity service in a separate
 * process. The result is only valid for this machine.
 * @returns true if this service handles at least as many creates per second, or if PostgreSQL is not installed
 */
export const benchVersus = async (): Promise<boolean> => {
  const postgres = await startPostgres();
  if (!postgres) {
    say('Skipped: this machine has no PostgreSQL (apt-get install postgresql).');
    return true;
  }
  preparePeers();
  const running: Pick<StartedProcess, 'stop'>[] = [postgres];
  try {
    const provider = await startHostProcess(QUIET);
    running.push(provider);
    await dropProviderEvents(provider);
    const shared = sharedOf(provider);
    const ours = await startHostProcess({ ...QUIET, ...shared });
    running.push(ours);
    const fastify = await startProcess(join(PEERS, 'fastify-process.ts'), {
      ...shared,
      DATABASE_URL: postgres.url,
    });
    running.push(fastify);
    const sides: readonly Side[] = [
      { name: 'this service, local host', url: ours.baseUrl, rounds: [] },
      { name: `Fastify, PostgreSQL ${postgres.version}`, url: baseUrlSchema.parse(fastify.said).baseUrl, rounds: [] },
    ];
    for (const { url } of sides) await load(url);
    for (let round = 0; round < ROUNDS; round += 1) {
      for (const { url, rounds } of sides) {
        rounds.push(await load(url));
        // Lets one side's background work finish before the other side's turn.
        await settle(ours);
      }
    }
    print(sides);
    const ratio = ratioOf(sides);
    const isSlow = ratio < LEAST_RATIO;
    say(`\n${isSlow ? 'EXCEEDED: ' : ''}${ratio.toFixed(2)} creates to one of Fastify, at least ${LEAST_RATIO} wanted`);
    return !isSlow;
  } finally {
    for (const one of running.toReversed()) await one.stop();
  }
};

const LEAST_RATIO = 1;

/** The median, over all rounds, of the first side's creates per second divided by the second side's. */
const ratioOf = ([ours, theirs]: readonly Side[]): number => {
  const speeds = (side?: Side): readonly number[] => side?.rounds.map(({ perSecond }) => perSecond) ?? [];
  return medianRatio(speeds(ours), speeds(theirs));
};

const ROUNDS = 7;
const CREATES = 300;
const CALLERS = 8;
/** The service's settings for the comparison. Even a busy machine does not reach the provider timeout. */
const QUIET = {
  LOG_LEVEL: 'silent',
  RATE_LIMITS: 'off',
  EXTERNAL_WEBHOOKS_ENABLED: 'false',
  PROVIDER_TIMEOUT_MS: '15000',
};

const baseUrlSchema = z.object({ baseUrl: z.string() });

const settle = async ({ baseUrl }: HostProcess): Promise<void> => {
  await fetch(`${baseUrl}/_local/settle`, { method: 'POST' });
};

const sharedOf = ({ env }: HostProcess): Readonly<Record<string, string>> =>
  Object.fromEntries(
    ['PROVIDER_A_BASE_URL', 'PROVIDER_A_API_KEY', 'IDENTITY_URL'].map((name) => [name, env[name] ?? '']),
  );

interface Side {
  readonly name: string;
  readonly url: string;
  readonly rounds: Round[];
}
interface Round {
  readonly perSecond: number;
  /** Milliseconds of each create. */
  readonly times: readonly number[];
}

const BODY = JSON.stringify({
  ...{ total_cents: 2500, currency: 'USD', description: 'Two tickets' },
  metadata: { seat: '12', row: 'F' },
});

/** Sends all creates from concurrent callers. Each caller sends its next create after its previous response. */
const load = async (url: string): Promise<Round> => {
  const times: number[] = [];
  let left = CREATES;
  const startedAt = performance.now();
  const caller = async (): Promise<void> => {
    while (left > 0) {
      left -= 1;
      times.push(await createMs(url));
    }
  };
  await Promise.all(Array.from({ length: CALLERS }, caller));
  return { perSecond: (CREATES * 1_000) / (performance.now() - startedAt), times };
};

const createMs = async (url: string): Promise<number> => {
  const startedAt = performance.now();
  const answer = await fetch(`${url}/payments/intents`, {
    method: 'POST',
    headers: { 'x-session-id': 'demo-owner', 'content-type': 'application/json' },
    body: BODY,
  });
  const text = await answer.text();
  if (answer.status !== 201) throw new Error(`${url}: ${answer.status} ${text}`);
  return performance.now() - startedAt;
};

const print = (sides: readonly Side[]): void => {
  say(
    `${ROUNDS} rounds of ${CREATES} creates by ${CALLERS} callers, by turns; medians (least to most) of the rounds:\n`,
  );
  const over = (rounds: readonly Round[], part: number) => rounds.map(({ times }) => quantile(times, part));
  sheet(
    ['create intent', 'a second', '50 % ms', '99 % ms'],
    sides.map(({ name, rounds }) => [
      name,
      withSpread(
        rounds.map(({ perSecond }) => perSecond),
        0,
      ),
      withSpread(over(rounds, 0.5), 1),
      withSpread(over(rounds, 0.99), 1),
    ]),
  );
  const [ours, theirs] = sides.map(({ rounds }) => median(rounds.map(({ perSecond }) => perSecond)));
  say(`\nRatio of creates a second: ${((ours ?? 0) / (theirs ?? 1)).toFixed(2)}`);
};
