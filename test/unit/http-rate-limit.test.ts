import fc from 'fast-check';
import { describe, expect, test, vi } from 'vitest';
import { DomainError } from '../../shared/core/errors.ts';
import { countOutcome, countSubject, enforceLimits, type RateLimit } from '../../shared/http/rate-limit.ts';
import { apiRequest, arrived } from '../builders/api-request.ts';
import { logLines } from '../builders/log-lines.ts';
import { memoryTable } from '../builders/memory-table.ts';
import { NOON } from '../builders/payment.ts';
import { refusalIn } from '../builders/refusal.ts';

const byIp: RateLimit = { name: 'by-ip', max: 3, windowSeconds: 60, by: ({ http }) => http.sourceNetwork };
const byUser: RateLimit = {
  name: 'by-user',
  max: 5,
  windowSeconds: 3_600,
  by: ({ caller }) => (caller.kind === 'session' ? caller.userId : undefined),
};

/** A service at noon, whose clock the test moves. */
const service = (limits: readonly RateLimit[]) => {
  const clock = { at: NOON };
  const memory = memoryTable({ now: () => clock.at });
  const { log } = logLines();
  const deps = { table: memory.table, now: () => clock.at, log };
  const ask = (fields: Parameters<typeof apiRequest>[0] = {}) => enforceLimits(deps, limits, apiRequest(fields));
  const passed = async (times: number, fields = {}): Promise<number> => {
    let count = 0;
    for (let time = 0; time < times; time += 1)
      count += await ask(fields).then(
        () => 1,
        () => 0,
      );
    return count;
  };
  const decline = (fields: Parameters<typeof apiRequest>[0] = {}) =>
    countOutcome(deps, { limits, outcome: 'declines' }, apiRequest(fields));
  const take = () => enforceLimits(deps, limits, apiRequest());
  return { clock, memory, ask, passed, decline, take };
};

describe('a rate limit', () => {
  test('accepts its maximum of requests, then returns the time until a retry', async () => {
    const { clock, ask, passed } = service([byIp]);
    clock.at = NOON + 12_300;
    expect(await passed(3)).toBe(3);
    // The window ends in 47.7 s. After another third of a window, two of the three requests still count.
    expect(await refusalIn(ask())).toMatchObject({ code: 'RATE_LIMITED', retryAfterSeconds: 68 });
    clock.at += 67_000;
    expect((await refusalIn(ask())).retryAfterSeconds).toBe(1);
    clock.at += 1_000;
    expect(await passed(2)).toBe(1);
  });

  test('allows no second burst at the start of the next window', async () => {
    const { clock, passed } = service([{ ...byIp, max: 10 }]);
    clock.at = NOON + 59_000;
    expect(await passed(10)).toBe(10);
    clock.at = NOON + 60_000;
    expect(await passed(10)).toBe(0);
    clock.at = NOON + 90_000;
    expect(await passed(10)).toBe(5);
    clock.at = NOON + 240_000;
    expect(await passed(12)).toBe(10);
  });

  test('counts no refused request', async () => {
    const { clock, passed, memory } = service([{ ...byIp, max: 2 }, byUser]);
    expect(await passed(60)).toBe(2);
    const counts = memory
      .items()
      .map((item) => Object.entries(item).flatMap(([name, n]) => (/^w\d/.test(name) ? n : [])));
    expect(counts).toEqual([[2], [2]]);
    clock.at = NOON + 90_000;
    expect(await passed(60)).toBe(1);
  });

  test('writes once per check, apart from a few writes that remove old windows', async () => {
    const { clock, passed, memory } = service([{ ...byIp, max: 10 }]);
    const updates = vi.spyOn(memory.table, 'update');
    let asked = 0;
    for (let at = 0; at < 30; at += 1) {
      clock.at = NOON + at * 60_000;
      asked += 5;
      await passed(5);
    }
    // The three additional writes remove old windows.
    expect(updates).toHaveBeenCalledTimes(asked + 3);
    expect(Object.keys(memory.items()[0] ?? {}).length).toBeLessThan(15);
  });

  test('counts each subject separately', async () => {
    const { passed } = service([byIp]);
    expect(await passed(4)).toBe(3);
    expect(await passed(4, { http: arrived({ sourceNetwork: '203.0.113.8' }) })).toBe(3);
  });

  test('does not count a request without a subject', async () => {
    const { passed, memory } = service([byUser]);
    expect(await passed(9, { caller: { kind: 'anonymous' } })).toBe(9);
    expect(memory.items()).toEqual([]);
  });

  test('is checked together with other limits, and returns the longest wait', async () => {
    const { ask, passed } = service([byIp, { ...byUser, max: 3 }]);
    expect(await passed(3)).toBe(3);
    expect((await refusalIn(ask())).retryAfterSeconds).toBe(3_600 + 1_200);
  });

  test('accepts no more than its maximum of concurrent requests', async () => {
    const { ask } = service([byIp]);
    const all = await Promise.allSettled(Array.from({ length: 50 }, () => ask()));
    expect(all.filter(({ status }) => status === 'fulfilled')).toHaveLength(3);
  });

  test.each([1, 3, 16, 17, 40])('accepts exactly the requests that fit a maximum of %i', async (max) => {
    const step = fc.tuple(fc.integer({ min: 0, max: 45_000 }), fc.integer({ min: 1, max: 30 }));
    await fc.assert(
      fc.asyncProperty(fc.array(step, { maxLength: 25 }), async (steps) => {
        const { clock, passed } = service([{ ...byIp, max }]);
        const counts = new Map<number, number>();
        for (const [pause, requests] of steps) {
          clock.at += pause;
          const window = Math.floor(clock.at / 60_000);
          const left = 1 - (clock.at % 60_000) / 60_000;
          const [previous, current] = [counts.get(window - 1) ?? 0, counts.get(window) ?? 0];
          const room = Math.max(0, Math.floor(max - previous * left + 1e-9) - current);
          const accepted = await passed(requests);
          expect(accepted).toBe(Math.min(requests, room));
          counts.set(window, current + accepted);
        }
      }),
      { numRuns: 60 },
    );
  });

  test('accepts exactly the concurrent requests that still fit', async () => {
    const { clock, ask, passed } = service([{ ...byIp, max: 100 }]);
    expect(await passed(57)).toBe(57);
    clock.at = NOON + 71_000;
    const all = await Promise.allSettled(Array.from({ length: 90 }, () => ask()));
    // 57 × 49 / 60 of the earlier requests still count.
    expect(all.filter(({ status }) => status === 'fulfilled')).toHaveLength(53);
  });

  test('stores no address or user id, and expires within two hours', async () => {
    const { passed, memory } = service([byIp, byUser]);
    await passed(1);
    expect(memory.items()).toHaveLength(2);
    expect(JSON.stringify(memory.items())).not.toMatch(/203\.0\.113|user_1/);
    for (const { ttl } of memory.items()) expect(Number(ttl)).toBeLessThanOrEqual(NOON / 1_000 + 7_200);
  });
});

