import type { TimedWork } from '../../../infra/local/machine/clock.ts';
import { currentInvocation, type Invocation } from './invocation.ts';
import { EPOCH, realTurn, releaseOutsideWork } from './platform.ts';
import { createPrng, type Prng } from './prng.ts';
import { type Counts, countsOf, type SimulationTally } from './statistics.ts';
import type { Fault, StepRequest } from './step.ts';
import { createTimers, type Timers } from './timers.ts';
import type { Trace } from './trace.ts';
import { CALM, drawWeather, type Weather } from './weather.ts';

/**
 * The seeded scheduler of a run. It owns time, chance and every step. It acts only while everything in the process
 * waits for a step or a timer, and then runs exactly one step or timer.
 */
export interface Kernel {
  /** Epoch ms, the true time. */
  now(): number;
  readonly timers: Timers;
  /** The current weather, calm after `calmDown`. */
  weather(): Weather;
  /** A separate sequence of random numbers for a part of the simulation. */
  prng(label: string): Prng;
  /** Waits until the scheduler picks the call, then executes the call or lets it fail. */
  step<T>(request: StepRequest<T>): Promise<T>;
  note(text: string): void;
  /** Registers timed work of AWS services and providers. */
  register(work: TimedWork): void;
  /** Ends faults, kills, delays and skews for good. */
  calmDown(): void;
  /** Runs until the promise settles. @throws StuckError */
  driveUntil<T>(work: Promise<T>): Promise<T>;
  /** Runs until nothing is due within `horizonMs`. @throws StuckError */
  driveToRest(horizonMs: number): Promise<void>;
  /** Counts a problem other than the fault of a step, such as `started twice`. */
  count(kind: string): void;
  counts(): Counts;
  /** The names of the faults, kills and delays that happened. */
  events(): readonly string[];
}

export interface KernelOptions {
  readonly seed: number;
  readonly trace: Trace;
  /** Names of faults, kills and delays that do not happen (see `Switches`). */
  readonly off: ReadonlySet<string>;
  /** Draws the weather by default. */
  readonly weather?: Weather | undefined;
  /** Call sites. The function is killed after the first call at each site. */
  readonly killAfter?: readonly string[];
}

/** The run cannot end, because of an endless loop or a promise that never settles. */
export class StuckError extends Error {}

interface NamedFault extends Fault<unknown> {
  readonly name: string;
}

interface Pending {
  readonly request: StepRequest<unknown>;
  readonly invocation: Invocation | undefined;
  readonly resolve: (result: unknown) => void;
  readonly reject: (error: unknown) => void;
  readyAt: number;
  delayed: boolean;
}

/** The maximum number of steps: twice the number in the longest of 4,000 runs. */
const MOST_STEPS = 70_000;
const MOST_STEPS_TO_REST = 6_000;
const MOST_REST_MS = 30 * 86_400_000;
const MOST_TURNS = 20_000;
/** Counts steps, timers and moves of the clock. */
const MOST_MOVES = 20 * MOST_STEPS;
/** While steps wait, the scheduler checks for due work after this many steps. */
const LOOK_EVERY = 50;
const SHORTEST_DELAY_MS = 5;

