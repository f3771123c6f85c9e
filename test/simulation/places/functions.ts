/**
 * @module Simulates Lambda. The start of a function is a step. An instance serves one invocation at a time, and keeps
 * its caches between invocations. A killed or timed-out invocation also ends its instance.
 */
import type { FunctionContext, Handler, LoadHandler } from '../../../infra/local/machine/invoke.ts';
import type { Trigger } from '../../../shared/platform/trigger.ts';
import { currentInvocation, type Invocation, runIn } from '../kernel/invocation.ts';
import type { Kernel } from '../kernel/kernel.ts';
import { refusedWith } from '../kernel/step.ts';

export interface FunctionsAsSteps {
  readonly load: LoadHandler;
  /** The instance of the running function, or the shared instance of everything outside of functions. */
  readonly instance: () => object;
}

interface Instance {
  busy: boolean;
  readonly skewMs: number;
}

export const functionsAsSteps = (
  kernel: Kernel,
  load: (id: string) => Handler,
  triggers: readonly Pick<Trigger, 'id' | 'kind'>[],
): FunctionsAsSteps => {
  const prng = kernel.prng('instances');
  const outside = {};
  const pools = new Map<string, Instance[]>();
  const fedTwice = new Set(triggers.filter(({ kind }) => kind !== 'schedule').map(({ id }) => id));
  let count = 0;

  const instanceOf = (id: string): Instance => {
    const { freshInstances, clockSkewMs } = kernel.weather();
    const pool = pools.get(id) ?? [];
    pools.set(id, pool);
    const idle = pool.filter(({ busy }) => !busy);
    if (idle.length > 0 && !prng.chance(freshInstances)) return prng.pick(idle);
    const made = { busy: false, skewMs: prng.int(-clockSkewMs, clockSkewMs) };
    if (made.skewMs !== 0) kernel.count('clock that is off');
    if (idle.length > 0) kernel.count('instance replaced');
    pool.push(made);
    return made;
  };
  const leave = (id: string, instance: Instance, stays: boolean): void => {
    instance.busy = false;
    const pool = pools.get(id) ?? [];
    if (!stays) pool.splice(pool.indexOf(instance), 1);
  };

  const invoke = (id: string, handler: Handler, given: Given): Promise<unknown> => {
    const instance = instanceOf(id);
    instance.busy = true;
    count += 1;
    const { promise, resolve, reject } = Promise.withResolvers<unknown>();
    const invocation: Invocation = {
      label: `#${count} ${id}`,
      functionId: id,
      instance,
      skewMs: instance.skewMs,
      stopped: undefined,
      stop: (reason) => {
        if (invocation.stopped !== undefined) return;
        invocation.stopped = reason;
        leave(id, instance, false);
        reject(new Error(`${id}: ${reason}`));
      },
    };
    const deadline = kernel.timers.add(() => {
      kernel.note(`${invocation.label} timed out`);
      kernel.count('function timed out');
      invocation.stop('timed out');
    }, given.context.getRemainingTimeInMillis());
    const end = (settle: () => void) => () => {
      if (invocation.stopped !== undefined) return;
      invocation.stopped = 'ended';
      kernel.timers.clear(deadline);
      leave(id, instance, true);
      settle();
    };
    runIn(invocation, async () => handler(given.event, given.context)).then(
      (result) => end(() => resolve(result))(),
      (error: unknown) => end(() => reject(error))(),
    );
    return promise.finally(() => kernel.timers.clear(deadline));
  };

  return {
    instance: () => currentInvocation()?.instance ?? outside,
    load: async (id) => {
      const handler = load(id);
      return async (event, context) => {
        const given = { event, context };
        await kernel.step({
          place: 'start',
          call: id,
          run: async () => undefined,
          faults: [refusedWith('function not started', () => new Error(`${id}: TooManyRequestsException`))],
        });
        if (fedTwice.has(id) && prng.chance(kernel.weather().doubleStarts)) {
          kernel.note(`${id} is started twice with the same message`);
          kernel.count('function started twice');
          invoke(id, handler, given).catch(() => undefined);
        }
        return invoke(id, handler, given);
      };
    },
  };
};

interface Given {
  readonly event: unknown;
  readonly context: FunctionContext;
}
