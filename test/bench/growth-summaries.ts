import { memoryUsage } from 'node:process';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { DAY_MS, utcDay } from '../../shared/core/time.ts';
import type { Share } from '../../shared/payments/summary-sums.ts';
import { type Seeding, seed, seededPayment } from './seed.ts';
import { type Json, type Service, startService } from './service.ts';
import { say, sheet } from './sheet.ts';
import { tallyOf } from './tally.ts';

/**
 * Compares the cost of summaries and CSV pages for 1,000 and for many payments, over the same number of days.
 * @returns whether many payments cost no more, and all totals and pages are correct
 */
export const benchSummaryGrowth = async (many = LARGE): Promise<boolean> => {
  const service = await startService(() => false);
  try {
    const shares: Share[] = [];
    const sums: PaidSums = { count: 0, cents: 0 };
    const small = await measured(service, { count: SMALL, total: SMALL }, { shares, sums });
    const large = await measured(service, { count: many, total: SMALL + many }, { shares, sums });
    return printed(small, large);
  } finally {
    await service.stop();
  }
};

const SMALL = 1_000;
const LARGE = 100_000;
const DAYS = 31;
const CSV_ROWS = 1_000;

interface Measured {
  readonly name: string;
  readonly requests: number;
  readonly readUnits: number;
  readonly wrong?: string;
}

interface Size {
  /** The number of payments of the owner (`count`) and of all owners (`total`). */
  readonly count: number;
  readonly total: number;
}

/** The number and the sum of all succeeded payments so far, of all owners. */
interface PaidSums {
  count: number;
  cents: number;
}

interface Seeded {
  readonly shares: Share[];
  readonly sums: PaidSums;
}

const addPaid = (sums: PaidSums, seeding: Seeding): void => {
  for (let index = 0; index < seeding.count; index += 1) {
    const { status, totalCents } = seededPayment(seeding, index);
    if (status !== 'succeeded') continue;
    sums.count += 1;
    sums.cents += totalCents;
  }
};

const measured = async (
  service: Service,
  { count, total }: Size,
  { shares, sums }: Seeded,
): Promise<readonly Measured[]> => {
  const to = Date.parse(utcDay(new Date(service.now()).toISOString()));
  const from = to - DAYS * DAY_MS;
  const userId = `user_of_${count}`;
  const seeding = { userId, count, from, days: DAYS };
  await seed(service, [seeding], shares);
  addPaid(sums, seeding);
  const claims = { user_id: userId, email: `${userId}@example.com`, is_admin: true };
  const { session_id } = await service.control('/sessions', claims);
  const headers = { 'x-session-id': String(session_id) };
  const days = `from=${utcDay(new Date(from).toISOString())}&to=${utcDay(new Date(to).toISOString())}`;
  const range = `${days}&group_by=status`;
  await service.must({ method: 'GET', path: '/payments?limit=1', headers });
  const csv = { ...headers, accept: 'text/csv' };
  return [
    await summary(service, { path: `/payments/summary?${range}`, headers, payments: count, of: 'payments.summary' }),
    await summary(service, { path: `/admin/summary?${range}`, headers, payments: total, of: 'admin.summary' }),
    await totals(service, { path: `/admin/summary?${days}`, headers, sums }),
    await page(service, { name: 'CSV, first page', path: '/payments', headers: csv, rows: CSV_ROWS }),
    await lastPage(service, csv, count),
  ];
};

interface Asked {
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
}

const summary = async (
  service: Service,
  { path, headers, payments, of }: Asked & { readonly payments: number; readonly of: string },
): Promise<Measured> => {
  await service.take();
  const body = await service.must({ method: 'GET', path, headers });
  const { requests, units } = tallyOf(await service.take(), of).parts.own;
  const counted = body.data.reduce((sum: number, { count }: Json) => sum + count, 0);
  const wrong = counted === payments ? {} : { wrong: `${counted} payments counted, ${payments} seeded` };
  return { name: of, requests, readUnits: units.read, ...wrong };
};

