/**
 * @module Scheduled rules by the host's clock. Each rule fires at multiples of its period. A schedule with
 * `earliestWork` skips ticks without due work, so moving the clock over months is cheap.
 */

import { randomUUID } from 'node:crypto';
import type { ScheduleTrigger } from '../../../shared/platform/trigger.ts';
import type { HostClock, TimedWork } from '../machine/clock.ts';
import { ACCOUNT, REGION } from '../machine/environment.ts';
import type { Invoke } from '../machine/invoke.ts';

export interface SchedulesOptions {
  readonly triggers: readonly ScheduleTrigger[];
  readonly clock: Pick<HostClock, 'now' | 'moving' | 'wake'>;
  readonly invoke: Invoke;
  /** Due time (epoch ms) of a schedule's earliest work, by trigger id. */
  readonly earliestWork: Readonly<Record<string, () => Promise<number | undefined>>>;
  readonly log: (line: string) => void;
}

export interface Schedules extends TimedWork {
  stop(): Promise<void>;
}

const MINUTE_MS = 60_000;

export const createSchedules = (options: SchedulesOptions): Schedules => {
  const running = new Set<Promise<void>>();
  const schedules = options.triggers
    .filter(({ isPaused }) => !isPaused)
    .map((trigger) => createSchedule(options, trigger, running));
  let stopped = false;
  return {
    name: 'schedules',
    nextDueAt: async () => {
      const dues = await Promise.all(schedules.map((schedule) => schedule.nextDueAt()));
      const known = dues.filter((due) => due !== undefined);
      return known.length === 0 ? undefined : Math.min(...known);
    },
    runDue: async () => {
      if (!stopped) await Promise.all(schedules.map((schedule) => schedule.runDue()));
    },
    idle: () => running.size === 0,
    stop: async () => {
      stopped = true;
      await Promise.all(running);
    },
  };
};

const createSchedule = (options: SchedulesOptions, trigger: ScheduleTrigger, running: Set<Promise<void>>) => {
  const { clock, invoke, log } = options;
  const periodMs = trigger.everyMinutes * MINUTE_MS;
  const earliestWork = options.earliestWork[trigger.id];
  const tickAfter = (at: number) => Math.ceil(at / periodMs) * periodMs;
  const latestTick = () => Math.floor(clock.now() / periodMs) * periodMs;
  /** The latest tick that was run or skipped. */
  let passed = latestTick();
  /** Due time of the earliest work, as last read during a clock move. The next tick uses it once. */
  let known: number | undefined;

  const fire = async (tick: number): Promise<void> => {
    try {
      await invoke(trigger.id, eventOf(trigger, tick), trigger.timeoutSeconds);
    } catch (error) {
      log(`${trigger.id} failed: ${error instanceof Error ? error.stack : String(error)}`);
    }
  };
  const track = (work: Promise<void>): Promise<void> => {
    const tracked = work.finally(() => {
      running.delete(tracked);
      clock.wake();
    });
    running.add(tracked);
    return tracked;
  };
  /** Resolves when the check for due work is done. The handler may still run. */
  const pass = async (tick: number): Promise<void> => {
    passed = tick;
    const cached = known;
    known = undefined;
    const earliest = cached !== undefined && cached <= tick ? cached : earliestWork ? await earliestWork() : tick;
    if (earliest !== undefined && earliest <= tick) void track(fire(tick));
  };

  return {
    nextDueAt: async (): Promise<number | undefined> => {
      const next = passed + periodMs;
      // In real time each tick reads the table anyway, so skip this query.
      if (!earliestWork || !clock.moving()) return Math.max(next, latestTick());
      known = await earliestWork();
      return known === undefined ? undefined : Math.max(next, tickAfter(known));
    },
    runDue: async (): Promise<void> => {
      const tick = latestTick();
      if (tick > passed) await track(pass(tick));
    },
  };
};

/** The event that an EventBridge schedule sends to a function. */
const eventOf = (trigger: ScheduleTrigger, tick: number) => ({
  version: '0',
  id: randomUUID(),
  'detail-type': 'Scheduled Event',
  source: 'aws.events',
  account: ACCOUNT,
  time: new Date(tick).toISOString().replace('.000Z', 'Z'),
  region: REGION,
  resources: [`arn:aws:events:${REGION}:${ACCOUNT}:rule/${trigger.id}`],
  detail: {},
});
