import { mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import * as z from 'zod';
import { build } from '../../infra/deploy/build.ts';
import { type ColdProcess, coldProcess } from './cold-process.ts';
import { gatewayRequest } from './gateway-request.ts';
import { type HostProcess, startHostProcess } from './host-process.ts';
import { medianRatio, withSpread } from './median.ts';
import { say, sheet } from './sheet.ts';

/**
 * Measures cold starts by processor time: of a process that imports a deployed function with its adapter, and of a
 * process that also responds to a first request. The baseline is a process that imports an empty handler. The table,
 * the provider and the identity service run in another process. Every round starts each process once, and only the
 * ratios are meaningful.
 * @returns true if Lambda's preparation delays no first response
 */
export const benchImports = async (): Promise<boolean> => {
  const folder = mkdtempSync(join(tmpdir(), 'payments-imports-'));
  const host = await startHostProcess({ RATE_LIMITS: 'off', EXTERNAL_WEBHOOKS_ENABLED: 'false' });
  try {
    await build(folder, FUNCTIONS);
    writeFileSync(join(folder, EMPTY), 'export const handler = async () => ({ statusCode: 200 });');
    const rows = await measured(coldStarts(folder, host));
    sheet(
      ['process', 'CPU ms, median (least to most)', 'to an empty handler'],
      rows.map(({ name, times, ratio }) => [name, withSpread(times, 1), ratio.toFixed(2)]),
    );
    const prepared = await firstAnswers(folder, host);
    say("\nA first answer alone, after the function's start; prepared: as Lambda starts it.\n");
    sheet(
      ['answer', 'CPU ms, median (least to most)', 'prepared', 'ratio', 'at most'],
      prepared.map(({ name, cold, ready, ratio }) => [
        name,
        withSpread(cold, 1),
        withSpread(ready, 1),
        ratio.toFixed(2),
        String(MOST_PREPARED),
      ]),
    );
    const slow = prepared.filter(({ ratio }) => ratio > MOST_PREPARED);
    say(slow.length === 0 ? '\nAll keep within.' : `\nEXCEEDED: ${slow.map(({ name }) => name).join(', ')}`);
    return slow.length === 0;
  } finally {
    await host.stop();
    rmSync(folder, { recursive: true, force: true });
  }
};

const ROUNDS = 15;
const FUNCTIONS = ['payments.get', 'payments.create-intent', 'payments.confirm'];
const EMPTY = 'empty.mjs';
const FIRST_ANSWER = ' and its first answer';

interface ColdStart {
  readonly name: string;
  /** Called for each round, because a payment can be confirmed only once. */
  readonly process: () => Promise<ColdProcess>;
}

/** The first entry is the empty handler. @param folder contains the bundles and `empty.mjs` */
const coldStarts = (folder: string, host: HostProcess): readonly ColdStart[] => {
  const file = (name: string): string => join(folder, name);
  const get = file('payments.get/index.mjs');
  const create = file('payments.create-intent/index.mjs');
  const confirm = file('payments.confirm/index.mjs');
  const ofConfirm = readdirSync(file('payments.confirm'));
  /** The adapter's file name ends in a hash of its content. */
  const adapter = (name: string): string =>
    file(join('payments.confirm', ofConfirm.find((one) => one.startsWith(`${name}-`) && one.endsWith('.mjs')) ?? ''));
  const loading =
    (...files: readonly string[]) =>
    async (): Promise<ColdProcess> => ({ files });
  const answering = (entry: string, call: ColdProcess['call']): ColdProcess => ({
    files: [entry],
    ...(call && { call }),
  });
  const { env } = host;
  return [
    { name: 'an empty handler', process: loading(file(EMPTY)) },
    { name: 'get', process: loading(get) },
    { name: 'create', process: loading(create) },
    { name: 'confirm with PayPal', process: loading(adapter('paypal'), confirm) },
    { name: 'confirm with Square', process: loading(adapter('square'), confirm) },
    { name: 'confirm with Stripe', process: loading(adapter('stripe'), confirm) },
    {
      name: `get${FIRST_ANSWER}`,
      process: async () => answering(get, { env, status: 200, event: getOf(await createdPayment(host)) }),
    },
    {
      name: `create${FIRST_ANSWER}`,
      process: async () =>
        answering(create, { env, status: 201, event: gatewayRequest('POST /payments/intents', { body: NEW }) }),
    },
    {
      name: `confirm${FIRST_ANSWER}`,
      process: async () => answering(confirm, { env, status: 200, event: confirmOf(await createdPayment(host)) }),
    },
  ];
};

const NEW = { total_cents: 2500, currency: 'USD', payment_method_id: 'pm_card_visa', description: 'Two tickets' };

const createdPayment = async ({ baseUrl }: HostProcess): Promise<string> => {
  const { headers, body } = gatewayRequest('POST /payments/intents', { body: NEW });
  const response = await fetch(`${baseUrl}/payments/intents`, { method: 'POST', headers, body: body ?? '' });
  return z.object({ id: z.string() }).parse(await response.json()).id;
};

const getOf = (id: string) => gatewayRequest('GET /payments/{id}', { pathParameters: { id } });
const confirmOf = (id: string) => gatewayRequest('POST /payments/confirm/{id}', { pathParameters: { id }, body: {} });

interface Row extends ColdStart {
  readonly times: readonly number[];
  /** The median ratio to the empty handler in the same round. */
  readonly ratio: number;
}

const measured = async (starts: readonly ColdStart[]): Promise<readonly Row[]> => {
  const times = starts.map((): number[] => []);
  const round = async (): Promise<void> => {
    for (const [at, { process }] of starts.entries()) times[at]?.push(coldProcess(await process()).whole);
  };
  for (let done = 0; done < ROUNDS; done += 1) await round();
  return starts.map((start, at) => ({
    ...start,
    times: times[at] ?? [],
    ratio: medianRatio(times[at] ?? [], times[0] ?? []),
  }));
};

/** The maximum ratio of a prepared first response to an unprepared first response, in processor time. */
const MOST_PREPARED = 1;
const PREPARED_ROUNDS = 11;

interface FirstAnswer {
  readonly name: string;
  readonly cold: readonly number[];
  readonly ready: readonly number[];
  readonly ratio: number;
}

/** Compares first responses with and without the preparation at a function's start. */
const firstAnswers = async (folder: string, host: HostProcess): Promise<readonly FirstAnswer[]> => {
  const answering = coldStarts(folder, host).filter(({ name }) => name.endsWith(FIRST_ANSWER));
  const rows: FirstAnswer[] = [];
  for (const { name, process } of answering) {
    const [cold, ready]: [number[], number[]] = [[], []];
    for (let round = 0; round < PREPARED_ROUNDS; round += 1) {
      cold.push(coldProcess(await process()).answer);
      ready.push(coldProcess(startedByLambda(await process())).answer);
    }
    rows.push({ name, cold, ready, ratio: medianRatio(ready, cold) });
  }
  return rows;
};

const startedByLambda = ({ files, call }: ColdProcess): ColdProcess => ({
  files,
  ...(call && { call: { ...call, env: { ...call.env, AWS_LAMBDA_INITIALIZATION_TYPE: 'on-demand' } } }),
});
