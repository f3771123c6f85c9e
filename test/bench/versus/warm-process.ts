/** @module The processor time of warm requests. Both sides alternate in one process, without log output. */
import { inRounds, medianRatio } from '../median.ts';
import { ready, settingsOfProcess } from '../processes.ts';
import { createdId, REQUESTS } from './payment-requests.ts';
import { MEASURED, type Measured } from './reference-functions.ts';
import { type Handlers, handlersOf, type Request, type Side, send, type Times } from './sides.ts';
import { type StepTimes, timesBySteps } from './steps.ts';

const ROUNDS = { least: 15, most: 60 } as const;
const CALLS: Readonly<Record<Measured, number>> = { get: 100, create: 50, confirm: 30 };
const MILLISECOND = 1_000;

/** The requests of a round. Each confirmation has its own payment, because a payment can be confirmed only once. */
const eventsOf = async (handlers: Handlers, name: Measured): Promise<readonly Request[]> => {
  const created = async (): Promise<string> => createdId(await send(handlers, 'create', REQUESTS.create()));
  const count = CALLS[name];
  if (name === 'create') return Array.from({ length: count }, REQUESTS.create);
  if (name === 'get') return Array<Request>(count).fill(REQUESTS.get(await created()));
  const events: Request[] = [];
  while (events.length < count) events.push(REQUESTS.confirm(await created()));
  return events;
};

/** Processor milliseconds of one call. */
const cpuMs = async (handlers: Handlers, name: Measured): Promise<number> => {
  const events = await eventsOf(handlers, name);
  const before = process.cpuUsage();
  for (const event of events) await send(handlers, name, event);
  const { user, system } = process.cpuUsage(before);
  return (user + system) / MILLISECOND / events.length;
};

/** Each side's first round is a warm-up and does not count. */
const compared = async (ours: Handlers, theirs: Handlers, name: Measured): Promise<Times> => {
  const times: Times = { ours: [], theirs: [] };
  await cpuMs(ours, name);
  await cpuMs(theirs, name);
  const round = async (): Promise<void> => {
    times.ours.push(await cpuMs(ours, name));
    times.theirs.push(await cpuMs(theirs, name));
  };
  await inRounds(ROUNDS, round, () => medianRatio(times.ours, times.theirs) > 1);
  return times;
};

const PROFILED: Readonly<Record<Measured, number>> = { get: 1_000, create: 400, confirm: 300 };

const stepsOf = async (handlers: Handlers, name: Measured): Promise<StepTimes> => {
  const events: Request[] = [];
  while (events.length < PROFILED[name]) events.push(...(await eventsOf(handlers, name)));
  return timesBySteps(events.length, async () => {
    for (const event of events) await send(handlers, name, event);
  });
};

const main = async (): Promise<void> => {
  const { FUNCTIONS_FOLDER = '', ...env } = settingsOfProcess();
  // biome-ignore lint/style/noProcessEnv: a function as it is deployed reads it when it is imported.
  Object.assign(process.env, env);
  const [ours, theirs] = [await handlersOf(FUNCTIONS_FOLDER, 'ours'), await handlersOf(FUNCTIONS_FOLDER, 'theirs')];
  const times: Partial<Record<Measured, Times>> = {};
  for (const name of MEASURED) times[name] = await compared(ours, theirs, name);
  const steps: Partial<Record<Measured, Record<Side, StepTimes>>> = {};
  for (const name of MEASURED) steps[name] = { ours: await stepsOf(ours, name), theirs: await stepsOf(theirs, name) };
  ready({ times, steps }, async () => undefined);
};

if (import.meta.main) await main();
