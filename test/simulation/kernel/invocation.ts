import { AsyncLocalStorage } from 'node:async_hooks';

/** One run of a function in one of its instances. */
export interface Invocation {
  readonly label: string;
  readonly functionId: string;
  /** Holds the functions' dependencies, with their caches, which a real instance keeps between its invocations. */
  readonly instance: object;
  /** The clock of the instance minus the true time, ms. */
  readonly skewMs: number;
  /** Why it ended early. Its later steps and timers never run. */
  stopped: string | undefined;
  /** Ends it. Its caller sees a failed function. */
  stop(reason: string): void;
}

const running = new AsyncLocalStorage<Invocation>();

/** undefined in clients, providers and the services of AWS. */
export const currentInvocation = (): Invocation | undefined => running.getStore();

export const runIn = <T>(invocation: Invocation, work: () => T): T => running.run(invocation, work);
