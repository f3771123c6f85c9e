import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { parseSettings } from '../../../shared/core/settings.ts';
import { DAY_MS } from '../../../shared/core/time.ts';
import { installedEndpoints } from '../../../shared/http/endpoint.ts';
import type { Connection } from '../../../shared/platform/connection.ts';
import type { Trigger } from '../../../shared/platform/trigger.ts';
import { withOperatorSettings } from '../../../shared/platform/trigger.ts';
import type { Database } from '../dynamodb/database.ts';
import { openEmbeddedDatabase, TABLE_FILE } from '../dynamodb/embedded-database.ts';
import { createClientDownload } from '../gateway/client-download.ts';
import { createClosedDoor, type Door } from '../gateway/door.ts';
import { createReference } from '../gateway/reference-page.ts';
import { listen } from '../gateway/server.ts';
import type { Clock } from '../machine/clock.ts';
import { type DataFolder, openDataFolder } from '../machine/data-folder.ts';
import {
  awsEndpoint,
  checkSettings,
  type Env,
  functionEnvironment,
  operatorEnvironment,
  readHostSettings,
} from '../machine/environment.ts';
import { loadEntry } from '../machine/invoke.ts';
import { StartError } from '../machine/start-error.ts';
import type { Envelope } from '../messaging/bus.ts';
import { demoMessageIds } from '../messaging/message-ids.ts';
import { assemble, type Catalogue, triggersOf } from './assemble.ts';
import { demoIds, idSecretOf } from './id-secret.ts';
import { seedDemo } from './seed.ts';

/** The whole service in one process: the functions of the catalogue, the table, and stand-ins for all other systems. */
export interface Host {
  readonly baseUrl: string;
  readonly clock: Clock;
  /** The data folder; a temporary one for `:memory:`. */
  readonly folder: string;
  readonly dynamoEndpoint: string;
  /** Direct access to the table, without functions and rights. */
  readonly connection: Connection;
  /** The environment of the functions. */
  readonly env: Readonly<Record<string, string>>;
  readonly observed: { busEvents(): readonly Envelope[] };
  /** Invokes a function as its trigger would. */
  invoke(id: string, event: unknown): Promise<unknown>;
  /** Sends the whole stream to one consumer again. */
  replayStream(triggerId: string): Promise<void>;
  /** Preloads all functions in the background, one at a time. */
  warm(): Promise<void>;
  /** Holds outside requests while the demo data are made. If undefined, requests do not wait. */
  readonly door: Door | undefined;
  stop(): Promise<void>;
}

export interface HostOptions {
  /** 0 listens on a free port. */
  readonly port?: number;
  /** A folder, or `:memory:`. */
  readonly dataDir: string;
  /**
   * For demo data, a new data folder's clock starts this many days ago, and outside requests wait until the door opens.
   */
  readonly daysAgo?: number;
  /** The present for `daysAgo`, epoch ms; real time by default. */
  readonly present?: number;
  /** Called after the host has locked its port and data folder, before it creates data. */
  readonly onHeld?: () => void;
  /** Overrides the environment of the process. */
  readonly env?: Env;
  readonly log?: (line: string) => void;
  /** Called when the disk is full, which ends the host's work; `log` by default. */
  readonly onLoss?: (line: string) => void;
  /** Replaces the service's own functions. */
  readonly catalogue?: Catalogue;
  /** Wraps the functions' connection to the table, for tests. */
  readonly between?: (connection: Connection) => Connection;
  /** Replaces the embedded table, for tests and benchmarks. */
  readonly openDatabase?: (site: DatabaseSite) => Promise<Database>;
}

export interface DatabaseSite {
  readonly place: DataFolder;
  readonly tableName: string;
  readonly onLoss: (line: string) => void;
  readonly onClose: (step: () => unknown) => void;
}

/** Demo sessions by the document's security schemes. */
const DEMO_CREDENTIALS = { session: 'demo-owner', platformAdmin: 'demo-admin' } as const;

/** Keeps the provider ids in the demo data the same at every start. */
const DEMO_TAG = 'demo0000';

/** @throws StartError or SettingsError with the reason for the operator. In that case nothing keeps running. */
export const startHost = async (options: HostOptions): Promise<Host> => {
  const closing: (() => unknown)[] = [];
  let closed: Promise<void> | undefined;
  const closeAll = async (): Promise<void> => {
    for (const step of closing.splice(0).reverse()) await step();
  };
  const stop = (): Promise<void> => {
    closed ??= closeAll();
    return closed;
  };
  try {
    return { ...(await start(options, (step) => closing.push(step))), stop };
  } catch (error) {
    await stop();
    throw error;
  }
};

