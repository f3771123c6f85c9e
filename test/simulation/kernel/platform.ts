/**
 * @module Replaces a process's time, randomness, timers and sockets. Must be installed before any module of the service
 * is loaded, because libraries keep references. Every replacement uses the virtual machine of the running seed. Work
 * that needs the real machine (crypto threads, files) is counted, and its results are released one at a time.
 */
import { createRequire, registerHooks, syncBuiltinESMExports } from 'node:module';
import { promisify } from 'node:util';
import type { Prng } from './prng.ts';
import type { Timers } from './timers.ts';

export interface Machine {
  /** Epoch ms, as the running invocation sees it. */
  now(): number;
  /** Milliseconds since the start of the run. */
  elapsed(): number;
  readonly random: Prng;
  readonly timers: Timers;
  fetch(input: string | URL | Request, init?: RequestInit): Promise<Response>;
  /** `node:http` and `node:https`'s `request`. */
  httpRequest(...call: readonly unknown[]): unknown;
  /** One line of the service's log. */
  log(line: string): void;
}

let machine: Machine | undefined;
/** Forbidden facilities used by the run. The service may have caught the error. */
let forbidden = new Set<string>();
export const forbiddenUses = (): Iterable<string> => forbidden;
/** The awaited results of real work, in the order of the calls. Never rejects. */
const outside: Promise<() => void>[] = [];

export const useMachine = (next: Machine | undefined): void => {
  machine = next;
  if (next === undefined) forbidden = new Set();
  outside.length = 0;
};

/** A run has opened a socket or used another forbidden facility of the real machine. */
class ForbiddenError extends Error {
  constructor(what: string) {
    super(`a simulated run may not use ${what}`);
    this.name = 'ForbiddenError';
    if (machine) forbidden.add(this.message);
  }
}

const real = {
  Date,
  setTimeout,
  setImmediate,
  clearTimeout,
  clearImmediate,
  setInterval,
  random: Math.random,
  now: performance.now.bind(performance),
};

/** One turn of the real event loop. Resolves after all microtasks. */
export const realTurn = (): Promise<void> => new Promise((resolve) => void real.setImmediate(resolve));

/** Waits for the earliest awaited result, and delivers that result. @returns whether a result was awaited */
export const releaseOutsideWork = async (): Promise<boolean> => {
  const first = outside.shift();
  if (!first) return false;
  (await first)();
  return true;
};

/** Delivers results one at a time in the order of the calls, however the real threads run. */
const counted = <T>(work: Promise<T>): Promise<T> => {
  if (!machine) return work;
  return new Promise<T>((resolve, reject) => {
    outside.push(
      work.then(
        (value) => () => resolve(value),
        (error: unknown) => () => reject(error),
      ),
    );
  });
};

const running = (what: string): Machine => {
  if (!machine) throw new ForbiddenError(`${what} outside of a run`);
  return machine;
};

type AnyFunction = (...args: never[]) => unknown;
const set = (target: object, values: Readonly<Record<string | symbol, unknown>>): void => {
  for (const name of Reflect.ownKeys(values)) {
    Object.defineProperty(target, name, {
      value: values[name as string],
      configurable: true,
      writable: true,
      enumerable: true,
    });
  }
};

export const installPlatform = (): void => {
  const load = createRequire(import.meta.url);
  installTime();
  installTimers(load);
  installChance(load);
  installOutsideWork(load);
  installNetwork(load);
  installModules();
  installOutput();
  syncBuiltinESMExports();
};

/** Before the first run, the clock shows this fixed time. */
export const EPOCH = Date.UTC(2026, 0, 5, 9);

const installTime = (): void => {
  const now = (): number => machine?.now() ?? EPOCH;
  const VirtualDate = function (this: unknown, ...args: readonly unknown[]): unknown {
    const target = new.target as AnyFunction | undefined;
    if (target === undefined) return new real.Date(now()).toString();
    const given = args.length === 0 ? [now()] : args;
    return Reflect.construct(real.Date, given, target === (VirtualDate as unknown) ? real.Date : target);
  };
  Object.setPrototypeOf(VirtualDate, real.Date);
  Object.defineProperty(VirtualDate, 'prototype', { value: real.Date.prototype });
  set(VirtualDate, { now, parse: real.Date.parse, UTC: real.Date.UTC });
  set(real.Date.prototype, { constructor: VirtualDate });
  set(globalThis, { Date: VirtualDate });
  set(performance, { now: () => machine?.elapsed() ?? 0 });
};

