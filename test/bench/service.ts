/** @module Starts the whole service on a frozen clock, with a meter between its functions and DynamoDB. */
import { DynamoDBClient, GetItemCommand, PutItemCommand } from '@aws-sdk/client-dynamodb';
import { marshall } from '@aws-sdk/util-dynamodb';
import { endpoints, triggers } from '../../functions/api/catalogue.ts';
import { type Host, startHost } from '../../infra/local/host/host.ts';
import { loadEntry } from '../../infra/local/machine/invoke.ts';
import { setHost } from '../../shared/host.ts';
import type { Key } from '../../shared/platform/keys.ts';
import type { Trigger } from '../../shared/platform/trigger.ts';
import { onDynoxide } from '../engine/engine-database.ts';
import { openMeter, type Run } from './meter.ts';
import type { Attributes } from './units.ts';

export type Json = ReturnType<typeof JSON.parse>;

export interface Ask {
  readonly method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';
  readonly path: string;
  readonly body?: unknown;
  readonly headers?: Readonly<Record<string, string>>;
}

export interface ServiceAnswer {
  readonly status: number;
  /** The parsed JSON, or the text if the body is no JSON. */
  readonly body: Json;
  /** The path of the next page. */
  readonly link: string | undefined;
}

const nextOf = (link: string | null): string | undefined => /<([^>]+)>; rel="next"/.exec(link ?? '')?.[1];

export type Service = Awaited<ReturnType<typeof startService>>;

/** @param wanted selects the triggers; all by default. @param more further settings */
export const startService = async (
  wanted: (trigger: Trigger) => boolean = () => true,
  more: Readonly<Record<string, string>> = {},
) => {
  let running: Host | undefined;
  const meter = await openMeter(() => running?.dynamoEndpoint ?? '');
  const host = await startHost({
    dataDir: ':memory:',
    // Uses an engine from another project, so budgets do not depend on this project's own engine.
    openDatabase: onDynoxide,
    env: { RATE_LIMITS: 'on', ...more },
    catalogue: { endpoints, triggers: triggers.filter(wanted), load: meter.measured(loadEntry) },
  });
  running = host;
  host.clock.freeze(true);
  // Only the functions use the meter; the host's own stream and schedules do not.
  setHost({ env: { ...host.env, AWS_ENDPOINT_URL_DYNAMODB: meter.endpoint }, now: host.clock.now });
  const items = openItems(host);

  const ask = async ({ method, path, body: sent, headers }: Ask): Promise<ServiceAnswer> => {
    const response = await fetch(`${host.baseUrl}${path}`, {
      method,
      headers: { ...(sent !== undefined && { 'content-type': 'application/json' }), ...headers },
      ...(sent !== undefined && { body: typeof sent === 'string' ? sent : JSON.stringify(sent) }),
    });
    const text = await response.text();
    const isJson = response.headers.get('content-type')?.startsWith('application/json') === true;
    const body = text === '' ? undefined : isJson ? JSON.parse(text) : text;
    return { status: response.status, body, link: nextOf(response.headers.get('link')) };
  };
  /** @throws if the request fails, because the setup of a measurement must succeed */
  const must = async (question: Ask): Promise<Json> => {
    const { status, body } = await ask(question);
    if (status < 300) return body;
    throw new Error(`${question.method} ${question.path}: ${status} ${JSON.stringify(body)}`);
  };
  const control = (path: string, body: unknown = {}) => must({ method: 'POST', path: `/_local${path}`, body });

  return {
    ask,
    must,
    control,
    now: host.clock.now,
    dynamoEndpoint: host.dynamoEndpoint,
    settle: () => control('/settle'),
    advance: (seconds: number) => control('/clock', { advance: seconds }),
    ...items,
    busEvents: (): number => host.observed.busEvents().length,
    /** Returns the runs since the last call, after all work has settled. */
    take: async (): Promise<readonly Run[]> => {
      await control('/settle');
      return meter.take();
    },
    stop: async (): Promise<void> => {
      await host.stop();
      meter.close();
    },
  };
};

/** Direct table access, for records without a route and for stored items. */
const openItems = ({ dynamoEndpoint, env }: Host) => {
  const client = openClient(dynamoEndpoint);
  const TableName = env['TABLE_NAME'] ?? '';
  return {
    tableName: TableName,
    store: async (key: Key, fields: Readonly<Record<string, unknown>>): Promise<void> => {
      await client.send(new PutItemCommand({ TableName, Item: marshall({ ...key, ...fields }) }));
    },
    /** The stored item in wire form. */
    stored: async (key: Key): Promise<Attributes> => {
      const Key = marshall({ ...key });
      const { Item } = await client.send(new GetItemCommand({ TableName, Key, ConsistentRead: true }));
      if (!Item) throw new Error(`nothing is stored under ${key.pk}`);
      return Item;
    },
  };
};

export const openClient = (endpoint: string): DynamoDBClient =>
  new DynamoDBClient({ endpoint, region: 'local', credentials: { accessKeyId: 'local', secretAccessKey: 'local' } });
