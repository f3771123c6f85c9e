/**
 * @module A step is one call from a function, a client or a provider to another part, such as the table, a provider, a
 * queue, the bus, the identity service, a webhook target or the gateway. The start of a function is a step, too. A step
 * waits until the scheduler picks it.
 */
export const PLACES = [
  'table',
  'provider',
  'queue',
  'bus',
  'identity',
  'target',
  'gateway',
  'webhook',
  'start',
] as const;
export type Place = (typeof PLACES)[number];

export interface StepRequest<T> {
  readonly place: Place;
  /** The call in words, without ids, such as `UpdateItem PAY`. With the function's name it is the call site. */
  readonly call: string;
  /** Ids and other details, for the trace only. */
  readonly about?: string;
  /** Executes the call. */
  readonly run: () => Promise<T>;
  /** The failures that the real place may cause. */
  readonly faults: readonly Fault<T>[];
  /** The result in words, for the trace. */
  readonly outcome?: (result: T) => string;
}

/** One way for a call to fail. */
export interface Fault<T> {
  /** In plain words, such as `answer lost`. A seed switches each kind on or off as a whole. */
  readonly kind: string;
  readonly weight: number;
  /** True if the call never settles. The caller's own time-out then ends the wait. */
  readonly isSilent?: true;
  /** Runs the call not at all, once or twice. Then it returns, throws, or never settles. */
  readonly carryOut: (run: () => Promise<T>) => Promise<T>;
}

export const refusedWith = <T>(kind: string, error: () => unknown, weight = 1): Fault<T> => ({
  kind,
  weight,
  carryOut: async () => {
    throw error();
  },
});

export const lostWith = <T>(kind: string, error: () => unknown, weight = 1): Fault<T> => ({
  kind,
  weight,
  carryOut: async (run) => {
    await run();
    throw error();
  },
});

export const silentBefore = <T>(weight = 1): Fault<T> => ({
  kind: 'no answer and no effect',
  weight,
  isSilent: true,
  carryOut: () => new Promise(() => undefined),
});

export const silentAfter = <T>(weight = 1): Fault<T> => ({
  kind: 'no answer after the effect',
  weight,
  isSilent: true,
  carryOut: async (run) => {
    await run();
    return new Promise(() => undefined);
  },
});

export const carriedOutTwice = <T>(kind: string, weight = 1): Fault<T> => ({
  kind,
  weight,
  carryOut: async (run) => {
    await run();
    return run();
  },
});
