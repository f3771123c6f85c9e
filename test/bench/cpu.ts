import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { CreateTableCommand } from '@aws-sdk/client-dynamodb';
import * as z from 'zod';
import { build } from '../../infra/build.ts';
import { apiRequest } from './api-request.ts';
import { startHostProcess } from './host-process.ts';
import { inRounds, medianRatio, withSpread } from './median.ts';
import { openClient } from './service.ts';
import { say, sheet } from './sheet.ts';
import { HAND_TABLE, handWritten } from './versus/hand-written.ts';

/**
 * Processor time of a warm request, in the function as it is deployed, against a handler that does the same by hand.
 * The engine, the provider and the identity service run in another process; both sides are called by turns.
 * @returns whether all are within their limits.
 */
export const benchCpu = async (): Promise<boolean> => {
  const folder = mkdtempSync(join(tmpdir(), 'payments-cpu-'));
  const host = await startHostProcess({
    LOG_LEVEL: 'silent',
    RATE_LIMITS: 'off',
    EXTERNAL_WEBHOOKS_ENABLED: 'false',
    DYNAMODB_ENGINE: 'dynoxide',
  });
  try {
    await build(folder);
    // biome-ignore lint/style/noProcessEnv: a function as it is deployed reads it when it is imported.
    Object.assign(process.env, host.env);
    await makeTable(host.env['AWS_ENDPOINT_URL_DYNAMODB'] ?? '');
    const ours = {
      get: await bundled(folder, 'payments.get'),
      create: await bundled(folder, 'payments.create-intent'),
    };
    const theirs = handWritten(host.env);
    const create = apiRequest('POST /payments/intents', { body: BODY });
    const rows = [
      await compared('create intent', { ours: () => ours.create(create), theirs: () => theirs.create(create) }, 201),
      await compared('get', await readers(ours, theirs, create), 200),
    ];
    sheet(['request', 'CPU ms, median (least to most)', 'by hand', 'ratio'], rows.map(cells));
    const dear = rows.filter(({ ratio }) => ratio > MAX_RATIO);
    say(dear.length === 0 ? '\nAll keep within.' : `\nEXCEEDED: ${dear.map(({ name }) => name).join(', ')}`);
    return dear.length === 0;
  } finally {
    await host.stop();
    rmSync(folder, { recursive: true, force: true });
  }
};

/** Limit for the overhead of the whole chain over a handler written by hand for one request. */
const MAX_RATIO = 2;
const ROUNDS = { least: 15, most: 60 } as const;
const CALLS = 100;
const BODY = { total_cents: 2500, currency: 'USD', description: 'Two tickets', metadata: { seat: '12', row: 'F' } };

type Handler = (event: Request, context: object) => Promise<{ readonly statusCode: number; readonly body?: unknown }>;
type Request = ReturnType<typeof apiRequest>;

const entrySchema = z.object({ handler: z.custom<Handler>((value) => typeof value === 'function') });

const bundled = async (folder: string, id: string): Promise<(event: Request) => ReturnType<Handler>> => {
  const { handler } = entrySchema.parse(await import(pathToFileURL(join(folder, id, 'index.mjs')).href));
  return (event) => handler(event, { awsRequestId: 'bench', getRemainingTimeInMillis: () => 10_000 });
};

const makeTable = async (endpoint: string): Promise<void> => {
  const client = openClient(endpoint);
  await client.send(
    new CreateTableCommand({
      TableName: HAND_TABLE,
      BillingMode: 'PAY_PER_REQUEST',
      AttributeDefinitions: ['pk', 'sk'].map((name) => ({ AttributeName: name, AttributeType: 'S' as const })),
      KeySchema: [
        { AttributeName: 'pk', KeyType: 'HASH' },
        { AttributeName: 'sk', KeyType: 'RANGE' },
      ],
    }),
  );
  client.destroy();
};

type Ask = () => Promise<{ readonly statusCode: number; readonly body?: unknown }>;
interface Pair {
  readonly ours: Ask;
  readonly theirs: Ask;
}

const readers = async (
  ours: Record<'get' | 'create', (event: Request) => ReturnType<Handler>>,
  theirs: ReturnType<typeof handWritten>,
  create: Request,
): Promise<Pair> => {
  const idOf = ({ body }: { readonly body?: unknown }): string =>
    z.object({ id: z.string() }).parse(JSON.parse(String(body))).id;
  const [ourId, theirId] = [idOf(await ours.create(create)), idOf(await theirs.create(create))];
  const get = (id: string) => apiRequest('GET /payments/{id}', { pathParameters: { id } });
  const [askOurs, askTheirs] = [get(ourId), get(theirId)];
  return { ours: () => ours.get(askOurs), theirs: () => theirs.get(askTheirs) };
};

interface Compared {
  readonly name: string;
  readonly ours: readonly number[];
  readonly theirs: readonly number[];
  readonly ratio: number;
}

/** Calls both sides by turns; a first round of each is a warm-up and is not counted. */
const compared = async (name: string, { ours, theirs }: Pair, status: number): Promise<Compared> => {
  const times: { readonly ours: number[]; readonly theirs: number[] } = { ours: [], theirs: [] };
  const ratio = (): number => medianRatio(times.ours, times.theirs);
  const measure = async (): Promise<void> => {
    times.ours.push(await cpuMs(ours, status));
    times.theirs.push(await cpuMs(theirs, status));
  };
  await cpuMs(ours, status);
  await cpuMs(theirs, status);
  await inRounds(ROUNDS, measure, () => ratio() > MAX_RATIO);
  return { name, ...times, ratio: ratio() };
};

/** Of one call. */
const cpuMs = async (ask: Ask, status: number): Promise<number> => {
  const before = process.cpuUsage();
  for (let calls = 0; calls < CALLS; calls += 1) {
    const answer = await ask();
    if (answer.statusCode !== status) throw new Error(`${answer.statusCode} ${String(answer.body)}`);
  }
  const { user, system } = process.cpuUsage(before);
  return (user + system) / 1_000 / CALLS;
};

const cells = ({ name, ours, theirs, ratio }: Compared): readonly string[] => [
  name,
  withSpread(ours, 2),
  withSpread(theirs, 2),
  ratio.toFixed(2),
];
