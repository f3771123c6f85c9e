import { MEMORY_MB } from '../../shared/core/rights.ts';
import { parseSettings } from '../../shared/core/settings.ts';
import { BILLING_STOPS_AT, mostRenewals } from '../../shared/workers/sweep-due.ts';
import { DAY_SECONDS, HOUR_SECONDS, MINUTE_SECONDS } from '../builders/seconds.ts';
import { PROVIDER_MS, TABLE_MS } from './dollars.ts';
import type { Run } from './meter.ts';
import { type BenchUser, person, post } from './people.ts';
import { PRICES } from './prices.ts';
import { type Json, type Service, startService } from './service.ts';
import { say, sheet } from './sheet.ts';
import { type CapacityUnits, NO_UNITS, sumOf } from './units.ts';

/**
 * Measures a few renewals. From their counts, simulates how long a million renewals take that are due at the same time,
 * on the first of a month, with the default settings.
 * @returns whether a million renewals finish in time and each renewal is within budget
 */
export const benchMonth = async (): Promise<boolean> => {
  const service = await startService(() => true, SETTINGS);
  try {
    const counted = await countRenewals(service);
    printCounts(counted);
    return printMillion(counted);
  } finally {
    await service.stop();
  }
};

const DUE = 1_000_000;
const GOAL_HOURS = 6;
const DEFAULTS = parseSettings({});
const { BACKGROUND_RATE: RATE, BACKGROUND_BURST: BURST } = DEFAULTS.slots.provider_a;
const CONCURRENCY = DEFAULTS.RUN_DUE_CONCURRENCY;
const SETTINGS = {
  PROVIDER_A_SUBSCRIPTIONS: 'service',
  PROVIDER_A_BACKGROUND_RATE: String(RATE),
  PROVIDER_A_BACKGROUND_BURST: String(BURST),
};

/** The number of measured renewals. All of their provider calls fit into the burst. */
const COUNTED = 10;

/** The measured cost of a renewal. The provider's rate limit divided by `calls` limits the renewals per second. */
const BUDGET = { calls: 2, requests: 9, levels: 8, writeUnits: 23, dueUnits: 9 };

/** The time of a function's own work, in ms; assumed. */
const FUNCTION_MS = 40;
/** Response times of a provider, in ms. The goal applies to PROVIDER_MS. */
const ANSWERS_MS = [250, PROVIDER_MS, 800];

/** The cost of one renewal. */
interface Counted {
  /** Calls to the provider. */
  readonly calls: number;
  /** Table requests of `run-due`, and how many of them are sequential. */
  readonly requests: number;
  readonly levels: number;
  readonly units: CapacityUnits;
  /** Table requests of the sweep. */
  readonly sweepRequests: number;
  readonly sweepUnits: CapacityUnits;
  /** Units for counting the provider calls. */
  readonly countUnits: CapacityUnits;
  /** Units of all later work: events, history and webhooks. */
  readonly laterUnits: CapacityUnits;
}

const countRenewals = async (service: Service): Promise<Counted> => {
  const who = await person(service);
  const names = await namesOf(service, who);
  const body = { ...names, subtotal_cents: 2_900, total_cents: 2_900, currency: 'USD', billing_interval: 'monthly' };
  let end = '';
  for (let made = 0; made < COUNTED; made += 1) {
    const { current_period_end } = await service.must(post('/subscriptions', who, body));
    end = current_period_end;
    await service.settle();
  }
  // Moves past the removal of the first payments' client secrets, which must not count as renewal work.
  await service.advance(2 * DAY_SECONDS);
  await service.advance((Date.parse(end) - service.now()) / 1_000 - MINUTE_SECONDS);
  await service.take();
  await service.must({ method: 'DELETE', path: '/_local/simulator/requests' });
  await service.advance(2 * MINUTE_SECONDS);
  const runs = await service.take();
  const calls: Json[] = await service.must({ method: 'GET', path: '/_local/simulator/requests' });
  return costsOf(runs, calls.length);
};

const namesOf = async (service: Service, who: BenchUser): Promise<Json> => {
  const provider = { provider_id: 'provider_a' };
  const customer = await service.must(post('/customers', who, { ...provider, email: who.email }));
  const method = { ...provider, provider_payment_method_token: 'pm_card_visa' };
  const { id } = await service.must(post('/payment-methods', who, method));
  return { ...provider, customer_id: customer.id, payment_method_id: id };
};

const costsOf = (runs: readonly Run[], calls: number): Counted => {
  const of = (id: string): readonly Run[] => runs.filter(({ functionId }) => functionId === id);
  const [sweeps, renewals] = [of('workers.sweep-due'), of('workers.run-due')];
  if (renewals.length < COUNTED) throw new Error(`${renewals.length} of ${COUNTED} renewals were run`);
  const later = runs.filter((run) => !sweeps.includes(run) && !renewals.includes(run));
  const callsOf = (of: readonly Run[]) => of.flatMap(({ levels }) => levels.flat());
  const isCount = ({ about }: { readonly about: string }): boolean => about === 'CALLS';
  const own = callsOf(renewals).filter((call) => !isCount(call));
  return {
    calls: calls / COUNTED,
    requests: own.length / COUNTED,
    levels:
      renewals.reduce((sum, { levels }) => sum + levels.filter((level) => !level.every(isCount)).length, 0) / COUNTED,
    units: each(own),
    sweepRequests: callsOf(sweeps).length / COUNTED,
    sweepUnits: each(callsOf(sweeps)),
    countUnits: each(callsOf(renewals).filter(isCount)),
    laterUnits: each(callsOf(later)),
  };
};

