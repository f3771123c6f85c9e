/**
 * @module Limits the provider calls of due work across all instances, with a token bucket per slot in the table. An
 * instance reserves calls in blocks, to write less often, and waits until its block begins. Payers' requests bypass the
 * limiter and are never refused by it.
 */

import type { ProviderSlot } from '../core/settings.ts';
import { type Instant, MINUTE_MS, type Now, SECOND_MS } from '../core/time.ts';
import { callsKey } from '../platform/keys.ts';
import type { Table } from '../platform/table.ts';

export interface CallRateOptions {
  readonly table: Table;
  readonly now: Now;
  readonly sleep: (ms: number) => Promise<unknown>;
  readonly limitOf: (slot: ProviderSlot) => CallLimit;
}

export interface CallLimit {
  /** 0 means no limit. */
  readonly callsPerSecond: number;
  /** Maximum number of calls without a wait after an idle time. */
  readonly burst: number;
}

export interface CallRate {
  /** Waits at most 10 s. @returns undefined if the instance may call now; else the ms until the next try */
  readonly admit: (slot: ProviderSlot) => Promise<number | undefined>;
  /** Counts a call. Calls beyond the reserved block are added to the next reservation. */
  readonly count: (slot: ProviderSlot) => void;
}

const BLOCKS_PER_SECOND = 5;
/** Unused calls of a block expire after this time. */
const BLOCK_KEPT_MS = MINUTE_MS;
const MOST_WAIT_MS = 10 * SECOND_MS;
const RESERVE_TRIES = 5;

interface Block {
  /** Negative if calls were made beyond the block. */
  readonly calls: number;
  readonly until: Instant;
}

const NO_BLOCK: Block = { calls: 0, until: 0 };

export const openCallRate = (options: CallRateOptions): CallRate => {
  const { now, sleep, limitOf } = options;
  const blocks = new Map<ProviderSlot, Block>();
  const blockOf = (slot: ProviderSlot): Block => blocks.get(slot) ?? NO_BLOCK;

  const admit = async (slot: ProviderSlot): Promise<number | undefined> => {
    const { callsPerSecond } = limitOf(slot);
    if (callsPerSecond === 0) return undefined;
    const { calls, until } = blockOf(slot);
    if (calls > 0 && until > now()) return undefined;
    const [debt, expired] = [Math.max(0, -calls), Math.max(0, calls)];
    const size = Math.max(1, Math.round(callsPerSecond / BLOCKS_PER_SECOND));
    const waitMs = await reserve(options, slot, size + debt);
    if (waitMs > MOST_WAIT_MS) return waitMs;
    // Keeps the calls counted during the reservation.
    blocks.set(slot, { calls: blockOf(slot).calls + debt - expired + size, until: now() + BLOCK_KEPT_MS });
    if (waitMs > 0) await sleep(waitMs);
    return undefined;
  };

  const count = (slot: ProviderSlot): void => {
    const { calls, until } = blockOf(slot);
    blocks.set(slot, { calls: calls - 1, until });
  };

  return { admit, count };
};

/**
 * Reserves a block of calls. The item's `at` is the due time of the last reserved call.
 * @returns the ms until the block begins; if the wait is too long, nothing is reserved
 */
const reserve = async (
  { table, now, limitOf }: CallRateOptions,
  slot: ProviderSlot,
  calls: number,
): Promise<number> => {
  const { callsPerSecond, burst } = limitOf(slot);
  const key = callsKey(slot);
  const blockMs = Math.ceil((calls * SECOND_MS) / callsPerSecond);
  for (let tries = 0; tries < RESERVE_TRIES; tries += 1) {
    const at = now();
    const oldest = at - Math.ceil((burst * SECOND_MS) / callsPerSecond);
    const added = await table.update(key, { add: { at: blockMs } }, [
      { atLeast: ['at', oldest] },
      { atMost: ['at', at + MOST_WAIT_MS] },
    ]);
    if (added.ok) return Math.max(0, Number(added.item['at']) - blockMs - at);
    const reservedUntil = Number(added.found?.['at'] ?? 0);
    if (reservedUntil > at + MOST_WAIT_MS) return reservedUntil - at;
    // The bucket has been idle. Unused calls accumulate only up to the burst.
    const idle = { any: [{ lacks: 'at' }, { below: ['at', oldest] }] } as const;
    if ((await table.update(key, { set: { at: oldest + blockMs } }, [idle])).ok) return 0;
  }
  return MOST_WAIT_MS + SECOND_MS;
};
