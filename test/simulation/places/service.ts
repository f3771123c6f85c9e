import { existsSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { PutEventsCommand } from '@aws-sdk/client-eventbridge';
import { ListQueuesCommand } from '@aws-sdk/client-sqs';
import { endpoints, triggers } from '../../../functions/api/catalogue.ts';
import { openEmbeddedDatabase } from '../../../infra/local/dynamodb/embedded-database.ts';
import { assemble, type HostParts, triggersOf } from '../../../infra/local/host/assemble.ts';
import { seedDemo } from '../../../infra/local/host/seed.ts';
import { awsTransport } from '../../../infra/local/machine/aws-transport.ts';
import type { HostClock } from '../../../infra/local/machine/clock.ts';
import { awsEndpoint, checkSettings, functionEnvironment } from '../../../infra/local/machine/environment.ts';
import { type Handler, loadEntry } from '../../../infra/local/machine/invoke.ts';
import { openState } from '../../../infra/local/machine/sqlite.ts';
import { parseSettings } from '../../../shared/core/settings.ts';
import { installedEndpoints } from '../../../shared/http/endpoint.ts';
import { openEventBridge, openSqs } from '../../../shared/platform/aws-clients.ts';
import type { Connection, Item } from '../../../shared/platform/connection.ts';
import { withOperatorSettings } from '../../../shared/platform/trigger.ts';
import { unpackedItem } from '../../builders/unpacked-item.ts';
import { currentInvocation } from '../kernel/invocation.ts';
import type { Kernel } from '../kernel/kernel.ts';
import type { HistoryProviderCall } from '../model/history.ts';
import { NOTICE_DAYS } from '../world/people.ts';
import { type Claims, createClaims } from './claims.ts';
import { functionsAsSteps } from './functions.ts';
import { laggingIndexes } from './lagging-indexes.ts';
import { BASE_URL, createNetwork, type Send } from './network.ts';
import { tableAsSteps } from './table.ts';
import { simulatedAwsSend } from './web.ts';

/** The service of one run. It consists of the local host's parts, connected by steps. */
export interface SimulatedService {
  readonly send: Send;
  readonly parts: HostParts;
  readonly claims: Claims['all'];
  readonly providerCalls: readonly HistoryProviderCall[];
  /** True if rate limits are on. */
  readonly limits: boolean;
  /** Calls a control route of the host. @throws Error unless it succeeds */
  control(method: string, path: string, body?: unknown): Promise<SimulatedJson>;
  items(): Promise<readonly Item[]>;
  close(): Promise<void>;
}

/** The body of a response. Its type is not checked, so the caller decides how to read it. */
export type SimulatedJson = ReturnType<typeof JSON.parse>;

/** Providers and targets have short time limits, so time-outs are frequent. */
const SETTINGS = {
  LOG_LEVEL: 'info',
  ID_SECRET: 'the id secret of every simulated run',
  PROVIDER_TIMEOUT_MS: '2000',
  EXTERNAL_WEBHOOK_TIMEOUT: '2000',
  RENEWAL_NOTICE_DAYS: String(NOTICE_DAYS),
  RENEWAL_NOTICE_MIN_MONTHS: '1',
} as const;

const handlers = new Map<string, Handler>();

/**
 * Modules that functions load only when they need them. They are loaded before a run, because a run must not load a
 * module.
 */
const LOADED_WHEN_NEEDED = [
  ...['stripe/stripe', 'paypal/paypal', 'square/square', 'braintree/braintree'].map((name) => `providers/${name}`),
  'access/guest-signature',
];

/**
 * Loads all functions and the files of the AWS SDK's first call, because no run may wait for the real file system.
 */
export const loadFunctions = async (): Promise<void> => {
  for (const { id, serves } of endpoints) if (serves === 'data') handlers.set(id, await loadEntry(id));
  for (const { id } of triggers) handlers.set(id, await loadEntry(id));
  for (const path of LOADED_WHEN_NEEDED) await import(new URL(`../../../shared/${path}.ts`, import.meta.url).href);
  const nowhere = { baseUrl: BASE_URL, basePath: '', dynamoEndpoint: '', queues: [] };
  const transport = awsTransport(
    async () => ({ status: 200, headers: {}, body: '{}' }),
    () => undefined,
  );
  const site = { env: functionEnvironment({}, nowhere), transport };
  await openEventBridge(site).send(new PutEventsCommand({ Entries: [] }));
  await openSqs(site).send(new ListQueuesCommand());
};

const loaded = (id: string): Handler => {
  const handler = handlers.get(id);
  if (!handler) throw new Error(`the simulation has not loaded ${id}`);
  return handler;
};

/** The webhook target receives only the service's own events, or also the providers' events. */
type EventMode = 'canonical' | 'both';

/** The choices of a seed. */
interface Chosen {
  readonly mode: EventMode;
  readonly limits: boolean;
}

/**
 * The share of runs with rate limits. Rate limits add steps to a request, and few people send enough requests to reach
 * a limit.
 */
const LIMITED = 0.25;

const drawSettings = (kernel: Kernel): Chosen => ({
  mode: kernel.prng('target').chance(0.2) ? 'both' : 'canonical',
  limits: kernel.prng('limits').chance(LIMITED),
});

const prepare = ({ mode, limits }: Chosen) => {
  const operator = { ...SETTINGS, RATE_LIMITS: limits ? 'on' : 'off' };
  const checked = checkSettings(operator, '');
  const catalogue = {
    endpoints: installedEndpoints(endpoints, checked),
    triggers: withOperatorSettings(triggers, checked),
  };
  const wired = functionEnvironment(operator, {
    baseUrl: BASE_URL,
    basePath: '',
    dynamoEndpoint: awsEndpoint(BASE_URL),
    queues: triggersOf(catalogue, 'queue').map(({ queue }) => queue),
  });
  const env = { ...wired, WEBHOOK_1_EVENT_MODE: mode };
  return { catalogue, env, settings: parseSettings(env) };
};
const prepared = new Map<string, ReturnType<typeof prepare>>();
const preparedFor = (chosen: Chosen): ReturnType<typeof prepare> => {
  const name = JSON.stringify(chosen);
  const known = prepared.get(name) ?? prepare(chosen);
  prepared.set(name, known);
  return known;
};

const MEMORY = ':memory:';

export const openService = async (kernel: Kernel): Promise<SimulatedService> => {
  const chosen = drawSettings(kernel);
  const { catalogue, env, settings } = preparedFor(chosen);
  const closing: (() => unknown)[] = [];
  const onClose = (step: () => unknown): void => void closing.push(step);
  const folder = join(tmpdir(), `simulation-${process.pid}`);
  onClose(() => {
    if (existsSync(folder)) rmSync(folder, { recursive: true, force: true });
  });
  const place = { temporary: true, folder, state: openState(MEMORY), file: () => MEMORY };
  onClose(place.state.close);
  const clock = clockOf(kernel);
  const database = openEmbeddedDatabase({
    place,
    tableName: settings.TABLE_NAME,
    triggers: triggersOf(catalogue, 'stream'),
    endpoint: awsEndpoint(BASE_URL),
  });
  onClose(database.close);
  const claims = createClaims(kernel.now);
  let parts: HostParts | undefined;
  const { send, providerCalls } = createNetwork(kernel, () => {
    if (!parts) throw new Error('the service is not assembled yet');
    return parts;
  });
  const functions = functionsAsSteps(kernel, loaded, catalogue.triggers);
  parts = assemble({
    ...{ place, baseUrl: BASE_URL, basePath: '', env, settings, database, onClose },
    catalogue: { ...catalogue, load: functions.load },
    between: (connection) => tableAsSteps(kernel, laggingIndexes(kernel, connection), claims),
    ledgerTag: 'simulate',
    // Omits the stack because it names folders of this machine.
    log: (line) => kernel.note(line.split('\n')[0] ?? ''),
    machine: {
      clock,
      send: simulatedAwsSend(send),
      instance: functions.instance,
    },
  });
  const connection = database.connect(clock.now);
  await kernel.driveUntil(seedDemo(database, clock.now));
  return {
    send,
    parts,
    claims: claims.all,
    providerCalls,
    limits: chosen.limits,
    control: controlOf(parts),
    items: () => everyItem(connection),
    close: async () => {
      // Awaits nothing, because a handler of a failed run may never end.
      for (const step of closing.reverse()) Promise.resolve(step()).catch(() => undefined);
    },
  };
};

/** The clock of the host, which only the scheduler moves. A function sees the clock of its instance. */
const clockOf = (kernel: Kernel): HostClock => {
  const refuse = async (): Promise<never> => {
    throw new Error('the scheduler moves the clock of a run');
  };
  return {
    now: () => kernel.now() + (currentInvocation()?.skewMs ?? 0),
    frozen: () => true,
    freeze: () => undefined,
    register: kernel.register,
    moveTo: refuse,
    moveBy: refuse,
    settle: refuse,
    // The scheduler itself checks for due work.
    wake: () => undefined,
    moving: () => true,
    start: () => undefined,
    stop: async () => undefined,
  };
};

const controlOf =
  ({ local }: HostParts): SimulatedService['control'] =>
  async (method, path, body) => {
    const url = new URL(`${BASE_URL}${path}`);
    const answer = await local({
      method,
      path: url.pathname,
      query: url.searchParams,
      headers: { 'content-type': 'application/json' },
      body: Buffer.from(body === undefined ? '' : JSON.stringify(body)),
      signal: undefined,
    });
    if (!answer || answer.status >= 300) throw new Error(`${method} /_local${path}: ${answer?.status} ${answer?.body}`);
    return answer.body === '' ? undefined : JSON.parse(answer.body);
  };

const PAGE = 1_000;

const everyItem = async (connection: Connection): Promise<readonly Item[]> => {
  const items: Item[] = [];
  let after: Item | undefined;
  do {
    const page = await connection.scan({ after, limit: PAGE });
    items.push(...page.items.map(unpackedItem));
    after = page.next;
  } while (after !== undefined);
  return items;
};
