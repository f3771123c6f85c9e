/** @module Reads lists and summaries at the end of a run, without faults. */
import type { Prng } from '../kernel/prng.ts';
import { organizationAsked } from '../model/exchanges.ts';
import type {
  Audit,
  History,
  HistoryExchange,
  HistoryItem,
  HistoryJson,
  Person,
  ShownList,
  ShownSum,
} from '../model/history.ts';
import { isVisible, recordsOf } from '../model/records.ts';
import type { Client } from './client.ts';
import type { AskedRequest } from './operation.ts';
import { ACCOUNTS, ADA, GUESTS, PEOPLE, PROJECT, ROOT } from './people.ts';

const LISTS = [
  { kind: 'payments', of: 'payments', limit: 50 },
  // A page shorter than its list.
  { kind: 'payments', of: 'payments', limit: 2 },
  { kind: 'payment-methods', of: 'methods', limit: 100 },
  { kind: 'customers', of: 'customers', limit: 100 },
  { kind: 'subscriptions', of: 'subscriptions', limit: 100 },
  { kind: 'addresses', of: 'addresses', limit: 100 },
] as const;

export const readAudit = async (client: Client, history: History): Promise<Audit> => {
  const lists: ShownList[] = [];
  const records = recordsOf(history);
  const isOwned = (kind: (typeof LISTS)[number]['of'], owner: HistoryItem): boolean =>
    records[kind].some(
      ({ organizationId, userId }) => (organizationId ?? userId) === (owner['organizationId'] ?? owner['userId']),
    );
  for (const person of ACCOUNTS) {
    for (const { kind, of, limit } of LISTS) {
      if (!isOwned(of, { userId: person.userId })) continue;
      const query = { limit: String(limit) };
      const shown = await client.look(person, { path: `/${kind}`, query });
      lists.push(listOf({ kind, limit, owner: `USER#${person.userId}` }, shown));
    }
  }
  for (const { id, ownerUserId } of records.organizations) {
    const owner = ACCOUNTS.find(({ userId }) => userId === ownerUserId);
    if (!owner) continue;
    for (const { kind, of, limit } of LISTS) {
      if (!isOwned(of, { organizationId: id })) continue;
      const query = { limit: String(limit), organization_id: id };
      const shown = await client.look(owner, { path: `/${kind}`, query });
      lists.push(listOf({ kind, limit, owner: `ORG#${id}` }, shown));
    }
  }
  return { lists, sums: await readSums(client, history) };
};

const listOf = (of: Pick<ShownList, 'kind' | 'owner' | 'limit'>, { body, totalCount }: HistoryExchange): ShownList => ({
  ...of,
  ids: (body.data ?? body).map(({ id }: HistoryJson) => id),
  total: totalCount,
});

const dayOf = (time: number): string => new Date(time).toISOString().slice(0, 10);

const readSums = async (client: Client, { startedAt, now }: History): Promise<readonly ShownSum[]> => {
  const query = { from: dayOf(startedAt), to: dayOf(now), interval: 'month' };
  const { body } = await client.look(ROOT, { path: '/admin/summary', query });
  const byCurrency = Map.groupBy(body.data as readonly HistoryJson[], ({ currency }) => String(currency));
  return [...byCurrency].map(([currency, rows]) => ({
    currency,
    count: total(rows, 'count'),
    amount: total(rows, 'amount_cents'),
    refunded: total(rows, 'refunded_cents'),
  }));
};

const total = (rows: readonly HistoryJson[], field: string): number => rows.reduce((sum, row) => sum + row[field], 0);

const QUESTIONS = 'read at the end';
const MOST_REPEATED = 6;
const MOST_FOREIGN = 5;
const MOST_FORMER = 5;
const MOST_BESIDE = 3;
/**
 * How often a former member requests a page. Each instance of a function has its own cache, and any instance may
 * respond.
 */
const INSTANCES = 2;

/**
 * At the end, without faults, everyone requests again some known pages, records of others, and the lists that need no
 * credential. Rights may have changed since the earlier requests.
 */
export const askAround = async (client: Client, prng: Prng, history: History): Promise<void> => {
  const ask: Ask = (person, path, more = {}) =>
    client.ask(QUESTIONS, { kind: 'request', person, method: 'GET', path, ...more }, prng);
  for (const guest of GUESTS) {
    for (const kind of ['payments', 'subscriptions']) {
      await ask(prng.pick(PEOPLE), `/${kind}/guest/${encodeURIComponent(guest.email)}`, { withoutToken: true });
    }
    for (const { id } of latest(recordsOf(history).payments.filter(({ guestEmail }) => guestEmail === guest.email)))
      await ask(guest, `/payments/${id}`);
  }
  const pages = Map.groupBy(history.exchanges.filter(isPage), isOfOrganization);
  for (const group of pages.values()) {
    for (const page of draw(prng, group, MOST_REPEATED / 2)) {
      const person = PEOPLE.find(({ name }) => name === page.person);
      if (person) await ask(person, page.path, sameQuestion(page));
    }
  }
  for (const { person, page } of draw(prng, pagesOfFormerMembers(history), MOST_FORMER)) {
    for (let time = 0; time < INSTANCES; time += 1) await ask(person, page.path, sameQuestion(page));
  }
  for (const path of draw(prng, recordPaths(history), MOST_FOREIGN)) await ask(prng.pick(PEOPLE), path);
  await askBeside(ask, prng, history);
};

