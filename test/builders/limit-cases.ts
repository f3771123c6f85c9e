import type { History, HistoryExchange } from '../simulation/model/history.ts';
import { BEN, GUS } from '../simulation/world/people.ts';
import { exchangeOf, historyPayment, historyWith, ORGANIZATION, PAYMENT } from './history.ts';
import type { Case } from './promise-cases.ts';

type Parts = Parameters<typeof exchangeOf>[0];

const DECLINED = { method: 'POST', status: 402, body: { code: 'PAYMENT_DECLINED' } } as const;

/** This many requests, one every ten seconds. */
const times = (count: number, parts: (index: number) => Parts): readonly HistoryExchange[] =>
  Array.from({ length: count }, (_, index) => exchangeOf({ at: 10 + index * 10, ...parts(index) }));

const limited = (exchanges: readonly HistoryExchange[], limits = true): History =>
  historyWith({ limits, exchanges, items: [historyPayment({ organizationId: ORGANIZATION, userId: BEN.userId })] });

/** Three routes in turn. Each confirmation names another payment. */
const ROUTES = ['/subscriptions', '/payment-methods', '/payments/confirm'] as const;
const declines = (count: number, parts: Parts = {}): readonly HistoryExchange[] =>
  times(count, (index) => {
    const route = ROUTES[index % ROUTES.length] ?? '/subscriptions';
    return { ...DECLINED, path: route.endsWith('confirm') ? `${route}/pay_${index}` : route, ...parts };
  });
const ofOnePayment = (count: number): readonly HistoryExchange[] =>
  declines(count, { path: `/payments/confirm/${PAYMENT}` });

const DECLINES =
  'With rate limits a user has 20 declines an hour on all routes together, a guest’s network 10, a payment 5';
const REFUSED =
  'A person is refused with 429 only after requests of their own, whatever others do under their e-mail address';

const creating = { method: 'POST', path: '/payments/intents' } as const;
const refused = (parts: Parts = {}): HistoryExchange =>
  exchangeOf({ at: 500, person: GUS.name, ...creating, status: 429, ...parts });

export const LIMIT_CASES: Readonly<Record<string, Case>> = {
  [DECLINES]: { broken: limited(declines(21)), sound: limited(declines(20)) },
  [REFUSED]: {
    broken: limited([...declines(10), refused()]),
    sound: limited([...times(5, () => ({ person: GUS.name, ...creating })), refused()]),
  },
};

export const MORE_LIMIT_CASES: readonly (readonly [string, string, Case])[] = [
  [
    'declines of a guest',
    DECLINES,
    { broken: limited(declines(11, { person: GUS.name })), sound: limited(declines(11)) },
  ],
  ['declines of a payment', DECLINES, { broken: limited(ofOnePayment(6)), sound: limited(ofOnePayment(5)) }],
  ['without limits', DECLINES, { broken: limited(declines(21)), sound: limited(declines(21), false) }],
  [
    'an answer that repeats under its key',
    DECLINES,
    {
      broken: limited([...declines(20), ...declines(21, { path: '/subscriptions' }).slice(20)]),
      sound: limited(declines(21, { path: '/subscriptions', idempotencyKey: 'k' })),
    },
  ],
  [
    'declines that were under way together',
    DECLINES,
    {
      broken: limited(declines(21)),
      sound: limited(declines(21).map((one) => ({ ...one, answeredAt: one.sentAt + 600_000 }))),
    },
  ],
  [
    'what members share',
    REFUSED,
    {
      broken: limited([refused({ person: BEN.name })]),
      sound: limited([refused({ person: BEN.name, path: `/payments/confirm/${PAYMENT}` })]),
    },
  ],
  [
    'a list by e-mail address',
    REFUSED,
    { broken: limited([refused()]), sound: limited([refused({ method: 'GET', path: '/payments/guest/gus' })]) },
  ],
];
