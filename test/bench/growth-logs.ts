import { DAY_MS, type Instant, iso } from '../../shared/core/time.ts';
import { logItem } from '../../shared/event-log/log-entry.ts';
import type { Item } from '../../shared/platform/table.ts';
import type { TableCall } from './meter.ts';
import { withoutStream, writeItems } from './seed.ts';
import { type Service, startService } from './service.ts';
import { say, sheet } from './sheet.ts';
import { tallyOf } from './tally.ts';

/**
 * Compares webhook logs of two owners, with 1,000 and 100,000 entries over 80 days. @returns whether all costs are as
 * expected
 */
export const benchLogGrowth = async (): Promise<boolean> => {
  const service = await startService(() => false);
  try {
    await withoutStream(service);
    const small = await seeded(service, 'user_few', SMALL);
    const adminOfFew = await sessionOf(service, { is_admin: true });
    const few = new Map<string, Measured>();
    for (const list of LISTS) few.set(list.name, await measure(service, list.all ? adminOfFew : small, list));
    const large = await seeded(service, 'user_many', LARGE);
    const found: Found[] = [];
    for (const list of LISTS) {
      const small = few.get(list.name);
      if (small) found.push({ list, small, large: await measure(service, list.all ? adminOfFew : large, list) });
    }
    return printed(found);
  } finally {
    await service.stop();
  }
};

const SMALL = 1_000;
const LARGE = 100_000;
const DAYS = 80;
const FAILED_EVERY = 50;
const RARE_EVERY = 500;
const RARE = 'customer.updated';
/** Four queries and a count per partition, and one read of the page. An owner has 8 partitions, all owners 32. */
const MOST_LOOKS = { own: 41, all: 161 };
/** The maximum number of rows that the counts of all partitions read in total. */
const ROWS_COUNTED = 2_000;

interface List {
  readonly name: string;
  readonly query: string;
  /** True for the log of all owners, as platform admins see it. */
  readonly all?: true;
  readonly holds: 'counted' | 'bounded';
  /** The partitions of the list, and the rows of a page read from each. */
  readonly partitions: number;
  readonly depth?: number;
}

const LISTS: readonly List[] = [
  { name: 'page 1', query: '', holds: 'counted', partitions: 8 },
  { name: 'page 1, failed', query: 'status=failed', holds: 'counted', partitions: 4 },
  { name: 'page 1 of a type, 1 in 500', query: `event_type=${RARE}`, holds: 'bounded', partitions: 8 },
  { name: 'page 5', query: 'offset=40', holds: 'counted', partitions: 8, depth: 51 },
  { name: 'page 1, everybody', query: '', all: true, holds: 'counted', partitions: 32 },
  { name: 'page 1, everybody, failed', query: 'status=failed', all: true, holds: 'counted', partitions: 16 },
  {
    name: 'page 1, everybody, of a type, 1 in 500',
    query: `event_type=${RARE}`,
    all: true,
    holds: 'bounded',
    partitions: 32,
  },
];
const PAGE = 10;

const sessionOf = async (service: Service, fields: object): Promise<string> => {
  const session = await service.control('/sessions', { email: 'someone@example.com', ...fields });
  return session.session_id;
};

const seeded = async (service: Service, userId: string, count: number): Promise<string> => {
  await writeItems(service, entriesOf(userId, count, service.now()));
  return sessionOf(service, { user_id: userId, email: `${userId}@example.com` });
};

function* entriesOf(userId: string, count: number, now: Instant): Generator<Item> {
  for (let index = 0; index < count; index += 1) {
    const isFailed = index % FAILED_EVERY === 0;
    yield logItem({
      provider: 'provider_a',
      eventType: index % RARE_EVERY === 1 ? RARE : 'payment.created',
      eventId: `msg_${userId}_${index}`,
      status: isFailed ? 'failed' : 'success',
      direction: 'outbound',
      attempt: 1,
      target: 'WEBHOOK_1',
      payload: { event: 'payment.created', data: { payment_id: `pay_${index}`, amount: 2_500, currency: 'EUR' } },
      response: { http_status: isFailed ? 500 : 200 },
      createdAt: iso(now - DAYS * DAY_MS + Math.floor((index * DAYS * DAY_MS) / count)),
      userId,
    });
  }
}

interface Measured {
  readonly shown: number;
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

const measure = async (service: Service, session: string, { query }: List): Promise<Measured> => {
  const headers = { 'x-session-id': session };
  const ask = { method: 'GET', path: `/webhooks/logs?limit=${PAGE}&${query}`, headers } as const;
  await service.must({ method: 'GET', path: '/webhooks/logs?limit=1', headers });
  await service.take();
  const entries = await service.must(ask);
  const { parts, levels } = tallyOf(await service.take(), 'webhooks.list-logs');
  const rowsOf = ({ about, rows }: TableCall): number => (about.endsWith('index') ? rows : 0);
  return {
    shown: entries.length,
    requests: parts.own.requests,
    levels: parts.own.levels,
    readUnits: parts.own.units.read,
    rows: levels.flat().reduce((sum, call) => sum + rowsOf(call), 0),
  };
};

const MEASURES = ['shown', 'requests', 'levels', 'readUnits', 'rows'] as const;

const printed = (found: readonly Found[]): boolean => {
  say(`\nWebhook logs of an owner of ${SMALL} and of one of ${LARGE} entries over ${DAYS} days, ${PAGE} a page\n`);
  sheet(
    ['list', 'shown', 'requests', 'levels', 'read units', 'index rows', 'must be', ''],
    found.map(({ list, small, large }) => [
      list.name,
      ...MEASURES.map((measure) => `${small[measure]} : ${large[measure]}`),
      `at most ${mostOf(list)} requests`,
      holds({ list, small, large }) ? '' : 'NOT SO',
    ]),
  );
  return found.every(holds);
};

const mostOf = ({ holds, partitions, all }: List): number => {
  if (holds === 'counted') return 2 * partitions + 1;
  return all ? MOST_LOOKS.all : MOST_LOOKS.own;
};

const holds = ({ list, small, large }: Found): boolean =>
  [small, large].every(
    ({ shown, requests, rows }) =>
      requests <= mostOf(list) &&
      (list.holds === 'bounded' ||
        (shown === PAGE && rows <= list.partitions * (list.depth ?? PAGE + 1) + ROWS_COUNTED)),
  );
