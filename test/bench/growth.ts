import { DAY_MS, utcDay } from '../../shared/core/time.ts';
import type { TableCall } from './meter.ts';
import { RARE, seed, TERM } from './seed.ts';
import { type Service, type ServiceAnswer, startService } from './service.ts';
import { say, sheet } from './sheet.ts';
import { tallyOf } from './tally.ts';

/**
 * Compares lists of two owners, with 1,000 and with many payments over the same number of days.
 * @returns whether all costs are as expected
 */
export const benchGrowth = async (many = LARGE): Promise<boolean> => {
  const service = await startService(() => false);
  try {
    const owners = await seeded(service, many);
    const found: Found[] = [];
    for (const list of listsOver(owners.from, sortedDays(many))) {
      found.push({
        list,
        small: await measure(service, owners.small, list.query),
        large: await measure(service, owners.large, list.query),
      });
    }
    return printed(found, many);
  } finally {
    await service.stop();
  }
};

const SMALL = 1_000;
const LARGE = 100_000;
const DAYS = 100;
const PAGE = 10;
const ROWS_SORTED = 10_000;
/** Read units of 1 MB from an index, the maximum of one eventually consistent request. */
const UNITS_A_REQUEST = 128;

interface Owner {
  readonly count: number;
  readonly session: string;
}

const seeded = async (service: Service, many: number): Promise<{ from: number; small: Owner; large: Owner }> => {
  const today = Date.parse(utcDay(new Date(service.now()).toISOString()));
  const from = today - DAYS * DAY_MS;
  const owner = async (userId: string, count: number): Promise<Owner> => {
    const session = await service.control('/sessions', { user_id: userId, email: `${userId}@example.com` });
    return { count, session: session.session_id };
  };
  await seed(service, [
    { userId: 'user_small', count: SMALL, from, days: DAYS },
    { userId: 'user_large', count: many, from, days: DAYS },
  ]);
  return { from, small: await owner('user_small', SMALL), large: await owner('user_large', many) };
};

/** A list request and its expected cost. */
interface List {
  readonly name: string;
  readonly query: string;
  /**
   * `same` expects the same number of requests and, give or take one, the same read units for both owners. The owner of
   * many payments needs one request more, which reads the counters.
   */
  readonly holds: 'same' | Bound;
  /** The number of items on the page, per owner. `refused` is 400 UNSUPPORTED_FILTER. */
  readonly shows: readonly [small: number | 'refused', large: number | 'refused'];
  /** True if `total` must be the number of all payments. */
  readonly countsAll?: true;
}

interface Bound {
  readonly requests: number;
  readonly rows?: number;
}

/** Requests: four index queries, the page, the count of the rest, and the counters. */
const FILTERED: Bound = { requests: 7 };
/** The rest of a range is counted up to 1,000 payments. */
const RANGE: Bound = { requests: 4, rows: 1_001 + PAGE };
/** Counters, the page, and 10,001 rows in 1 MB responses. */
const SORTED: Bound = { requests: 14, rows: ROWS_SORTED + 1 };

/** The maximum days of rows sortable in one request. */
const sortedDays = (many: number): number => Math.min(9, Math.floor((ROWS_SORTED * DAYS) / many));

const listsOver = (from: number, sorted: number): readonly List[] => {
  const day = (index: number): string => utcDay(new Date(from + index * DAY_MS).toISOString());
  const full = [PAGE, PAGE] as const;
  return [
    { name: 'page 1', query: '', holds: 'same', shows: full, countsAll: true },
    { name: 'page 100', query: 'page=100', holds: 'same', shows: full, countsAll: true },
    { name: 'page 1, oldest first', query: 'orderDir=asc', holds: 'same', shows: full, countsAll: true },
    { name: 'page 1 by status', query: 'status=succeeded', holds: FILTERED, shows: full },
    { name: 'page 1 by two statuses', query: 'status=failed,canceled', holds: FILTERED, shows: full },
    {
      name: 'page 1 of ten days',
      query: `created_at_from=${day(40)}&created_at_to=${day(49)}`,
      holds: RANGE,
      shows: full,
    },
    { name: 'page 40 by status', query: 'page=40&status=succeeded', holds: FILTERED, shows: full },
    { name: 'page 1 of a status of 1 in 1,000', query: `status=${RARE}`, holds: FILTERED, shows: [1, PAGE] },
    { name: 'search, 1 in 100 match', query: `search=${TERM}`, holds: FILTERED, shows: full },
    { name: 'search, nothing matches', query: 'search=nowhere', holds: FILTERED, shows: [0, 0] },
    {
      name: 'page 1,000, by the counters',
      query: 'page=1000',
      // The counters skip whole days. On the first day of the page, all rows before the page are read.
      holds: { requests: 6, rows: ROWS_SORTED + 1 },
      shows: [0, PAGE],
    },
    {
      name: 'page 1,000 of a search',
      query: `page=1000&search=${TERM}`,
      holds: { requests: 1 },
      shows: ['refused', 'refused'],
    },
    { name: 'by amount', query: 'orderBy=amount_cents', holds: SORTED, shows: [PAGE, 'refused'] },
    {
      name: 'by amount, days that can be sorted',
      query: `orderBy=amount_cents&created_at_from=${day(0)}&created_at_to=${day(sorted - 1)}`,
      holds: SORTED,
      shows: full,
    },
    { name: 'by status', query: 'orderBy=status', holds: SORTED, shows: [PAGE, 'refused'] },
    { name: 'by update', query: 'orderBy=updated_at', holds: SORTED, shows: [PAGE, 'refused'] },
  ];
};

