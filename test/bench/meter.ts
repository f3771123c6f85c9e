/**
 * @module Counts the DynamoDB requests of functions with a proxy between the service and the engine. Functions run one
 * at a time, so every request belongs to the running function. To find levels, the proxy holds requests back until no
 * more arrive. It then forwards these requests together as one level, and the next requests form the next level.
 */
import { subscribe, unsubscribe } from 'node:diagnostics_channel';
import { type ClientRequest, createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import * as z from 'zod';
import type { LoadHandler } from '../../infra/local/machine/invoke.ts';
import { type Attributes, type CapacityUnits, unitsOf } from './units.ts';

export interface TableCall {
  readonly operation: string;
  /** The kind of item or list, such as `PAY`, `RATE` or `owner index`. */
  readonly about: string;
  readonly units: CapacityUnits;
  /** Rows read by a query before its filter; 0 for other operations. */
  readonly rows: number;
}
export type Level = readonly TableCall[];

/** One run of a function. */
export interface Run {
  readonly functionId: string;
  readonly levels: readonly Level[];
  readonly providerCalls: number;
  /** Bytes of the run's log lines. */
  readonly logBytes: number;
}

export interface Meter {
  /** The proxy's endpoint, which replaces the engine's endpoint. */
  readonly endpoint: string;
  /** Wraps a loader of functions, so that the runs of these functions are measured. */
  measured(load: LoadHandler): LoadHandler;
  /** Returns the runs since the last call, in order. */
  take(): readonly Run[];
  close(): void;
}

export const openMeter = async (engine: () => string): Promise<Meter> => {
  const runs: Run[] = [];
  let turn: Promise<unknown> = Promise.resolve();
  let levels: Level[] | undefined;
  let providerCalls = 0;
  const onRequest = (message: unknown): void => {
    const { request } = message as { readonly request: ClientRequest };
    if (request.path.includes('/_local/providers/')) providerCalls += 1;
  };
  subscribe('http.client.request.start', onRequest);
  const gate = createGate(async (waiting) => {
    const level = await Promise.all(waiting.map(({ question }) => ask(engine(), question)));
    if (!levels) throw new Error(`a request outside of every function: ${level.map(({ call }) => call.about)}`);
    levels.push(level.map(({ call }) => call));
    for (const [index, { answer }] of waiting.entries()) answer(level[index]);
  });

  const inTurn = <Result>(functionId: string, work: () => Result | Promise<Result>): Promise<Result> => {
    const run = turn.then(async () => {
      const own: Level[] = [];
      levels = own;
      const before = providerCalls;
      const lines = catchLogLines();
      try {
        return await work();
      } finally {
        levels = undefined;
        runs.push({ functionId, levels: own, providerCalls: providerCalls - before, logBytes: lines.end() });
      }
    });
    turn = run.catch(() => undefined);
    return run;
  };

  const server = createServer((message, response) => void serve(message, response, gate));
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    endpoint: `http://127.0.0.1:${z.object({ port: z.number() }).parse(server.address()).port}`,
    measured: (load) => async (id) => {
      const handler = await load(id);
      return (event, context) => inTurn(id, () => handler(event, context));
    },
    take: () => runs.splice(0),
    close: () => {
      unsubscribe('http.client.request.start', onRequest);
      server.close();
      server.closeAllConnections();
    },
  };
};

/** Suppresses all output of a function and counts its bytes. */
const catchLogLines = (): { readonly end: () => number } => {
  const outputs = [process.stdout, process.stderr];
  let bytes = 0;
  const writes = outputs.map((output) => output.write);
  for (const output of outputs) {
    output.write = (line: string | Uint8Array): boolean => {
      bytes += Buffer.byteLength(line);
      return true;
    };
  }
  return {
    end: () => {
      for (const [index, output] of outputs.entries()) output.write = writes[index] ?? output.write;
      return bytes;
    },
  };
};

interface Question {
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Attributes;
}
interface Answer {
  readonly status: number;
  readonly text: string;
  readonly call: TableCall;
}
interface Waiting {
  readonly question: Question;
  answer(answer: Answer | undefined): void;
}