const each = (calls: readonly { readonly units: CapacityUnits }[]): CapacityUnits => {
  const { read, write, due } = sumOf([NO_UNITS, ...calls.map(({ units }) => units)]);
  return { read: read / COUNTED, write: write / COUNTED, due: due / COUNTED };
};

const rounded = (figure: number): string => String(Math.round(figure * 100) / 100);

const printCounts = ({ calls, requests, levels, units, sweepRequests, ...counted }: Counted): void => {
  say(`A renewal, counted on ${COUNTED} that were due at once; measured / budget where there is one.\n`);
  sheet(
    ['what', 'requests', 'levels', 'read units', 'write units', 'due index'],
    [
      [
        'run-due',
        `${rounded(requests)} / ${BUDGET.requests}`,
        `${rounded(levels)} / ${BUDGET.levels}`,
        rounded(units.read),
        `${rounded(units.write)} / ${BUDGET.writeUnits}`,
        `${rounded(units.due)} / ${BUDGET.dueUnits}`,
      ],
      ['sweep-due', rounded(sweepRequests), '', ...unitsOf(counted.sweepUnits)],
      ['the count of calls', '', '', ...unitsOf(counted.countUnits)],
      ['events, history, webhooks', '', '', ...unitsOf(counted.laterUnits)],
    ],
  );
  say(`\nCalls to the provider: ${rounded(calls)} / ${BUDGET.calls}.\n`);
};

const unitsOf = ({ read, write, due }: CapacityUnits): readonly string[] => [
  rounded(read),
  rounded(write),
  rounded(due),
];

const printMillion = (counted: Counted): boolean => {
  const rows = ANSWERS_MS.map((providerMs) => ({ providerMs, ...pipeline(counted, providerMs) }));
  say(`A million renewals that are due at once, computed: ${RATE} calls per second, ${CONCURRENCY} at once.\n`);
  sheet(
    [
      'the provider answers in',
      'a renewal takes',
      'hours',
      'calls per second',
      'the limit is',
      'longest wait in the queue',
    ],
    rows.map(({ providerMs, renewalMs, hours, callsPerSecond, waitSeconds }) => [
      `${providerMs} ms`,
      `${Math.round(renewalMs)} ms`,
      `${rounded(hours)}${providerMs === PROVIDER_MS ? ` / ${GOAL_HOURS}` : ''}`,
      rounded(callsPerSecond),
      callsPerSecond > RATE * NEARLY ? 'the provider' : 'RUN_DUE_CONCURRENCY',
      `${Math.round(waitSeconds)} s`,
    ]),
  );
  printDollarsOf(counted, rows.find(({ providerMs }) => providerMs === PROVIDER_MS)?.renewalMs ?? 0);
  const isInTime = rows.every(({ providerMs, hours }) => providerMs !== PROVIDER_MS || hours <= GOAL_HOURS);
  const overspent = [
    ['calls', counted.calls, BUDGET.calls],
    ['requests', counted.requests, BUDGET.requests],
    ['levels', counted.levels, BUDGET.levels],
    ['write units', counted.units.write, BUDGET.writeUnits],
    ['units of the due index', counted.units.due, BUDGET.dueUnits],
  ] as const;
  for (const [what, is, may] of overspent) if (is > may) say(`EXCEEDED: ${rounded(is)} ${what}, at most ${may} may be`);
  if (!isInTime) say(`EXCEEDED: a million take longer than ${GOAL_HOURS} hours`);
  return isInTime && overspent.every(([, is, may]) => is <= may);
};
const NEARLY = 0.98;

/**
 * Simulates second by second. The sweep refills the queue every minute. The concurrency and the provider's rate limit
 * bound the renewals per second.
 */
const pipeline = ({ calls, levels }: Counted, providerMs: number) => {
  const renewalMs = calls * providerMs + levels * TABLE_MS + FUNCTION_MS;
  const perSecond = (CONCURRENCY * 1_000) / renewalMs;
  let [due, queued, tokens, seconds, waitSeconds] = [DUE, 0, BURST, 0, 0];
  for (; due + queued > 0.5; seconds += 1) {
    if (seconds % MINUTE_SECONDS === 0 && queued < BILLING_STOPS_AT) {
      const fed = Math.min(due, mostRenewals(RATE));
      due -= fed;
      queued += fed;
    }
    tokens = Math.min(tokens + RATE, RATE + BURST);
    const done = Math.min(queued, perSecond, tokens / calls);
    if (done > 0) waitSeconds = Math.max(waitSeconds, queued / done);
    queued -= done;
    tokens -= done * calls;
  }
  return { renewalMs, hours: seconds / HOUR_SECONDS, callsPerSecond: (DUE * calls) / seconds, waitSeconds };
};

/** Messages are sent in batches of ten, but each is received and deleted separately. */
const SQS_REQUESTS = 0.1 + 1 + 1;

const printDollarsOf = ({ units, sweepUnits, countUnits, laterUnits }: Counted, renewalMs: number): void => {
  const { read, write, due } = sumOf([units, sweepUnits, countUnits, laterUnits]);
  const table = (write + due) * PRICES.dynamoDbWriteUnits + read * PRICES.dynamoDbReadUnits;
  const gbSeconds = (renewalMs / 1_000) * (MEMORY_MB.background / 1_024) * DUE;
  const functions = PRICES.lambdaRequests + gbSeconds * PRICES.lambdaGbSecond;
  const queue = SQS_REQUESTS * PRICES.sqsRequests;
  const unitsPerSecond = Math.round((write + due) * (RATE / BUDGET.calls));
  say(
    `\nUS dollars per million renewals: table ${rounded(table)} (with events, history and webhooks), run-due ` +
      `${rounded(functions)}, its queue ${rounded(queue)}.\n` +
      `Write units per second at that pace, of the table and its indexes together: ${unitsPerSecond}.\n`,
  );
};
