import { DAY_MS, iso, utcDay } from '../../shared/core/time.ts';
import type { VisiblePayment } from '../../shared/payments/payment.ts';
import { isVisiblePayment } from '../../shared/payments/payment.ts';
import { paymentItem } from '../../shared/payments/payment-store.ts';
import type { Item } from '../../shared/platform/table.ts';
import { paymentEntry } from '../../shared/queries/payment-entry.ts';
import { RARE, type Seeding, seededPayment, withoutStream, writeItems } from './seed.ts';
import { type Service, startService } from './service.ts';
import { say, sheet } from './sheet.ts';
import { tallyOf } from './tally.ts';

/**
 * The list of all payments, of 1,000 and of 100,000 payments over 100 days. @returns whether all costs are as expected.
 */
export const benchAllPaymentsGrowth = async (): Promise<boolean> => {
  const service = await startService(() => false);
  try {
    await withoutStream(service);
    const from = Date.parse(utcDay(iso(service.now()))) - DAYS * DAY_MS;
    const admin = await service.control('/sessions', { email: 'admin@example.com', is_admin: true });
    const few = { userId: 'user_few', count: SMALL, from, days: DAYS };
    const many = { userId: 'user_many', count: LARGE - SMALL, from, days: DAYS };
    await writeItems(service, itemsOf(few));
    const lists = listsOver(few, many);
    const small = await measureAll(
      service,
      admin.session_id,
      lists.map(({ few: query }) => query),
    );
    await writeItems(service, itemsOf(many));
    const large = await measureAll(
      service,
      admin.session_id,
      lists.map(({ many: query }) => query),
    );
    return printed(lists.flatMap((list, index) => foundIn(list, small[index], large[index])));
  } finally {
    await service.stop();
  }
};

const SMALL = 1_000;
const LARGE = 100_000;
const DAYS = 100;
const PAGE = 5;
/** The queries of one request, and the payments of the page. */
const MOST_REQUESTS = 65;

function* itemsOf(seeding: Seeding): Generator<Item> {
  for (let index = 0; index < seeding.count; index += 1) {
    const payment = seededPayment(seeding, index);
    if (!isVisiblePayment(payment)) continue;
    yield paymentItem(payment, seeding.from + seeding.days * DAY_MS);
    yield entryOf(payment);
  }
}

const entryOf = (payment: VisiblePayment): Item => paymentEntry(payment, undefined);

interface List {
  readonly name: string;
  readonly few: string;
  readonly many: string;
  readonly holds: 'same' | 'bounded';
}

const listsOver = (few: Seeding, many: Seeding): readonly List[] => {
  const to = `to=${utcDay(iso(few.from + 90 * DAY_MS))}`;
  const both = (name: string, query: string, holds: List['holds']): List => ({ name, few: query, many: query, holds });
  return [
    both('page 1', to, 'same'),
    both('page 1 by status', `${to}&status=succeeded`, 'bounded'),
    {
      name: 'page 1 of a user',
      few: `user_id=${few.userId}`,
      many: `user_id=${many.userId}`,
      holds: 'same',
    },
    {
      name: 'by our id',
      few: `search=${seededPayment(few, 7).id}`,
      many: `search=${seededPayment(many, 7).id}`,
      holds: 'same',
    },
    both('page 1 of a status of 1 in 1,000', `${to}&status=${RARE}`, 'bounded'),
    both('search, nothing matches', `${to}&search=nowhere`, 'bounded'),
    both('last four digits, nothing matches', `${to}&search=4242`, 'bounded'),
  ];
};

interface Measured {
  readonly shown: number;
  readonly requests: number;
  readonly levels: number;
  readonly readUnits: number;
}

interface Found {
  readonly list: List;
  readonly small: Measured;
  readonly large: Measured;
}

const foundIn = (list: List, small: Measured | undefined, large: Measured | undefined): readonly Found[] =>
  small && large ? [{ list, small, large }] : [];

const measureAll = async (service: Service, session: string, queries: readonly string[]): Promise<Measured[]> => {
  const found: Measured[] = [];
  for (const query of queries) found.push(await measure(service, session, query));
  return found;
};

const measure = async (service: Service, session: string, query: string): Promise<Measured> => {
  const headers = { 'x-session-id': session };
  await service.must({ method: 'GET', path: '/admin/payments?limit=1', headers });
  await service.take();
  const answer = await service.must({ method: 'GET', path: `/admin/payments?limit=${PAGE}&${query}`, headers });
  const { parts } = tallyOf(await service.take(), 'admin.list-payments');
  return {
    shown: answer.data.length,
    requests: parts.own.requests,
    levels: parts.own.levels,
    readUnits: parts.own.units.read,
  };
};

const MEASURES = ['shown', 'requests', 'levels', 'readUnits'] as const;

const printed = (found: readonly Found[]): boolean => {
  say(`\nThe list of all payments, of ${SMALL} and of ${LARGE} over ${DAYS} days, ${PAGE} a page\n`);
  sheet(
    ['list', 'shown', 'requests', 'levels', 'read units', 'must be', ''],
    found.map(({ list, small, large }) => [
      list.name,
      ...MEASURES.map((measure) => `${small[measure]} : ${large[measure]}`),
      list.holds === 'same' ? 'the same, +-1 unit' : `at most ${MOST_REQUESTS} requests`,
      holds({ list, small, large }) ? '' : 'NOT SO',
    ]),
  );
  return found.every(holds);
};

const holds = ({ list, small, large }: Found): boolean =>
  list.holds === 'same'
    ? small.shown === large.shown &&
      small.shown > 0 &&
      small.requests === large.requests &&
      Math.abs(small.readUnits - large.readUnits) <= 1
    : Math.max(small.requests, large.requests) <= MOST_REQUESTS;
