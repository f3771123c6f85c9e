import { PRICES } from './prices.ts';
import { say, sheet } from './sheet.ts';
import type { Tally } from './tally.ts';
import { type CapacityUnits, sumOf } from './units.ts';

/** Cost of a million requests at list prices, from counted units only. */
export interface CountedRequest {
  readonly name: string;
  readonly tally: Tally;
  /** Events put on the bus. */
  readonly busEvents: number;
}

export const printDollars = (rows: readonly CountedRequest[]): void => {
  const { region, readOn, lambdaGbSecond } = PRICES;
  const tenMs = 1_000_000 * MEMORY_GB * 0.01 * lambdaGbSecond;
  say(
    `\nUS dollars a million requests, ${region}, list prices of ${readOn}. While the caller waits: the HTTP API, the`,
  );
  say(
    "function's start, the table. After the answer: starts of functions (a batch would share one), the table, the bus.",
  );
  say(
    `Not in it: queues, logs, storage, transfer, and functions' time: $${tenMs.toFixed(2)} for every 10 ms at 512 MB.\n`,
  );
  sheet(
    ['endpoint', 'while the caller waits', 'after the answer', 'together'],
    rows.map((row) => {
      const [now, later] = [whileWaiting(row.tally), afterwards(row)];
      return [row.name, ...[now, later, now + later].map((dollars) => dollars.toFixed(2))];
    }),
  );
};
const MEMORY_GB = 0.5;

const whileWaiting = ({ parts }: Tally): number =>
  PRICES.httpApiRequests + PRICES.lambdaRequests + tableDollars(Object.values(parts).map(({ units }) => units));

const afterwards = ({ tally, busEvents }: CountedRequest): number =>
  tally.runsLater * PRICES.lambdaRequests + busEvents * PRICES.busEvents + tableDollars([...tally.later.values()]);

const tableDollars = (units: readonly CapacityUnits[]): number => {
  const { read, write, due } = sumOf(units);
  return read * PRICES.dynamoDbReadUnits + (write + due) * PRICES.dynamoDbWriteUnits;
};
