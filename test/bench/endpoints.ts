import * as z from 'zod';
import { endpoints } from '../../functions/api/catalogue.ts';
import { paymentKey } from '../../shared/platform/keys.ts';
import { DAY_SECONDS, MINUTE_SECONDS } from '../builders/seconds.ts';
import type { Budget } from './budget.ts';
import { BUDGETS, type RowName } from './budgets.ts';
import { printDollars } from './dollars.ts';
import { LATER, PAYMENT_SCENARIOS, SIZES } from './payment-scenarios.ts';
import type { Scenario } from './people.ts';
import { RECORD_SCENARIOS } from './record-scenarios.ts';
import { type Service, startService } from './service.ts';
import { say, sheet } from './sheet.ts';
import { SUBSCRIPTION_SCENARIOS } from './subscription-scenarios.ts';
import { type Cost, type Tally, tallyOf, trailOf, workOf } from './tally.ts';
import { type Attributes, type CapacityUnits, itemBytes, sumOf, writeUnitsOf } from './units.ts';
import { WEBHOOK_SCENARIOS } from './webhook-scenarios.ts';

/**
 * Counts the DynamoDB requests of each endpoint and compares them with the budget. @returns whether all are within
 * budget
 */
export const benchEndpoints = async (): Promise<boolean> => {
  const service = await startService();
  try {
    const later = await measureLater(service);
    const rows: Row[] = [];
    for (const name of Object.keys(BUDGETS)) if (isRowName(name)) rows.push(await measure(service, name));
    printRows(rows);
    printWork(rows, later);
    printDollars(rows);
    const sizes = await sizesOf(service);
    // Settles first, because the meter swallows all output while a function runs.
    await service.settle();
    printSizes(sizes);
    printUnmeasured();
    return printOverspent(rows);
  } finally {
    await service.stop();
  }
};

interface Row {
  readonly name: RowName;
  readonly budget: Budget;
  /** The limit. If the budget is `size of the item`, the limit follows from the size of the stored item. */
  readonly writeUnits: number;
  readonly tally: Tally;
  readonly busEvents: number;
}

const SCENARIOS: Readonly<Record<RowName, Scenario>> = {
  ...PAYMENT_SCENARIOS,
  ...RECORD_SCENARIOS,
  ...SUBSCRIPTION_SCENARIOS,
  ...WEBHOOK_SCENARIOS,
};

const isRowName = (name: string): name is RowName => Object.hasOwn(BUDGETS, name);

const measure = async (service: Service, name: RowName): Promise<Row> => {
  const budget: Budget = BUDGETS[name];
  const { ask, status, warm, stores } = await SCENARIOS[name](service);
  // The clock moves before each write, so `updated_at` changes.
  await service.advance(1);
  if (warm) await service.must(warm);
  await service.take();
  const eventsBefore = service.busEvents();
  const answer = await service.ask(ask);
  if (answer.status !== status) throw new Error(`${name}: ${answer.status} ${JSON.stringify(answer.body)}`);
  const tally = tallyOf(await service.take(), budget.of);
  const busEvents = service.busEvents() - eventsBefore;
  if (budget.writeUnits !== 'size of the item')
    return { name, budget, writeUnits: budget.writeUnits, tally, busEvents };
  if (!stores) throw new Error(`${name} does not say what it stores`);
  return { name, budget, writeUnits: writeUnitsOf(itemBytes(await service.stored(stores))), tally, busEvents };
};

const measureLater = async (service: Service): Promise<ReadonlyMap<string, ReadonlyMap<string, CapacityUnits>>> => {
  const work = new Map<string, ReadonlyMap<string, CapacityUnits>>();
  for (const [name, prepare] of Object.entries(LATER)) {
    await prepare(service);
    await service.take();
    await service.advance(DAY_SECONDS + MINUTE_SECONDS);
    work.set(name, workOf(await service.take()));
  }
  return work;
};

const printRows = (rows: readonly Row[]): void => {
  say('While the caller waits: measured / budget. Limits and key: requests/levels that they add, exactly.\n');
  sheet(
    ['endpoint', 'requests', 'levels', 'read units', 'write units', 'due index', 'limits', 'key', ''],
    rows.map(({ name, budget, writeUnits, tally }) => {
      const { parts } = tally;
      const { requests, levels, units } = parts.own;
      return [
        name,
        `${requests} / ${budget.requests}`,
        `${levels} / ${budget.levels}`,
        String(units.read),
        `${units.write} / ${writeUnits}`,
        `${units.due} / ${budget.dueUnits}`,
        added(parts.limits),
        added(parts.key),
        overspending({ name, budget, writeUnits, tally }).length > 0 ? 'EXCEEDED' : '',
      ];
    }),
  );
  say('\nWhat was asked, level by level:\n');
  sheet(
    ['endpoint', 'requests'],
    rows.map(({ name, tally }) => [name, trailOf(tally.levels)]),
  );
  say('\nBounds that the design does not name:\n');
  sheet(
    ['endpoint', 'because'],
    rows.flatMap(({ name, budget }) => (budget.because === undefined ? [] : [[name, budget.because]])),
  );
};

const added = ({ requests, levels }: Cost): string => (requests === 0 ? '' : `+${requests}/${levels}`);

type Checked = Omit<Row, 'tally' | 'busEvents'> & { readonly tally: Pick<Tally, 'parts' | 'later'> };

