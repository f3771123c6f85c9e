import { join } from 'node:path';
import * as z from 'zod';
import { PROVIDER_SLOTS, type ProviderSlot, type Settings, type SlotSettings } from '../../../shared/core/settings.ts';
import { setHost } from '../../../shared/host.ts';
import type { Endpoint } from '../../../shared/http/endpoint.ts';
import type { Connection } from '../../../shared/platform/connection.ts';
import type { Trigger } from '../../../shared/platform/trigger.ts';
import type { Simulator, SimulatorOptions, SlotOptions } from '../../simulator/state/options.ts';
import { createLocal } from '../control/local-routes.ts';
import { startReport } from '../control/start-report.ts';
import { createSink } from '../control/webhook-sink.ts';
import type { Database } from '../dynamodb/database.ts';
import { openFailures } from '../dynamodb/failures.ts';
import { createStreams } from '../dynamodb/stream.ts';
import { createCors } from '../gateway/cors.ts';
import { createGateway, type Gateway } from '../gateway/gateway.ts';
import type { Route } from '../gateway/gateway-routes.ts';
import { createIdentity } from '../identity/identity.ts';
import type { LocalRequest, LocalResponse } from '../machine/answer.ts';
import type { Operations } from '../machine/aws-protocol.ts';
import { type AwsSend, awsTransport, sendInProcess } from '../machine/aws-transport.ts';
import { checkedConnection } from '../machine/checked-connection.ts';
import { createClock, type HostClock, type KeptTime } from '../machine/clock.ts';
import type { DataFolder } from '../machine/data-folder.ts';
import { queueUrl } from '../machine/environment.ts';
import { createFunctions, type Functions, type LoadHandler } from '../machine/invoke.ts';
import { createRights, type DeclaredFunction } from '../machine/rights.ts';
import { modeOf } from '../machine/slots.ts';
import { StartError } from '../machine/start-error.ts';
import { createThrottling, type Throttling, throttledConnection } from '../machine/throttling.ts';
import { createBus, type Envelope } from '../messaging/bus.ts';
import type { NewMessageId } from '../messaging/message-ids.ts';
import { openQueueStore } from '../messaging/queue-store.ts';
import { createQueues } from '../messaging/queues.ts';
import { createSchedules } from '../messaging/schedules.ts';
import { sqsOperations } from '../messaging/sqs.ts';
import type { DemoId } from './id-secret.ts';
import { createSimulator } from './simulator.ts';

/** The functions that a host runs. */
export interface Catalogue {
  readonly endpoints: readonly (Route & DeclaredFunction & Partial<Pick<Endpoint, 'serves'>>)[];
  readonly triggers: readonly Trigger[];
  readonly load: LoadHandler;
}

export interface HostInputs {
  readonly place: DataFolder;
  readonly baseUrl: string;
  readonly basePath: string;
  readonly catalogue: Catalogue;
  readonly database: Database;
  /** Wraps the functions' connection to the table, for tests. */
  readonly between: (connection: Connection) => Connection;
  readonly env: Readonly<Record<string, string>>;
  readonly settings: Settings;
  /** Start of a new data folder's clock, epoch ms; now by default. */
  readonly beginsAt?: number;
  /** Part of the ids of a new simulator; derived from the time by default. */
  readonly ledgerTag?: string;
  /** Ids of queue messages; random by default. */
  readonly newMessageId?: NewMessageId;
  readonly demoId?: DemoId;
  readonly log: (line: string) => void;
  /** Registers a step for the host's close. Steps run in reverse order. */
  readonly onClose: (step: () => unknown) => void;
  /** Replaces parts of the machine in simulations. */
  readonly machine?: SimulatedMachine;
}

/** A simulation's replacements for parts of the machine. */
export interface SimulatedMachine {
  readonly clock: HostClock;
  /** Sends the requests of the AWS SDK. */
  readonly send: AwsSend;
  /** Where the running function keeps its dependencies. */
  readonly instance: () => object;
}

