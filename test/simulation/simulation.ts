import { currentInvocation } from './kernel/invocation.ts';
import { createKernel, type Kernel, StuckError } from './kernel/kernel.ts';
import { EPOCH, forbiddenUses, useMachine } from './kernel/platform.ts';
import type { Prng } from './kernel/prng.ts';
import type { Counts } from './kernel/statistics.ts';
import { createTrace } from './kernel/trace.ts';
import { CALM, type Weather } from './kernel/weather.ts';
import type { History, HistoryOutage, Oracle } from './model/history.ts';
import { ORACLES } from './oracles/oracles.ts';
import { openService, type SimulatedService } from './places/service.ts';
import { simulatedFetch, simulatedHttpRequest } from './places/web.ts';
import { askAround, readAudit } from './world/audit.ts';
import { type Moment, observe } from './world/observe.ts';
import { simulatedStage } from './world/simulated-stage.ts';
import { createWorld, type World } from './world/world.ts';

/** The options of a run. The same options give the same history on every machine. */
export interface RunOptions {
  readonly seed: number;
  /**
   * The switched-off parts. Each is a name from the trace (`operation 2.3`, `kill 41`), a kind (`kill`) or a person
   * (`ada`).
   */
  readonly off?: ReadonlySet<string>;
  /** The call sites after whose first call the function is killed, such as `payments.confirm table GetItem PAY`. */
  readonly killAfter?: readonly string[];
  readonly oracles?: readonly Oracle[];
  readonly weather?: Weather;
  readonly keepTrace?: boolean;
}

export interface RunResult {
  readonly seed: number;
  /** The broken invariants with their violations, or the reason why the run did not end. */
  readonly problems: readonly string[];
  /** SHA-256 of the whole history. */
  readonly digest: string;
  readonly trace: readonly string[];
  readonly timeline: readonly string[];
  readonly operations: number;
  /** The names of all acts and failures that happened, each of which can be switched off. */
  readonly happened: {
    readonly people: readonly string[];
    readonly operations: readonly string[];
    readonly events: readonly string[];
  };
  /** The last observed state; undefined if the run failed earlier. */
  readonly history: History | undefined;
  readonly counts: Counts;
}

const DAY_MS = 86_400_000;
const HOUR_MS = 3_600_000;
/** Longer than every retry and lookup of an unclear outcome. */
const LONGEST_SCHEDULE_MS = 3 * DAY_MS;
/** At rest no work is due within this time. */
const HORIZON_MS = 600_000;

/** Runs one history from its first request to the verdict of the oracles. */
export const simulate = async (options: RunOptions): Promise<RunResult> => {
  const off = options.off ?? new Set();
  const trace = createTrace(options.keepTrace ?? false);
  const kernel = createKernel({ ...options, trace, off });
  let world: World | undefined;
  let seen: History | undefined;
  const problems = new Set<string>();
  const end = (problems: readonly string[]): RunResult => ({
    seed: options.seed,
    problems: [...problems, ...forbiddenUses()],
    digest: trace.digest(),
    trace: trace.lines(),
    timeline: trace.timeline(),
    operations: world?.labels.length ?? 0,
    happened: { people: world?.people ?? [], operations: world?.labels ?? [], events: kernel.events() },
    history: seen,
    counts: kernel.counts(),
  });
  let service: SimulatedService | undefined;
  const random = kernel.prng('platform');
  try {
    const logs: string[] = [];
    const machine = {
      log: (line: string) => void logs.push(line),
      now: () => kernel.now() + (currentInvocation()?.skewMs ?? 0),
      elapsed: () => kernel.now() - EPOCH,
      random,
      timers: kernel.timers,
    };
    const early = (): never => {
      throw new Error('the network is not ready yet');
    };
    useMachine({ ...machine, fetch: early, httpRequest: early });
    const opened = await openService(kernel);
    service = opened;
    useMachine({ ...machine, fetch: simulatedFetch(opened.send), httpRequest: simulatedHttpRequest(opened.send) });
    await useWebhookMode(kernel, opened);
    const isCalm = kernel.weather() === CALM && (options.killAfter ?? []).length === 0;
    const outage = outageOf(kernel.weather());
    if (outage) kernel.count('provider away');
    let outageEnds = Number.POSITIVE_INFINITY;
    const givenUp: string[] = [];
    const judge = (history: History): void => {
      for (const problem of problemsOf(history, options.oracles ?? ORACLES)) {
        if (!problems.has(problem)) kernel.note(problem);
        problems.add(problem);
      }
    };
    const look = async (made: World, atRest: boolean): Promise<History> => {
      const moment: Moment = {
        ...{ startedAt: EPOCH, now: kernel.now(), atRest, isCalm, logs, givenUp },
        outage: outage && { ...outage, until: Math.min(outage.until, outageEnds) },
      };
      seen = await observe(opened, made, moment);
      return seen;
    };
    const replays = kernel.prng('replays');
    const created = createWorld({
      stage: simulatedStage(kernel, opened),
      prng: kernel.prng('world'),
      limits: opened.limits,
      off,
      note: kernel.note,
      lastsUntil: kernel.weather().outage?.until ?? 0,
      // Alarms reach an operator within days; the events themselves are kept for a month.
      afterWeek: async () => void givenUp.push(...(await redrive(kernel, opened))),
      afterRound: async (spanMs) => {
        if (replays.chance(kernel.weather().replays)) await replayStream(kernel, opened, replays);
        if (spanMs >= HOUR_MS && problems.size === 0) judge(await look(created, false));
      },
    });
    world = created;
    await kernel.driveUntil(created.run());
    outageEnds = kernel.now();
    givenUp.push(...(await comeToRest(kernel, opened)));
    trace.endTimeline();
    const last = await withoutPassingTime(kernel, look(created, true));
    const audit = await kernel.driveUntil(readAudit(created.client, last));
    await kernel.driveUntil(askAround(created.client, kernel.prng('questions'), last));
    seen = { ...last, audit, exchanges: [...created.client.exchanges] };
    judge(seen);
    return end([...problems]);
  } catch (error) {
    return end([...problems, problemOf(error)]);
  } finally {
    await service?.close();
    useMachine(undefined);
  }
};

