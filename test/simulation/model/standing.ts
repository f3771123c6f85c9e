import type { History, HistoryExchange, HistoryJson } from './history.ts';
import { recordsOf } from './records.ts';

/**
 * Who belongs to an organization, and with which role, as far as the answers tell. A change whose answer was lost may have
 * happened or not, so that every question here is: was it possible at some moment between two times?
 */
export interface ModelStanding {
  /** The roles that the user may have had. Times are epoch ms. */
  rolesBetween(
    user: { readonly userId: string; readonly organizationId: string },
    from: number,
    to: number,
  ): ReadonlySet<string>;
}

/** A function that lost its caller may still run for this long. */
const LONGEST_CALL_MS = 120_000;

interface Change {
  readonly organizationId: string;
  /** undefined: every member. */
  readonly userId: string | undefined;
  /** undefined: the membership ends. */
  readonly role: string | undefined;
  readonly sentAt: number;
  readonly answeredAt: number;
  /** The answer says that it happened. */
  readonly isSure: boolean;
}

const MANAGERS = ['owner', 'admin', 'billing'];

export const modelStanding = (history: History): ModelStanding => {
  const userOf = membersOf(history);
  const emails = new Map(history.people.map(({ email, userId }) => [email, userId]));
  const changes = [
    ...foundings(history),
    ...history.exchanges.flatMap((exchange) => changesOf(exchange, { userOf, emails })),
  ];
  return {
    rolesBetween: ({ userId, organizationId }, from, to) => {
      const own = changes.filter(
        (one) => one.organizationId === organizationId && (one.userId === undefined || one.userId === userId),
      );
      const roles = own.filter((one) => one.role !== undefined && one.sentAt <= to && !isOverBefore(one, own, from));
      return new Set(roles.map(({ role }) => role ?? ''));
    },
  };
};

/** Founders whose answer was lost. */
const foundings = (history: History): readonly Change[] =>
  recordsOf(history).organizations.map(({ id, ownerUserId }) => ({
    ...{ organizationId: id, userId: ownerUserId, role: 'owner' },
    ...{ sentAt: history.startedAt, answeredAt: history.startedAt, isSure: true },
  }));

export const mayManage = (roles: ReadonlySet<string>): boolean => MANAGERS.some((role) => roles.has(role));

/** A later change that surely happened was answered before that time. */
const isOverBefore = (change: Change, all: readonly Change[], time: number): boolean => {
  const settledAt = change.isSure ? change.answeredAt : change.sentAt + LONGEST_CALL_MS;
  return all.some((other) => other.isSure && other.sentAt >= settledAt && other.answeredAt < time);
};

interface Names {
  readonly userOf: ReadonlyMap<string, string>;
  readonly emails: ReadonlyMap<string, string>;
}

const ROUTE = /^\/organizations(?:\/([^/]+))?(?:\/(members|leave))?(?:\/([^/]+))?$/;

const changesOf = (exchange: HistoryExchange, names: Names): Change[] => {
  const [match, organizationId = '', tail, memberId] = ROUTE.exec(exchange.path) ?? [];
  if (match === undefined || exchange.method === 'GET') return [];
  const isDone = exchange.status >= 200 && exchange.status < 300;
  const isGone = exchange.method === 'DELETE' && exchange.status === 404;
  const isRefused = exchange.status >= 400 && exchange.status < 500 && !isGone;
  if (isRefused) return [];
  const { sentAt, answeredAt } = exchange;
  const change = changed(exchange, names, { organizationId, tail, memberId });
  return change === undefined ? [] : [{ organizationId, sentAt, answeredAt, isSure: isDone || isGone, ...change }];
};

interface Route {
  readonly organizationId: string;
  readonly tail: string | undefined;
  readonly memberId: string | undefined;
}

type Changed = Pick<Change, 'userId' | 'role'> & { readonly organizationId?: string };

const changed = (exchange: HistoryExchange, names: Names, route: Route): Changed | undefined => {
  const { method, sent, body } = exchange;
  const { tail, memberId, organizationId } = route;
  if (organizationId === '') return created(body);
  if (tail === 'leave') return { userId: userOfPerson(exchange, names), role: undefined };
  if (tail === 'members' && memberId === undefined)
    return { userId: names.emails.get(sent?.email) ?? '', role: sent?.role };
  if (tail === 'members') {
    return { userId: names.userOf.get(memberId ?? '') ?? '', role: method === 'DELETE' ? undefined : sent?.role };
  }
  return method === 'DELETE' ? { userId: undefined, role: undefined } : undefined;
};

const created = (body: HistoryJson): Changed | undefined =>
  body?.data?.id && { organizationId: body.data.id, userId: body.data.owner_user_id, role: 'owner' };

const userOfPerson = ({ person }: HistoryExchange, { emails }: Names): string =>
  [...emails].find(([email]) => email.startsWith(`${person}@`))?.[1] ?? '';

/** The user of each membership id that an answer or the table shows. */
const membersOf = (history: History): ReadonlyMap<string, string> => {
  const found = new Map<string, string>();
  for (const { id, userId } of recordsOf(history).members) found.set(id, userId);
  const walk = (value: HistoryJson): void => {
    if (typeof value !== 'object' || value === null) return;
    if (typeof value.id === 'string' && value.id.startsWith('mem_') && value.user_id)
      found.set(value.id, value.user_id);
    for (const each of Object.values(value)) walk(each);
  };
  for (const { path, body } of history.exchanges) if (path.startsWith('/organizations')) walk(body);
  return found;
};