describe('a limit of declines', () => {
  const declines: RateLimit = { ...byIp, name: 'declined', counts: 'declines' };

  test('counts only declined requests, and refuses requests once it is reached', async () => {
    const { ask, passed, decline } = service([declines]);
    expect(await passed(9)).toBe(9);
    for (const _ of [1, 2, 3]) await decline();
    expect(await refusalIn(ask())).toMatchObject({ code: 'RATE_LIMITED', retryAfterSeconds: 80 });
    expect(await passed(1, { http: arrived({ sourceNetwork: '203.0.113.8' }) })).toBe(1);
  });

  test('has room again as earlier declines leave the window', async () => {
    const { clock, passed, decline } = service([declines]);
    for (const _ of [1, 2, 3, 4]) await decline();
    clock.at = NOON + 60_000;
    expect(await passed(1)).toBe(0);
    clock.at = NOON + 89_999;
    expect(await passed(1)).toBe(0);
    clock.at = NOON + 90_000;
    expect(await passed(9)).toBe(9);
  });

  test('is independent of other limits, which do not count declines', async () => {
    const { passed, decline, memory } = service([byUser, declines]);
    for (const _ of [1, 2]) await decline();
    expect(await passed(9)).toBe(5);
    expect(memory.items()).toHaveLength(2);
  });
});

describe('a place in a rate window', () => {
  const settled = async (all: readonly Promise<unknown>[]): Promise<number> =>
    (await Promise.allSettled(all)).filter(({ status }) => status === 'fulfilled').length;

  test('is given to at most the window’s maximum of concurrent requests', async () => {
    const { take } = service([byIp]);
    expect(await settled(Array.from({ length: 50 }, take))).toBe(3);
  });

  test('is free again after its release, but a release after the end of the window frees no further place', async () => {
    const { take, clock } = service([byIp]);
    for (let time = 0; time < 9; time += 1) await (await take()).release();
    const late = await take();
    clock.at = NOON + 300_000;
    await late.release();
    expect(await settled(Array.from({ length: 9 }, take))).toBe(3);
  });
});

describe('an already refused request', () => {
  const counting = (error: unknown) => {
    const { table } = memoryTable({ now: () => NOON });
    const deps = { table: { ...table, update: () => Promise.reject(error) }, now: () => NOON, log: logLines().log };
    return countSubject(deps, byIp, '203.0.113.8');
  };

  test('keeps its refusal and stays uncounted if the counter’s write conflicts', async () => {
    await expect(counting(new DomainError('VERSION_CONFLICT'))).resolves.toBeUndefined();
  });

  test('fails if the counter cannot be written', async () => {
    await expect(counting(new Error('unavailable'))).rejects.toThrow('unavailable');
  });
});
