import { endpoints, triggers } from '../../functions/api/catalogue.ts';
import type { Run } from './meter.ts';
import { PRICES } from './prices.ts';
import { say, sheet } from './sheet.ts';
import type { Tally } from './tally.ts';
import { sumOf } from './units.ts';

/** The measured work of a request. List prices and a few assumed times turn it into the cost of a million requests. */
export interface CountedRequest {
  readonly name: string;
  readonly tally: Tally;
  /** Events put on the bus. */
  readonly busEvents: number;
}

/** Assumed times of a request to DynamoDB and of a provider call, in ms. */
export const TABLE_MS = 8;
export const PROVIDER_MS = 450;
/**
 * Processor time per run, in ms of a whole processor. It is more than the largest measured time, that of a warm create.
 */
const PROCESSOR_MS = 4;
/** The memory in MB that gives a Lambda function a whole processor. */
const WHOLE_PROCESSOR_MB = 1_769;
/** The bytes that Lambda logs for each run (START, END, REPORT); assumed. */
const PLATFORM_LINES_BYTES = 350;
/** Each message needs its own send, receive and delete. */
const REQUESTS_PER_MESSAGE = 3;
const BYTES_PER_GB = 1_000_000_000;
const MILLION = 1_000_000;

/** US dollars per million requests. */
interface Dollars {
  readonly table: number;
  /** Starts and run time. */
  readonly functions: number;
  readonly logs: number;
  /** The HTTP API, the bus, the queues. */
  readonly messages: number;
}

export const printDollars = (rows: readonly CountedRequest[]): void => {
  const { region, readOn } = PRICES;
  say(
    `\nUS dollars per million requests, ${region}, list prices of ${readOn}: the table, the functions' starts and run` +
      ` time, their logs, and the HTTP API, the bus and the queues. Each message counts as a run of its own, although a` +
      ` batch shares one. Not included: storage, transfer, alarms. Assumed: ${TABLE_MS} ms per request to the table,` +
      ` ${PROVIDER_MS} ms per call to a provider, ${PROCESSOR_MS} ms of a processor per run,` +
      ` ${PLATFORM_LINES_BYTES} bytes of Lambda's own log lines.\n`,
  );
  sheet(
    ['endpoint', 'while the caller waits', 'after the answer', 'together', 'table', 'functions', 'logs', 'messages'],
    rows.map(({ name, tally, busEvents }) => {
      const now = sumDollars([dollarsOf(tally.waitedFor), { ...FREE, messages: PRICES.httpApiRequests }]);
      const later = sumDollars([
        ...tally.runsLater.map(dollarsOf),
        { ...FREE, messages: busEvents * PRICES.busEvents + messagesOf(tally.runsLater) },
      ]);
      const all = sumDollars([now, later]);
      const figures = [total(now), total(later), total(all), all.table, all.functions, all.logs, all.messages];
      return [name, ...figures.map((dollars) => dollars.toFixed(2))];
    }),
  );
};

const FREE: Dollars = { table: 0, functions: 0, logs: 0, messages: 0 };

const sumDollars = (all: readonly Dollars[]): Dollars =>
  all.reduce(
    (sum, one) => ({
      table: sum.table + one.table,
      functions: sum.functions + one.functions,
      logs: sum.logs + one.logs,
      messages: sum.messages + one.messages,
    }),
    FREE,
  );

const total = ({ table, functions, logs, messages }: Dollars): number => table + functions + logs + messages;

const MEMORY = new Map([...endpoints, ...triggers].map(({ id, memoryMb }) => [id, memoryMb]));
const OF_QUEUES = new Set(triggers.filter(({ kind }) => kind === 'queue').map(({ id }) => id));

const dollarsOf = (run: Run): Dollars => {
  const { read, write, due } = sumOf(run.levels.flat().map(({ units }) => units));
  const memoryMb = MEMORY.get(run.functionId);
  if (memoryMb === undefined) throw new Error(`${run.functionId} is no function`);
  const ms =
    run.levels.length * TABLE_MS +
    run.providerCalls * PROVIDER_MS +
    PROCESSOR_MS * Math.max(1, WHOLE_PROCESSOR_MB / memoryMb);
  return {
    ...FREE,
    table: read * PRICES.dynamoDbReadUnits + (write + due) * PRICES.dynamoDbWriteUnits,
    functions: PRICES.lambdaRequests + MILLION * (ms / 1_000) * (memoryMb / 1_024) * PRICES.lambdaGbSecond,
    logs: ((MILLION * (run.logBytes + PLATFORM_LINES_BYTES)) / BYTES_PER_GB) * PRICES.logGb,
  };
};

const messagesOf = (runs: readonly Run[]): number =>
  runs.filter(({ functionId }) => OF_QUEUES.has(functionId)).length * REQUESTS_PER_MESSAGE * PRICES.sqsRequests;
