import { keyedId } from '../../shared/core/ids.ts';
import { keysOf } from '../../shared/core/rows.ts';
import { DAY_MS, iso, utcDay } from '../../shared/core/time.ts';
import { isVisiblePayment, type Payment } from '../../shared/payments/payment.ts';
import { paymentItem } from '../../shared/payments/payment-item.ts';
import type { Item } from '../../shared/platform/table.ts';
import { recordItem } from '../../shared/platform/versioned-record.ts';
import { paymentEntries } from '../../shared/queries/payment-entry.ts';
import { subscriptionEntries } from '../../shared/queries/subscription-entry.ts';
import {
  isVisibleSubscription,
  type Subscription,
  subscriptionShape,
} from '../../shared/subscriptions/record/subscription.ts';
import { subscription } from '../builders/subscription.ts';
import { RARE, type Seeding, seededPayment, withoutStream, writeItems } from './seed.ts';
import { type Service, startService } from './service.ts';
import { say, sheet } from './sheet.ts';
import { tallyOf } from './tally.ts';

/**
 * Measures the lists of all payments and subscriptions and the search, with 1,000 and 100,000 records of each kind over
 * 100 days. @returns whether all costs are as expected
 */
export const benchAllOwnersGrowth = async (total = LARGE): Promise<boolean> => {
  const service = await startService(() => false);
  try {
    await withoutStream(service);
    const from = Date.parse(utcDay(iso(service.now()))) - DAYS * DAY_MS;
    const admin = await service.control('/sessions', { email: 'admin@example.com', is_admin: true });
    const few = { userId: 'user_few', count: SMALL, from, days: DAYS };
    const many = { userId: 'user_many', count: total - SMALL, from, days: DAYS };
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
    return printed(
      total,
      lists.flatMap((list, index) => foundIn(list, small[index], large[index])),
    );
  } finally {
    await service.stop();
  }
};

const SMALL = 1_000;
const LARGE = 100_000;
const DAYS = 100;
const PAGE = 5;
/** The maximum queries of one request, plus one read for the records of the page. */
const MOST_REQUESTS = 65;
/** The last four card digits of a seeding's first payments. */
const digitsOf = ({ count }: Pick<Seeding, 'count'>): string => (count === SMALL ? '4242' : '4343');
const WITH_DIGITS = 8;

function* itemsOf(seeding: Seeding): Generator<Item> {
  for (let index = 0; index < seeding.count; index += 1) {
    const payment = paymentOf(seeding, index);
    if (!isVisiblePayment(payment)) continue;
    yield paymentItem(payment, seeding.from + seeding.days * DAY_MS);
    yield* paymentEntries(payment, undefined);
    const made = subscriptionOf(seeding, payment, index);
    if (!isVisibleSubscription(made)) continue;
    yield recordItem(subscriptionShape, made);
    yield* subscriptionEntries(made);
  }
}

const paymentOf = (seeding: Seeding, index: number): Payment => ({
  ...seededPayment(seeding, index),
  details: {
    type: 'card',
    cardBrand: index % 3 === 0 ? 'mastercard' : 'visa',
    lastFour: index < WITH_DIGITS ? digitsOf(seeding) : '0000',
  },
});

const subscriptionOf = ({ userId }: Seeding, { createdAt, providerId }: Payment, index: number): Subscription =>
  subscription({
    id: keyedId('seed', 'subscription', 'bench', userId, String(index)),
    ...{ version: 3, status: index % 5 === 0 ? 'canceled' : 'active', createdAt, updatedAt: createdAt },
    ...{ userId, userEmail: `${userId}@example.com`, providerId, referenceCode: `contract-${userId}-${index}` },
  });

interface List {
  readonly name: string;
  readonly few: string;
  readonly many: string;
  readonly holds: 'same' | 'none' | 'bounded';
}