export const createKernel = ({ seed, trace, off, weather, killAfter = [] }: KernelOptions): Kernel => {
  const root = createPrng(`seed ${seed}`);
  const order = root.fork('order');
  const fate = root.fork('fate');
  let sky = weather ?? drawWeather(root.fork('weather'));
  let isOver = false;
  let elapsed = 0;
  let pending: Pending[] = [];
  let steps = 0;
  let moves = 0;
  let events = 0;
  const happened: string[] = [];
  let lookAt = 0;
  /** Counts the requested steps. */
  let started = 0;
  const works: TimedWork[] = [];
  const tally: SimulationTally = {
    steps: 0,
    kills: 0,
    delays: 0,
    faults: new Map(),
    reached: new Set(),
    killedAfter: new Set(),
  };
  const now = (): number => EPOCH + elapsed;
  const timers = createTimers(now);
  const countFault = (kind: string): void => void tally.faults.set(kind, (tally.faults.get(kind) ?? 0) + 1);
  const note = (text: string): void => trace.line(elapsed, text, true);
  /** @returns whether the fault, kill or delay happens, because each can be switched off by its kind or number */
  const happens = (kind: string): boolean => {
    events += 1;
    const name = `${kind} ${events}`;
    if (off.has(kind) || off.has(name)) return false;
    happened.push(name);
    return true;
  };

  const drain = async (): Promise<void> => {
    for (let turns = 0; turns <= MOST_TURNS; ) {
      await realTurn();
      if (timers.runImmediates()) turns += 1;
      else if (!(await releaseOutsideWork())) return;
    }
    throw new StuckError('the work of one moment does not end');
  };

  const choose = (): Pending | undefined => {
    const ready = pending.filter(({ readyAt }) => readyAt <= now());
    return ready.length === 0 ? undefined : order.pick(ready);
  };

  const isDelayed = (picked: Pending, what: string): boolean => {
    if (picked.delayed || !fate.chance(sky.delays) || !happens('delay')) return false;
    picked.delayed = true;
    const ms = Math.round(SHORTEST_DELAY_MS * (sky.longestDelayMs / SHORTEST_DELAY_MS) ** fate.next());
    picked.readyAt = now() + ms;
    tally.delays += 1;
    trace.line(elapsed, `${what}: delayed by ${ms} ms (delay ${events})`);
    return true;
  };
  const begin = (picked: Pending): void => {
    const { request, invocation } = picked;
    const what = `${labelOf(invocation)} → ${wordsOf(request)}`;
    if (isDelayed(picked, what)) return;
    pending.splice(pending.indexOf(picked), 1);
    const site = `${invocation?.functionId ?? 'outside'} ${request.place} ${request.call}`;
    tally.steps += 1;
    const number = tally.steps;
    const isFirst = invocation !== undefined && reach(site);
    const kill = isFirst && killAfter.includes(site) ? killNow() : killOf(invocation);
    const fault = faultOf(request, kill !== undefined);
    if (fault) countFault(fault.kind);
    const tells = fault !== undefined || isTelling(request);
    trace.line(elapsed, `${number} ${what}${fault ? `: ${fault.name}` : ''}`, tells);
    const ended = (outcome: string, settle: () => void): void => {
      const death = kill === undefined ? '' : `; ${labelOf(invocation)} is killed (${kill})`;
      trace.line(elapsed, `${number} ${outcome}${death}`, tells || kill !== undefined);
      if (kill === undefined) {
        if (invocation?.stopped === undefined) settle();
        return;
      }
      tally.kills += 1;
      tally.killedAfter.add(site);
      invocation?.stop('killed');
    };
    (fault ? fault.carryOut(request.run) : request.run()).then(
      (result) => ended(request.outcome?.(result) ?? 'done', () => picked.resolve(result)),
      (error: unknown) => ended(`failed: ${nameOf(error)}`, () => picked.reject(error)),
    );
  };
  /** @returns whether this call site is reached for the first time */
  const reach = (site: string): boolean => {
    if (isOver || tally.reached.has(site)) return false;
    tally.reached.add(site);
    return true;
  };
  const killNow = (): string | undefined => (happens('kill') ? `kill ${events}` : undefined);
  const killOf = (invocation: Invocation | undefined): string | undefined =>
    invocation !== undefined && fate.chance(sky.kills) ? killNow() : undefined;
  /**
   * Draws the fault of a step; undefined if the step succeeds. If the function is killed after the step, the fault is
   * not silent, so the step ends.
   */
  const faultOf = ({ place, faults }: StepRequest<unknown>, isKilled: boolean): NamedFault | undefined => {
    const possible = faults.filter(({ kind, isSilent }) => sky.allows(kind) && !(isKilled && isSilent));
    const allowed = fate.chance(sky.faults[place]) ? possible : [];
    if (allowed.length === 0) return undefined;
    const drawn = fate.weighted(allowed);
    return happens(drawn.kind) ? { ...drawn, name: `${drawn.kind} ${events}` } : undefined;
  };

  /** Starts the work that is due. @returns when the next work is due */
  const runWorks = async (): Promise<number> => {
    let next = Number.POSITIVE_INFINITY;
    for (const work of works) {
      let due = await work.nextDueAt();
      if (due !== undefined && due <= now()) {
        await work.runDue();
        await drain();
        due = await work.nextDueAt();
      }
      next = Math.min(next, due ?? next);
    }
    lookAt = steps + LOOK_EVERY;
    return next;
  };
  /** Passes time until something happens. @returns false if nothing does until `latest` */
  const pass = async (latest: number): Promise<boolean> => {
    const before = started;
    const workDue = await runWorks();
    await drain();
    if (started > before) return true;
    const moment = Math.min(workDue, timers.nextDueAt() ?? workDue, ...pending.map(({ readyAt }) => readyAt));
    if (moment > latest || moment === Number.POSITIVE_INFINITY) return false;
    // At least 1 ms passes, because due work that cannot start yet waits for the end of other work.
    elapsed = Math.max(elapsed + 1, moment - EPOCH);
    return true;
  };

  /** Runs the next step or timer, unless the caller is done. @returns false if nothing is left until `latest` */
  const advance = async (latest: number, isDone = (): boolean => false): Promise<boolean> => {
    await drain();
    if (isDone()) return true;
    moves += 1;
    if (moves > MOST_MOVES) throw new StuckError('the history never comes to rest: time passes, but no work ends');
    if (pending.some(isStopped)) pending = pending.filter((one) => !isStopped(one));
    if (timers.runDue()) return true;
    if (steps >= lookAt) {
      await runWorks();
      return true;
    }
    const picked = choose();
    if (!picked) return pass(latest);
    steps += 1;
    if (steps > MOST_STEPS) throw new StuckError(`the history never comes to rest: more than ${MOST_STEPS} steps`);
    elapsed += order.int(0, 8);
    begin(picked);
    return true;
  };

  return {
    now,
    timers,
    weather: () => sky,
    prng: (label) => root.fork(label),
    step: (request) =>
      new Promise((resolve, reject) => {
        const invocation = currentInvocation();
        if (invocation?.stopped !== undefined) return;
        started += 1;
        pending.push({
          request: request as StepRequest<unknown>,
          invocation,
          resolve: resolve as (result: unknown) => void,
          reject,
          readyAt: now(),
          delayed: false,
        });
      }),
    note,
    register: (work) => void works.push(work),
    calmDown: () => {
      sky = CALM;
      isOver = true;
      for (const one of pending) one.readyAt = Math.min(one.readyAt, now());
    },
    driveUntil: async (work) => {
      let settled = false;
      const end = (): void => {
        settled = true;
      };
      work.then(end, end);
      while (!settled) {
        if (!(await advance(Number.POSITIVE_INFINITY, () => settled)) && !settled) {
          await drain();
          if (!settled) throw new StuckError('an operation waits for something that never happens');
        }
      }
      return work;
    },
    driveToRest: async (horizonMs) => {
      const [end, mostSteps] = [now() + MOST_REST_MS, steps + MOST_STEPS_TO_REST];
      while (await advance(now() + horizonMs)) {
        if (now() > end || steps > mostSteps)
          throw new StuckError('the service does not come to rest: work is due again and again');
      }
    },
    count: countFault,
    counts: () => countsOf(tally),
    events: () => happened,
  };
};

const isStopped = ({ invocation }: Pending): boolean => invocation?.stopped !== undefined;

/** True for steps of the timeline: requests of clients, providers' webhooks, and writes at a provider. */
const isTelling = ({ place, call }: StepRequest<unknown>): boolean =>
  place === 'gateway' || place === 'webhook' || (place === 'provider' && !call.startsWith('GET'));

const wordsOf = ({ place, call, about = '' }: StepRequest<unknown>): string => `${place} ${call} ${about}`.trimEnd();

const labelOf = (invocation: Invocation | undefined): string => invocation?.label ?? 'outside';

const nameOf = (error: unknown): string => {
  if (!(error instanceof Error)) return String(error);
  return 'code' in error && typeof error.code === 'string' ? `${error.name} ${error.code}` : error.name;
};
