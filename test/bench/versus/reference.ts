/**
 * @module Compares the processor time of deployed get, create and confirm functions with reference functions that do
 * the same work in a typical team's style. Measures a new process until its first response, and a warm request. Table,
 * provider and identity service run in another process, and both sides alternate.
 */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import * as z from 'zod';
import { build } from '../../../infra/deploy/build.ts';
import { coldProcess } from '../cold-process.ts';
import { DYNOXIDE, dropProviderEvents, startHostProcess } from '../host-process.ts';
import { inRounds, medianRatio, withSpread } from '../median.ts';
import { startProcess } from '../processes.ts';
import { say, sheet } from '../sheet.ts';
import { createdId, REQUESTS, STATUSES } from './payment-requests.ts';
import { preparePeers } from './peers.ts';
import { buildReference, MEASURED, type Measured, makeReferenceTable, REFERENCE_TABLE } from './reference-functions.ts';
import { doSameWork } from './same-work.ts';
import { fileOf, SIDES, type Side, type Times, timesSchema } from './sides.ts';
import { STEPS } from './steps.ts';

/** @returns whether no function of this service needs more processor time than its reference function */
export const benchReference = async (): Promise<boolean> => {
  preparePeers();
  const folder = mkdtempSync(join(tmpdir(), 'payments-reference-'));
  const host = await startHostProcess({
    LOG_LEVEL: 'silent',
    RATE_LIMITS: 'off',
    EXTERNAL_WEBHOOKS_ENABLED: 'false',
    TABLE_ENGINE: DYNOXIDE,
  });
  try {
    await build(join(folder, 'ours'));
    await buildReference(join(folder, 'theirs'));
    await makeReferenceTable(host.env['AWS_ENDPOINT_URL_DYNAMODB'] ?? '');
    await dropProviderEvents(host);
    const env = {
      ...{ ...host.env, ...STRIPE_ALONE, LOG_LEVEL: 'info' },
      ...{ REFERENCE_TABLE, AWS_LAMBDA_INITIALIZATION_TYPE: 'on-demand' },
    };
    if (!(await doSameWork(folder, env))) return false;
    say('\nA new process until its first response\n');
    const isColdWithin = print(await coldTimes(folder, env));
    say('\nA warm request\n');
    const warm = await warmTimes(folder, env);
    const isWarmWithin = print(warm.times);
    for (const name of MEASURED) printSteps(name, warm.steps[name]);
    say(isColdWithin && isWarmWithin ? '\nAll keep within.' : '\nEXCEEDED');
    return isColdWithin && isWarmWithin;
  } finally {
    await host.stop();
    rmSync(folder, { recursive: true, force: true });
  }
};

/**
 * The reference supports only Stripe. A start opens the adapter of every configured slot, so the other slots are empty
 * here.
 */
const STRIPE_ALONE = { PROVIDER_B: '', PROVIDER_C: '', PROVIDER_D: '' };

const MOST = 1;
const ROUNDS = { least: 15, most: 45 } as const;

type All = Readonly<Record<Measured, Times>>;
type Env = Readonly<Record<string, string>>;

const coldTimes = async (folder: string, env: Env): Promise<All> => {
  const none = (): Times => ({ ours: [], theirs: [] });
  const times = { get: none(), create: none(), confirm: none() };
  const answer = (side: Side, name: Measured, id: string): string => {
    const call = { env, event: REQUESTS[name](id), status: STATUSES[name] };
    const { whole, body } = coldProcess({ files: [fileOf(folder, side, name)], call });
    times[name][side].push(whole);
    return body;
  };
  const round = (): void => {
    const created = SIDES.map((side) => [side, createdId(answer(side, 'create', ''))] as const);
    for (const name of ['get', 'confirm'] as const) for (const [side, id] of created) answer(side, name, id);
  };
  await inRounds(ROUNDS, round, () => MEASURED.some((name) => isSlow(times[name])));
  return times;
};

const eachOf = <T extends z.ZodType>(schema: T) => z.object({ get: schema, create: schema, confirm: schema });
const stepTimes = z.record(z.enum(STEPS), z.number());
const warmSchema = z.object({
  times: eachOf(timesSchema),
  steps: eachOf(z.object({ ours: stepTimes, theirs: stepTimes })),
});
type Warm = z.infer<typeof warmSchema>;

const warmTimes = async (folder: string, env: Env): Promise<Warm> => {
  const file = join(import.meta.dirname, 'warm-process.ts');
  const { said, stop } = await startProcess(file, { ...env, FUNCTIONS_FOLDER: folder });
  await stop();
  return warmSchema.parse(said);
};

/** Profiling slows calls down, so only shares and differences are meaningful. */
const printSteps = (name: Measured, { ours, theirs }: Warm['steps'][Measured]): void => {
  say(`\nA warm ${name} by step, CPU ms in a profile\n`);
  sheet(
    ['step', 'here', 'reference', 'difference'],
    STEPS.map((step) => [step, ours[step].toFixed(3), theirs[step].toFixed(3), (ours[step] - theirs[step]).toFixed(3)]),
  );
};

const isSlow = ({ ours, theirs }: Times): boolean => medianRatio(ours, theirs) > MOST;

const print = (all: All): boolean => {
  sheet(
    ['request', 'CPU ms, median (least to most)', 'reference', 'ratio', 'at most'],
    MEASURED.map((name) => [
      name,
      withSpread(all[name].ours, 2),
      withSpread(all[name].theirs, 2),
      medianRatio(all[name].ours, all[name].theirs).toFixed(2),
      isSlow(all[name]) ? `${MOST} EXCEEDED` : String(MOST),
    ]),
  );
  return !MEASURED.some((name) => isSlow(all[name]));
};