const listsOver = (few: Seeding, many: Seeding): readonly List[] => {
  const to = `to=${utcDay(iso(few.from + 90 * DAY_MS))}`;
  const both = (name: string, path: string, holds: List['holds']): List => ({ name, few: path, many: path, holds });
  const each = (name: string, pathOf: (seeding: Seeding) => string): List => {
    return { name, few: pathOf(few), many: pathOf(many), holds: 'same' };
  };
  const payments = `/admin/payments?limit=${PAGE}`;
  const subscriptions = `/admin/subscriptions?limit=${PAGE}`;
  return [
    both('payments, page 1', `${payments}&${to}`, 'same'),
    both('payments by status', `${payments}&${to}&status=succeeded`, 'bounded'),
    each('payments of a user', ({ userId }) => `${payments}&user_id=${userId}`),
    each('payments by our id', (seeding) => `${payments}&search=${seededPayment(seeding, 7).id}`),
    both('payments of a status of 1 in 1,000', `${payments}&${to}&status=${RARE}`, 'bounded'),
    both('payments by a text, nothing matches', `${payments}&search=nowhere`, 'none'),
    each('payments by last four digits', (seeding) => `${payments}&search=${digitsOf(seeding)}`),
    both('payments by card brand', `${payments}&${to}&card_brand=visa`, 'bounded'),
    both('payments by wallet, nothing matches', `${payments}&${to}&wallet_type=link`, 'bounded'),
    both('payments by decline code, nothing matches', `${payments}&${to}&decline_code=lost_card`, 'bounded'),
    both('payments by fingerprint, nothing matches', `${payments}&fingerprint=fp_${'0'.repeat(24)}`, 'none'),
    both('subscriptions, page 1', `${subscriptions}&${to}`, 'same'),
    both('subscriptions by status', `${subscriptions}&${to}&status=canceled`, 'bounded'),
    each('subscriptions of a user', ({ userId }) => `${subscriptions}&user_id=${userId}`),
    both('subscriptions, nothing matches', `${subscriptions}&${to}&billing_owner=provider`, 'bounded'),
    each('search by our id', (seeding) => `/admin/search?q=${seededPayment(seeding, 7).id}`),
    each('search by a user', ({ userId }) => `/admin/search?q=${userId}`),
    each('search by last four digits', (seeding) => `/admin/search?q=${digitsOf(seeding)}`),
    both('search, nothing matches', '/admin/search?q=nowhere', 'none'),
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

const FUNCTIONS = {
  payments: 'admin.list-payments',
  subscriptions: 'admin.list-subscriptions',
  search: 'admin.search',
} as const;

const measure = async (service: Service, session: string, path: string): Promise<Measured> => {
  const headers = { 'x-session-id': session };
  await service.must({ method: 'GET', path: '/admin/payments?limit=1', headers });
  await service.must({ method: 'GET', path: '/admin/subscriptions?limit=1', headers });
  await service.must({ method: 'GET', path: '/admin/search?q=pay_000000000000000000000000', headers });
  await service.take();
  const answer = await service.must({ method: 'GET', path, headers });
  const of = keysOf(FUNCTIONS).find((name) => path.startsWith(`/admin/${name}`)) ?? 'payments';
  const { parts } = tallyOf(await service.take(), FUNCTIONS[of]);
  return {
    shown: answer.data.length,
    requests: parts.own.requests,
    levels: parts.own.levels,
    readUnits: parts.own.units.read,
  };
};

const MEASURES = ['shown', 'requests', 'levels', 'readUnits'] as const;

const printed = (total: number, found: readonly Found[]): boolean => {
  say(`\nThe lists of all owners and the search, of ${SMALL} and of ${total} over ${DAYS} days, ${PAGE} a page\n`);
  sheet(
    ['list', 'shown', 'requests', 'levels', 'read units', 'must be', ''],
    found.map(({ list, small, large }) => [
      list.name,
      ...MEASURES.map((measure) => `${small[measure]} : ${large[measure]}`),
      list.holds === 'bounded' ? `at most ${MOST_REQUESTS} requests` : 'the same, +-1 unit',
      holds({ list, small, large }) ? '' : 'NOT SO',
    ]),
  );
  return found.every(holds);
};

const holds = ({ list, small, large }: Found): boolean =>
  list.holds !== 'bounded'
    ? small.shown === large.shown &&
      small.shown > 0 === (list.holds === 'same') &&
      small.requests === large.requests &&
      Math.abs(small.readUnits - large.readUnits) <= 1
    : Math.max(small.requests, large.requests) <= MOST_REQUESTS;