export interface HostParts {
  readonly clock: HostClock;
  readonly gateway: Gateway;
  readonly local: (ask: LocalRequest) => Promise<LocalResponse | undefined>;
  busEvents(): readonly Envelope[];
  invoke(id: string, event: unknown): Promise<unknown>;
  replayStream(triggerId: string): Promise<void>;
  warm(): Promise<void>;
}

/** The only schedule with known due work. Its ticks without due work are skipped. */
const SWEEP = 'workers.sweep-due';
const DIRECT_TIMEOUT_SECONDS = 60;

export const triggersOf = <Kind extends Trigger['kind']>(
  { triggers }: Pick<Catalogue, 'triggers'>,
  kind: Kind,
): Extract<Trigger, { kind: Kind }>[] =>
  triggers.filter((trigger): trigger is Extract<Trigger, { kind: Kind }> => trigger.kind === kind);

/** Creates the parts, connects and starts them. */
export const assemble = (site: HostInputs): HostParts => {
  const { catalogue, settings, onClose, machine } = site;
  const clock = machine?.clock ?? openClock(site);
  let operations: Operations = {};
  const rights = createRights({ ...catalogue, log: site.log });
  const throttling = createThrottling();
  const reached = throttledConnection(site.database.connect(clock.now), throttling);
  const connection = checkedConnection(site.between(reached), rights.require);
  setHost({
    env: site.env,
    now: clock.now,
    rights,
    connection,
    transport: awsTransport(machine?.send ?? sendInProcess(() => operations), rights.require),
    ...(machine && { instance: machine.instance }),
    ...(site.demoId && { demoId: site.demoId }),
  });
  let afterEach = (): void => undefined;
  const functions = createFunctions({ load: catalogue.load, as: rights.as, afterEach: () => afterEach() });
  const { local, bus, streams, start, ...services } = createServices({ ...site, throttling }, clock, functions);
  operations = services.operations;
  onClose(functions.stop);
  afterEach = () => {
    streams.poke();
    clock.wake();
  };
  const gateway = createGateway({
    routes: catalogue.endpoints,
    basePath: site.basePath,
    cors: createCors(settings.ALLOWED_ORIGINS),
    clock,
    invoke: functions.invoke,
    log: site.log,
  });
  start();
  clock.start();
  onClose(clock.stop);
  return {
    clock,
    gateway,
    local,
    busEvents: bus.events,
    invoke: (id, event) => functions.invoke(id, event, DIRECT_TIMEOUT_SECONDS),
    replayStream: streams.replay,
    warm: () => functions.warm([...catalogue.endpoints, ...catalogue.triggers].map(({ id }) => id)),
  };
};

const keptTimeSchema = z.object({ offsetMs: z.number(), reached: z.number(), frozenAt: z.number().nullable() });

const openClock = ({ place, beginsAt, log }: HostInputs): HostClock =>
  createClock({
    kept: place.state.get('clock', keptTimeSchema) ?? (beginsAt === undefined ? undefined : beginning(beginsAt)),
    keep: (time) => place.state.set('clock', time),
    log,
  });

/** A frozen clock for the demo data, which moves only on request. */
const beginning = (at: number): KeptTime => ({ offsetMs: at - Date.now(), reached: at, frozenAt: at });

/** Caches the result until the next write. */
const cacheUntilWrite = <T>(writeMark: () => number, look: () => Promise<T>): (() => Promise<T>) => {
  let known: { readonly mark: number; readonly found: T } | undefined;
  return async () => {
    const mark = writeMark();
    if (known?.mark !== mark) known = { mark, found: await look() };
    return known.found;
  };
};

