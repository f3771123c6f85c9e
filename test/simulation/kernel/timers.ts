import { AsyncLocalStorage } from 'node:async_hooks';
import { inspect } from 'node:util';
import { currentInvocation } from './invocation.ts';

/** The timers of the virtual clock, in the order of their due times. */
export interface Timers {
  add(callback: () => void, delayMs: number, everyMs?: number): VirtualTimer;
  clear(timer: unknown): void;
  addImmediate(callback: () => void): VirtualTimer;
  /** Runs the immediates that are waiting now. @returns whether there were any */
  runImmediates(): boolean;
  /** Runs the next timer that is due. @returns whether there was one */
  runDue(): boolean;
  /** The earliest timer that keeps a process alive. Other timers run only if time passes anyway. */
  nextDueAt(): number | undefined;
}

/** The result of `setTimeout`. */
export class VirtualTimer {
  due: number;
  readonly order: number;
  readonly callback: () => void;
  readonly everyMs: number | undefined;
  readonly delayMs: number;
  active = true;
  referenced = true;
  readonly #timers: Timers;

  constructor(timers: Timers, fields: Pick<VirtualTimer, 'due' | 'order' | 'callback' | 'everyMs' | 'delayMs'>) {
    this.#timers = timers;
    this.due = fields.due;
    this.order = fields.order;
    this.callback = fields.callback;
    this.everyMs = fields.everyMs;
    this.delayMs = fields.delayMs;
  }
  ref(): this {
    this.referenced = true;
    return this;
  }
  unref(): this {
    this.referenced = false;
    return this;
  }
  hasRef(): boolean {
    return this.referenced;
  }
  refresh(): this {
    this.#timers.clear(this);
    this.#timers.add(this.callback, this.delayMs, this.everyMs);
    return this;
  }
  close(): this {
    this.#timers.clear(this);
    return this;
  }
  [Symbol.toPrimitive](): number {
    return this.order;
  }
  [Symbol.dispose](): void {
    this.close();
  }
  [inspect.custom](): string {
    return `VirtualTimer(${this.due})`;
  }
}

/** Runs the timer in the context of its creation. A stopped function has no timers. */
const owned = (callback: () => void): (() => void) => {
  const invocation = currentInvocation();
  // Outside of functions no context exists to keep.
  if (!invocation) return callback;
  return AsyncLocalStorage.bind(() => {
    if (invocation.stopped === undefined) callback();
  });
};

export const createTimers = (now: () => number): Timers => {
  const waiting: VirtualTimer[] = [];
  let immediates: VirtualTimer[] = [];
  let order = 0;

  const insert = (timer: VirtualTimer): void => {
    let at = waiting.length;
    // New timers are mostly the latest ones.
    while (at > 0 && (waiting[at - 1]?.due ?? 0) > timer.due) at -= 1;
    waiting.splice(at, 0, timer);
  };
  const timers: Timers = {
    add: (callback, delayMs, everyMs) => {
      const delay = Number.isFinite(delayMs) && delayMs >= 1 ? delayMs : 1;
      order += 1;
      const fields = { due: now() + delay, order, callback: owned(callback), everyMs, delayMs: delay };
      const timer = new VirtualTimer(timers, fields);
      insert(timer);
      return timer;
    },
    clear: (timer) => {
      if (!(timer instanceof VirtualTimer) || !timer.active) return;
      timer.active = false;
      const at = waiting.indexOf(timer);
      if (at >= 0) waiting.splice(at, 1);
    },
    addImmediate: (callback) => {
      order += 1;
      const fields = {
        due: now(),
        order,
        callback: owned(callback),
        everyMs: undefined,
        delayMs: 0,
      };
      const timer = new VirtualTimer(timers, fields);
      immediates.push(timer);
      return timer;
    },
    runImmediates: () => {
      if (immediates.length === 0) return false;
      const running = immediates;
      immediates = [];
      for (const timer of running) if (timer.active) timer.callback();
      return true;
    },
    runDue: () => {
      const timer = waiting[0];
      if (!timer || timer.due > now()) return false;
      waiting.shift();
      if (timer.everyMs === undefined) timer.active = false;
      else {
        timer.due = now() + Math.max(1, timer.everyMs);
        insert(timer);
      }
      timer.callback();
      return true;
    },
    nextDueAt: () => waiting.find(({ referenced }) => referenced)?.due,
  };
  return timers;
};