type Ask = (person: Person, path: string, more?: Partial<Question>) => Promise<HistoryExchange>;

/** A buyer, the seller and another person read the related lists of records, and a project's payments of buyers. */
const askBeside = async (ask: Ask, prng: Prng, history: History): Promise<void> => {
  for (const path of draw(prng, pathsBeside(history), MOST_BESIDE)) await ask(prng.pick(PEOPLE), path);
  const include = { query: { include: 'project,product,payment_method' } };
  for (const { person, id } of draw(prng, soldPayments(history), 1)) await ask(person, `/payments/${id}`, include);
  for (const person of [ADA, prng.pick(PEOPLE)]) {
    const [path, more] = prng.pick(OF_A_PROJECT);
    await ask(person, path, { query: { project_id: PROJECT, ...more } });
  }
};

const OF_A_PROJECT = [
  ['/payments', { include: 'payment_method' }],
  ['/subscriptions', { include_pm: 'true', include_projects: 'true' }],
] as const;

/** The payments of others for Ada's project. */
const soldPayments = (history: History): readonly { readonly person: Person; readonly id: string }[] =>
  recordsOf(history).payments.flatMap((payment) => {
    const buyer = ACCOUNTS.find(({ userId }) => userId === payment['userId']);
    const isSold = payment['projectId'] !== undefined && isVisible(payment) && buyer !== ADA;
    return isSold && buyer ? [{ person: buyer, id: payment['id'] }] : [];
  });

type Question = Pick<AskedRequest, 'query' | 'withoutToken' | 'inOrganization'>;

const sameQuestion = ({ query, sessionOrganizationId }: HistoryExchange): Partial<Question> => ({
  query,
  inOrganization: sessionOrganizationId,
});

const isPage = ({ method, status, person }: HistoryExchange): boolean =>
  method === 'GET' && status === 200 && person !== ROOT.name;

/** True for a request about an organization. Its pages are read separately, because memberships may have ended. */
const isOfOrganization = (exchange: HistoryExchange): boolean =>
  exchange.path.startsWith('/organizations/') || organizationAsked(exchange) !== undefined;

interface Page {
  readonly person: Person;
  readonly page: HistoryExchange;
}

/** Pages of an organization's records that former members have seen. */
const pagesOfFormerMembers = (history: History): readonly Page[] => {
  const { payments, methods, customers, subscriptions, members } = recordsOf(history);
  const organizations = new Map(
    [...payments, ...methods, ...customers, ...subscriptions].map(({ id, organizationId }) => [id, organizationId]),
  );
  const isMember = (userId: string, organizationId: string): boolean =>
    members.some((one) => one['userId'] === userId && one['organizationId'] === organizationId);
  return history.exchanges.filter(isPage).flatMap((page) => {
    const person = ACCOUNTS.find(({ name }) => name === page.person);
    const organizationId = organizationAsked(page) ?? organizations.get(page.path.split('/')[2]);
    if (!person || organizationId === undefined) return [];
    return isMember(person.userId, organizationId) ? [] : [{ person, page }];
  });
};

const latest = <T>(all: readonly T[]): readonly T[] => all.slice(-2);

const draw = <T>(prng: Prng, all: readonly T[], most: number): readonly T[] =>
  all.length === 0 ? [] : Array.from({ length: Math.min(most, all.length) }, () => prng.pick(all));

const pathsTo = (path: string, all: readonly HistoryItem[], tail = ''): readonly string[] =>
  all.map(({ id }) => `/${path}/${id}${tail}`);

const recordPaths = (history: History): readonly string[] => {
  const { payments, methods, customers, subscriptions, refunds, organizations, addresses } = recordsOf(history);
  return [
    ...pathsTo('payments', payments.filter(isVisible)),
    ...pathsTo('payment-methods', methods),
    ...pathsTo('customers', customers),
    ...pathsTo('subscriptions', subscriptions),
    ...pathsTo('refunds', refunds),
    ...pathsTo('organizations', organizations),
    ...pathsTo('addresses', addresses),
  ];
};

/** The paths of a record's related lists and of the log. */
const pathsBeside = (history: History): readonly string[] => {
  const { payments, subscriptions, organizations } = recordsOf(history);
  const visible = payments.filter(isVisible);
  return [
    ...['timeline', 'refunds', 'disputes'].flatMap((tail) => pathsTo('payments', visible, `/${tail}`)),
    ...pathsTo('subscriptions', subscriptions, '/timeline'),
    ...[1, 2, 3].flatMap(() => pathsTo('organizations', organizations, '/members')),
    ...pathsTo('webhooks/logs', history.items.filter(({ sk }) => sk === 'LOG').slice(-10)),
    ...['/admin/summary', '/webhooks/logs'],
  ];
};