const installTimers = (load: NodeJS.Require): void => {
  type Callback = (...args: readonly unknown[]) => void;
  const add = (callback: Callback, delayMs = 0, ...args: readonly unknown[]) =>
    machine
      ? machine.timers.add(() => callback(...args), Number(delayMs))
      : real.setTimeout(callback, delayMs, ...args);
  const every = (callback: Callback, delayMs = 0, ...args: readonly unknown[]) =>
    machine
      ? machine.timers.add(() => callback(...args), Number(delayMs), Number(delayMs))
      : real.setInterval(callback, delayMs, ...args);
  const soon = (callback: Callback, ...args: readonly unknown[]) =>
    machine ? machine.timers.addImmediate(() => callback(...args)) : real.setImmediate(callback, ...args);
  const clear = (timer: unknown): void => {
    if (machine) machine.timers.clear(timer);
    else real.clearTimeout(timer as NodeJS.Timeout);
  };
  const clearSoon = (timer: unknown): void => {
    if (machine) machine.timers.clear(timer);
    else real.clearImmediate(timer as NodeJS.Immediate);
  };
  const delay = <T>(ms?: number, value?: T, options: { signal?: AbortSignal } = {}): Promise<T | undefined> =>
    new Promise((resolve, reject) => {
      const timer = add(() => resolve(value), ms);
      options.signal?.addEventListener('abort', () => {
        clear(timer);
        reject(options.signal?.reason);
      });
    });
  const turn = <T>(value?: T): Promise<T | undefined> => new Promise((resolve) => void soon(() => resolve(value)));
  set(add, { [promisify.custom]: delay });
  set(soon, { [promisify.custom]: turn });
  const functions = {
    setTimeout: add,
    setInterval: every,
    setImmediate: soon,
    clearTimeout: clear,
    clearInterval: clear,
    clearImmediate: clearSoon,
  };
  set(globalThis, functions);
  set(load('node:timers'), functions);
  set(load('node:timers/promises'), { setTimeout: delay, setImmediate: turn });
  set(AbortSignal, {
    timeout: (ms: number): AbortSignal => {
      const controller = new AbortController();
      const reason = () => new DOMException('The operation was aborted due to timeout', 'TimeoutError');
      // This timer keeps the process alive, unlike the real one. Otherwise time could jump past the time-out of a call
      // that never ends.
      add(() => controller.abort(reason()), ms);
      return controller.signal;
    },
  });
};

const installChance = (load: NodeJS.Require): void => {
  const filled = <T extends ArrayBufferView>(view: T, from = 0, length = view.byteLength - from): T => {
    const bytes = new Uint8Array(view.buffer, view.byteOffset + from, length);
    if (machine) machine.random.fill(bytes);
    else bytes.fill(7);
    return view;
  };
  const randomBytes = (size: number, done?: (error: null, bytes: Buffer) => void): Buffer => {
    const bytes = filled(Buffer.alloc(size));
    if (done) process.nextTick(() => done(null, bytes));
    return bytes;
  };
  const randomUUID = (): string => {
    const bytes = filled(Buffer.alloc(16));
    bytes[6] = ((bytes[6] ?? 0) & 15) | 64;
    bytes[8] = ((bytes[8] ?? 0) & 63) | 128;
    return bytes.toString('hex').replace(/^(.{8})(.{4})(.{4})(.{4})/, '$1-$2-$3-$4-');
  };
  const randomInt = (low: number, high?: number): number => {
    const [from, to] = high === undefined ? [0, low] : [low, high];
    return from + Math.floor((machine?.random.next() ?? 0) * (to - from));
  };
  set(Math, { random: () => machine?.random.next() ?? 0.5 });
  set(load('node:crypto'), { randomBytes, randomUUID, randomInt, randomFillSync: filled });
  set(globalThis.crypto, { getRandomValues: filled, randomUUID });
};

/** Counts the work of crypto threads and of the file system. */
const installOutsideWork = (load: NodeJS.Require): void => {
  const wrap = (target: object, names: readonly string[]): void => {
    for (const name of names) {
      const own: (...args: readonly unknown[]) => Promise<unknown> = Reflect.get(target, name);
      set(target, {
        [name]: function (this: unknown, ...args: readonly unknown[]) {
          return counted(own.apply(this, [...args]));
        },
      });
    }
  };
  wrap(Object.getPrototypeOf(globalThis.crypto.subtle), [
    'sign',
    'verify',
    'digest',
    'importKey',
    'exportKey',
    'generateKey',
    'encrypt',
    'decrypt',
    'deriveBits',
  ]);
  wrap(load('node:fs/promises'), ['mkdir', 'appendFile', 'readFile', 'writeFile', 'rm']);
};

/**
 * Forbids a run to load a module for the first time, because the module would come from the real file system in real
 * time.
 */
const installModules = (): void => {
  registerHooks({
    load: (url, context, next) => {
      if (machine && !url.startsWith('node:')) throw new ForbiddenError(`a module that was not loaded before: ${url}`);
      return next(url, context);
    },
  });
};

/**
 * Takes the lines of the service's log, which are JSON. Other output, such as an engineer's debug output, is printed.
 */
const installOutput = (): void => {
  for (const stream of [process.stdout, process.stderr]) {
    const write = stream.write.bind(stream) as (...args: readonly unknown[]) => boolean;
    set(stream, {
      write: (text: unknown, ...more: readonly unknown[]): boolean => {
        if (!machine || typeof text !== 'string' || !text.startsWith('{')) return write(text, ...more);
        machine.log(text);
        return true;
      },
    });
  }
};

const installNetwork = (load: NodeJS.Require): void => {
  const forbid = (what: string) => () => {
    throw new ForbiddenError(what);
  };
  const httpRequest = (...call: readonly unknown[]) => running('http').httpRequest(...call);
  set(globalThis, {
    fetch: async (input: string | URL | Request, init?: RequestInit) => running('fetch').fetch(input, init),
    WebSocket: forbid('a web socket'),
  });
  for (const name of ['node:http', 'node:https']) {
    set(load(name), { request: httpRequest, get: httpRequest, createServer: forbid('a server') });
  }
  const sockets = {
    connect: forbid('a socket'),
    createConnection: forbid('a socket'),
    createServer: forbid('a server'),
  };
  set(load('node:net'), sockets);
  set(load('node:net').Socket.prototype, { connect: forbid('a socket') });
  set(load('node:net').Server.prototype, { listen: forbid('a server') });
  set(load('node:tls'), sockets);
  set(load('node:dgram'), { createSocket: forbid('a socket') });
  set(load('node:http2'), { connect: forbid('a socket') });
  set(load('node:dns'), { lookup: forbid('name resolution'), resolve: forbid('name resolution') });
  set(load('node:dns/promises'), { lookup: forbid('name resolution'), resolve: forbid('name resolution') });
};
