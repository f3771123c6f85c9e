import { currentInvocation } from './kernel/invocation.ts';
import { createKernel, type Kernel } from './kernel/kernel.ts';
import { EPOCH, useMachine } from './kernel/platform.ts';
import type { Counts } from './kernel/statistics.ts';
import { createTrace } from './kernel/trace.ts';
import type { Weather } from './kernel/weather.ts';
import type { Oracle } from './oracles/oracle.ts';
import { ORACLES } from './oracles/oracles.ts';
import { BASE_URL } from './places/network.ts';
import { openService, type Service } from './places/service.ts';
import { simulatedFetch, simulatedHttpRequest } from './places/web.ts';
import { runWorld, type World } from './world/actors.ts';
import type { FinishedRun, Operation } from './world/operation.ts';
import { OPERATIONS } from './world/operations.ts';

/** What decides a run: the same options give the same history, on every machine. */
export interface RunOptions {
  readonly seed: number;
  /** Operations, faults, kills and delays that do not happen, as the trace names them: `operation 2.3`, `kill 41`. */
  readonly off?: ReadonlySet<string>;
  readonly operations?: readonly Operation[];
  readonly oracles?: readonly Oracle[];
  readonly weather?: Weather;
  readonly keepTrace?: boolean;
}

export interface RunResult {
  readonly seed: number;
  /** The sentences that do not hold, with what is wrong; or why the run did not end. */
  readonly problems: readonly string[];
  /** SHA-256 of the whole history. */
  readonly digest: string;
  readonly trace: readonly string[];
  readonly operations: number;
  /** Names of what happened, each of which can be switched off. */
  readonly happened: { readonly operation: readonly string[]; readonly event: readonly string[] };
  readonly counts: Counts;
}

const ACTORS = 4;
const LENGTH = 20;
const DAY_MS = 86_400_000;
/** At rest nothing is due within this time: longer than every retry, shorter than a billing period. */
const HORIZON_MS = 3 * DAY_MS;

/** Runs one history from its first request to the verdict of the oracles. */
export const simulate = async (options: RunOptions): Promise<RunResult> => {
  const off = options.off ?? new Set();
  const trace = createTrace(options.keepTrace ?? false);
  const kernel = createKernel({ seed: options.seed, trace, off, weather: options.weather });
  let operations: readonly string[] = [];
  const end = (problems: readonly string[]): RunResult => ({
    seed: options.seed,
    problems,
    digest: trace.digest(),
    trace: trace.lines(),
    operations: operations.length,
    happened: { operation: operations, event: kernel.events() },
    counts: kernel.counts(),
  });
  let service: Service | undefined;
  const random = kernel.prng('platform');
  try {
    const machine = {
      now: () => kernel.now() + (currentInvocation()?.skewMs ?? 0),
      elapsed: () => kernel.now() - EPOCH,
      random,
      timers: kernel.timers,
    };
    const early = (): never => {
      throw new Error('the network is not ready yet');
    };
    useMachine({ ...machine, fetch: early, httpRequest: early });
    service = await openService(kernel);
    useMachine({ ...machine, fetch: simulatedFetch(service.send), httpRequest: simulatedHttpRequest(service.send) });
    await useWebhookMode(kernel, service);
    const given = { operations: options.operations ?? OPERATIONS, actors: ACTORS, length: LENGTH, off };
    const world = await kernel.driveUntil(runWorld(kernel, service, given));
    operations = world.operations;
    await kernel.driveUntil(pause(kernel.weather().lastsMs));
    await comeToRest(kernel, service);
    const finished = await finish(kernel, service, { seed: options.seed, world });
    return end(await judge(kernel, finished, options.oracles ?? ORACLES));
  } catch (error) {
    return end([error instanceof Error ? (error.stack ?? error.message) : String(error)]);
  } finally {
    await service?.close();
    useMachine(undefined);
  }
};

const useWebhookMode = (kernel: Kernel, service: Service): Promise<unknown> => {
  const mode = kernel.weather().providerWebhooks;
  const seed = kernel.prng('provider webhooks').int(1, 1_000_000);
  return kernel.driveUntil(service.control('POST', '/simulator/webhooks', { mode, seed }));
};

const pause = (ms: number): Promise<void> => new Promise((resolve) => void setTimeout(resolve, ms));

/** Faults end, all retries run, and an operator redrives what has ended in dead-letter queues. */
const comeToRest = async (kernel: Kernel, service: Service): Promise<void> => {
  kernel.note('the weather is calm from now on');
  kernel.calmDown();
  await useWebhookMode(kernel, service);
  await kernel.driveToRest(HORIZON_MS);
  const queues: FinishedRun['queues'] = await service.control('GET', '/queues');
  for (const [name, { visible }] of Object.entries(queues)) {
    if (!name.endsWith('-dlq') || visible === 0) continue;
    kernel.note(`an operator redrives ${visible} messages of ${name}`);
    await kernel.driveUntil(service.control('POST', `/queues/${name}/redrive`));
  }
  await kernel.driveToRest(HORIZON_MS);
};

interface Ended {
  readonly seed: number;
  readonly world: World;
}

const finish = (kernel: Kernel, service: Service, { seed, world }: Ended): Promise<FinishedRun> => {
  const read = async (): Promise<FinishedRun> => ({
    seed,
    endedAt: kernel.now(),
    exchanges: world.exchanges,
    expectations: world.expectations,
    ledger: await service.control('GET', '/simulator/ledger'),
    providerCalls: await service.control('GET', '/simulator/requests'),
    items: await service.items(),
    received: await service.control('GET', '/sink/default'),
    queues: await service.control('GET', '/queues'),
    read: async (path, session) => {
      const headers = { 'x-session-id': session };
      const url = `${BASE_URL}${path}`;
      const { status, body } = await kernel.driveUntil(service.send({ method: 'GET', url, headers, body: '' }));
      return { status, body: JSON.parse(body) };
    },
  });
  return kernel.driveUntil(read());
};

const judge = async (kernel: Kernel, run: FinishedRun, oracles: readonly Oracle[]): Promise<readonly string[]> => {
  const problems: string[] = [];
  for (const { sentence, check } of [...oracles, ...run.expectations]) {
    const problem = await check(run);
    if (problem !== undefined) problems.push(`${sentence}: ${problem}`);
  }
  for (const problem of problems) kernel.note(problem);
  return problems;
};