const outageOf = ({ outage }: Weather): HistoryOutage | undefined =>
  outage && { providerId: SLOTS[outage.adapter], from: EPOCH + outage.from, until: EPOCH + outage.until };

const SLOTS = { stripe: 'provider_a', paypal: 'provider_b', square: 'provider_c' } as const;

const problemOf = (error: unknown): string => {
  if (error instanceof StuckError) return `The service comes to rest: ${error.message}`;
  return error instanceof Error ? (error.stack ?? error.message) : String(error);
};

const useWebhookMode = (kernel: Kernel, service: SimulatedService): Promise<unknown> => {
  const mode = kernel.weather().providerWebhooks;
  const seed = kernel.prng('provider webhooks').int(1, 1_000_000);
  return kernel.driveUntil(service.control('POST', '/simulator/webhooks', { mode, seed }));
};

/**
 * Ends the faults, and lets all retries run. Then an operator redrives dead letters, failed stream changes and failed
 * webhooks.
 * @returns the redriven work
 */
const comeToRest = async (kernel: Kernel, service: SimulatedService): Promise<readonly string[]> => {
  kernel.note('the weather is calm from now on');
  kernel.calmDown();
  await useWebhookMode(kernel, service);
  const pass = (ms: number) => kernel.driveUntil(new Promise<void>((resolve) => void setTimeout(resolve, ms)));
  await pass(LONGEST_SCHEDULE_MS);
  const givenUp = await kernel.driveUntil(redrive(kernel, service));
  await pass(HOUR_MS);
  await kernel.driveToRest(HORIZON_MS);
  // Waits for work that began at the last moment.
  await pass(HORIZON_MS / 2);
  return givenUp;
};

/** Waits for the work without letting time pass until later work is due. */
const withoutPassingTime = async <T>(kernel: Kernel, work: Promise<T>): Promise<T> => {
  let isDone = false;
  const end = (): void => {
    isDone = true;
  };
  work.then(end, end);
  while (!isDone) await kernel.driveToRest(0);
  return work;
};

const STREAM_CONSUMERS = ['workers.publish-changes', 'workers.project-changes'] as const;

const replayStream = async (kernel: Kernel, service: SimulatedService, prng: Prng): Promise<void> => {
  const consumer = prng.pick(STREAM_CONSUMERS);
  kernel.note(`the stream is given to ${consumer} again from its beginning`);
  kernel.count('stream replayed');
  await service.parts.replayStream(consumer);
};

const redrive = async (kernel: Kernel, service: SimulatedService): Promise<readonly string[]> => {
  const givenUp: string[] = [];
  const queues: History['queues'] = await service.control('GET', '/queues');
  for (const [name, { visible }] of Object.entries(queues)) {
    if (!name.endsWith('-dlq') || visible === 0) continue;
    kernel.note(`an operator redrives ${visible} messages of ${name}`);
    givenUp.push(`${visible} messages of ${name}`);
    await service.control('POST', `/queues/${name}/redrive`);
  }
  const failures: readonly { readonly id: string }[] = await service.control('GET', '/failures');
  for (const { id } of failures) {
    kernel.note(`an operator gives the change ${id} to its consumer again`);
    givenUp.push(`the change ${id}`);
    await service.control('POST', `/failures/${id}/redo`);
  }
  const { resent } = await service.control('POST', '/simulator/webhooks/resend');
  if (resent > 0) {
    kernel.note(`an operator has ${resent} webhooks sent again`);
    givenUp.push(`${resent} webhooks`);
  }
  return givenUp;
};

const problemsOf = (history: History, oracles: readonly Oracle[]): readonly string[] =>
  oracles
    .filter(({ atRestOnly }) => history.atRest || !atRestOnly)
    .flatMap(({ sentence, violations }) => violations(history).map((violation) => `${sentence}: ${violation}`));
