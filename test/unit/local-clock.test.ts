import { expect, test, vi } from 'vitest';
import { createClock, type HostClock, type KeptTime, type TimedWork } from '../../infra/local/machine/clock.ts';
import { HOUR_MS } from '../../shared/core/time.ts';

const START = Date.parse('2030-01-01T00:00:00.000Z');

const clockAt = (reached: number, frozen = true, kept: KeptTime[] = []): HostClock =>
  createClock({
    kept: { offsetMs: reached - Date.now(), reached, frozenAt: frozen ? reached : null },
    keep: (time) => kept.push(time),
    log: (line) => expect.unreachable(line),
  });

interface Agenda {
  readonly name: string;
  readonly times: number[];
  readonly ran: [name: string, at: number][];
}

/** Work that is due at the given times, and records its runs. */
const agenda = (clock: HostClock, { name, times, ran }: Agenda): TimedWork => ({
  name,
  nextDueAt: () => times[0],
  runDue: async () => {
    while (times[0] !== undefined && times[0] <= clock.now()) {
      times.shift();
      ran.push([name, clock.now()]);
    }
  },
  idle: () => (times[0] ?? Number.POSITIVE_INFINITY) > clock.now(),
});

test('the clock runs the work of all sources in time order, each at its time', async () => {
  const clock = clockAt(START);
  const ran: [string, number][] = [];
  clock.register(agenda(clock, { name: 'a', times: [START + 1, START + 3 * HOUR_MS, START + 9 * HOUR_MS], ran }));
  clock.register(agenda(clock, { name: 'b', times: [START + 2 * HOUR_MS], ran }));
  await clock.moveTo(START + 5 * HOUR_MS);
  expect(ran).toEqual([
    ['a', START + 1],
    ['b', START + 2 * HOUR_MS],
    ['a', START + 3 * HOUR_MS],
  ]);
  expect(clock.now()).toBe(START + 5 * HOUR_MS);
});

test('while the clock moves, it also runs work that other work creates', async () => {
  const clock = clockAt(START);
  const ran: [string, number][] = [];
  const follow: number[] = [];
  const first = agenda(clock, { name: 'first', times: [START + HOUR_MS], ran });
  clock.register(agenda(clock, { name: 'follow', times: follow, ran }));
  clock.register({
    ...first,
    runDue: async () => {
      const before = ran.length;
      await first.runDue();
      if (ran.length > before) follow.push(clock.now(), clock.now() + HOUR_MS);
    },
  });
  await clock.moveTo(START + 10 * HOUR_MS);
  expect(ran).toEqual([
    ['first', START + HOUR_MS],
    ['follow', START + HOUR_MS],
    ['follow', START + 2 * HOUR_MS],
  ]);
});

test('the clock does not settle while one source hands work to an idle source', async () => {
  const clock = clockAt(START);
  let inbox = 0;
  let done = 0;
  let handed = false;
  clock.register({
    name: 'receiver',
    nextDueAt: () => undefined,
    runDue: async () => {
      done += inbox;
      inbox = 0;
    },
    idle: () => inbox === 0,
  });
  clock.register({
    name: 'giver',
    nextDueAt: () => undefined,
    runDue: async () => undefined,
    idle: () => {
      if (!handed) {
        handed = true;
        inbox = 1;
        clock.wake();
      }
      return true;
    },
  });
  expect(await clock.settle(1_000)).toMatchObject({ quiet: true });
  expect(done).toBe(1);
});

test('the clock reports unfinished work when the time limit for settling is reached', async () => {
  const clock = clockAt(START);
  clock.register({ name: 'busy', nextDueAt: () => undefined, runDue: async () => undefined, idle: () => false });
  expect(await clock.settle(20)).toMatchObject({ quiet: false });
});

test('a move of the clock fails if the due work of a source never ends, and names the source', async () => {
  const clock = clockAt(START);
  clock.register({ name: 'stuck', nextDueAt: () => START, runDue: async () => undefined, idle: () => true });
  await expect(clock.moveTo(START + HOUR_MS)).rejects.toThrow('stuck');
});

test('the clock refuses to move back, and keeps its time', async () => {
  const clock = clockAt(START);
  await expect(clock.moveTo(START - 1)).rejects.toThrow(RangeError);
  expect(clock.now()).toBe(START);
});

test('the clock makes moves one after the other', async () => {
  const clock = clockAt(START);
  await Promise.all([clock.moveBy(HOUR_MS), clock.moveBy(HOUR_MS)]);
  expect(clock.now()).toBe(START + 2 * HOUR_MS);
});

test('the clock continues from its new time after a move, unless it is frozen', async () => {
  const clock = clockAt(START, false);
  await clock.moveTo(START + HOUR_MS);
  const moved = clock.now();
  await vi.waitFor(() => expect(clock.now()).toBeGreaterThan(moved));
  clock.freeze(true);
  const frozen = clock.now();
  await new Promise((resolve) => setImmediate(resolve));
  expect(clock.now()).toBe(frozen);
  clock.freeze(false);
  await vi.waitFor(() => expect(clock.now()).toBeGreaterThan(frozen));
  expect(clock.now()).toBeLessThan(frozen + HOUR_MS);
});

test('the clock runs nothing by itself before its start, even after a move', async () => {
  const clock = clockAt(START, false);
  const times: number[] = [];
  const ran: [string, number][] = [];
  clock.register(agenda(clock, { name: 'work', times, ran }));
  await clock.moveTo(START + HOUR_MS);
  times.push(clock.now());
  clock.wake();
  for (let turns = 0; turns < 5; turns += 1) await new Promise((resolve) => setImmediate(resolve));
  expect(ran).toEqual([]);
});

test('the clock stores every step, so that a restart never moves it back', async () => {
  const kept: KeptTime[] = [];
  const clock = clockAt(START, false, kept);
  await clock.moveTo(START + HOUR_MS);
  const last = kept.at(-1);
  expect(last?.reached).toBeGreaterThanOrEqual(START + HOUR_MS);
  const later = createClock({ kept: last, keep: () => undefined, log: () => undefined });
  expect(later.now()).toBeGreaterThanOrEqual(START + HOUR_MS);
});

test('the clock runs due work as time passes, and immediately when it is woken', async () => {
  const clock = clockAt(Date.now(), false);
  const times: number[] = [];
  const ran: [string, number][] = [];
  clock.register(agenda(clock, { name: 'work', times, ran }));
  clock.start();
  times.push(clock.now(), clock.now() + 30);
  clock.wake();
  await vi.waitFor(() => expect(ran).toHaveLength(2), { interval: 5, timeout: 900 });
  await clock.stop();
});
