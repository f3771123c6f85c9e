/**
 * @module The environment of a function, and the settings, log, table, bus and queues that every function builds from
 * it. No other file reads process.env. Each dependency is built at its first use, once per cold start. Functions that
 * need nothing else import this file instead of `runtime.ts`.
 */

import type { IdKind } from './core/ids.ts';
import { jsonLog } from './core/logger.ts';
import type { Right } from './core/rights.ts';
import type { Environment } from './core/setting.ts';
import { type ProviderSlot, parseSettings } from './core/settings.ts';
import type { Now } from './core/time.ts';
import { type AwsTransport, openDocumentClient, openEventBridge, openSqs } from './platform/aws-clients.ts';
import { openBus } from './platform/bus.ts';
import type { Connection } from './platform/connection.ts';
import { connectDynamo } from './platform/dynamo-table.ts';
import { fetchOverHttp } from './platform/fetch.ts';
import { openQueues } from './platform/queues.ts';
import { openTable } from './platform/table.ts';

interface HostEnvironment {
  readonly env: Environment;
  readonly now: Now;
  /** Absent on AWS, where IAM roles enforce the rights. */
  readonly rights?: FunctionRights;
  /** A table connection of the host; defaults to DynamoDB through the AWS SDK. */
  readonly connection?: Connection;
  /** The running instance, if one process hosts several with separate caches. Defaults to the process, as on Lambda. */
  readonly instance?: () => object;
  /** Fixed ids for demo data, the same on every machine. Returns undefined once the host serves requests. */
  readonly demoId?: (kind: IdKind, parts: readonly string[]) => string | undefined;
  /** Transport for requests to the bus and the queues; HTTP by default. */
  readonly transport?: AwsTransport;
}

/** The declared rights of each function, for a host that runs all functions in one process. */
export interface FunctionRights {
  /** True if the running function declares the right. */
  readonly holds: (right: Right) => boolean;
}

let host: HostEnvironment = { env: process.env, now: Date.now };

/** Sets the environment and the clock of the host. Lambda keeps the process's defaults. */
export const setHost = (environment: HostEnvironment): void => {
  host = environment;
};

/* @__NO_SIDE_EFFECTS__ */
const builtFor = <T>(owner: () => object, build: () => T): (() => T) => {
  const built = new WeakMap<object, { readonly value: T }>();
  return () => {
    const of = owner();
    const known = built.get(of) ?? { value: build() };
    built.set(of, known);
    return known.value;
  };
};
/** Builds a dependency once per host. For objects without state between requests. */
/* @__NO_SIDE_EFFECTS__ */
export const perHost = <T>(build: () => T): (() => T) => builtFor(() => host, build);
/** Builds a dependency once per instance. For caches and the objects that use them. */
/* @__NO_SIDE_EFFECTS__ */
export const perInstance = <T>(build: () => T): (() => T) => builtFor(() => host.instance?.() ?? host, build);

/** The environment variables of the function or of its host. */
export const environment = (): Environment => host.env;
export const now: Now = () => host.now();
export const settings = /* @__PURE__ */ perHost(() => parseSettings(host.env));

export const holds = (right: Right): boolean => host.rights?.holds(right) ?? true;

export const demoId = (kind: IdKind, parts: readonly string[]): string | undefined => host.demoId?.(kind, parts);

export const log = /* @__PURE__ */ perHost(() =>
  jsonLog({
    level: host.env['LOG_LEVEL'] === 'silent' ? 'SILENT' : 'INFO',
    stage: settings().STAGE,
    // Lambda sets this variable for each request.
    trace: () => host.env['_X_AMZN_TRACE_ID'],
  }),
);
export const table = /* @__PURE__ */ perHost(() => openTable(host.connection ?? connectTable(), now));
const connectTable = (): Connection => connectDynamo(openDocumentClient({ env: host.env }), settings().TABLE_NAME, now);
const site = () => ({ env: host.env, transport: host.transport });
const bus = /* @__PURE__ */ perHost(() => openBus(openEventBridge(site()), settings().EVENT_BUS_NAME, now));
export const queues = /* @__PURE__ */ perHost(() => openQueues(openSqs(site()), settings().queueUrls));

/** The path prefix of every route, which API Gateway does not strip, and whether console and hosted pages are on. */
export const routingDeps = /* @__PURE__ */ perHost(() => ({
  basePath: settings().BASE_PATH,
  CONSOLE: settings().CONSOLE,
  HOSTED_PAGES: settings().HOSTED_PAGES,
}));

export const publishDeps = /* @__PURE__ */ perHost(() => ({ bus: bus(), table: table(), log: log() }));
export const projectDeps = /* @__PURE__ */ perHost(() => ({ table: table(), log: log() }));
export const probeDeps = /* @__PURE__ */ perHost(() => ({
  fetch: fetchOverHttp,
  baseUrl: settings().PUBLIC_BASE_URL,
  log: log(),
}));
export const sweepDeps = /* @__PURE__ */ perHost(() => ({
  table: table(),
  tableName: settings().TABLE_NAME,
  queues: queues(),
  log: log(),
  now,
  callsPerSecond: (slot: ProviderSlot) => settings().slots[slot].BACKGROUND_RATE,
}));