/** 1 if the endpoint has a general window, which counts all creates of a caller or all writes to one record. */
const generalWindows = (of: string): number =>
  endpoints.some(({ id, limits }) => id === of && limits.some(({ name }) => name === 'create' || name === 'write'))
    ? 1
    : 0;

/** The exceeded limits, as text. */
const overspending = ({ budget, writeUnits, tally: { parts, later } }: Checked): readonly string[] => {
  const { own, limits, key, epoch } = parts;
  const atMost = [
    ['requests', own.requests, budget.requests],
    ['levels', own.levels, budget.levels],
    ['write units', own.units.write, writeUnits],
    ['units of the due index', own.units.due, budget.dueUnits],
    ['write units after the response', sumOf([...later.values()]).write, budget.laterUnits ?? Number.POSITIVE_INFINITY],
  ] as const;
  const windows = generalWindows(budget.of) + (budget.windows ?? 0);
  const levels = budget.countsTwice ? 2 : Math.min(windows, 1);
  const declined = budget.countsDecline ?? 0;
  const kept = budget.keepsAnswer ? KEPT : budget.holdsKey ? 1 : 0;
  const exactly = [
    ['requests for limits', limits.requests, windows + declined],
    ['levels for limits', limits.levels, levels + Math.min(declined, 1)],
    ['requests for the key', key.requests, kept],
    ['levels for the key', key.levels, kept],
    ['requests for the cache epoch', epoch.requests, budget.raisesEpoch ? 1 : 0],
  ] as const;
  return [
    ...atMost.filter(([, is, may]) => is > may).map(([what, is, may]) => `${is} ${what}, at most ${may} may be`),
    ...exactly.filter(([, is, must]) => is !== must).map(([what, is, must]) => `${is} ${what}, ${must} must be`),
  ];
};
/** The number of requests, and also of levels, that claim a key and store its response. */
const KEPT = 2;

const WORK = ['project', 'inbound', 'apply', 'deliver', 'log', 'sweep', 'due', 'publish'] as const;

const printWork = (rows: readonly Row[], later: ReadonlyMap<string, ReadonlyMap<string, CapacityUnits>>): void => {
  say(`\nA created and paid payment with all that follows: ${unitsOfPayment(rows)} write units without the due index.`);
  say('\nAfter the answer, or a day on: write units + units of the due index, (read units)\n');
  const line = (name: string, work: ReadonlyMap<string, CapacityUnits>) => [
    name,
    ...WORK.map((who) => spent(work.get(who))),
  ];
  const busy = rows.filter(({ tally }) => [...tally.later.values()].some(({ read, write }) => read + write > 0));
  sheet(
    ['after', ...WORK],
    [...busy.map(({ name, tally }) => line(name, tally.later)), ...[...later].map(([name, work]) => line(name, work))],
  );
};

const unitsOfPayment = (rows: readonly Row[]): number =>
  rows
    .filter(({ name }) => name === 'create intent' || name === 'confirm')
    .reduce((sum, { tally }) => sum + sumOf([tally.parts.own.units, ...tally.later.values()]).write, 0);

const spent = (units: CapacityUnits | undefined): string => {
  if (!units || units.read + units.write + units.due === 0) return '';
  const { read, write, due } = units;
  return `${write}${due > 0 ? `+${due}` : ''}${read > 0 ? ` (${read})` : ''}`;
};

const sizesOf = async (service: Service): Promise<readonly (readonly string[])[]> => {
  const rows: string[][] = [];
  for (const [name, make] of Object.entries(SIZES)) {
    const item = await service.stored(paymentKey((await make(service)).id));
    const bytes = itemBytes(item);
    const real = bytes + missingBytes(item);
    rows.push([name, String(bytes), String(real), `${writeUnitsOf(bytes)} / ${writeUnitsOf(real)}`]);
  }
  return rows;
};

/** Lengths of Stripe's real ids, from the examples at https://docs.stripe.com/api. The simulator's ids are shorter. */
const STRIPE_LENGTHS: Readonly<Record<string, number>> = {
  providerIntentId: 27,
  providerPaymentId: 27,
  methodRef: 27,
  attemptRef: 27,
  clientSecret: 60,
  providerCustomerId: 18,
};

const missingBytes = (item: Attributes): number =>
  Object.entries(STRIPE_LENGTHS).reduce((sum, [name, length]) => {
    const text = textSchema.parse(item[name]);
    return sum + (text === undefined ? 0 : Math.max(0, length - text.S.length));
  }, 0);
const textSchema = z.object({ S: z.string() }).optional();

const printSizes = (rows: readonly (readonly string[])[]): void => {
  say("\nStored size of a payment in bytes (a write unit is 1,024), as simulated and with ids as long as Stripe's:\n");
  sheet(['payment', 'bytes', 'real ids', 'units a write'], rows);
};

const printUnmeasured = (): void => {
  const measured = new Set<string>(Object.values(BUDGETS).map((budget: Budget) => budget.of));
  const others = endpoints.map(({ id }) => id).filter((id) => !measured.has(id));
  if (others.length > 0) say(`\nWithout a row here: ${others.join(', ')}`);
};

const printOverspent = (rows: readonly Row[]): boolean => {
  const lines = rows.flatMap((row) => overspending(row).map((problem) => `${row.name}: ${problem}`));
  say(lines.length === 0 ? `\nAll ${rows.length} rows keep within their budgets.` : `\nEXCEEDED\n${lines.join('\n')}`);
  return lines.length === 0;
};
