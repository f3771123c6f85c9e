/**
 * @module A host with a proxy to the provider and a similar wrapper around the table connection. Both can stop a
 * function at its n-th call, before or after the call is executed. Later calls of the function then have no effect, as
 * after a crash. Streams, sweeps and projections are not affected.
 */

import { createServer, type IncomingMessage, request, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll } from 'vitest';
import type { Env } from '../../infra/local/machine/environment.ts';
import type { Connection } from '../../shared/platform/connection.ts';
import { startTestHost, type TestHost } from './host.ts';

export interface Stop {
  /** A position counted from 1, or the first call with this name. */
  readonly call: number | string;
  readonly executed: boolean;
}

interface Overtaken {
  readonly name: string | number;
  readonly stop: Stop;
}

export interface Stoppable {
  readonly service: TestHost;
  /** The names of the calls of `act`, in order. */
  watch(act: () => Promise<unknown>): Promise<string[]>;
  /** Runs `act` and stops its function at `stop`. */
  stopped<T>(stop: Stop, act: () => Promise<T>): Promise<T>;
  /** Fails one call of `act`, and executes the others. */
  losing<T>(stop: Stop, act: () => Promise<T>): Promise<T>;
  /**
   * Runs `act` and executes the call at `at`, but delays its response until `meanwhile` ends.
   * @param at the call's name or position (from 1), optionally with a stop, whose position counts from the next call
   */
  overtaken<T>(at: string | number | Overtaken, meanwhile: () => Promise<unknown>, act: () => Promise<T>): Promise<T>;
}

interface Watch {
  readonly names: string[];
  readonly at?: Stop;
  /** True if all calls after the stop fail too. */
  readonly forGood?: boolean;
  readonly hold?: {
    readonly name: string | number;
    readonly meanwhile: () => Promise<unknown>;
    readonly after?: Watch;
  };
}

/**
 * Uncounted calls are irregular reads of the cache epoch and table name, and the projection's writes of history,
 * list entries and sums.
 */
const NOT_COUNTED = [
  'CACHE#EPOCH',
  'TABLE#',
  'HIST#',
  'ALLPAY#',
  'ALLSUB#',
  'CUSTOMERS#',
  'WORD#',
  'KEYUSE#',
  'EMAIL#',
  'PAYER#',
  'SUMMED#',
];
const PROVIDER = '/stripe';

export const withStops = (env: Env = {}): (() => Stoppable) => {
  const closing: (() => unknown)[] = [];
  let running: Stoppable | undefined;
  beforeAll(async () => {
    running = await start(env, (step) => closing.push(step));
  });
  afterAll(async () => {
    for (const step of closing.reverse()) await step();
  });
  return () => {
    if (!running) throw new Error('the host runs within tests only');
    return running;
  };
};

const start = async (env: Env, onClose: (step: () => unknown) => void): Promise<Stoppable> => {
  const proxy = await openProxy();
  onClose(proxy.close);
  const service = await startTestHost({
    frozen: true,
    env: { ...env, PROVIDER_A_BASE_URL: `${proxy.url}${PROVIDER}` },
    between: (connection) => watched(connection, proxy.call),
  });
  onClose(service.stop);
  proxy.sendProviderCallsTo(`${service.host().baseUrl}/_local/providers/stripe`);
  const under = async <T>(watch: Watch, act: () => Promise<T>): Promise<T> => {
    await service.settle();
    proxy.use(watch);
    try {
      return await act();
    } finally {
      proxy.use(undefined);
    }
  };
  return {
    service,
    watch: async (act) => {
      const names: string[] = [];
      await under({ names }, act);
      return names;
    },
    stopped: (at, act) => under({ names: [], at, forGood: true }, act),
    losing: (at, act) => under({ names: [], at }, act),
    overtaken: async (at, meanwhile, act) => {
      const names: string[] = [];
      const { name, stop } = typeof at === 'object' ? at : { name: at };
      let happened: Promise<unknown> | undefined;
      const hold = {
        name,
        meanwhile: () => {
          happened = meanwhile();
          return happened.catch(() => undefined);
        },
        ...(stop && { after: { names: [], at: stop, forGood: true } }),
      };
      const acted = await under({ names, hold }, act);
      if (!happened) throw new Error(`no call was a ${name}: ${names.join(', ')}`);
      await happened;
      return acted;
    },
  };
};

