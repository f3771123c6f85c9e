/** @module A local Lambda. Handlers run in this process and are loaded on first use. */

import { randomUUID } from 'node:crypto';
import * as z from 'zod';

export type Handler = (event: unknown, context: FunctionContext) => unknown;
export type LoadHandler = (id: string) => Promise<Handler>;
/** @throws the handler's error, or a timeout error. */
export type Invoke = (id: string, event: unknown, timeoutSeconds: number) => Promise<unknown>;

export interface FunctionContext {
  readonly awsRequestId: string;
  readonly functionName: string;
  readonly functionVersion: string;
  readonly invokedFunctionArn: string;
  readonly memoryLimitInMB: string;
  readonly logGroupName: string;
  readonly logStreamName: string;
  readonly callbackWaitsForEmptyEventLoop: boolean;
  getRemainingTimeInMillis(): number;
}

export interface Functions {
  readonly invoke: Invoke;
  /** Loads handlers one at a time, so requests wait only briefly. */
  warm(ids: readonly string[]): Promise<void>;
  stop(): Promise<void>;
}

const entrySchema = z.object({
  handler: z.custom<Handler>((value) => typeof value === 'function', 'an entry exports a function `handler`'),
});

/** `payments.confirm` is functions/payments/confirm.ts, export `handler`. */
export const loadEntry: LoadHandler = async (id) => {
  const entry = new URL(`../../../functions/${id.replaceAll('.', '/')}.ts`, import.meta.url);
  return entrySchema.parse(await import(/* @vite-ignore */ entry.href)).handler;
};

export const createFunctions = (options: {
  readonly load: LoadHandler;
  /** Runs the work with the rights of this function. */
  readonly as: <T>(id: string, work: () => T) => T;
  /** Called after each handler, because it may have queued work. */
  readonly afterEach: () => void;
}): Functions => {
  const loaded = new Map<string, Promise<Handler>>();
  const running = new Set<Promise<unknown>>();
  let stopped = false;

  const handlerOf = (id: string): Promise<Handler> => {
    const known = loaded.get(id);
    if (known) return known;
    const loading = options.load(id);
    loaded.set(id, loading);
    loading.catch(() => loaded.delete(id));
    return loading;
  };
  const run: Invoke = async (id, event, timeoutSeconds) => {
    const handler = await handlerOf(id);
    const deadline = performance.now() + timeoutSeconds * 1_000;
    let timer: NodeJS.Timeout | undefined;
    const timeUp = new Promise<never>((_, reject) => {
      const fail = () => reject(new Error(`${id} timed out after ${timeoutSeconds} s`));
      timer = setTimeout(fail, timeoutSeconds * 1_000);
    });
    try {
      const work = options.as(id, () => handler(event, contextOf(id, deadline)));
      return await Promise.race([work, timeUp]);
    } finally {
      clearTimeout(timer);
      options.afterEach();
    }
  };

  return {
    invoke: (id, event, timeoutSeconds) => {
      const work = run(id, event, timeoutSeconds);
      running.add(work);
      const done = () => void running.delete(work);
      work.then(done, done);
      return work;
    },
    warm: async (ids) => {
      for (const id of ids) {
        if (stopped) return;
        const loading = handlerOf(id);
        running.add(loading);
        await loading.catch(() => undefined);
        running.delete(loading);
        await new Promise((resolve) => setImmediate(resolve));
      }
    },
    stop: async () => {
      stopped = true;
      await Promise.allSettled(running);
    },
  };
};

const contextOf = (id: string, deadline: number): FunctionContext => ({
  awsRequestId: randomUUID(),
  functionName: id.replaceAll('.', '-'),
  functionVersion: '$LATEST',
  invokedFunctionArn: `arn:aws:lambda:local:000000000000:function:${id.replaceAll('.', '-')}`,
  memoryLimitInMB: '512',
  logGroupName: '/aws/lambda/local',
  logStreamName: 'local',
  callbackWaitsForEmptyEventLoop: true,
  getRemainingTimeInMillis: () => Math.max(0, deadline - performance.now()),
});
