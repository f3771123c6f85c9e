import { AsyncLocalStorage } from 'node:async_hooks';

/** One run of a function in one of its instances. */
export interface Invocation {
  readonly label: string;
  readonly functionId: string;
  /**
   * The instance that runs the function, with its dependencies and their caches. An instance keeps them between
   * invocations, as in AWS.
   */
  readonly instance: object;
  /** The clock of the instance minus the true time, ms. */
  readonly skewMs: number;
  /** The reason of an early end. Later steps and timers of the invocation never run. */
  stopped: string | undefined;
  /** Kills the invocation. Its caller sees a failed function. */
  stop(reason: string): void;
}

const running = new AsyncLocalStorage<Invocation>();

/** The current invocation; undefined in clients, providers and AWS services. */
export const currentInvocation = (): Invocation | undefined => running.getStore();

export const runIn = <T>(invocation: Invocation, work: () => T): T => running.run(invocation, work);