/** Executes a function's call, skips it, or reports a failure to the function. */
type Call = <T>(name: string | undefined, carryOut: () => Promise<T>) => Promise<T>;

class Lost extends Error {}

const openProxy = async () => {
  let watch: Watch | undefined;
  let providerUrl = '';
  const call: Call = async (name, carryOut) => {
    const fate = watch ? fateOf(watch, name) : 'pass';
    if (fate === 'lost before') throw new Lost('stopped by a test');
    const hold = watch && name !== undefined && isHeld(watch, name) ? watch.hold : undefined;
    if (hold) watch = undefined;
    const answer = await carryOut();
    await hold?.meanwhile();
    if (hold) watch = hold.after;
    if (fate === 'lost after') throw new Lost('stopped by a test');
    return answer;
  };
  const handle = async (message: IncomingMessage, response: ServerResponse): Promise<void> => {
    const body = await bodyOf(message);
    const target = `${providerUrl}${message.url?.slice(PROVIDER.length)}`;
    const answer = await call(providerCall(message), () => forward(message, { body, target }));
    response.writeHead(answer.statusCode ?? 502, answer.headers);
    answer.pipe(response);
  };
  const server = createServer({ keepAliveTimeout: 65_000 }, (message, response) => {
    handle(message, response).catch(() => message.socket.destroy());
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    call,
    use: (next: Watch | undefined): void => {
      watch = next;
    },
    sendProviderCallsTo: (url: string): void => {
      providerUrl = url;
    },
    close: () =>
      new Promise<void>((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
};

/** Counts the calls of the table connection under DynamoDB's names. Queries and scans do not count. */
const watched = (connection: Connection, call: Call): Connection => {
  const named = (name: string, about: unknown): string | undefined =>
    NOT_COUNTED.some((part) => JSON.stringify(about).includes(part)) ? undefined : name;
  /** True for a projection's repair of aliases. It reads with eventual consistency, or writes an absent alias. */
  const isRepair = (about: unknown, only: string): boolean =>
    ['"REF#', only].every((part) => JSON.stringify(about).includes(part));
  return {
    ...connection,
    getItem: (...args) => call(named('GetItem', args), () => connection.getItem(...args)),
    getBatch: (...args) =>
      call(isRepair(args, ',false]') ? undefined : named('BatchGetItem', args), () => connection.getBatch(...args)),
    putItem: (...args) =>
      call(isRepair(args, '"absent":true') ? undefined : named('PutItem', args), () => connection.putItem(...args)),
    updateItem: (update) => call(named('UpdateItem', update), () => connection.updateItem(update)),
    deleteItem: (...args) => call(named('DeleteItem', args), () => connection.deleteItem(...args)),
    transact: (steps) => call(named('TransactWriteItems', steps), () => connection.transact(steps)),
  };
};

const providerCall = (message: IncomingMessage): string =>
  `${message.method} ${message.url
    ?.slice(PROVIDER.length)
    .replace(/^([^?]*)\?expand.*/, '$1')
    .replaceAll(/\b(pi|pm|cus|sub|in)_\w+/g, ':id')}`;

const isHeld = ({ names, hold }: Watch, name: string): boolean =>
  typeof hold?.name === 'number' ? names.length === hold.name : name.split('?')[0] === hold?.name;

const fateOf = ({ names, at, forGood }: Watch, name: string | undefined): 'pass' | 'lost before' | 'lost after' => {
  if (name === undefined) return 'pass';
  names.push(name);
  const stop = at === undefined ? 0 : positionOf(at, names);
  if (at === undefined || stop === 0 || names.length < stop) return 'pass';
  if (names.length === stop) return at.executed ? 'lost after' : 'lost before';
  return forGood ? 'lost before' : 'pass';
};

/** @returns 0 before the first call with this name */
const positionOf = ({ call }: Stop, names: readonly string[]): number =>
  typeof call === 'number' ? call : names.indexOf(call) + 1;

const bodyOf = async (message: IncomingMessage): Promise<Buffer> => {
  const chunks: Buffer[] = [];
  for await (const chunk of message) chunks.push(chunk);
  return Buffer.concat(chunks);
};

const forward = (
  message: IncomingMessage,
  { body, target }: { readonly body: Buffer; readonly target: string },
): Promise<IncomingMessage> =>
  new Promise((resolve, reject) => {
    const { host: _host, ...headers } = message.headers;
    const sent = request(target, { method: message.method, headers }, resolve);
    sent.on('error', reject);
    sent.end(body);
  });