/** Everything behind the gateway. */
const createServices = (
  site: HostInputs & { readonly throttling: Throttling },
  clock: HostClock,
  { invoke }: Functions,
) => {
  const { catalogue, database, place, baseUrl, throttling, log, onClose } = site;
  const store = openQueueStore(place.state, site.newMessageId);
  const triggers = triggersOf(catalogue, 'queue');
  const queues = createQueues({ triggers, store, clock, invoke, log });
  const bus = createBus({ name: site.settings.EVENT_BUS_NAME, triggers, send: queues.send, clock, throttling });
  const streamTriggers = triggersOf(catalogue, 'stream');
  const failures = openFailures({ folder: join(place.folder, 'failures'), triggers: streamTriggers, invoke });
  const streams = createStreams({
    source: database.stream,
    triggers: streamTriggers,
    state: place.state,
    clock,
    invoke,
    failures,
    log,
  });
  const schedules = createSchedules({
    triggers: triggersOf(catalogue, 'schedule'),
    clock,
    invoke,
    earliestWork: { [SWEEP]: cacheUntilWrite(database.stream.writeMark, database.earliestDue) },
    log,
  });
  const simulator = openSimulator(site, clock);
  onClose(simulator.close);
  const identity = createIdentity({
    state: place.state,
    clock,
    issuer: site.settings.IDENTITY_ISSUER,
    audience: site.settings.IDENTITY_AUDIENCE[0] ?? '',
  });
  identity.seed();
  const operations = {
    ...database.operations,
    ...bus.operations,
    ...sqsOperations({ queues, store, clock, urlOf: (name) => queueUrl(baseUrl, name), throttling }),
  };
  const sink = createSink(place.state, clock);
  const addresses = { basePath: site.basePath, dynamoEndpoint: database.endpoint };
  for (const work of [simulator, streams, queues, schedules]) clock.register(work);
  return {
    bus,
    streams,
    operations,
    local: createLocal({
      clock,
      queues,
      failures,
      identity,
      sink,
      throttling,
      operations,
      simulator,
      addresses,
      startReport: () => startReport(site.env),
    }),
    start: (): void => {
      for (const consumers of [streams, queues]) consumers.start();
      onClose(() => Promise.all([streams.stop(), queues.stop(), schedules.stop()]));
    },
  };
};

/** A slot that calls the provider's sandbox has no simulated account. */
const NOT_SIMULATED = { adapter: '', apiKey: '', webhookSecret: '' } as const;

const openSimulator = (
  { settings, env, baseUrl, basePath, place, ledgerTag }: HostInputs,
  clock: HostClock,
): Simulator => {
  const slotOf = (slot: ProviderSlot): SlotOptions => ({
    adapter: settings.slots[slot].ADAPTER,
    webhookUrl: `${baseUrl}${basePath}/webhooks/${slot}`,
    ...credentialsOf(settings.slots[slot]),
    ...(modeOf(env, slot) === 'sandbox' && NOT_SIMULATED),
  });
  const [a, b, c, d] = PROVIDER_SLOTS;
  const slots = { [a]: slotOf(a), [b]: slotOf(b), [c]: slotOf(c), [d]: slotOf(d) };
  try {
    const { onFailedWrite } = place;
    const site = new URL(settings.PUBLIC_BASE_URL || baseUrl).origin;
    const file = place.file('simulator.db');
    return createSimulator({ clock, file, onFailedWrite, slots, site, deliver, ledgerTag });
  } catch (error) {
    throw new StartError(error instanceof Error ? error.message : String(error), error);
  }
};

/** An adapter's credentials at the simulator, and the secret for its webhooks. */
const credentialsOf = (slot: SlotSettings): Pick<SlotOptions, 'apiKey' | 'webhookSecret'> => {
  switch (slot.ADAPTER) {
    case 'paypal':
      return { apiKey: `${slot.CLIENT_ID}:${slot.CLIENT_SECRET}`, webhookSecret: slot.WEBHOOK_ID };
    case 'square':
      return { apiKey: slot.ACCESS_TOKEN, webhookSecret: firstOf(slot.SIGNATURE_KEY) };
    case 'braintree':
      return { apiKey: slot.PRIVATE_KEY, webhookSecret: '' };
    default:
      return { apiKey: slot.API_KEY, webhookSecret: firstOf(slot.WEBHOOK_SECRET) };
  }
};

/** If there are several secrets, the simulator signs with the first. */
const firstOf = (secrets: string): string => secrets.split(',')[0]?.trim() ?? '';

const deliver: SimulatorOptions['deliver'] = async (url, init) => {
  const response = await fetch(url, { method: 'POST', ...init });
  return { status: response.status, body: await response.text() };
};