const serve = async (message: IncomingMessage, response: ServerResponse, gate: Gate): Promise<void> => {
  const chunks: Buffer[] = [];
  for await (const chunk of message) chunks.push(Buffer.from(chunk));
  const body = z.record(z.string(), z.unknown()).parse(JSON.parse(Buffer.concat(chunks).toString('utf8')));
  const answer = await gate({ headers: passedOn(message), body });
  response.writeHead(answer?.status ?? 500, { 'content-type': 'application/x-amz-json-1.0' });
  response.end(answer?.text);
};

/** The headers for the engine. The local engine requires the signature but does not check it. */
const passedOn = ({ headers }: IncomingMessage): Record<string, string> =>
  Object.fromEntries(
    Object.entries(headers).flatMap(([name, value]) =>
      typeof value === 'string' && /^(authorization|content-type|x-amz-.*)$/.test(name) ? [[name, value]] : [],
    ),
  );

type Gate = (question: Question) => Promise<Answer | undefined>;

/**
 * A level is complete after this many turns of the event loop without a new request. Each turn is long enough for a
 * sent request to arrive.
 */
const QUIET_TURNS = 6;
const TURN_MS = 1;

const createGate = (pass: (waiting: readonly Waiting[]) => Promise<void>): Gate => {
  let waiting: Waiting[] = [];
  const passWhole = async (): Promise<void> => {
    for (let seen = 0; seen !== waiting.length; ) {
      seen = waiting.length;
      for (let turns = 0; turns < QUIET_TURNS && seen === waiting.length; turns += 1) {
        await new Promise((resolve) => setTimeout(resolve, TURN_MS));
      }
    }
    const whole = waiting;
    waiting = [];
    await pass(whole);
  };
  return (question) =>
    new Promise((answer) => {
      waiting.push({ question, answer });
      if (waiting.length === 1) void passWhole();
    });
};

const ask = async (engine: string, { headers, body }: Question): Promise<Answer> => {
  const response = await fetch(engine, {
    method: 'POST',
    headers,
    body: JSON.stringify({ ...body, ReturnConsumedCapacity: 'INDEXES' }),
  });
  const text = await response.text();
  const operation = headers['x-amz-target']?.split('.').at(-1) ?? '';
  const answer: unknown = JSON.parse(text);
  const units = unitsOf(operation, response.status, answer);
  const { Count, ScannedCount } = countedSchema.parse(answer);
  // `Count` is exact without a filter. `ScannedCount` is one row too high if a response ends at 1 MB, because the engine
  // also counts the row that did not fit.
  const rows = 'FilterExpression' in body ? ScannedCount : Count;
  return { status: response.status, text, call: { operation, about: aboutOf(body), units, rows } };
};
const countedSchema = z.object({ Count: z.number().default(0), ScannedCount: z.number().default(0) });

const keySchema = z.object({ pk: z.object({ S: z.string() }) });
const askedSchema = z.object({
  Key: keySchema.optional(),
  Item: keySchema.optional(),
  IndexName: z.string().optional(),
  ExpressionAttributeValues: z.record(z.string(), z.looseObject({ S: z.string().optional() })).optional(),
  RequestItems: z.record(z.string(), z.object({ Keys: z.array(keySchema) })).optional(),
  TransactItems: z
    .array(z.record(z.string(), z.object({ Key: keySchema.optional(), Item: keySchema.optional() })))
    .optional(),
});

const aboutOf = (body: unknown): string => {
  const asked = askedSchema.parse(body);
  if (asked.IndexName) return `${asked.IndexName} index`;
  const keys = [
    asked.Key,
    asked.Item,
    ...Object.values(asked.RequestItems ?? {}).flatMap(({ Keys }) => Keys),
    ...(asked.TransactItems ?? []).flatMap((step) => Object.values(step).map(({ Key, Item }) => Key ?? Item)),
  ].flatMap((key) => key?.pk.S ?? []);
  const partitions =
    keys.length > 0
      ? keys
      : Object.values(asked.ExpressionAttributeValues ?? {})
          .flatMap(({ S }) => S ?? [])
          .slice(0, 1);
  return [...new Set(partitions.map((partition) => partition.slice(0, partition.indexOf('#'))))].join('+');
};