/** Checks that the totals by currency equal the payments, both gross and net. Without fees, net equals gross. */
const totals = async (
  service: Service,
  { path, headers, sums }: Asked & { readonly sums: PaidSums },
): Promise<Measured> => {
  await service.take();
  const { meta } = await service.must({ method: 'GET', path, headers });
  const { requests, units } = tallyOf(await service.take(), 'admin.summary').parts.own;
  const [total] = meta.totals;
  const shown = [total?.count, total?.amount_cents, total?.settlements[0]?.net_cents];
  const wanted = [sums.count, sums.cents, sums.cents];
  const wrong = String(shown) === String(wanted) ? {} : { wrong: `totals ${shown}, payments ${wanted}` };
  return { name: 'admin.summary, totals', requests, readUnits: units.read, ...wrong };
};

const page = async (
  service: Service,
  { name, path, headers, rows }: Asked & { readonly name: string; readonly rows: number },
): Promise<Measured> => {
  await service.take();
  const text = await service.must({ method: 'GET', path, headers });
  const { requests, units } = tallyOf(await service.take(), 'payments.list').parts.own;
  const shown = rowsOf(text);
  const wrong = shown === rows ? {} : { wrong: `${shown} rows, ${rows} wanted` };
  return { name, requests, readUnits: units.read, ...wrong };
};

/** Counts the rows without the header. The cells contain no line breaks here. */
const rowsOf = (text: Json): number => String(text).split('\r\n').length - 2;

/**
 * Follows the links to the last page. Checks that every payment is on one page, that the last page costs as much as the
 * first, and that memory use has not grown since the second page.
 */
const lastPage = async (service: Service, headers: Asked['headers'], count: number): Promise<Measured> => {
  let path: string | undefined = '/payments';
  let last = path;
  let rows = 0;
  const heaps: number[] = [];
  while (path !== undefined) {
    const { body, link }: { body: Json; link: string | undefined } = await service.ask({
      method: 'GET',
      path,
      headers,
    });
    rows += rowsOf(body);
    last = path;
    path = link;
    await service.take();
    heaps.push(usedHeapMb());
  }
  const grownMb = (heaps.at(-1) ?? 0) - (heaps[1] ?? heaps[0] ?? 0);
  say(`CSV of ${rows} rows: ${grownMb.toFixed(1)} MB more in use after the last page than after the second.`);
  const found = await page(service, { name: 'CSV, last page', path: last, headers, rows: CSV_ROWS });
  if (rows !== count) return { ...found, wrong: `${rows} rows in all, ${count} payments` };
  return grownMb <= MAX_GROWN_MB ? found : { ...found, wrong: `${grownMb} MB more in use after the last page` };
};

/** The maximum growth of memory. A page is 0.3 MB of text, and all pages in memory would take 30 MB. */
const MAX_GROWN_MB = 8;

setFlagsFromString('--expose-gc');
const collectGarbage: unknown = runInNewContext('gc');

const usedHeapMb = (): number => {
  if (typeof collectGarbage === 'function') collectGarbage();
  return memoryUsage().heapUsed / 1_000_000;
};

const printed = (small: readonly Measured[], large: readonly Measured[]): boolean => {
  const rows = small.map((few, index) => ({ few, many: large[index] ?? few }));
  say('\nSummaries over 31 days by status, and pages of CSV: few : many payments\n');
  sheet(
    ['what', 'requests', 'read units', ''],
    rows.map(({ few, many }) => [
      few.name,
      `${few.requests} : ${many.requests}`,
      `${few.readUnits} : ${many.readUnits}`,
      problemOf(few, many) === undefined ? '' : 'NOT SO',
    ]),
  );
  const problems = rows.map(({ few, many }) => problemOf(few, many)).filter((problem) => problem !== undefined);
  say(problems.length === 0 ? '\nAll hold.' : `\nNOT SO\n${problems.join('\n')}`);
  return problems.length === 0;
};

/** Accepts up to ten percent more, which allows for one payment more or less on a page. */
const TOLERATED = 1.1;
/** Larger sums have more digits, so a request may read one more step of 4 KB. */
const STEP_UNITS = 0.5;

const problemOf = (few: Measured, many: Measured): string | undefined => {
  const wrong = few.wrong ?? many.wrong;
  if (wrong !== undefined) return `${few.name}: ${wrong}`;
  const grows =
    many.requests > few.requests || many.readUnits > few.readUnits * TOLERATED + 1 + STEP_UNITS * few.requests;
  return grows ? `${few.name}: costs more for many payments` : undefined;
};