interface Measured {
  readonly shown: number | 'refused' | 'failed';
  readonly total: number | undefined;
  readonly requests: number;
  readonly levels: number;
  readonly readUnits: number;
  readonly rows: number;
}

interface Found {
  readonly list: List;
  readonly small: Measured;
  readonly large: Measured;
}

const measure = async (service: Service, { session }: Owner, query: string): Promise<Measured> => {
  const headers = { 'x-session-id': session };
  await service.must({ method: 'GET', path: '/payments?limit=1', headers });
  await service.take();
  const answer = await service.ask({ method: 'GET', path: `/payments?limit=${PAGE}&${query}`, headers });
  const { parts, levels } = tallyOf(await service.take(), 'payments.list');
  return {
    shown: shownBy(answer),
    total: answer.body.meta?.total,
    requests: parts.own.requests,
    levels: parts.own.levels,
    readUnits: parts.own.units.read,
    rows: levels.flat().reduce((sum, call) => sum + indexRows(call), 0),
  };
};

const indexRows = ({ about, rows }: TableCall): number => (about.endsWith('index') ? rows : 0);

const shownBy = ({ status, body }: ServiceAnswer): Measured['shown'] => {
  if (status === 200) return body.data.length;
  return body.code === 'UNSUPPORTED_FILTER' ? 'refused' : 'failed';
};

const printed = (found: readonly Found[], many: number): boolean => {
  const rows = found.map((one) => ({ ...one, problems: problemsOf(one, many) }));
  say(`Lists of an owner of ${SMALL} and of one of ${many} payments over ${DAYS} days, ${PAGE} a page\n`);
  sheet(
    ['list', 'shown', 'total', 'requests', 'levels', 'read units', 'index rows', 'must be', ''],
    rows.map(({ list, small, large, problems }) => [
      list.name,
      ...MEASURES.map((measure) => `${small[measure] ?? ''} : ${large[measure] ?? ''}`),
      list.holds === 'same' ? 'the same and the counters, +-1 unit' : boundText(list.holds),
      problems.length > 0 ? 'NOT SO' : '',
    ]),
  );
  const lines = rows.flatMap(({ list, problems }) => problems.map((problem) => `${list.name}: ${problem}`));
  say(lines.length === 0 ? '\nAll lists hold.' : `\nNOT SO\n${lines.join('\n')}`);
  return lines.length === 0;
};

const MEASURES = ['shown', 'total', 'requests', 'levels', 'readUnits', 'rows'] as const;

const boundText = ({ requests, rows }: Bound): string =>
  `at most ${requests} requests${rows === undefined ? '' : `, ${rows} rows`}`;

const problemsOf = ({ list, small, large }: Found, many: number): readonly string[] => [
  ...(small.shown === list.shows[0] ? [] : [`${small.shown} shown of few, ${list.shows[0]} wanted`]),
  ...(large.shown === list.shows[1] ? [] : [`${large.shown} shown of many, ${list.shows[1]} wanted`]),
  ...(list.countsAll === true && (small.total !== SMALL || large.total !== many)
    ? [`totals are ${small.total} and ${large.total}`]
    : []),
  ...(list.holds === 'same' ? differences(small, large) : [small, large].flatMap((one) => excesses(one, list.holds))),
];

/** The expected extra cost of the counters, for 100 days of sums. */
const COUNTERS = { requests: 1, units: 3 };

const differences = (small: Measured, large: Measured): readonly string[] => [
  ...(small.requests + COUNTERS.requests === large.requests
    ? []
    : [`${small.requests} requests for few, ${large.requests} for many`]),
  ...(Math.abs(small.readUnits + COUNTERS.units - large.readUnits) <= 1
    ? []
    : [`${small.readUnits} read units for few, ${large.readUnits} for many`]),
];

const excesses = (one: Measured, holds: List['holds']): readonly string[] => {
  if (holds === 'same') return [];
  const { requests, rows = Number.POSITIVE_INFINITY } = holds;
  return [
    ...(one.requests <= requests ? [] : [`${one.requests} requests`]),
    ...(one.rows <= rows ? [] : [`${one.rows} rows`]),
    ...(one.readUnits <= one.requests * UNITS_A_REQUEST ? [] : [`${one.readUnits} read units`]),
  ];
};