const start = async (options: HostOptions, onClose: (step: () => unknown) => void): Promise<Omit<Host, 'stop'>> => {
  const operator = operatorEnvironment(options.env);
  const { basePath, address, allowedHosts } = readHostSettings(operator);
  const checked = checkSettings(operator, basePath);
  const log = options.log ?? (() => undefined);
  const declared = options.catalogue ?? (await serviceCatalogue());
  const catalogue = {
    ...declared,
    endpoints: installedEndpoints(declared.endpoints, checked),
    triggers: withOperatorSettings(declared.triggers, checked),
  };
  const onLoss = options.onLoss ?? log;
  const place = openDataFolder(options.dataDir, { onClose, onLoss });
  const door = options.daysAgo === undefined ? undefined : createClosedDoor();
  const listener = await listen({ port: options.port ?? 0, address, allowedHosts }, door);
  onClose(listener.close);
  options.onHeld?.();
  const { baseUrl } = listener;
  const tableName = checked.TABLE_NAME;
  const openOwn = async (): Promise<Database> => {
    refuseFormerEngine(place);
    const triggers = triggersOf(catalogue, 'stream');
    return openEmbeddedDatabase({ place, tableName, triggers, endpoint: awsEndpoint(baseUrl) });
  };
  const database = await (options.openDatabase ?? openOwn)({ place, tableName, onLoss, onClose });
  onClose(database.close);
  const wiring = {
    ...{ baseUrl, basePath, dynamoEndpoint: database.endpoint },
    queues: triggersOf(catalogue, 'queue').map(({ queue }) => queue),
  };
  const env = { ...functionEnvironment(operator, wiring), ID_SECRET: idSecretOf(operator, place.state) };
  const settings = parseSettings(env);
  const site = {
    ...{ place, baseUrl, basePath, catalogue, database, env, settings, log, onClose },
    between: options.between ?? ((connection: Connection) => connection),
    ...(options.daysAgo !== undefined && {
      beginsAt: (options.present ?? Date.now()) - options.daysAgo * DAY_MS,
      ledgerTag: DEMO_TAG,
    }),
    ...(door && { newMessageId: demoMessageIds(() => !door.isOpen()), demoId: demoIds(() => !door.isOpen()) }),
  };
  const parts = assemble(site);
  await seedDemo(database, parts.clock.now);
  listener.open({
    gateway: parts.gateway,
    local: parts.local,
    reference: createReference(basePath, operator['IDENTITY_URL'] ? {} : DEMO_CREDENTIALS),
    client: createClientDownload(basePath),
    basePath,
    home: catalogue.endpoints.some(({ serves }) => serves === 'console') ? `${basePath}/console` : undefined,
    log,
  });
  onClose(listener.refuse);
  return {
    baseUrl,
    clock: parts.clock,
    folder: place.folder,
    dynamoEndpoint: database.endpoint,
    connection: database.connect(parts.clock.now),
    env,
    observed: { busEvents: parts.busEvents },
    invoke: parts.invoke,
    replayStream: parts.replayStream,
    warm: parts.warm,
    door,
  };
};

/** The database file of a former engine that earlier versions could use. */
const FORMER_FILE = 'dynamodb.db';

/**
 * Refuses to start if the folder only has data of the former engine. The host would show an empty table, although the
 * folder's payments still exist.
 * @throws StartError in this case; the old file is unchanged
 */
const refuseFormerEngine = ({ folder, temporary }: DataFolder): void => {
  const has = (file: string): boolean => existsSync(join(folder, file));
  if (temporary || has(TABLE_FILE) || !has(FORMER_FILE)) return;
  throw new StartError(
    `DATA_DIR ${folder} has the data of the dynoxide engine, which this version does not read; set another DATA_DIR`,
  );
};

/**
 * The service's functions, loaded only if a host runs them. On one machine a person waits for the effects of a change,
 * and writes are free. So stream consumers do not wait to fill their batches.
 */
const serviceCatalogue = async (): Promise<Catalogue> => {
  const { endpoints, triggers } = await import('../../../functions/api/catalogue.ts');
  return { endpoints, triggers: triggers.map(withoutGathering), load: loadEntry };
};

const withoutGathering = (trigger: Trigger): Trigger =>
  trigger.kind === 'stream' ? { ...trigger, gatherSeconds: undefined } : trigger;
